"""The board: what each floor cell holds, and boards as text (rulebook sections 1 and 2)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from .items import EMPTY, Item, item_from_token, item_token

Cell = tuple[int, int]
"""(row, column), counted from the top left."""


@dataclass
class Board:
    """The three changing layers of section 1. A cell that is not in `items` is void or off the board."""

    items: dict[Cell, Item] = field(default_factory=dict)
    covers: dict[Cell, str] = field(default_factory=dict)
    """"lock" or "marmalade"; a cell that is not in here is free."""
    jelly: dict[Cell, int] = field(default_factory=dict)
    """1 or 2 layers; a cell that is not in here has none."""

    def copy(self) -> "Board":
        return Board(dict(self.items), dict(self.covers), dict(self.jelly))

    def is_free(self, cell: Cell) -> bool:
        """Section 1: free means no cover."""
        return cell not in self.covers

    def is_empty(self, cell: Cell) -> bool:
        return self.items[cell].kind == "empty"

    def is_free_swirl(self, cell: Cell) -> bool:
        return cell in self.items and self.items[cell].kind == "swirl" and self.is_free(cell)

    def can_fall_from(self, cell: Cell) -> bool:
        """Section 7: a floor cell holding a free, falling item."""
        return cell in self.items and self.items[cell].falls and cell not in self.covers

    def can_be_swapped(self, cell: Cell) -> bool:
        """Section 3: floor, a swappable item, free."""
        return cell in self.items and self.items[cell].can_be_swapped and cell not in self.covers

    def is_matchable(self, cell: Cell) -> bool:
        """Section 1: a candy that is free or under a lock."""
        return self.items[cell].is_candy and self.covers.get(cell) != "marmalade"

    def candies_of(self, colour: int) -> set[Cell]:
        """Every candy of a colour, whatever its cover."""
        return {cell for cell, item in self.items.items() if item.colour == colour}

    def jelly_layers(self) -> int:
        return sum(self.jelly.values())


def neighbours(cell: Cell) -> list[Cell]:
    """The four orthogonal neighbours, on the board or not."""
    row, col = cell
    return [(row - 1, col), (row, col - 1), (row, col + 1), (row + 1, col)]


def board_from_text(rows: Sequence[str]) -> Board:
    """Section 2: a board of explicit tokens."""
    board = Board()
    for row, line in enumerate(rows):
        for col, token in enumerate(line.split()):
            if token != "#":
                _put_token(board, (row, col), token)
    return board


def _put_token(board: Board, cell: Cell, token: str) -> None:
    bare = token.rstrip("'")
    layers = len(token) - len(bare)
    if layers:
        board.jelly[cell] = layers
    if bare[0] in "[{":
        board.covers[cell] = "lock" if bare[0] == "[" else "marmalade"
        bare = bare[1:-1]
    board.items[cell] = EMPTY if bare == "_" else item_from_token(bare)


def token_at(board: Board, cell: Cell) -> str:
    """Section 2: cover around item, then jelly; `#` for void."""
    if cell not in board.items:
        return "#"
    token = item_token(board.items[cell])
    cover = board.covers.get(cell)
    if cover == "lock":
        token = f"[{token}]"
    if cover == "marmalade":
        token = f"{{{token}}}"
    return token + "'" * board.jelly.get(cell, 0)


def board_text(board: Board, height: int, width: int) -> list[str]:
    """Rows of tokens, separated by a single blank."""
    return [" ".join(token_at(board, (row, col)) for col in range(width)) for row in range(height)]
