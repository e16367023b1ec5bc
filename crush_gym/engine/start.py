"""The start of an attempt: `?` cells are filled, then the board settles and resolves (rulebook 8, last part)."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from crush_gym import layout
from crush_gym.engine import randomness
from crush_gym.engine.bits import ONES, Mask, Plane, Word, any_of, look, mask, occurs, total
from crush_gym.engine.board import Board, coloured
from crush_gym.engine.moves import legal_moves
from crush_gym.engine.runs import find_runs
from crush_gym.engine.spec import Spec
from crush_gym.engine.state import SETTLING, Books, Play, rest
from crush_gym.engine.terrain import Terrain
from crush_gym.levels import Level

MOST_TRIES = 500
"""Tries after which a board is left as it is: no board without runs, or none with a legal move, was found."""


class Filling(NamedTuple):
    """waiting: cells to be drawn, for the first time or again; tries: so far, uint16[B]; open: boards not done."""

    board: Board
    waiting: Plane
    tries: jax.Array
    open: Mask


def opening(spec: Spec, terrain: Terrain, level: Level, bits: jax.Array) -> Play:
    """Boards with their `?` cells filled, about to settle for the first time. bits: uint32[2, B]."""
    board = fill(spec, terrain, level, bits)
    boards = bits.shape[1:]
    play = rest(board, new_books(spec, terrain, boards))
    return play._replace(stage=jnp.full(boards, SETTLING, Word), bits=bits, starting=jnp.full(boards, ONES, Word))


def new_books(spec: Spec, terrain: Terrain, boards: tuple[int, ...]) -> Books:
    """The books of an attempt that has not begun."""

    def filled(value: jax.Array) -> jax.Array:
        return jnp.broadcast_to(value.astype(jnp.int32), (*value.shape[:-1], *boards))

    zero = jnp.zeros(boards, jnp.int32)
    none = jnp.zeros((spec.spawn_kinds, *boards), jnp.int32)
    goals = terrain.goals
    return Books(
        score=zero, moves=filled(terrain.moves), time=filled(terrain.time), made=zero, waves=zero,
        cherry=filled(goals.cherry), hazelnut=filled(goals.hazelnut), orders=filled(goals.orders),
        spawned=none, last_spawn=none - 1, drops=zero, bonus=zero, outcome=zero, reason=zero, shuffles=zero,
    )  # fmt: skip


def fill(spec: Spec, terrain: Terrain, level: Level, bits: jax.Array) -> Board:
    """Candies in all `?` cells, without runs wherever that can be and with a legal move where that can be.

    Every try draws colours for a third of the waiting cells, of which no two are close enough to disturb
    each other (every third cell of each row and column): uniformly among those that make no run, or among
    all where each makes one. Then what stands in a run waits again, and so does the whole of a board that
    is full but has no legal move.
    """
    boards = bits.shape[1:]
    unfilled = jnp.broadcast_to(level.unfilled[: spec.height], (spec.height, *boards))
    start = [jnp.broadcast_to(level.start[layout.PLANES.index(name)][: spec.height], unfilled.shape)
             for name in spec.planes]  # fmt: skip
    board = Board.of(spec, jnp.stack(start))
    filling = Filling(board, unfilled, jnp.zeros(boards, Word), occurs(unfilled))

    def go_on(filling: Filling) -> jax.Array:
        return jnp.any(filling.open != 0)

    def attempt(filling: Filling) -> Filling:
        return _attempt(terrain, unfilled, filling, bits)

    return lax.while_loop(go_on, attempt, filling).board


def _attempt(terrain: Terrain, unfilled: Plane, filling: Filling, bits: jax.Array) -> Filling:
    board, waiting, tries, still = filling
    board = board.awake()
    cells = waiting & _thirds(waiting, tries) & still
    board = _sown(terrain, board.with_items(_without_candy(board, cells)), cells, bits, tries)
    waiting = board.fence((waiting & ~cells) | (find_runs(board).cells & unfilled & still))
    tries = tries + (still & Word(1))
    full = still & ~occurs(waiting)
    moveless = full & ~occurs(board.fence(legal_moves(board).firsts))
    go_on = ~mask(tries >= MOST_TRIES)
    return Filling(board, waiting | (unfilled & moveless), tries, still & (~full | moveless) & go_on)


def _thirds(cells: Plane, tries: jax.Array) -> Plane:
    """Every third cell of each row and column, which third being the number of the try modulo 3."""
    rows = lax.broadcasted_iota(jnp.int32, cells.shape, 0)
    phase = (rows + tries.astype(jnp.int32)) % 3
    return jnp.where(phase == 0, Word(0x9249), jnp.where(phase == 1, Word(0x2492), Word(0x4924)))


def _sown(terrain: Terrain, board: Board, cells: Plane, bits: jax.Array, tries: jax.Array) -> Board:
    """The board with colours drawn for the cells, which have none. Tags there stay."""
    spec = board.spec
    columns = lax.broadcasted_iota(Word, (1, spec.width, 1), 1)
    known = [mask(code <= terrain.colours) for code in range(1, spec.colours + 1)]
    fits = jnp.stack([_makes_no_run(board, code) & ok for code, ok in enumerate(known, start=1)])
    none = ~any_of(list(fits))
    allowed = board.fence(jnp.stack([fit | none & ok for fit, ok in zip(fits, known, strict=True)]))
    may = allowed[:, :, None] >> columns & Word(1)  # [colours, H, W, B]
    numbers = lax.broadcasted_iota(jnp.uint32, (spec.height, spec.width, 1), 0) * 16 + columns
    value = randomness.draw(bits, randomness.FILL, numbers, tries)
    index = randomness.below(value, total(list(may))).astype(Word)
    colour, seen = jnp.zeros_like(index), jnp.zeros_like(index)
    for code, one in enumerate(may, start=1):
        colour = jnp.where((one != 0) & (seen == index), Word(code), colour)
        seen = seen + one
    colour = board.fence(colour)
    planes = [
        any_of((colour[:, c] >> Word(i) & Word(1)) << Word(c) for c in range(spec.width)) & cells for i in range(3)
    ]
    named = dict(zip(layout.COLOUR, board.fence(planes), strict=True))
    items = board.fence(board.with_moving({name: board.plane(name) | plane for name, plane in named.items()}).items)
    return board.with_items(items)


def _makes_no_run(board: Board, code: int) -> Plane:
    """Cells in which a candy of this colour would not stand in a run."""
    here = coloured(board.colours, code) & board.matchable
    lines = []
    for step in ((0, 1), (1, 0)):
        back2, back1, ahead1, ahead2 = (look(here, step[0] * n, step[1] * n) for n in (-2, -1, 1, 2))
        lines.append((back1 & (back2 | ahead1)) | (ahead1 & ahead2))
    return ~any_of(lines) | board.plane("marmalade")


def _without_candy(board: Board, cells: Plane) -> Plane:
    """The items with no colour in these cells; a tag stays for the candy to come."""
    n = len(layout.COLOUR)
    return jnp.concatenate([board.items[:n] & ~cells, board.items[n:]])
