"""Futures beyond a move's own turn: moves of a cheap player after it, and what is to come after those.

As in `agents.search.futures`, a lane plays one future after the other, each from the board where it was. Here a turn is
played to its very end, with shuffles where nothing can be moved, for the next move, or a player's judgement of the
position, follows. Players are asked for many lanes at once; lanes that are at rest wait for that.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from agents.search.futures import Measure, Place, Span, Split, Table
from crush_gym import Level, State
from crush_gym.keys import of_words
from crush_gym.policies import Memory, Start, Value
from crush_gym.runtime import (
    PLAYING,
    RESTING,
    Board,
    Mind,
    Moves,
    Part,
    Play,
    Player,
    Spec,
    Terrain,
    at_random,
    at_rest,
    by_player,
    from_action,
    in_chunks,
    in_chunks_by_parts,
    in_turn,
    move_on,
    repeated,
    rest,
    shuffle_all,
    sizes,
    state_of,
    survey,
    with_boards_axis,
)


class Judge(NamedTuple):
    """The functions of a player that knows what positions are worth; see `crush_gym.policies.Policy`."""

    start: Start
    value: Value


@dataclass(frozen=True)
class Future:
    """What futures are made of, for which programs are compiled.

    measure: what counts; depth: moves after the one that is tried
    then: who makes them, None: the random player; judge: who says what is to be expected after them, None: nobody
    each: whether every future's result is wanted, else the sums of each move's
    """

    measure: Measure
    depth: int = 0
    then: Player | None = None
    judge: Judge | None = None
    each: bool = False


class Knobs(NamedTuple):
    """What is data of futures. discount: of a move, float32[]; then, judge: parameters of the players."""

    discount: Any
    then: Any = ()
    judge: Any = ()


class Lanes(NamedTuple):
    """Lanes under way, S of them.

    place: which future is played; own: words of its key, uint32[2, S]
    found: grains that its moves have brought, discounted, float32[S]; known: `Measure.value` after the last of them
    results: int32[C, S], or int32[futures, S] where each is wanted
    """

    play: Play
    place: Place
    own: jax.Array
    found: jax.Array
    known: jax.Array
    results: jax.Array


class Roots(NamedTuple):
    """Where all futures of the lanes begin. knobs: shared; bits: words of the players' keys, uint32[2, S]."""

    knobs: Knobs
    bits: jax.Array
    state: State
    level: Level
    table: Table


def sums_of(
    spec: Spec,
    future: Future,
    knobs: Knobs,
    bits: jax.Array,
    state: State,
    level: Level,
    actions: jax.Array,
    span: Span,
) -> jax.Array:
    """What futures of moves bring together, in grains: int32[C, B]; see `agents.search.futures.sums_of`.

    The turn of the move that is tried has the key `futures.key_of_future`; after it, move m of the attempt has this key
    with m folded in, and players the player's keys of those.
    """
    split = Split.of(actions.shape[1], span.most)
    bits, state, actions = jax.tree.map(split.lanes, (bits, state, actions))
    level = jax.tree.map(split.lanes_of_level, with_boards_axis(level))
    roots = Roots(knobs, bits, state, level, split.table(actions, span))
    return split.joined(played(spec, future, roots, actions.shape[0]))


def results_of(
    spec: Spec,
    future: Future,
    knobs: Knobs,
    bits: jax.Array,
    state: State,
    level: Level,
    action: jax.Array,
    samples: int,
) -> jax.Array:
    """What each of the first futures of one move a lane brings, in grains: int32[samples, S].

    action: the moves, int32[S]; -1: none, and zeros
    """
    table = Table(action[None], (action >= 0).astype(jnp.int32), jnp.zeros_like(action), jnp.full_like(action, samples))
    return played(spec, future, Roots(knobs, bits, state, with_boards_axis(level), table), samples)


def played(spec: Spec, future: Future, roots: Roots, rows: int) -> jax.Array:
    """All futures of the lanes, until the last is over: int32[rows, S]."""
    terrain, table = survey(spec, roots.level), roots.table
    look = functools.partial(_asking if future.then or future.judge else _by_chance, spec, future, terrain, roots)
    play = rest(Board.of(spec, roots.state.planes), roots.state.books)
    start = Lanes(
        play=play,
        place=table.start(),
        own=roots.bits,
        found=jnp.zeros(table.number.shape, jnp.float32),
        known=future.measure.value(spec, roots.state, roots.level),
        results=jnp.zeros((rows, *table.number.shape), jnp.int32),
    )

    def looked(lanes: Lanes) -> Lanes:
        lanes = look(lanes)
        return lanes._replace(play=shuffle_all(terrain, lanes.play))

    return lax.while_loop(lambda lanes: jnp.any(table.left(lanes.place)), looked, start).results


# ------------------------------------------------------------------ nobody is asked: all in one kernel


def _by_chance(spec: Spec, future: Future, terrain: Terrain, roots: Roots, lanes: Lanes) -> Lanes:
    return in_chunks_by_parts(spec, functools.partial(_beats_by_chance, spec, future))(terrain, _lastly(roots), lanes)


def _beats_by_chance(spec: Spec, future: Future, part: Part, terrain: Terrain, roots: Roots, lanes: Lanes) -> Lanes:
    def one(terrain: Terrain, roots: Roots, lanes: Lanes) -> Lanes:
        lanes, moves, bits, over = _landed(spec, future, terrain, roots, lanes)
        lanes, tried = _entered(spec, future, roots, lanes, over, jnp.float32(0))
        return _moved(terrain, lanes, moves, tried, bits)

    return repeated(sizes.BEATS_PER_LOOK, functools.partial(part(one), terrain, roots), lanes)


def _lastly(roots: Roots) -> Roots:
    """With knobs that have a boards' axis, as everything has that goes into a kernel."""
    return roots._replace(knobs=Knobs(jnp.reshape(roots.knobs.discount, 1)))


# ------------------------------------------------------------------ players are asked, for many lanes at once


def _asking(spec: Spec, future: Future, terrain: Terrain, roots: Roots, lanes: Lanes) -> Lanes:
    landed, mind = in_chunks(functools.partial(_landed, spec, future)), None
    if future.then is not None:
        choose = by_player(spec, future.then, roots.knobs.then, roots.level)
        mind = Mind(_no_memory(future.then.start, roots.knobs.then, roots), jnp.zeros_like(roots.table.number))

    def one(lanes: Lanes) -> Lanes:
        lanes, moves, bits, over = landed(terrain, _lastly(roots), lanes)
        lanes, tried = _judged(spec, future, roots, lanes, over)
        if mind is not None:
            moves, _ = choose(lanes.play, moves, bits, mind)
        return in_chunks(_moved)(terrain, lanes, moves, tried, bits)

    return repeated(sizes.BEATS_PER_SERVICE, one, lanes)


def _no_memory(start: Start, params: Any, roots: Roots) -> Memory:
    """What a player remembers at the start, which must be nothing: every future is another attempt."""
    memory = start(params, of_words(roots.bits), roots.state, roots.level)
    if jax.tree.leaves(memory):
        raise ValueError("a player that remembers something cannot play in futures, nor judge them: name one without")
    return memory


def _judged(spec: Spec, future: Future, roots: Roots, lanes: Lanes, over: jax.Array) -> tuple[Lanes, jax.Array]:
    """Enter the futures that are over: at once, or when enough of them are, so that the player is asked seldom."""
    judge, params = future.judge, roots.knobs.judge
    if judge is None:
        return _entered(spec, future, roots, lanes, over, jnp.float32(0))
    memory = _no_memory(judge.start, params, roots)

    def ask(lanes: Lanes) -> tuple[Lanes, jax.Array]:
        state = state_of(lanes.play)
        worth = judge.value(params, memory, state, roots.level)
        made = lanes.play.books.made - roots.state.books.made
        going = state.books.outcome == PLAYING
        more = jnp.where(going, worth * _power(roots.knobs.discount, made), 0.0)
        return _entered(spec, future, roots, lanes, over, future.measure.grains * more)

    def wait(lanes: Lanes) -> tuple[Lanes, jax.Array]:
        return lanes, jnp.full_like(roots.table.number, -1)

    ready = jnp.sum(over & roots.table.left(lanes.place))
    enough = (ready > 0) & (ready >= sizes.WAITING_PER_BUSY * jnp.sum(in_turn(lanes.play)))
    return lax.cond(enough, ask, wait, lanes)


# ------------------------------------------------------------------ a beat of all lanes


def _landed(
    spec: Spec, future: Future, terrain: Terrain, roots: Roots, lanes: Lanes
) -> tuple[Lanes, Moves, jax.Array, jax.Array]:
    """End turns, and count what they brought.

    Also: the moves that the futures' player may make, or which the random one makes; the words of these moves' keys;
    and the lanes whose futures are over, which includes those that have none yet.
    """
    play, moves, bits = at_rest(terrain, lanes.own, lanes.play)
    made, still = play.books.made - roots.state.books.made, play.stage == RESTING
    known = jnp.where(still, future.measure.value(spec, state_of(play), roots.level), lanes.known)
    gained = (known - lanes.known).astype(jnp.float32)
    if future.depth > 0:
        gained = gained * _power(roots.knobs.discount, made - 1)
    over = still & (~lanes.place.begun | (made > future.depth) | (play.books.outcome != PLAYING))
    free = jnp.where(over, jnp.uint16(0), jnp.uint16(0xFFFF))
    moves = play.board.fence(Moves(moves.across & free, moves.down & free))
    if future.then is None:
        moves = at_random(play, moves, bits)
    return lanes._replace(play=play, known=known, found=lanes.found + gained), moves, bits, over


def _power(discount: jax.Array, exponent: jax.Array) -> jax.Array:
    """What is left of a point after so many moves: float32[S]; 0 to the power of 0 is 1."""
    return jnp.where(exponent <= 0, 1.0, jnp.asarray(discount, jnp.float32) ** jnp.maximum(exponent, 1))


def _entered(
    spec: Spec, future: Future, roots: Roots, lanes: Lanes, over: jax.Array, more: jax.Array
) -> tuple[Lanes, jax.Array]:
    """Enter the futures that are over, and put the boards back for the next ones.

    more: grains that are still expected there, float32[S]. Also: the moves to try there now, int32[S]; -1: none.
    """
    table, state = roots.table, roots.state
    row = lanes.place.sample if future.each else lanes.place.row
    rows = lax.broadcasted_iota(jnp.int32, lanes.results.shape, 0)
    ends = over & lanes.place.begun & table.left(lanes.place)
    brought = jnp.round(lanes.found + more).astype(jnp.int32)
    results = lanes.results + jnp.where((rows == row) & ends, brought, 0)
    place = table.after(lanes.place, over)
    action, own = table.future(roots.bits, place, over)
    fresh = rest(Board.of(spec, state.planes), state.books)
    before = future.measure.value(spec, state, roots.level)

    def chosen(new: Any, old: Any) -> Any:
        return jax.tree.map(lambda n, o: jnp.where(over, n, o), new, old)

    lanes = Lanes(
        play=chosen(fresh, lanes.play),
        place=place,
        own=chosen(own, lanes.own),
        found=jnp.where(over, 0.0, lanes.found),
        known=chosen(before, lanes.known),
        results=results,
    )
    return lanes, action


def _moved(terrain: Terrain, lanes: Lanes, chosen: Moves, tried: jax.Array, bits: jax.Array) -> Lanes:
    """Make the moves that are tried, and those of the futures' player, and play a beat."""
    play = lanes.play.awake()
    wanted = play.board.fence(from_action(play.spec, tried))
    moves = play.board.fence(Moves(wanted.across | chosen.across, wanted.down | chosen.down))
    return lanes._replace(play=move_on(terrain, play, moves, jnp.where(tried >= 0, lanes.own, bits)))
