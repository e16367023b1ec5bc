"""The values of `crush_gym.move_values.goals` again, cell by cell with plain numbers: slow, and easy to believe."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from crush_gym import layout
from crush_gym.engine.bits import Plane, flood, look, mask, neighbours, total, unpack
from crush_gym.engine.board import Board, coloured
from crush_gym.engine.state import Books

Cells = jax.Array
"""int16[H, W, B]: a number for each cell."""

JELLY, LOCK, NEXT_TO_BLOCKER, NEXT_TO_CHOCOLATE, UNDER_INGREDIENT = 4, 4, 3, 2, 3
SPECIAL, ORDERED, BOMB, PLUS5, DROP = 4, 3, 5, 3, 2
MAKES_STRIPED, MAKES_WRAPPED, MAKES_BOMB = 5, 8, 14
COMBO_VALUES = (
    ("bomb", "bomb", 60), ("bomb", "striped", 40), ("bomb", "wrapped", 40), ("striped", "wrapped", 30),
    ("wrapped", "wrapped", 24), ("striped", "striped", 20), ("bomb", "plain", 18),
)  # fmt: skip


def move_values(board: Board, books: Books) -> jax.Array:
    """What each move is worth, legal or not: int16[actions, B]."""
    colour = _padded(total(_cells(board, plane & board.matchable) << i for i, plane in enumerate(board.colours)))
    place, item = _worth(board, books)
    colour, place, item = board.fence((colour, _padded(place), _padded(item)))
    values = []
    for step in ((0, 1), (1, 0)):
        back = (-step[0], -step[1])
        there = _run_value(colour, place, item, step)
        other = _at(_padded(_run_value(colour, place, item, back)), *step)
        pairs = there + other + _combo_values(board, step)
        height, width = pairs.shape[0] - step[0], pairs.shape[1] - step[1]
        values.append(pairs[:height, :width].reshape(height * width, -1))
    return jnp.concatenate(values)


def _worth(board: Board, books: Books) -> tuple[Cells, Cells]:
    """What a hit on each cell is worth for the cell's sake, and for the sake of the candy in it."""
    place = [_cells(board, board.candies)]
    item = [
        SPECIAL * _cells(board, board.special),
        BOMB * _cells(board, board.union(layout.TIMER)),
        PLUS5 * _cells(board, board.plane("plus5")),
        DROP * _cells(board, board.plane("drop")),
        ORDERED * _cells(board, _ordered(board, books)),
    ]
    spec = board.spec
    if spec.has("jelly"):
        place.append(JELLY * _cells(board, board.plane("jelly1")))
    if spec.has("lock"):
        place.append(LOCK * _cells(board, board.plane("lock")))
    if spec.has("icing", "marmalade", "swirl", "chocolate"):
        blockers = board.union((*layout.ICING, "marmalade", "chocolate")) | board.other(layout.SWIRL)
        place.append(NEXT_TO_BLOCKER * _cells(board, board.fence(neighbours(blockers))))
    if spec.has("chocolate"):
        place.append(NEXT_TO_CHOCOLATE * _cells(board, board.fence(neighbours(board.plane("chocolate")))))
    if spec.has("ingredient"):
        all_cells = ~board.nothing
        under = flood(board.fence(board.ingredients), all_cells, (1, 0), spec.height - 1, board.fence)
        place.append(UNDER_INGREDIENT * _cells(board, under))
    return total(place), total(item)


def _ordered(board: Board, books: Books) -> Plane:
    """Candies of the colours of which more are asked for."""
    wanted = board.nothing
    for i, name in enumerate(board.spec.orders):
        if name in layout.COLOUR_LETTERS:
            code = layout.COLOUR_LETTERS.index(name) + 1
            wanted = wanted | (coloured(board.colours, code) & mask(books.orders[i] > 0))
    return wanted


def _run_value(colour: Cells, place: Cells, item: Cells, step: tuple[int, int]) -> Cells:
    """What the runs are worth that the candy of each cell would stand in after one step; all padded.

    `near` and `far` lie beside the cell that it comes to, on one side and on the other; `next` and `last`
    straight ahead of it.
    """
    (dr, dc), (sr, sc) = step, (step[1], step[0])
    own = _at(colour, 0, 0)
    offsets = {
        "near": (dr + sr, dc + sc), "near2": (dr + 2 * sr, dc + 2 * sc),
        "far": (dr - sr, dc - sc), "far2": (dr - 2 * sr, dc - 2 * sc),
        "next": (2 * dr, 2 * dc), "last": (3 * dr, 3 * dc),
    }  # fmt: skip
    same = {name: (_at(colour, *offset) == own) & (own > 0) for name, offset in offsets.items()}
    near, far = same["near"], same["far"]
    near2, far2 = near & same["near2"], far & same["far2"]
    beside, ahead = (near & far) | near2 | far2, same["next"] & same["last"]
    members = {
        "near": beside & near, "near2": beside & near2, "far": beside & far, "far2": beside & far2,
        "next": ahead, "last": ahead,
    }  # fmt: skip
    worth = {name: _at(place, *offset) + _at(item, *offset) for name, offset in offsets.items()}
    value = total(jnp.where(member, worth[name], 0) for name, member in members.items())
    five = near2 & far2
    four = ((near2 & far) | (near & far2)) & ~five & ~ahead
    value = value + MAKES_BOMB * five.astype(jnp.int16) + MAKES_STRIPED * four.astype(jnp.int16)
    value = value + MAKES_WRAPPED * (beside & ahead & ~five).astype(jnp.int16)
    return jnp.where(beside | ahead, value + _at(place, dr, dc) + _at(item, 0, 0), 0).astype(jnp.int16)


def _combo_values(board: Board, step: tuple[int, int]) -> Cells:
    """What swapping two specials, or a colour bomb and a candy, is worth; int16[H, W, B]."""
    spec = board.spec
    if not spec.has("striped"):
        return jnp.zeros((spec.height, spec.width, board.items.shape[-1]), jnp.int16)
    planes = {
        "bomb": board.other(layout.COLOUR_BOMB),
        "striped": board.striped,
        "wrapped": board.candy(layout.WRAPPED),
        "plain": board.plain,
    }
    planes = board.fence({name: plane & ~board.covered for name, plane in planes.items()})
    values = []
    for one, other, value in COMBO_VALUES:
        pair = (planes[one] & look(planes[other], *step)) | (planes[other] & look(planes[one], *step))
        values.append(value * _cells(board, pair))
    return total(values)


def _cells(board: Board, plane: Plane) -> Cells:
    return unpack(board.spec.width, plane).astype(jnp.int16)


MARGIN = 3


def _padded(cells: Cells) -> Cells:
    return jnp.pad(cells, ((MARGIN, MARGIN), (MARGIN, MARGIN), (0, 0)))


def _at(padded: Cells, rows: int, columns: int) -> Cells:
    """What stands so many rows and columns away from each cell."""
    height, width = padded.shape[0] - 2 * MARGIN, padded.shape[1] - 2 * MARGIN
    return padded[MARGIN + rows : MARGIN + rows + height, MARGIN + columns : MARGIN + columns + width]
