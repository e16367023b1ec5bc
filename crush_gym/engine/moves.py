"""Moves: which swaps are legal, and the swap itself (rulebook 3).

A set of moves is a pair of planes: `across` holds the left cell of each horizontal pair, `down` the upper
cell of each vertical pair.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from crush_gym import layout
from crush_gym.engine import randomness
from crush_gym.engine.bits import Plane, Step, Word, any_of, first_cell, look, nth, occurs, rows_of, total, unpack
from crush_gym.engine.board import Board
from crush_gym.engine.runs import same_colour
from crush_gym.engine.spec import Spec


class Moves(NamedTuple):
    """Sets of moves: uint16[H, B] each."""

    across: Plane
    down: Plane

    @property
    def firsts(self) -> Plane:
        """Left and upper cells."""
        return self.across | self.down

    @property
    def seconds(self) -> Plane:
        """Right and lower cells."""
        return look(self.across, 0, -1) | look(self.down, -1, 0)


def legal_moves(board: Board) -> Moves:
    """All legal swaps, on every board, whether its attempt is over or not."""
    swappable = board.swappable
    across, down = _into_runs(board)
    if board.spec.has("striped"):
        combo_across, combo_down = _combos(board)
        across, down = across | combo_across, down | combo_down
    return Moves(
        swappable & look(swappable, 0, 1) & across,
        swappable & look(swappable, 1, 0) & down,
    )


class Reach(NamedTuple):
    """What candies would stand in, had they moved one step; planes uint16[H, B] that mark the candies' cells.

    one, one2, other, other2: the cells beside the new place, on one side and on the other, next and after next,
    hold the candy's colour; a second only where the first does. line: the two cells straight ahead hold it.
    """

    one: Plane
    one2: Plane
    other: Plane
    other2: Plane
    line: Plane

    @property
    def beside(self) -> Plane:
        """Candies that would stand in a run across their way."""
        return (self.one & self.other) | self.one2 | self.other2

    @property
    def runs(self) -> Plane:
        return self.line | self.beside


def sides(step: Step) -> tuple[Step, Step]:
    """The two directions across the way: of `one` and of `other` in a `Reach`."""
    return (step[1], step[0]), (-step[1], -step[0])


STEPS: tuple[Step, ...] = ((0, 1), (0, -1), (1, 0), (-1, 0))


def reaches(board: Board) -> tuple[dict[Step, Reach], dict[Step, Plane]]:
    """For each way to move, what it would bring; and which candies have the colour of a neighbour.

    `beside[r, c]`: the candy has the colour of the one r rows down and c columns right.
    """
    colours, there = board.colours, board.matchable
    beside = board.fence(
        {(r, c): same_colour(colours, there, r, c) for r, c in ((0, 1), (1, 0), (0, 2), (2, 0), (1, 1), (1, -1))}
    )
    for r, c in list(beside):
        beside[-r, -c] = look(beside[r, c], -r, -c)

    def pair(r: int, c: int, step: Step) -> Plane:
        """Whether the candies at (r, c) and one step further have one colour, seen from here."""
        return look(beside[step], r, c)

    def reach(step: Step) -> Reach:
        r, c = step
        side, back = sides(step)
        one, other = (r + side[0], c + side[1]), (r + back[0], c + back[1])
        return Reach(
            one=beside[one],
            one2=beside[one] & pair(*one, side),
            other=beside[other],
            other2=beside[other] & pair(*other, back),
            line=beside[2 * r, 2 * c] & pair(2 * r, 2 * c, step),
        )

    return {step: reach(step) for step in STEPS}, beside


def _into_runs(board: Board) -> Moves:
    """Pairs of which one candy would stand in a run (legal 1). Two candies of one colour only change places."""
    found, beside = reaches(board)
    free = board.free_items
    across = (free & found[0, 1].runs) | look(free & found[0, -1].runs, 0, 1)
    down = (free & found[1, 0].runs) | look(board.fence(free & found[-1, 0].runs), 1, 0)
    return Moves(across & ~beside[0, 1], down & ~beside[1, 0])


def _combos(board: Board) -> Moves:
    """Two specials; a colour bomb and a candy or another (legal 2 and 3)."""
    bomb, special = board.other(layout.COLOUR_BOMB), board.special
    partner = bomb | board.candies

    def pair(r: int, c: int) -> Plane:
        return any_of([special & look(special, r, c), bomb & look(partner, r, c), partner & look(bomb, r, c)])

    return Moves(pair(0, 1), pair(1, 0))


def number(moves: Moves) -> jax.Array:
    """How many moves there are; uint16[B]."""
    return total(lax.population_count(row) for row in [*rows_of(moves.across), *rows_of(moves.down)])


def random_move(board: Board, moves: Moves, bits: jax.Array) -> Moves:
    """One of the moves, uniformly, by the PICK draw of the move's key; none where there are none."""
    value = randomness.draw(bits, randomness.PICK, 0, 0)
    n = board.fence(randomness.below(value, number(moves)).astype(Word))
    both = nth(jnp.concatenate(moves), n, board.fence)
    return board.fence(Moves(both[: board.spec.height], both[board.spec.height :]))


def from_action(spec: Spec, action: jax.Array) -> Moves:
    """The move with this number; none for a number that is no action. action: int32[B]."""
    horizontal = spec.height * (spec.width - 1)
    rows = lax.broadcasted_iota(jnp.int32, (spec.height, 1), 0)

    def plane(number: jax.Array, width: int, fits: jax.Array) -> Plane:
        row, column = number // max(width, 1), number % max(width, 1)
        bit = jnp.left_shift(1, column).astype(Word)
        return jnp.where(fits & (rows == row), bit, Word(0))

    is_across = (action >= 0) & (action < horizontal)
    is_down = (action >= horizontal) & (action < spec.actions)
    return Moves(plane(action, spec.width - 1, is_across), plane(action - horizontal, spec.width, is_down))


def to_action(spec: Spec, move: Moves) -> jax.Array:
    """The number of the one move of each board, -1 where there is none; int32[B]. The inverse of `from_action`."""

    def number(plane: Plane, width: int, first: int) -> jax.Array:
        cell = first_cell(plane)[1].astype(jnp.int32)
        return first + cell // 16 * width + cell % 16

    across, down = number(move.across, spec.width - 1, 0), number(move.down, spec.width, spec.height * (spec.width - 1))
    return jnp.where(occurs(move.across) != 0, across, jnp.where(occurs(move.down) != 0, down, -1))


def to_mask(spec: Spec, moves: Moves) -> jax.Array:
    """The moves by action number: bool[actions, B]."""
    height, width = spec.height, spec.width
    across, down = unpack(width - 1, moves.across), unpack(width, moves.down[: height - 1])
    return jnp.concatenate([x.reshape(-1, x.shape[-1]) for x in (across, down)]) != 0


def swap(items: Plane, moves: Moves) -> Plane:
    """The two items of each move change places. items: uint16[n, H, B]."""
    across_second, down_second = look(moves.across, 0, -1), look(moves.down, -1, 0)
    moved = any_of(
        [
            look(items, 0, 1) & moves.across,
            look(items, 0, -1) & across_second,
            look(items, 1, 0) & moves.down,
            look(items, -1, 0) & down_second,
        ]
    )
    return (items & ~any_of([moves.across, across_second, moves.down, down_second])) | moved
