"""What moves bring on the real simulator: sampled futures of each, played one after the other on a lane of their own.

A lane holds one board. It makes a move, plays its turn to the end, enters what that brought, takes the board from where
it was, and makes the next move: no lane waits for another's cascade, and nothing but the sums ever leaves the kernel.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

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

UNITS = 1 << 20
"""Units of a whole level's progress: sums of whole numbers do not depend on their order."""

WORTHS = ("score", "progress")


class Trying(NamedTuple):
    """Lanes under way. item: number of the future that is played, -1 before the first; sums: int32[C, S]."""

    play: Play
    item: jax.Array
    sums: jax.Array


class Table(NamedTuple):
    """What lanes play, S of them.

    actions: the moves tried, int32[C, S], -1 from where there are no more; number: of moves, int32[S]
    first: the number of the first future of each move, int32[S]; samples: how many of each, int32[S]
    """

    actions: jax.Array
    number: jax.Array
    first: jax.Array
    samples: jax.Array


def sums_of(
    spec: Spec, worth: str, bits: jax.Array, state: State, level: Level, actions: jax.Array, first: int, samples: int
) -> jax.Array:
    """What futures of moves bring together, int32[C, B]: points, or `UNITS` of progress.

    Args:
        bits: words of the players' keys, uint32[2, B]; future n of move a is drawn from fold(fold(key, n), a).
        actions: the moves, int32[C, B]; -1 from where there are no more.
        first, samples: futures first to first + samples - 1 of each move.
    """
    level = with_boards_axis(level)
    splits = _splits(actions.shape[1], samples)
    share = -(-samples // splits)

    def lanes(x: jax.Array) -> jax.Array:
        return x if splits == 1 else jnp.concatenate([x] * splits, axis=-1)

    starts = jnp.repeat(jnp.arange(splits, dtype=jnp.int32) * share, actions.shape[1])
    table = Table(
        actions=lanes(actions),
        number=lanes(jnp.sum(actions >= 0, axis=0).astype(jnp.int32)),
        first=first + starts,
        samples=jnp.clip(samples - starts, 0, share),
    )
    state, bits = jax.tree.map(lanes, (state, bits))
    level = jax.tree.map(lambda x: x if x.shape[-1] == 1 else lanes(x), level)
    found = in_chunks_by_parts(spec, functools.partial(_to_the_end, spec, worth))(
        survey(spec, level), bits, state, level, table
    )
    return found.reshape(actions.shape[0], splits, -1).sum(axis=1)


FEWEST_LANES = 256
"""Fewer boards than these have their futures played on several lanes each: kernels want whole vectors."""


def _splits(boards: int, samples: int) -> int:
    return max(1, min(samples, FEWEST_LANES // boards))


def _to_the_end(
    spec: Spec, worth: str, part: Part, terrain: Terrain, bits: jax.Array, state: State, level: Level, table: Table
) -> jax.Array:
    """The sums of all futures of a chunk's lanes."""
    before = _value(spec, worth, state, level)

    def one(
        terrain: Terrain, bits: jax.Array, state: State, level: Level, table: Table, before: jax.Array, now: Trying
    ) -> Trying:
        return _beat(spec, worth, terrain, bits, state, level, table, before, now)

    step = part(one)
    play = rest(Board.of(spec, state.planes), state.books)
    start = Trying(play, jnp.full_like(table.number, -1), jnp.zeros_like(table.actions))
    return lax.while_loop(
        lambda now: jnp.any(now.item < table.number * table.samples),
        lambda now: step(terrain, bits, state, level, table, before, now),
        start,
    ).sums


def _beat(
    spec: Spec,
    worth: str,
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
    over = (play.stage == OVER) | (now.item < 0)
    rows = lax.broadcasted_iota(jnp.int32, table.actions.shape, 0)
    gained = _value(spec, worth, state_of(play), level) - before
    mine = rows == now.item // jnp.maximum(table.samples, 1)
    sums = now.sums + jnp.where(mine & over & (now.item >= 0), gained, 0)
    item = now.item + over
    row, sample = item // jnp.maximum(table.samples, 1), item % jnp.maximum(table.samples, 1)
    action = jnp.max(jnp.where(rows == row, table.actions, -1), axis=0)
    begins = over & (action >= 0) & (item < table.number * table.samples)
    fresh = rest(Board.of(spec, state.planes), state.books)
    play = jax.tree.map(lambda new, old: jnp.where(over, new, old), fresh, play).awake()
    wanted = from_action(spec, jnp.where(begins, action, -1))
    own = randomness.fold(randomness.fold(bits, table.first + sample), action)
    play = begin(terrain, play, play.board.fence(Moves(*wanted)), own)
    return Trying(beat(terrain, play), item, sums)


def _value(spec: Spec, worth: str, state: State, level: Level) -> jax.Array:
    """What a position has brought so far: int32[S]."""
    if worth == "score":
        return state.books.score
    done = progress(spec, state, level)
    return jnp.round(UNITS * (done + (done >= 1.0))).astype(jnp.int32)
