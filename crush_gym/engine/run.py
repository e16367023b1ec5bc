"""Whole turns and whole attempts, on flat batches: the programs that a `Game` compiles."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from crush_gym.engine import draws
from crush_gym.engine.bits import Mask, count, mask, occurs
from crush_gym.engine.board import Board
from crush_gym.engine.lanes import on_few
from crush_gym.engine.moves import Moves, from_action, legal_moves, random_move, to_mask
from crush_gym.engine.shuffle import shuffle_some
from crush_gym.engine.spec import Spec
from crush_gym.engine.start import opening
from crush_gym.engine.state import FIRST, PLAYING, ROUNDS, SETTLING, SHUFFLING, Books, Play, State, rest
from crush_gym.engine.terrain import Terrain, survey, with_boards_axis
from crush_gym.engine.turn import beat, begin, finish
from crush_gym.levels import Level

BEATS_PER_LOOK = 8
"""Beats between two looks at whether any attempt still goes on."""


class Turn(NamedTuple):
    """What a turn brought, per board.

    score: points gained; waves; cleared: candies and colour bombs removed: int32
    illegal: the action was not legal and changed nothing; reshuffled: candies changed places: bool
    outcome, reason: of the attempt, see `crush_gym.OUTCOMES` and `crush_gym.REASONS`: int32
    """

    score: jax.Array
    waves: jax.Array
    cleared: jax.Array
    illegal: jax.Array
    reshuffled: jax.Array
    outcome: jax.Array
    reason: jax.Array


Policy = Callable[[jax.Array, State, Level], jax.Array]
"""(words of the moves' keys uint32[2, B], states, levels) -> actions int32[B]; boards last, all of them."""


def reset(spec: Spec, bits: jax.Array, level: Level) -> State:
    """New attempts. bits: the words of the attempts' keys, uint32[2, B]."""
    level = with_boards_axis(level)
    terrain = survey(spec, level)
    return state_of(_complete(terrain, opening(spec, terrain, level, bits)))


def legal(spec: Spec, state: State) -> jax.Array:
    """bool[actions, B]; all False where the attempt is over."""
    return to_mask(spec, _legal(spec, state))


def step(spec: Spec, bits: jax.Array, state: State, action: jax.Array, level: Level) -> tuple[State, Turn]:
    """One whole turn of every board. bits: the words of the moves' keys; action: int32[B]."""
    terrain = survey(spec, with_boards_axis(level))
    play = begin_action(spec, terrain, bits, state, action)
    illegal = play.stage != FIRST
    play = _complete(terrain, play)
    return state_of(play), turn_of(state, play, illegal)


def begin_action(spec: Spec, terrain: Terrain, bits: jax.Array, state: State, action: jax.Array) -> Play:
    """Make the moves that are legal; the other boards stay at rest."""
    allowed, wanted = _legal(spec, state), from_action(spec, action)
    play = rest(Board.of(spec, state.planes), state.books).awake()
    moves = play.board.fence(Moves(allowed.across & wanted.across, allowed.down & wanted.down))
    return begin(terrain, play, moves, bits)


def replay_begin(spec: Spec, bits: jax.Array, state: State, action: jax.Array, level: Level) -> Play:
    """A turn about to be played beat by beat; arguments as of `step`, one board (B = 1)."""
    return begin_action(spec, survey(spec, with_boards_axis(level)), bits, state, action)


def replay_beat(spec: Spec, level: Level, play: Play) -> Play:
    """The next beat of a turn; after its last one, the turn's end."""
    terrain = survey(spec, with_boards_axis(level))
    return lax.cond(
        jnp.any(in_turn(play)),
        lambda p: beat(terrain, p.awake()),
        lambda p: shuffle_all(terrain, finish(terrain, p.awake())[0]),
        play,
    )


def turn_of(before: State, play: Play, illegal: jax.Array) -> Turn:
    """The report of the turns just played."""
    books = play.books
    return Turn(
        score=books.score - before.books.score,
        waves=books.waves - before.books.waves,
        cleared=play.cleared,
        illegal=illegal,
        reshuffled=play.shuffled != 0,
        outcome=books.outcome,
        reason=books.reason,
    )


def state_of(play: Play) -> State:
    """The position of boards at rest."""
    return State(play.board.planes(), play.books)


def in_turn(play: Play) -> jax.Array:
    """Boards with beats to come; bool[B]."""
    return (play.stage == SETTLING) | (play.stage == FIRST) | (play.stage == ROUNDS)


def _legal(spec: Spec, state: State) -> Moves:
    moves = legal_moves(Board.of(spec, state.planes).awake())
    ready: Mask = mask(state.books.outcome == PLAYING)
    return Moves(moves.across & ready, moves.down & ready)


SLOW_SHARE = 8
"""When no more than an eighth of the boards is still in its turn, these go on by themselves."""


def _complete(terrain: Terrain, play: Play) -> Play:
    """Beat until every board is through its waves, end the turns, and shuffle where nothing can be moved.

    A turn takes three beats on average and twenty for the unluckiest of thousands: the slow ones are taken
    out of the batch and finished alone.
    """
    boards = play.stage.shape[0]
    few = boards // SLOW_SHARE
    if few >= FEWEST:
        terrain, play = _beat_until(few, (terrain, play))
        over_all = Terrain(*jax.tree.map(lambda x: jnp.broadcast_to(x, (*x.shape[:-1], boards)), tuple(terrain)))
        _, play = on_few((over_all, play), in_turn(play), few, functools.partial(_beat_until, 0))
    else:
        terrain, play = _beat_until(0, (terrain, play))
    play, _ = finish(terrain, play.awake())
    return shuffle_all(terrain, play)


FEWEST = 32
"""Fewer boards than these are not worth taking out."""


def _beat_until(most: int, tree: tuple[Terrain, Play]) -> tuple[Terrain, Play]:
    """Beat until at most so many boards are in their turns."""
    terrain, play = tree
    return terrain, lax.while_loop(lambda p: jnp.sum(in_turn(p)) > most, lambda p: beat(terrain, p.awake()), play)


def shuffle_all(terrain: Terrain, play: Play) -> Play:
    """Try until no board is without a legal move, or lost."""
    return lax.while_loop(
        lambda p: jnp.any(p.stage == SHUFFLING), functools.partial(shuffle_some, terrain), play
    )


def rollout_beat(terrain: Terrain, keys: jax.Array, choose: Callable[[Play, Moves, jax.Array], Moves], play: Play) -> Play:
    """One beat in which boards at rest make their next move at once. keys: of the attempts, uint32[2, B]."""
    some = functools.partial(shuffle_some, terrain)
    play = lax.cond(jnp.any(play.stage == SHUFFLING), some, lambda p: p, play).awake()
    play, moves = finish(terrain, play)
    bits = play.board.fence(draws.fold(keys, play.books.made))
    return beat(terrain, begin(terrain, play, choose(play, moves, bits), bits))


def at_random(play: Play, moves: Moves, bits: jax.Array) -> Moves:
    """The random player."""
    return random_move(play.board, moves, bits)


def random_action(spec: Spec, bits: jax.Array, state: State) -> jax.Array:
    """What the random player does: int32[B], -1 where nothing is legal. bits: of the moves' keys."""
    board = Board.of(spec, state.planes).awake()
    chosen = to_mask(spec, random_move(board, _legal(spec, state), bits))
    return jnp.where(jnp.any(chosen, axis=0), jnp.argmax(chosen, axis=0), -1).astype(jnp.int32)


def by_policy(spec: Spec, policy: Policy, level: Level) -> Callable[[Play, Moves, jax.Array], Moves]:
    """A player that is asked for all boards at every beat; only those at rest make the move.

    Where it names no legal move the random player moves instead, so that every attempt ends.
    """

    def choose(play: Play, moves: Moves, bits: jax.Array) -> Moves:
        wanted = from_action(spec, policy(bits, state_of(play), level))
        chosen = Moves(moves.across & wanted.across, moves.down & wanted.down)
        spare = at_random(play, moves, bits)
        none = ~occurs(chosen.firsts)
        return play.board.fence(Moves(chosen.across | (spare.across & none), chosen.down | (spare.down & none)))

    return choose


def playout(
    spec: Spec, keys: jax.Array, state: State, level: Level, policy: Policy | None
) -> tuple[State, jax.Array]:
    """Every board to the end of its attempt. keys: of the attempts, uint32[2, B]. Also: `RESULTS`."""
    level = with_boards_axis(level)
    terrain = survey(spec, level)
    choose = at_random if policy is None else by_policy(spec, policy, level)
    beats = functools.partial(rollout_beat, terrain, keys, choose)

    def some_beats(play: Play) -> Play:
        return lax.scan(lambda p, _: (beats(p), None), play, None, length=BEATS_PER_LOOK)[0]

    play = rest(Board.of(spec, state.planes), state.books)
    play = lax.while_loop(lambda p: jnp.any(goes_on(p)), some_beats, play)
    return state_of(play), _results(play, terrain)


def goes_on(play: Play) -> jax.Array:
    """Boards whose attempt is not over; bool[B]."""
    return in_turn(play) | (play.books.outcome == PLAYING)


class Queue(NamedTuple):
    """Attempts on a few lanes: a lane whose attempt is over takes the next one.

    play, terrain, keys: of the lanes' attempts
    attempt: number of each lane's attempt, int32[lanes]; `waiting` or beyond: none
    next: number of the first attempt that no lane has taken; done: how many are in the results
    results: int32[len(RESULTS), attempts]
    """

    play: Play
    terrain: Terrain
    keys: jax.Array
    attempt: jax.Array
    next: jax.Array
    done: jax.Array
    results: jax.Array


RESULTS = ("outcome", "reason", "score", "made", "moves", "waves", "goals_left")
"""What is kept of an attempt."""


def many_attempts(
    spec: Spec, lanes: int, policy: Policy | None, first: jax.Array | int, keys: jax.Array, state: State | None, level: Level
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
    choose = at_random if policy is None else by_policy(spec, policy, level)

    def some_beats(queue: Queue) -> Queue:
        step = functools.partial(rollout_beat, queue.terrain, queue.keys, choose)
        play = lax.scan(lambda p, _: (step(p), None), queue.play, None, length=BEATS_PER_LOOK)[0]
        queue = queue._replace(play=play)
        idle = (queue.attempt < attempts) & ~goes_on(play)
        left = jnp.sum(queue.attempt < attempts) - jnp.sum(idle)
        enough = (jnp.sum(idle) * LEAST_SHARE >= lanes) | (left == 0)
        return lax.cond(enough, lambda q: _take_next(q, idle, keys, begin), lambda q: q, queue)

    def begin(n: jax.Array) -> tuple[Play, Terrain, jax.Array]:
        boards = jax.tree.map(lambda x: _board(x, n if fresh else n + first), state)
        terrains = jax.tree.map(lambda x: _pick(x, n + first), terrain)
        return rest(Board.of(spec, boards.planes), boards.books), terrains, _board(keys, n)

    attempt = jnp.minimum(jnp.arange(lanes, dtype=jnp.int32), attempts)
    queue = Queue(
        *begin(attempt), attempt=attempt, next=jnp.int32(min(lanes, attempts)), done=jnp.int32(0),
        results=jnp.zeros((len(RESULTS), attempts), jnp.int32),
    )  # fmt: skip
    return lax.while_loop(lambda q: q.done < attempts, some_beats, queue).results


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
    queue: Queue, idle: jax.Array, keys: jax.Array, begin: Callable[[jax.Array], tuple[Play, Terrain, jax.Array]]
) -> Queue:
    """Enter the results of the idle lanes and give them their next attempts."""
    attempts = keys.shape[1]
    place = jnp.where(idle, queue.attempt, attempts)
    results = queue.results.at[:, place].set(_results(queue.play, queue.terrain), mode="drop")
    attempt = jnp.where(idle, queue.next + jnp.cumsum(idle) - 1, queue.attempt).astype(jnp.int32)
    number = jnp.sum(idle, dtype=jnp.int32)
    takes = idle & (attempt < attempts)

    def mixed(new: jax.Array, old: jax.Array) -> jax.Array:
        return jnp.where(takes, new, old) if old.shape[-1:] == takes.shape else old

    begun = jax.tree.map(mixed, begin(attempt), (queue.play, queue.terrain, queue.keys))
    return Queue(
        *begun,
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


def _results(play: Play, terrain: Terrain) -> jax.Array:
    books = play.books
    values = {name: getattr(books, name) for name in RESULTS[:-1]}
    values["moves"] = jnp.where(terrain.time >= 0, -1, books.moves)
    return jnp.stack([*values.values(), goals_left(play.board, books, terrain)])


def goals_left(board: Board, books: Books, terrain: Terrain) -> jax.Array:
    """Units still missing of all goals but the score, a layer of jelly being one; int32[B]."""
    jelly = count(board.plane("jelly1")) + count(board.plane("jelly2"))
    return books.cherry + books.hazelnut + books.orders.sum(0) + jnp.where(terrain.goals.jelly != 0, jelly, 0)
