"""Reading a board: rows of tokens become cells and plane words (rulebook 1 and 2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from crush_gym import layout
from crush_gym.levels.cells import Cell, encode, to_words
from crush_gym.levels.errors import Report, show
from crush_gym.levels.tokens import TokenError, parse_token
from crush_gym.levels.values import read_list

MIN_SIDE = 2


@dataclass(frozen=True)
class Board:
    """A board without mistakes in its tokens."""

    cells: list[list[Cell]]

    @property
    def height(self) -> int:
        """The number of rows."""
        return len(self.cells)

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.cells[0])

    def is_floor(self, row: int, column: int) -> bool:
        """Say whether there is a cell that is no void; outside the board there is none."""
        inside = 0 <= row < self.height and 0 <= column < self.width
        return inside and self.cells[row][column].floor

    def count(self, wanted: Callable[[Cell], bool]) -> int:
        """Count the cells for which `wanted` holds."""
        return sum(wanted(cell) for row in self.cells for cell in row)

    def words(self) -> NDArray[np.uint16]:
        """Return words[len(WORD_ROWS), MAX_SIDE]."""
        codes = [[_code(cell) for cell in row] for row in self.cells]
        return to_words(np.array(codes, np.int64))


def read_board(report: Report, value: object, colours: int) -> Board | None:
    """Read the rows of a level's board; None if they are wrong, and all of it is reported."""
    rows = read_list(report, "board", value, "rows", layout.MAX_SIDE)
    if rows is None:
        return None
    before = len(report.found)
    texts = _split_rows(report, rows)
    _check_sizes(report, texts)
    cells = [_read_row(report, row, tokens, colours) for row, tokens in enumerate(texts)]
    if len(report.found) > before:
        return None
    board = Board(cells)
    if not board.count(lambda cell: cell.floor):
        report.add("board has no floor: expected at least one cell that is not #")
        return None
    return board


def _split_rows(report: Report, rows: Sequence[object]) -> list[list[str]]:
    texts = []
    for row, text in enumerate(rows):
        if not isinstance(text, str):
            report.add(f"a row of the board must be a string of tokens, not {show(text)}", row)
        texts.append(text.split(maxsplit=layout.MAX_SIDE + 1) if isinstance(text, str) else [])
    return texts


def _check_sizes(report: Report, texts: list[list[str]]) -> None:
    """Check that the rows make a rectangle of 2x2 to 16x16 cells."""
    if len(texts) < MIN_SIDE:
        report.add(f"board must have {MIN_SIDE} to {layout.MAX_SIDE} rows, not {len(texts)}")
    widths = Counter(len(tokens) for tokens in texts if MIN_SIDE <= len(tokens) <= layout.MAX_SIDE)
    usual = widths.most_common(1)[0][0] if widths else 0
    for row, tokens in enumerate(texts):
        if not MIN_SIDE <= len(tokens) <= layout.MAX_SIDE:
            held = len(tokens) if len(tokens) <= layout.MAX_SIDE else "more"
            blanks = ": cells are separated by blanks" if len(tokens) == 1 else ""
            report.add(f"a row must hold {MIN_SIDE} to {layout.MAX_SIDE} cells, not {held}{blanks}", row)
        elif len(tokens) != usual:
            report.add(f"holds {len(tokens)} cells, but most rows hold {usual}: expected equally many", row)


def _read_row(report: Report, row: int, tokens: list[str], colours: int) -> list[Cell]:
    """Read a row's tokens; a bad one is reported and stands as an EMPTY cell."""
    if len(tokens) < MIN_SIDE:
        return [Cell() for _ in tokens]  # what is wrong with such a row has been said
    cells = []
    for column, text in enumerate(tokens[: layout.MAX_SIDE]):
        try:
            cells.append(_cell(text, colours))
        except TokenError as error:
            report.add(str(error), row, column)
            cells.append(Cell())
    return cells


@lru_cache(maxsize=4096)
def _cell(text: str, colours: int) -> Cell:
    return parse_token(text, colours)


@lru_cache(maxsize=4096)
def _code(cell: Cell) -> int:
    return encode(cell)
