"""What is wrong with a file of people's results: what was found, in which rows, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

SHOWN = 5
"""Rows that a problem names, the first ones."""


class PeopleError(ValueError):
    """A file that cannot be read as people's results, with the sentence that says why."""


class Problem(NamedTuple):
    """One kind of problem. kind: its short name; times: rows that have it; rows: the first of them.

    Rows are counted as a spreadsheet does: a CSV file's heading is row 1. Databases have none, and begin with row 1.
    """

    kind: str
    times: int
    rows: tuple[int, ...]

    @property
    def sentence(self) -> str:
        """What was found, where, and what became of it."""
        if not self.rows:
            return SENTENCES[self.kind]
        more = ", ..." if self.times > len(self.rows) else ""
        where = f"row{'s' if self.times > 1 else ''} {', '.join(f'{row:,}' for row in self.rows)}{more}"
        return f"{self.times:,} \N{MULTIPLICATION SIGN} {SENTENCES[self.kind]} ({where})"


SENTENCES = {
    "encoding": "the file is not UTF-8: it was read as Windows-1252, and names with other letters may be wrong",
    "fields": "more or fewer fields than the heading has: left out",
    "empty": "an empty line: left out",
    "no player": "no player: left out",
    "no level": "no level: left out",
    "counts": "attempts or successes that are no whole number from 0 upwards: left out",
    "unknown level": "a level that the pack does not have: left out",
    "day": "a day that is not written YYYY-MM-DD: counted, as the first of its player and level",
    "twice": "the same player, level and day once more, or the same level: added up",
    "no attempts": "no attempts and no successes: nothing to count",
    "wins above attempts": "more successes than attempts: made up for by the player's other days on the level, "
    "where it has them, else counted as one attempt for each success",
    "replays": "attempts after the player's first success on the level, or several successes at once: counted as well, "
    "unless replays are left out",
}
"""Every kind of problem, and what becomes of the rows that have it."""


class Problems:
    """Gathers problems, kind by kind."""

    def __init__(self) -> None:
        self._rows: dict[str, list[int]] = {}
        self._count: dict[str, int] = {}

    def note(self, kind: str) -> None:
        """Note a problem of the whole file."""
        self._count[kind] = 1
        self._rows[kind] = []

    def add(self, kind: str, rows: Iterable[int] | npt.NDArray[np.int64]) -> None:
        """Note the rows that have a problem, in the order of the file."""
        numbers = np.asarray(rows, np.int64)
        if numbers.size:
            known = self._rows.setdefault(kind, [])
            known += map(int, numbers[: SHOWN - len(known)])
            self._count[kind] = self._count.get(kind, 0) + int(numbers.size)

    def found(self) -> tuple[Problem, ...]:
        """All of them, in the order of `SENTENCES`."""
        return tuple(
            Problem(kind, self._count[kind], tuple(self._rows[kind])) for kind in SENTENCES if kind in self._count
        )
