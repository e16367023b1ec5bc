"""Actions as pairs of cells (rulebook 3)."""

from __future__ import annotations

Cell = tuple[int, int]
"""(row, column), counted from 0 at the top left."""

DIRECTIONS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


def cells_of(action: int, shape: tuple[int, int]) -> tuple[Cell, Cell]:
    """The two cells that an action swaps, on a board of height x width."""
    height, width = shape
    across = height * (width - 1)
    if action < across:
        row, column = divmod(action, width - 1)
        return (row, column), (row, column + 1)
    row, column = divmod(action - across, width)
    return (row, column), (row + 1, column)


def action_of(cell: Cell, direction: str, shape: tuple[int, int]) -> int | None:
    """The action that swaps a cell with its neighbour; None where that is outside the board."""
    height, width = shape
    other = neighbour(cell, direction)
    if not (0 <= other[0] < height and 0 <= other[1] < width):
        return None
    row, column = min(cell, other)
    return row * (width - 1) + column if row == max(cell, other)[0] else height * (width - 1) + row * width + column


def neighbour(cell: Cell, direction: str) -> Cell:
    """The cell next to a cell."""
    down, right = DIRECTIONS[direction]
    return cell[0] + down, cell[1] + right


def in_words(action: int, shape: tuple[int, int]) -> str:
    """A swap for people."""
    (row, column), (other_row, other_column) = cells_of(action, shape)
    return f"row {row} column {column} with row {other_row} column {other_column}"
