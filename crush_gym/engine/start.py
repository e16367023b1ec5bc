"""The start of an attempt: `?` cells are filled, then the board settles and resolves (rulebook 8, last part)."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from crush_gym import layout
from crush_gym.engine import draws
from crush_gym.engine.bits import ONES, Mask, Plane, Word, any_of, mask, occurs, square
from crush_gym.engine.board import Board
from crush_gym.engine.moves import legal_moves
from crush_gym.engine.runs import find_runs
from crush_gym.engine.spec import Spec
from crush_gym.engine.state import SETTLING, Books, Play, rest
from crush_gym.engine.terrain import Terrain
from crush_gym.levels import Level

CYCLE = 24
"""Tries after which the candies around cells that still found no colour are taken away again."""

MOST_TRIES = 40 * CYCLE
"""Tries after which what is left is filled without regard to runs: no board may have needed them."""


class Filling(NamedTuple):
    """waiting: `?` cells without a candy yet; tries: so far, uint16[B]; open: boards not done."""

    board: Board
    waiting: Plane
    tries: jax.Array
    open: Mask


def opening(spec: Spec, terrain: Terrain, level: Level, bits: jax.Array) -> Play:
    """Boards with their `?` cells filled, about to settle for the first time. bits: uint32[2, B]."""
    board = fill(spec, terrain, level, bits)
    boards = bits.shape[1:]
    play = rest(board, new_books(spec, terrain, boards))
    return play._replace(
        stage=jnp.full(boards, SETTLING, Word), bits=bits, starting=jnp.full(boards, ONES, Word)
    )


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
        spawned=none, last_spawn=none - 1, drops=zero, bonus=zero, outcome=zero, reason=zero,
    )  # fmt: skip


def fill(spec: Spec, terrain: Terrain, level: Level, bits: jax.Array) -> Board:
    """Candies in all `?` cells, without runs wherever that can be and with a legal move where that can be.

    Every try draws a colour for a third of the waiting cells, of which no two are close enough to disturb
    each other (every third cell of each row and column), and keeps those that make no run: so each colour
    is uniform among those that make none. A board without a legal move begins anew.
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
    board = board.fenced(tries.ravel()[0] < Word(0xFFFF))
    third = _thirds(waiting, tries) & still
    desperate = mask(tries >= MOST_TRIES)
    trial = board.fence(_sown(terrain, board, (third & waiting) | (waiting & desperate), bits, tries))
    in_runs = board.fence(find_runs(board.with_items(trial.items)).cells)
    placed = (third & waiting & ~in_runs) | (waiting & desperate)
    waiting = waiting & ~placed
    board = board.with_items((board.items & ~placed) | (trial.items & placed))
    full = still & ~occurs(waiting)
    tries = tries + (still & Word(1))
    moveless = full & ~occurs(board.fence(legal_moves(board).firsts)) & ~mask(tries >= MOST_TRIES)
    stuck = still & ~full & mask(tries % CYCLE == 0)
    again = (square(waiting, 2) & stuck | moveless) & unfilled
    board = board.with_items(_without_candy(board, again))
    return Filling(board, waiting | again, tries, still & ~(full & ~moveless))


def _thirds(cells: Plane, tries: jax.Array) -> Plane:
    """Every third cell of each row and column, which third being the number of the try modulo 3."""
    rows = lax.broadcasted_iota(jnp.int32, cells.shape, 0)
    phase = (rows + tries.astype(jnp.int32)) % 3
    return jnp.where(phase == 0, Word(0x9249), jnp.where(phase == 1, Word(0x2492), Word(0x4924)))


def _sown(terrain: Terrain, board: Board, cells: Plane, bits: jax.Array, tries: jax.Array) -> Board:
    """A colour for each of the cells, by the FILL draws of this try. Tags that wait there stay."""
    columns: list[list[Plane]] = [[], [], []]
    numbers = lax.broadcasted_iota(jnp.uint32, cells.shape, 0) * 16
    for c in range(board.spec.width):
        value = draws.draw(bits, draws.FILL, numbers + c, tries)
        colour = (draws.below(value, terrain.colours) + 1).astype(Word)
        for i in range(3):
            columns[i].append((colour >> Word(i) & Word(1)) << Word(c))
    names = dict(zip(layout.COLOUR, [any_of(column) & cells for column in columns], strict=True))
    return board.with_moving({name: board.plane(name) | plane for name, plane in names.items()})


def _without_candy(board: Board, cells: Plane) -> Plane:
    """The items with no colour in these cells; a tag stays for the candy to come."""
    n = len(layout.COLOUR)
    return jnp.concatenate([board.items[:n] & ~cells, board.items[n:]])

