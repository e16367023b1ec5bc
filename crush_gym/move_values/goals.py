"""A hand-made value of moves that knows the goals: what a swap's runs hit and make, and what pairs it sets off.

It does not look at what falls afterwards. It is the yardstick of the levels that ship, so its numbers are fixed.
"""

from __future__ import annotations

from crush_gym import layout
from crush_gym.engine.bits import Mask, Plane, any_of, flood, look, mask, neighbours
from crush_gym.engine.board import Board, coloured
from crush_gym.engine.state import Books
from crush_gym.move_values.runs import Makes, Worth, run_values, stacked
from crush_gym.move_values.sliced import Sliced, add, times, total, where

JELLY, LOCK, NEXT_TO_BLOCKER, NEXT_TO_CHOCOLATE, UNDER_INGREDIENT = 4, 4, 3, 2, 3
SPECIAL, ORDERED, BOMB, PLUS5, DROP = 4, 3, 5, 3, 2
MAKES = Makes(striped=5, wrapped=8, bomb=14)
PAIRS = (
    ("bomb", "bomb", 60), ("bomb", "striped", 40), ("bomb", "wrapped", 40), ("striped", "wrapped", 30),
    ("wrapped", "wrapped", 24), ("striped", "striped", 20), ("bomb", "plain", 18),
)  # fmt: skip


def move_values(board: Board, books: Books, aware: Mask | None = None) -> Sliced:
    """What each swap is worth, legal or not: planes uint16[2, H, B]; see `runs.run_values`.

    aware: the boards on which what the level asks for, and what is in the way, counts; elsewhere candies and specials
    do alone. None: it counts everywhere
    """
    values = run_values(board, _worth(board, books, aware), MAKES)
    return add(values, _pairs(board)) if board.spec.has("striped") else values


def _worth(board: Board, books: Books, aware: Mask | None) -> Worth:
    """What a hit brings in each cell."""
    place, item = _meant(board, books)
    if aware is not None:
        place, item = ([where(aware, number) for number in numbers] for numbers in (place, item))
    place.append(times(board.candies, 1))
    if board.spec.has("striped"):
        item.append(times(board.special, SPECIAL))
    return board.fence(Worth(total(place), total(item)))


def _meant(board: Board, books: Books) -> tuple[list[Sliced], list[Sliced]]:
    """What a hit brings for the sake of the goals, and of what is in their way: of the cell, and of its item."""
    spec = board.spec
    place: list[Sliced] = []
    item = [times(board.fence(_ordered(board, books)), ORDERED)] if spec.orders else []
    for worth, names in ((BOMB, layout.TIMER), (PLUS5, ("plus5",)), (DROP, ("drop",))):
        if any(name in spec.planes for name in names):
            item.append(times(board.union(names), worth))
    if spec.has("jelly"):
        place.append(times(board.plane("jelly1"), JELLY))
    if spec.has("lock"):
        place.append(times(board.plane("lock"), LOCK))
    if spec.has("icing", "marmalade", "swirl", "chocolate"):
        blockers = board.union((*layout.ICING, "marmalade", "chocolate")) | board.other(layout.SWIRL)
        place.append(times(board.fence(neighbours(board.fence(blockers))), NEXT_TO_BLOCKER))
    if spec.has("chocolate"):
        place.append(times(board.fence(neighbours(board.plane("chocolate"))), NEXT_TO_CHOCOLATE))
    if spec.has("ingredient"):
        all_cells = ~board.nothing
        under = flood(board.fence(board.ingredients), all_cells, (1, 0), spec.height - 1, board.fence)
        place.append(times(board.fence(under), UNDER_INGREDIENT))
    return place, item


def _ordered(board: Board, books: Books) -> Plane:
    """Candies of the colours of which more are asked for."""
    wanted = board.nothing
    for i, name in enumerate(board.spec.orders):
        if name in layout.COLOUR_LETTERS:
            code = layout.COLOUR_LETTERS.index(name) + 1
            wanted = wanted | (coloured(board.colours, code) & mask(books.orders[i] > 0))
    return wanted


def _pairs(board: Board) -> Sliced:
    """What swapping two specials, or a colour bomb and a candy, is worth."""
    planes = {
        "bomb": board.other(layout.COLOUR_BOMB),
        "striped": board.striped,
        "wrapped": board.candy(layout.WRAPPED),
        "plain": board.plain,
    }
    planes = board.fence({name: plane & ~board.covered for name, plane in planes.items()})

    def pairs(step: tuple[int, int]) -> Sliced:
        there = {name: look(plane, *step) for name, plane in planes.items()}
        return total(
            times(any_of([planes[one] & there[other], planes[other] & there[one]]), value)
            for one, other, value in PAIRS
        )

    return stacked(board, pairs((0, 1)), pairs((1, 0)))
