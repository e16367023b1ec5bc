"""Actions as swaps (rulebook 3): a row, a column and a direction; and their numbers on boards of other sizes.

A game numbers its actions on its largest board, so one swap has one number in a level's own game and another in a
game made for larger boards. With `wide = Game.covering(shape=(9, 9))` and a level of 7 rows and 7 columns:

    converted(action, level.shape, wide.shape)                      the number of the same swap there
    np.asarray(wide.legal(state))[conversion(level.shape, wide.shape)]      its legal moves, numbered as the level's own
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Swap", "Swaps", "action_of", "actions_of", "conversion", "converted", "number_of_actions", "swap_between",
    "swap_of", "swaps_of",
]  # fmt: skip

if TYPE_CHECKING:
    import jax

Cell = tuple[int, int]
"""(row, column), counted from 0 at the top left."""

Shape = tuple[int, int]
"""(height, width) of a board, such as `Level.shape` and `Game.shape`."""

Numbers = NDArray[np.int32]
Given: TypeAlias = "NDArray[Any] | jax.Array | Sequence[int]"

ACROSS, DOWN = "across", "down"
"""A cell changes places with the one to its right, or with the one below."""

NONE = -1
"""No action, such as `Game.random_action` names where nothing is legal."""


class Swap(NamedTuple):
    """The cell at `row` and `column` changes places with its neighbour; direction: `ACROSS` or `DOWN`."""

    row: int
    column: int
    direction: str

    @property
    def cells(self) -> tuple[Cell, Cell]:
        """The two cells, the left or upper one first."""
        down = self.direction == DOWN
        return (self.row, self.column), (self.row + down, self.column + (not down))

    def __str__(self) -> str:
        (row, column), (other_row, other_column) = self.cells
        return f"row {row} column {column} with row {other_row} column {other_column}"


class Swaps(NamedTuple):
    """Many swaps, arrays of one shape. rows, columns: of the left or upper cells, int32; down: bool, else across."""

    rows: Numbers
    columns: Numbers
    down: NDArray[np.bool_]


def number_of_actions(shape: Shape) -> int:
    """How many actions there are on a board of this shape."""
    height, width = shape
    return height * (width - 1) + (height - 1) * width


def swap_between(cell: Cell, other: Cell) -> Swap:
    """The swap of two neighbouring cells, in either order."""
    (row, column), second = sorted((cell, other))
    for direction in (ACROSS, DOWN):
        swap = Swap(row, column, direction)
        if swap.cells[1] == second:
            return swap
    raise ValueError(
        f"row {row} column {column} and row {second[0]} column {second[1]} do not lie side by side: only such cells"
        " can be swapped"
    )


def swap_of(action: int, shape: Shape) -> Swap:
    """The swap that has this number on a board of this shape."""
    rows, columns, down = swaps_of(np.asarray(action), shape)
    return Swap(int(rows), int(columns), DOWN if down else ACROSS)


def action_of(swap: Swap, shape: Shape) -> int:
    """The number of a swap on a board of this shape."""
    row, column, direction = swap
    if direction not in (ACROSS, DOWN):
        raise ValueError(f"a swap's direction must be {ACROSS!r} or {DOWN!r}, not {direction!r}")
    return int(actions_of(Swaps(np.array(row), np.array(column), np.array(direction == DOWN)), shape))


def swaps_of(actions: Given, shape: Shape) -> Swaps:
    """The swaps that have these numbers on a board of this shape."""
    height, width = shape
    numbers, count = np.asarray(actions), number_of_actions(shape)
    if numbers.size and not np.issubdtype(numbers.dtype, np.integer):
        raise TypeError(f"actions must be whole numbers, not {numbers.dtype}")
    if wrong := _first(numbers, (numbers < 0) | (numbers >= count)):
        raise ValueError(f"there is no action {wrong[0]} on {_board(shape)}: its actions are 0 to {count - 1}")
    split = height * (width - 1)
    down = numbers >= split
    rows, columns = np.divmod(np.where(down, numbers - split, numbers), np.where(down, width, width - 1))
    return Swaps(rows.astype(np.int32), columns.astype(np.int32), down)


def actions_of(swaps: Swaps, shape: Shape) -> Numbers:
    """The numbers of swaps on a board of this shape: int32 of the swaps' shape."""
    numbers = _numbered(swaps, shape)
    if wrong := _first(np.arange(numbers.size).reshape(numbers.shape), numbers == NONE):
        row, column, down = (np.ravel(part)[wrong[0]] for part in swaps)
        raise ValueError(f"the swap of {Swap(row, column, DOWN if down else ACROSS)} is not on {_board(shape)}")
    return numbers


@overload
def converted(action: int, from_shape: Shape, to_shape: Shape) -> int: ...
@overload
def converted(action: Given, from_shape: Shape, to_shape: Shape) -> Numbers: ...
def converted(action: int | Given, from_shape: Shape, to_shape: Shape) -> int | Numbers:
    """The numbers that swaps have on a board of another shape: one for one, an array for many; -1 stays -1."""
    numbers = np.asarray(action)
    some = numbers != NONE
    found = np.full(numbers.shape, NONE, np.int32)
    found[some] = actions_of(swaps_of(numbers[some], from_shape), to_shape)
    return found if numbers.ndim else int(found)


def conversion(from_shape: Shape, to_shape: Shape) -> Numbers:
    """For each action on a board of one shape, its number on one of another: int32; -1 where that does not hold it."""
    return _numbered(swaps_of(np.arange(number_of_actions(from_shape)), from_shape), to_shape)


def _numbered(swaps: Swaps, shape: Shape) -> Numbers:
    """The numbers of swaps; NONE where one is not on the board."""
    (height, width), (rows, columns, down) = shape, swaps
    inside = (rows >= 0) & (columns >= 0) & (rows + down < height) & (columns + ~down < width)
    numbers = np.where(down, height * (width - 1) + rows * width + columns, rows * (width - 1) + columns)
    return np.where(inside, numbers, NONE).astype(np.int32)


def _first(values: NDArray[Any], where: NDArray[np.bool_]) -> list[Any]:
    """The first of the values meant, alone; empty where there is none."""
    return values[where].ravel()[:1].tolist()


def _board(shape: Shape) -> str:
    return f"a board of {shape[0]} rows and {shape[1]} columns"
