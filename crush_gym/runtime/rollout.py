"""Whole attempts, on flat batches: the programs behind `Game.rollout`. No board waits for another's cascade."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from crush_gym.engine import randomness
from crush_gym.engine.bits import Word, count, occurs
from crush_gym.engine.board import Board
from crush_gym.engine.moves import Moves, from_action, random_move
from crush_gym.engine.spec import Spec
from crush_gym.engine.state import PLAYING, Books, Play, State, rest
from crush_gym.engine.terrain import Terrain, survey, with_boards_axis
from crush_gym.engine.turn import beat, begin, finish
from crush_gym.levels import Level
from crush_gym.runtime.chunks import Part, Tree, in_chunks, in_chunks_by_parts
from crush_gym.runtime.lockstep import in_turn, reset, state_of
from crush_gym.runtime.subset import shuffle_all

BEATS_PER_LOOK = 8
"""Beats between two looks at whether any attempt still goes on."""

Policy = Callable[[jax.Array, State, Level], jax.Array]
"""(words of the moves' keys uint32[2, B], states, levels) -> actions int32[B]; boards last, all of them."""


Strayed = jax.Array | None
"""How often a policy named no legal action, so that the random player moved instead: int32[B]; None: it is random."""

Choose = Callable[[Play, Moves, jax.Array], tuple[Moves, Strayed]]
"""(boards, their legal moves, words of the moves' keys) -> the moves made, and where the policy strayed."""


class Rolling(NamedTuple):
    """Boards in a rollout, and how often their player has strayed so far."""

    play: Play
    strayed: Strayed


def rolling(play: Play, policy: Policy | None) -> Rolling:
    """Boards about to be rolled out."""
    return Rolling(play, None if policy is None else jnp.zeros_like(play.books.score))


def some_beats(
    spec: Spec, policy: Policy | None, terrain: Terrain, keys: jax.Array, level: Level, boards: Rolling
) -> Rolling:
    """Beats in which boards at rest make their next move at once; then shuffles, where boards wait for one.

    keys: of the attempts, uint32[2, B]
    """
    if policy is None:
        boards = in_chunks_by_parts(spec, _random_beats)(terrain, keys, boards)
    else:
        beat = functools.partial(_policy_beat, by_policy(spec, policy, level), terrain, keys)
        boards = repeated(BEATS_PER_LOOK, beat, boards)
    return boards._replace(play=shuffle_all(terrain, boards.play))


def _random_beats(part: Part, terrain: Terrain, keys: jax.Array, boards: Rolling) -> Rolling:
    def one(terrain: Terrain, keys: jax.Array, play: Play) -> Play:
        play, moves, bits = at_rest(terrain, keys, play)
        return move_on(terrain, play, at_random(play, moves, bits)[0], bits)

    return boards._replace(play=repeated(BEATS_PER_LOOK, functools.partial(part(one), terrain, keys), boards.play))


def repeated(times: int, beat: Callable[[Tree], Tree], boards: Tree) -> Tree:
    """The boards after so many beats."""
    return lax.scan(lambda b, _: (beat(b), None), boards, None, length=times)[0]


def _policy_beat(choose: Choose, terrain: Terrain, keys: jax.Array, boards: Rolling) -> Rolling:
    play, moves, bits = in_chunks(at_rest)(terrain, keys, boards.play)
    chosen, strayed = choose(play, moves, bits)
    if strayed is not None and boards.strayed is not None:
        strayed = boards.strayed + strayed
    return Rolling(in_chunks(move_on)(terrain, play, chosen, bits), strayed)


def at_rest(terrain: Terrain, keys: jax.Array, play: Play) -> tuple[Play, Moves, jax.Array]:
    """End the turns whose waves are through; also the legal moves, and the words of the next moves' keys."""
    play, moves = finish(terrain, play.awake())
    return play, moves, play.board.fence(randomness.fold(keys, play.books.made))


def move_on(terrain: Terrain, play: Play, chosen: Moves, bits: jax.Array) -> Play:
    """Make the moves chosen, and play a beat on all boards. bits: words of the moves' keys."""
    return beat(terrain, begin(terrain, play.awake(), chosen, bits))


def at_random(play: Play, moves: Moves, bits: jax.Array) -> tuple[Moves, Strayed]:
    """The random player."""
    return random_move(play.board, moves, bits), None


def by_policy(spec: Spec, policy: Policy, level: Level) -> Choose:
    """A player that is asked for all boards at once, when enough of them are at rest; the others wait.

    Where it names no legal move the random player moves instead, so that every attempt ends.
    """

    def ask(play: Play, moves: Moves, bits: jax.Array) -> tuple[Moves, jax.Array]:
        wanted = from_action(spec, policy(bits, state_of(play), level))
        chosen = Moves(moves.across & wanted.across, moves.down & wanted.down)
        spare = random_move(play.board, moves, bits)
        none = ~occurs(chosen.firsts)
        made = play.board.fence(Moves(chosen.across | (spare.across & none), chosen.down | (spare.down & none)))
        return made, (occurs(moves.firsts) & none & Word(1)).astype(jnp.int32)

    def wait(play: Play, moves: Moves, bits: jax.Array) -> tuple[Moves, jax.Array]:
        return Moves(jnp.zeros_like(moves.across), jnp.zeros_like(moves.down)), jnp.zeros_like(play.books.score)

    def choose(play: Play, moves: Moves, bits: jax.Array) -> tuple[Moves, Strayed]:
        ready = jnp.sum(occurs(moves.firsts) != 0)
        enough = ready >= WAITING_PER_BUSY * jnp.sum(in_turn(play))
        return lax.cond(enough, lambda p, *rest: ask(p.awake(), *rest), wait, play, moves, bits)

    return choose


WAITING_PER_BUSY = 3.0
"""A policy is asked when so many boards wait for it per board in its turn: being asked costs some beats."""


def choose(spec: Spec, bits: jax.Array, state: State, level: Level, policy: Policy | None) -> jax.Array:
    """What a policy does on each board: int32[B]. bits: of the moves' keys."""
    del spec
    assert policy is not None  # the random player is `turns.random_action`
    return policy(bits, state, with_boards_axis(level))


def playout(spec: Spec, keys: jax.Array, state: State, level: Level, policy: Policy | None) -> tuple[State, jax.Array]:
    """Every board to the end of its attempt. keys: of the attempts, uint32[2, B]. Also: `RESULTS`."""
    level = with_boards_axis(level)
    terrain = survey(spec, level)
    beats = functools.partial(some_beats, spec, policy, terrain, keys, level)
    boards = rolling(rest(Board.of(spec, state.planes), state.books), policy)
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
    """

    boards: Rolling
    terrain: Terrain
    keys: jax.Array
    attempt: jax.Array
    next: jax.Array
    done: jax.Array
    results: jax.Array


RESULTS = ("outcome", "reason", "score", "made", "moves", "waves", "goals_left", "strayed", "shuffles")
"""What is kept of an attempt."""


def many_attempts(
    spec: Spec,
    lanes: int,
    policy: Policy | None,
    first: jax.Array | int,
    keys: jax.Array,
    state: State | None,
    level: Level,
) -> jax.Array:
    """Play attempts to their ends; results int32[len(RESULTS), attempts], see `RESULTS`.

    keys: of the attempts, uint32[2, attempts]; first: the number of the first of them. Attempt n starts from
    board n modulo the boards of `state`, or, without a state, from a new board of level n modulo the levels.
    """
    attempts = keys.shape[1]
    level = with_boards_axis(level)
    fresh = state is None
    state = _openings(spec, lanes, first, keys, level) if state is None else _with_axis(state)
    terrain = survey(spec, level)

    def look(queue: Queue) -> Queue:
        played = jax.tree.map(lambda x: _pick(x, queue.attempt + first), level)
        queue = queue._replace(boards=some_beats(spec, policy, queue.terrain, queue.keys, played, queue.boards))
        idle = (queue.attempt < attempts) & ~goes_on(queue.boards.play)
        left = jnp.sum(queue.attempt < attempts) - jnp.sum(idle)
        enough = (jnp.sum(idle) * LEAST_SHARE >= lanes) | (left == 0)
        return lax.cond(enough, lambda q: _take_next(q, idle, keys, opened), lambda q: q, queue)

    def opened(n: jax.Array) -> tuple[Rolling, Terrain, jax.Array]:
        boards = jax.tree.map(lambda x: _board(x, n if fresh else n + first), state)
        terrains = jax.tree.map(lambda x: _pick(x, n + first), terrain)
        return rolling(rest(Board.of(spec, boards.planes), boards.books), policy), terrains, _board(keys, n)

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
    )
    return lax.while_loop(lambda q: q.done < attempts, look, queue).results


LEAST_SHARE = 32
"""Lanes wait until a thirty-second of them is idle, and then take their next attempts together."""


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
    )


def _pick(x: jax.Array, n: jax.Array) -> jax.Array:
    """The boards n modulo the size of the last axis; all of an axis of one, which all boards share."""
    return x if x.shape[-1] == 1 else _board(x, n)


def _board(x: jax.Array, n: jax.Array) -> jax.Array:
    return jnp.take(x, n % x.shape[-1], axis=-1)


def results(spec: Spec, state: State, level: Level) -> jax.Array:
    """How the attempts stand: see `RESULTS`."""
    terrain = survey(spec, with_boards_axis(level))
    return results_of(rolling(rest(Board.of(spec, state.planes), state.books), None), terrain)


def results_of(boards: Rolling, terrain: Terrain) -> jax.Array:
    """int32[len(RESULTS), B]."""
    play, books = boards.play, boards.play.books
    values = {name: getattr(books, name) for name in RESULTS[:-3]}
    values["moves"] = jnp.where(terrain.time >= 0, -1, books.moves)
    strayed = jnp.zeros_like(books.score) if boards.strayed is None else boards.strayed
    return jnp.stack([*values.values(), goals_left(play.board, books, terrain), strayed, books.shuffles])


def goals_left(board: Board, books: Books, terrain: Terrain) -> jax.Array:
    """Units still missing of all goals but the score, a layer of jelly being one; int32[B]."""
    jelly = count(board.plane("jelly1")) + count(board.plane("jelly2"))
    return books.cherry + books.hazelnut + books.orders.sum(0) + jnp.where(terrain.goals.jelly != 0, jelly, 0)
