"""What the runs of a swap are worth, from what the candies in them are worth: for all moves of a board at once."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import lax

from crush_gym.engine.bits import Plane, Step, Word, look
from crush_gym.engine.board import Board
from crush_gym.engine.moves import STEPS, Reach, reaches, sides
from crush_gym.move_values.sliced import Sliced, add, look_at, moved, times, total, where


class Worth(NamedTuple):
    """What a hit brings in each cell. place: for the cell's sake; item: for the sake of what stands in it."""

    place: Sliced
    item: Sliced


class Makes(NamedTuple):
    """What it is worth to make a special."""

    striped: int
    wrapped: int
    bomb: int


MARGIN = 3
"""Nothing further away than this is in a run of the candy that moves."""


def run_values(board: Board, worth: Worth, makes: Makes) -> Sliced:
    """For all swaps, legal or not: planes uint16[2, H, B], the right swaps and the downward ones of each cell."""
    found, _ = reaches(board)
    place, both = moved(worth.place, _padded), moved(add(worth.place, worth.item), _padded)
    place, both, item = board.fence((place, both, worth.item))
    ways = {step: _way(board, found[step], step, place, both, item, makes) for step in STEPS}
    ways = board.fence(ways)
    across = add(ways[0, 1], look_at(ways[0, -1], 0, 1))
    down = add(ways[1, 0], look_at(ways[-1, 0], 1, 0))
    return stacked(board, across, down)


def stacked(board: Board, across: Sliced, down: Sliced) -> Sliced:
    """The numbers of the right swaps and of the downward swaps as one number."""
    n = max(len(across), len(down))
    across, down = ((*number, *[None] * (n - len(number))) for number in (across, down))
    zero = board.nothing
    return tuple(
        None if a is None and d is None else jnp.stack([zero if a is None else a, zero if d is None else d])
        for a, d in zip(across, down, strict=True)
    )


def _way(board: Board, reach: Reach, step: Step, place: Sliced, both: Sliced, item: Sliced, makes: Makes) -> Sliced:
    """The runs that the candies of one end of a swap would come to stand in, by the cells that they come from."""
    (r, c), (side, back) = step, sides(step)
    beside = reach.beside
    members = (
        (beside & reach.one, (r + side[0], c + side[1])),
        (reach.one2, (r + 2 * side[0], c + 2 * side[1])),
        (beside & reach.other, (r + back[0], c + back[1])),
        (reach.other2, (r + 2 * back[0], c + 2 * back[1])),
        (reach.line, (2 * r, 2 * c)),
        (reach.line, (3 * r, 3 * c)),
    )
    hit = [where(cells, _at(both, *at)) for cells, at in members]
    own = where(reach.runs, add(_at(place, r, c), item))
    return total([*hit, own, *_made(board, reach, step, makes)])


def _made(board: Board, reach: Reach, step: Step, makes: Makes) -> list[Sliced]:
    """What the runs make (rulebook 4): every run of a swap holds the candy that moved, which is its seat."""
    if not board.spec.has("striped"):
        return []
    five = reach.one2 & reach.other2
    four = ((reach.one2 & reach.other) | (reach.one & reach.other2)) & ~five
    if board.spec.rules == "points":  # crossings do not matter there, and the line ahead is never longer than three
        return [times(four, makes.striped), times(five, makes.bomb)]
    crossing = reach.beside & reach.line
    found = [times(four & ~crossing, makes.striped), times(five, makes.bomb)]
    return [*found, times(crossing & ~five, makes.wrapped)] if board.spec.has("wrapped") else found


def _padded(plane: Plane) -> Plane:
    return lax.pad(plane, Word(0), ((MARGIN, MARGIN, 0), (0, 0, 0)))


def _at(padded: Sliced, rows: int, columns: int) -> Sliced:
    """What stands so many rows and columns away from each cell."""

    def seen(plane: Plane) -> Plane:
        return look(plane[MARGIN + rows : plane.shape[0] - MARGIN + rows], 0, columns)

    return moved(padded, seen)
