"""Whole attempts, on flat batches: the programs behind `Game.rollout`. No board waits for another's cascade."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from crush_gym import keys as keys_of
from crush_gym import sizes
from crush_gym.engine import randomness
from crush_gym.engine.bits import count, occurs
from crush_gym.engine.board import Board
from crush_gym.engine.moves import Moves, random_move
from crush_gym.engine.spec import Spec
from crush_gym.engine.state import PLAYING, Books, Play, State, rest
from crush_gym.engine.terrain import Terrain, survey, with_boards_axis
from crush_gym.engine.turn import beat, begin, finish
from crush_gym.levels import Level
from crush_gym.runtime.chunks import Part, Tree, in_chunks, in_chunks_by_parts
from crush_gym.runtime.lockstep import in_turn, legal_or_random, reset, state_of
from crush_gym.runtime.subset import shuffle_all


class Player(NamedTuple):
    """The functions of a player, which programs are compiled for; see `crush_gym.policies.Policy`."""

    start: Callable[..., Tree]
    act: Callable[..., tuple[jax.Array, Tree]]


class Mind(NamedTuple):
    """What a player brings to its boards. memory: of each board; strayed: how often it named no legal action, int32[B].

    Where it does so, the random player moves instead.
    """

    memory: Tree
    strayed: jax.Array


Choose = Callable[[Play, Moves, jax.Array, Mind], tuple[Moves, Mind]]
"""(boards, their legal moves, words of the moves' keys, the player's mind) -> the moves made, and its mind then."""


class Rolling(NamedTuple):
    """Boards in a rollout. mind: of their player; None: of the random one, which has none."""

    play: Play
    mind: Mind | None


def rolling(
    play: Play,
    player: Player | None = None,
    params: Tree = (),
    keys: jax.Array | None = None,
    level: Level | None = None,
    traits: Tree = None,
) -> Rolling:
    """Boards about to be rolled out. keys: of the attempts, uint32[2, B]; traits: for the player's start, or None."""
    if player is None or keys is None:
        return Rolling(play, None)
    given = () if traits is None else (traits,)
    memory = player.start(params, own_keys(keys), state_of(play), level, *given)
    return Rolling(play, Mind(of_boards(memory, play.books.score.shape[0]), jnp.zeros_like(play.books.score)))


def own_keys(bits: jax.Array) -> jax.Array:
    """The player's keys, keys[B], from the words of the game's, uint32[2, B]."""
    return keys_of.of_words(keys_of.player_words(bits))


def of_boards(memory: Tree, boards: int) -> Tree:
    """A memory as arrays, refused where a leaf does not end in the boards' axis."""

    def leaf(x: jax.Array) -> jax.Array:
        x = jnp.asarray(x)
        if x.shape[-1:] != (boards,):
            raise ValueError(
                f"a player's memory has a leaf of shape {x.shape}: every leaf must end in the axis of the {boards} "
                "boards; what they share belongs into params"
            )
        return x

    return jax.tree.map(leaf, memory)


def some_beats(
    spec: Spec, player: Player | None, params: Tree, terrain: Terrain, keys: jax.Array, level: Level, boards: Rolling
) -> Rolling:
    """Beats in which boards at rest make their next move at once; then shuffles, where boards wait for one.

    keys: of the attempts, uint32[2, B]
    """
    if player is None:
        boards = in_chunks_by_parts(spec, _random_beats)(terrain, keys, boards)
    else:
        beat = functools.partial(_player_beat, by_player(spec, player, params, level), terrain, keys)
        boards = repeated(sizes.BEATS_PER_LOOK, beat, boards)
    return boards._replace(play=shuffle_all(terrain, boards.play))


def _random_beats(part: Part, terrain: Terrain, keys: jax.Array, boards: Rolling) -> Rolling:
    def one(terrain: Terrain, keys: jax.Array, play: Play) -> Play:
        play, moves, bits = at_rest(terrain, keys, play)
        return move_on(terrain, play, at_random(play, moves, bits), bits)

    return boards._replace(
        play=repeated(sizes.BEATS_PER_LOOK, functools.partial(part(one), terrain, keys), boards.play)
    )


def repeated(times: int, beat: Callable[[Tree], Tree], boards: Tree) -> Tree:
    """The boards after so many beats."""
    return lax.scan(lambda b, _: (beat(b), None), boards, None, length=times)[0]


def _player_beat(choose: Choose, terrain: Terrain, keys: jax.Array, boards: Rolling) -> Rolling:
    play, moves, bits = in_chunks(at_rest)(terrain, keys, boards.play)
    assert boards.mind is not None
    chosen, mind = choose(play, moves, bits, boards.mind)
    return Rolling(in_chunks(move_on)(terrain, play, chosen, bits), mind)


def at_rest(terrain: Terrain, keys: jax.Array, play: Play) -> tuple[Play, Moves, jax.Array]:
    """End the turns whose waves are through; also the legal moves, and the words of the next moves' keys."""
    play, moves = finish(terrain, play.awake())
    return play, moves, play.board.fence(randomness.fold(keys, play.books.made))


def move_on(terrain: Terrain, play: Play, chosen: Moves, bits: jax.Array) -> Play:
    """Make the moves chosen, and play a beat on all boards. bits: words of the moves' keys."""
    return beat(terrain, begin(terrain, play.awake(), chosen, bits))


def at_random(play: Play, moves: Moves, bits: jax.Array) -> Moves:
    """The random player."""
    return random_move(play.board, moves, bits)


def by_player(
    spec: Spec, player: Player, params: Tree, level: Level, own: Callable[[jax.Array], jax.Array] | None = None
) -> Choose:
    """A player that is asked for all boards at once, when enough of them are at rest; the others wait.

    What it remembers of boards that are not at rest stays as it was. own: its keys from the words of the moves' keys,
    `own_keys` unless said
    """
    own = own or own_keys

    def ask(play: Play, moves: Moves, bits: jax.Array, mind: Mind) -> tuple[Moves, Mind]:
        action, memory = player.act(params, own(bits), mind.memory, state_of(play), level)
        made, strayed = legal_or_random(play, moves, checked_actions(action, bits.shape[1]), bits)
        asked = occurs(moves.firsts) != 0
        return made, Mind(_kept(memory, mind.memory, asked), mind.strayed + strayed.astype(jnp.int32))

    def wait(play: Play, moves: Moves, bits: jax.Array, mind: Mind) -> tuple[Moves, Mind]:
        return Moves(jnp.zeros_like(moves.across), jnp.zeros_like(moves.down)), mind

    def choose(play: Play, moves: Moves, bits: jax.Array, mind: Mind) -> tuple[Moves, Mind]:
        ready = jnp.sum(occurs(moves.firsts) != 0)
        enough = (ready > 0) & (ready >= sizes.WAITING_PER_BUSY * jnp.sum(in_turn(play)))
        return lax.cond(enough, lambda p, *rest: ask(p.awake(), *rest), wait, play, moves, bits, mind)

    return choose


def checked_actions(action: jax.Array, boards: int) -> jax.Array:
    """A player's actions as int32[B], refused where they are no whole numbers, one for each board."""
    action = jnp.asarray(action)
    if not jnp.issubdtype(action.dtype, jnp.integer):
        raise TypeError(f"actions must be whole numbers, not {action.dtype}: an action is an index into `legal`")
    if action.shape not in ((), (boards,)):
        raise ValueError(f"a player gave actions of shape {action.shape} for {boards} boards: give one, or one each")
    return jnp.broadcast_to(action.astype(jnp.int32), (boards,))


def _kept(new: Tree, old: Tree, asked: jax.Array) -> Tree:
    """The new memory of the boards that were asked, and the old of the others."""

    def kind(tree: Tree) -> tuple[Any, list[tuple[tuple[int, ...], Any]]]:
        leaves, structure = jax.tree.flatten(tree)
        return structure, [(jnp.shape(x), jnp.result_type(x)) for x in leaves]

    if kind(new) != kind(old):
        raise ValueError(
            "a player's `act` must give back a memory of the kind that its `start` gave: the same tree, with leaves of "
            f"the same shapes and types; expected {kind(old)}, not {kind(new)}"
        )
    return jax.tree.map(lambda x, y: jnp.where(asked, x, y), new, old)


def act(
    spec: Spec, player: Player, params: Tree, bits: jax.Array, memory: Tree, state: State, level: Level
) -> tuple[jax.Array, Tree]:
    """What a player does on each board, int32[B], and what it remembers then. bits: of the player's keys."""
    del spec
    actions, memory = player.act(params, keys_of.of_words(bits), memory, state, with_boards_axis(level))
    return checked_actions(actions, bits.shape[1]), of_boards(memory, bits.shape[1])


def start(
    spec: Spec, player: Player, params: Tree, bits: jax.Array, state: State, level: Level, traits: Tree = None
) -> Tree:
    """What a player remembers of new attempts. bits: of the player's keys, uint32[2, B]."""
    del spec
    given = () if traits is None else (traits,)
    memory = player.start(params, keys_of.of_words(bits), state, with_boards_axis(level), *given)
    return of_boards(memory, bits.shape[1])


def playout(
    spec: Spec, player: Player | None, params: Tree, keys: jax.Array, state: State, level: Level, traits: Tree = None
) -> tuple[State, jax.Array]:
    """Every board to the end of its attempt. keys: of the attempts, uint32[2, B]. Also: `RESULTS`."""
    level = with_boards_axis(level)
    terrain = survey(spec, level)
    beats = functools.partial(some_beats, spec, player, params, terrain, keys, level)
    boards = rolling(rest(Board.of(spec, state.planes), state.books), player, params, keys, level, traits)
    boards = lax.while_loop(lambda b: jnp.any(goes_on(b.play)), beats, boards)
    return state_of(boards.play), results_of(boards, terrain)


def goes_on(play: Play) -> jax.Array:
    """Boards whose attempt is not over; bool[B]."""
    return in_turn(play) | (play.books.outcome == PLAYING)


class Queue(NamedTuple):
    """Attempts on a few lanes: a lane whose attempt is over takes the next one.

    boards, terrain, keys: of the lanes' attempts
    attempt: number of each lane's attempt, int32[lanes]; `waiting` or beyond: none
    next: number of the first attempt that no lane has taken; done: how many are in the results
    results: int32[len(RESULTS), attempts]
    memories: of the players at the attempts' ends, leaves [..., attempts]; nothing where nobody asks for them
    """

    boards: Rolling
    terrain: Terrain
    keys: jax.Array
    attempt: jax.Array
    next: jax.Array
    done: jax.Array
    results: jax.Array
    memories: Tree


RESULTS = ("outcome", "reason", "score", "made", "moves", "waves", "goals_left", "strayed", "shuffles")
"""What is kept of an attempt."""


def many_attempts(
    spec: Spec,
    lanes: int,
    player: Player | None,
    remember: bool,
    params: Tree,
    first: jax.Array | int,
    keys: jax.Array,
    state: State | None,
    level: Level,
    traits: Tree = None,
) -> tuple[jax.Array, Tree]:
    """Play attempts to their ends: results int32[len(RESULTS), attempts], see `RESULTS`, and the players' memories.

    keys: of the attempts, uint32[2, attempts]; traits: of them, for the player's start, or None
    first: the number of the first of them. Attempt n starts from
    board n modulo the boards of `state`, or, without a state, from a new board of level n modulo the levels.
    remember: whether memories are wanted: leaves [..., attempts]; nothing otherwise, and of the engine's random player
    """
    attempts = keys.shape[1]
    level = with_boards_axis(level)
    fresh = state is None
    state = _openings(spec, lanes, first, keys, level) if state is None else _with_axis(state)
    terrain = survey(spec, level)

    def look(queue: Queue) -> Queue:
        played = jax.tree.map(lambda x: _pick(x, queue.attempt + first), level)
        queue = queue._replace(boards=some_beats(spec, player, params, queue.terrain, queue.keys, played, queue.boards))
        idle = (queue.attempt < attempts) & ~goes_on(queue.boards.play)
        left = jnp.sum(queue.attempt < attempts) - jnp.sum(idle)
        enough = (jnp.sum(idle) * sizes.REFILL_SHARE >= lanes) | (left == 0)
        return lax.cond(enough, lambda q: _take_next(q, idle, keys, opened), lambda q: q, queue)

    def opened(n: jax.Array) -> tuple[Rolling, Terrain, jax.Array]:
        boards = jax.tree.map(lambda x: _board(x, n if fresh else n + first), state)
        terrains = jax.tree.map(lambda x: _pick(x, n + first), terrain)
        own, played = _board(keys, n), jax.tree.map(lambda x: _pick(x, n + first), level)
        given = jax.tree.map(lambda x: _board(x, n), traits)
        play = rest(Board.of(spec, boards.planes), boards.books)
        return rolling(play, player, params, own, played, given), terrains, own

    attempt = jnp.minimum(jnp.arange(lanes, dtype=jnp.int32), attempts)
    boards, terrains, lane_keys = opened(attempt)
    queue = Queue(
        boards=boards,
        terrain=terrains,
        keys=lane_keys,
        attempt=attempt,
        next=jnp.int32(min(lanes, attempts)),
        done=jnp.int32(0),
        results=jnp.zeros((len(RESULTS), attempts), jnp.int32),
        memories=_table(boards.mind.memory, attempts) if remember and boards.mind is not None else (),
    )
    queue = lax.while_loop(lambda q: q.done < attempts, look, queue)
    return queue.results, queue.memories


def _table(memory: Tree, attempts: int) -> Tree:
    """Room for the memories of so many attempts."""
    return jax.tree.map(lambda x: jnp.zeros((*x.shape[:-1], attempts), x.dtype), memory)


def _openings(spec: Spec, lanes: int, first: jax.Array | int, keys: jax.Array, level: Level) -> State:
    """New boards for all attempts, `lanes` at a time."""
    attempts = keys.shape[1]
    chunks = -(-attempts // lanes)
    order = jnp.minimum(jnp.arange(chunks * lanes), attempts - 1).reshape(chunks, lanes)

    def some(n: jax.Array) -> State:
        return reset(spec, _board(keys, n), jax.tree.map(lambda x: _pick(x, n + first), level))

    together = jax.tree.map(lambda x: jnp.moveaxis(x, 0, -2), lax.map(some, order))
    return jax.tree.map(lambda x: x.reshape(*x.shape[:-2], chunks * lanes)[..., :attempts], together)


def _with_axis(state: State) -> State:
    """A state of one board as a batch of one."""
    return state if state.books.score.ndim else jax.tree.map(lambda x: x[..., None], state)


def _take_next(
    queue: Queue,
    idle: jax.Array,
    keys: jax.Array,
    opened: Callable[[jax.Array], tuple[Rolling, Terrain, jax.Array]],
) -> Queue:
    """Enter the results of the idle lanes and give them their next attempts."""
    attempts = keys.shape[1]
    place = jnp.where(idle, queue.attempt, attempts)
    results = queue.results.at[:, place].set(results_of(queue.boards, queue.terrain), mode="drop")
    memories = queue.memories
    if jax.tree.leaves(memories) and queue.boards.mind is not None:
        memories = jax.tree.map(
            lambda table, x: table.at[..., place].set(x, mode="drop"), memories, queue.boards.mind.memory
        )
    attempt = jnp.where(idle, queue.next + jnp.cumsum(idle) - 1, queue.attempt).astype(jnp.int32)
    number = jnp.sum(idle, dtype=jnp.int32)
    takes = idle & (attempt < attempts)

    def mixed(new: jax.Array, old: jax.Array) -> jax.Array:
        return jnp.where(takes, new, old) if old.shape[-1:] == takes.shape else old

    boards, terrain, lane_keys = jax.tree.map(mixed, opened(attempt), (queue.boards, queue.terrain, queue.keys))
    return Queue(
        boards=boards,
        terrain=terrain,
        keys=lane_keys,
        attempt=jnp.minimum(attempt, attempts),
        next=queue.next + number,
        done=queue.done + number,
        results=results,
        memories=memories,
    )


def _pick(x: jax.Array, n: jax.Array) -> jax.Array:
    """The boards n modulo the size of the last axis; all of an axis of one, which all boards share."""
    return x if x.shape[-1] == 1 else _board(x, n)


def _board(x: jax.Array, n: jax.Array) -> jax.Array:
    return jnp.take(x, n % x.shape[-1], axis=-1)


def results(spec: Spec, state: State, level: Level) -> jax.Array:
    """How the attempts stand: see `RESULTS`."""
    terrain = survey(spec, with_boards_axis(level))
    return results_of(rolling(rest(Board.of(spec, state.planes), state.books)), terrain)


def results_of(boards: Rolling, terrain: Terrain) -> jax.Array:
    """int32[len(RESULTS), B]."""
    play, books = boards.play, boards.play.books
    values = {name: getattr(books, name) for name in RESULTS[:-3]}
    values["moves"] = jnp.where(terrain.time >= 0, -1, books.moves)
    strayed = jnp.zeros_like(books.score) if boards.mind is None else boards.mind.strayed
    return jnp.stack([*values.values(), goals_left(play.board, books, terrain), strayed, books.shuffles])


def goals_left(board: Board, books: Books, terrain: Terrain) -> jax.Array:
    """Units still missing of all goals but the score, a layer of jelly being one; int32[B]."""
    jelly = count(board.plane("jelly1")) + count(board.plane("jelly2"))
    return books.cherry + books.hazelnut + books.orders.sum(0) + jnp.where(terrain.goals.jelly != 0, jelly, 0)
