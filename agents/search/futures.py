"""What moves bring on the real simulator: sampled futures of each, played one after the other on a lane of their own.

A lane holds one board. It makes a move, plays its turn to the end, enters what that brought, takes the board from where
it was, and makes the next move: no lane waits for another's cascade, and nothing but the results ever leaves the
kernel. Futures that go beyond the move's own turn are played in `agents.search.deeper`.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from crush_gym import Level, State
from crush_gym.runtime import (
    OVER,
    Board,
    Moves,
    Part,
    Play,
    Spec,
    Terrain,
    beat,
    begin,
    from_action,
    in_chunks_by_parts,
    progress,
    randomness,
    rest,
    state_of,
    survey,
    with_boards_axis,
)

WORTHS = ("score", "progress")

LARGEST = {"score": 1 << 20, "progress": 4}
"""What a future brings at most, about, so that sums do not run over."""


@dataclass(frozen=True)
class Measure:
    """What counts in a future. grains: to a point, or to a level's whole progress: sums of whole numbers do not depend
    on their order."""

    worth: str
    grains: int = 1

    @classmethod
    def of(cls, worth: str, futures: int, fractions: bool = False) -> Measure:
        """For sums of so many futures. fractions: whether there is less than a point to be counted.

        Few measures serve all numbers, for programs are compiled for each.
        """
        room = 30 - LARGEST[worth].bit_length() + 1 - 4 * math.ceil(math.log2(futures) / 4)
        if worth == "score":
            return cls(worth, 2 ** min(max(room, 0), 8) if fractions else 1)
        return cls(worth, 2 ** min(room, 20))

    def value(self, spec: Spec, state: State, level: Level) -> jax.Array:
        """What positions have brought so far, in grains: int32[S]."""
        if self.worth == "score":
            return self.grains * state.books.score
        done = progress(spec, state, level)
        return jnp.round(self.grains * (done + (done >= 1.0))).astype(jnp.int32)


class Place(NamedTuple):
    """Which future each lane plays: the row of its move, and its number among that move's, int32[S]; -1: none yet.

    It is counted on, for the processor divides whole numbers one by one.
    """

    row: jax.Array
    sample: jax.Array

    @property
    def begun(self) -> jax.Array:
        """Lanes that have a future already, bool[S]."""
        return self.sample >= 0


class Table(NamedTuple):
    """What lanes play, S of them.

    actions: the moves tried, int32[C, S], -1 from where there are no more
    number: of the moves that the lane plays, int32[S]; first, samples: futures `first` to `first + samples - 1` of each
    """

    actions: jax.Array
    number: jax.Array
    first: jax.Array
    samples: jax.Array

    def start(self) -> Place:
        """Before the first future."""
        return Place(jnp.zeros_like(self.number), jnp.full_like(self.number, -1))

    def left(self, place: Place) -> jax.Array:
        """Lanes that are not through, bool[S]."""
        return place.row < self.number

    def after(self, place: Place, over: jax.Array) -> Place:
        """The next future of the lanes whose future is over."""
        over = over & self.left(place)
        sample = place.sample + over
        last = sample >= self.samples
        return Place(place.row + (over & last), jnp.where(last, 0, sample))

    def future(self, bits: jax.Array, place: Place, begins: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The moves to try, int32[S], -1 where none begins; and words of the futures' keys, uint32[2, S]."""
        rows = lax.broadcasted_iota(jnp.int32, self.actions.shape, 0)
        action = jnp.max(jnp.where(rows == place.row, self.actions, -1), axis=0)
        own = key_of_future(bits, self.first + place.sample, action)
        return jnp.where(begins & self.left(place), action, -1), own


class Span(NamedTuple):
    """Futures `first` to `first + samples - 1` of each move, which are data, int32[]; most: at most so many of them."""

    first: Any
    samples: Any
    most: int


def key_of_future(bits: jax.Array, sample: jax.Array, action: jax.Array) -> jax.Array:
    """Words of the key that decides a future's first turn, from those of the player's key: uint32[2, S]."""
    return randomness.fold(randomness.fold(bits, sample), action)


def sums_of(
    spec: Spec,
    measure: Measure,
    bits: jax.Array,
    state: State,
    level: Level,
    actions: jax.Array,
    span: Span,
) -> jax.Array:
    """What the turns of moves bring together, in grains: int32[C, B].

    Args:
        bits: words of the players' keys, uint32[2, B]; see `key_of_future`.
        actions: the moves, int32[C, B]; -1 from where there are no more.
        span: which of their futures.
    """
    level = with_boards_axis(level)
    split = Split.of(actions.shape[1], span.most)
    bits, state, actions = jax.tree.map(split.lanes, (bits, state, actions))
    level = jax.tree.map(split.lanes_of_level, level)
    played = functools.partial(_to_the_end, spec, measure)
    table = split.table(actions, span)
    return split.joined(in_chunks_by_parts(spec, played)(survey(spec, level), bits, state, level, table))


FEWEST_LANES = 256
"""Fewer boards than these have their futures played on several lanes each: kernels want whole vectors."""


class Split(NamedTuple):
    """How the futures of each board are shared out among lanes. number: of lanes for each board."""

    boards: int
    number: int

    @classmethod
    def of(cls, boards: int, most: int) -> Split:
        """For so many boards, and at most so many futures of each move."""
        return cls(boards, max(1, min(most, FEWEST_LANES // boards)))

    def lanes(self, x: jax.Array) -> jax.Array:
        """What each board has, on all its lanes."""
        return x if self.number == 1 else jnp.concatenate([x] * self.number, axis=-1)

    def lanes_of_level(self, x: jax.Array) -> jax.Array:
        """The same of a level, which all boards may share."""
        return x if x.shape[-1] == 1 else self.lanes(x)

    def table(self, actions: jax.Array, span: Span) -> Table:
        """What the lanes play. actions: int32[C, S]."""
        share = -(-span.samples // self.number)
        starts = jnp.repeat(jnp.arange(self.number, dtype=jnp.int32), self.boards) * share
        return Table(
            actions=actions,
            number=jnp.where(span.samples > starts, jnp.sum(actions >= 0, axis=0), 0).astype(jnp.int32),
            first=span.first + starts,
            samples=jnp.clip(span.samples - starts, 0, share),
        )

    def joined(self, sums: jax.Array) -> jax.Array:
        """The sums of the boards, int32[C, B], from those of the lanes."""
        return sums.reshape(sums.shape[0], self.number, -1).sum(axis=1)


class Trying(NamedTuple):
    """Lanes under way. sums: int32[C, S]."""

    play: Play
    place: Place
    sums: jax.Array


def _to_the_end(
    spec: Spec,
    measure: Measure,
    part: Part,
    terrain: Terrain,
    bits: jax.Array,
    state: State,
    level: Level,
    table: Table,
) -> jax.Array:
    """The sums of all futures of a chunk's lanes."""
    before = measure.value(spec, state, level)

    def one(
        terrain: Terrain, bits: jax.Array, state: State, level: Level, table: Table, before: jax.Array, now: Trying
    ) -> Trying:
        return _beat(spec, measure, terrain, bits, state, level, table, before, now)

    step = part(one)
    play = rest(Board.of(spec, state.planes), state.books)
    start = Trying(play, table.start(), jnp.zeros_like(table.actions))
    return lax.while_loop(
        lambda now: jnp.any(table.left(now.place)),
        lambda now: step(terrain, bits, state, level, table, before, now),
        start,
    ).sums


def _beat(
    spec: Spec,
    measure: Measure,
    terrain: Terrain,
    bits: jax.Array,
    state: State,
    level: Level,
    table: Table,
    before: jax.Array,
    now: Trying,
) -> Trying:
    """Enter the futures that are over, begin the next ones, and play a beat of all."""
    play = now.play
    over = (play.stage == OVER) | ~now.place.begun
    gained = measure.value(spec, state_of(play), level) - before
    rows = lax.broadcasted_iota(jnp.int32, table.actions.shape, 0)
    sums = now.sums + jnp.where((rows == now.place.row) & over & now.place.begun, gained, 0)
    place = table.after(now.place, over)
    action, own = table.future(bits, place, over)
    fresh = rest(Board.of(spec, state.planes), state.books)
    play = jax.tree.map(lambda new, old: jnp.where(over, new, old), fresh, play).awake()
    wanted = from_action(spec, action)
    play = begin(terrain, play, play.board.fence(Moves(*wanted)), own)
    return Trying(beat(terrain, play), place, sums)
