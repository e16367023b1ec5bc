"""Reads people's results: `player_id, dt, level, num_attempts, num_success`, or `level, attempts, successes`."""

from __future__ import annotations

import contextlib
import datetime
import gc
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.people.data import Ints, Log, Totals
from experiments.people.errors import PeopleError, Problem, Problems
from experiments.people.rows import NO_DAY, UNREADABLE, Rows, log_of_rows, totals_of_rows, usable
from experiments.people.tables import LAYOUTS, LOG, Layout, Table, open_table, tidy

LARGEST = 10**12
"""More attempts than anybody makes: such numbers are something else."""


class Reading(NamedTuple):
    """What a file holds.

    problems: what was wrong with it; rows: those with as many fields as the heading
    without_people: levels of the pack that nobody played
    """

    people: Log | Totals
    problems: tuple[Problem, ...]
    rows: int
    without_people: tuple[str, ...]


def read(
    path: str | os.PathLike[str],
    levels: Sequence[str] | None = None,
    *,
    strict: bool = False,
    table: str | None = None,
) -> Reading:
    """Read people's results from a CSV file, a Parquet file or an SQLite database.

    levels: the pack's level names; rows of other levels are left out, and told.
    strict: refuse a file that has any problem, instead of telling it.
    table: the database's table, where several have the columns.
    """
    problems, source = Problems(), repr(os.fspath(path))
    with _uncollected(), open_table(Path(path), table, problems) as opened:
        layout, places = _layout(opened, source)
        rows = _rows(opened, layout, places)
    counted = usable(rows, levels, problems)
    people = (log_of_rows if layout is LOG else totals_of_rows)(counted, problems)
    found = problems.found()
    told = "; ".join(problem.sentence for problem in found)
    if not people.counts().attempts.any():
        raise PeopleError(f"{source} has no row that can be used{f': {told}' if told else ''}")
    if strict and found:
        raise PeopleError(f"{source}: {told}")
    without: tuple[str, ...] = ()
    if levels is not None:
        people = people.of(levels)
        without = tuple(n for n, a in zip(levels, people.counts().attempts, strict=True) if not a)
    return Reading(people, found, rows.number.size, without)


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Millions of lists come and go here without a cycle: to look for cycles would take a third of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _layout(table: Table, source: str) -> tuple[Layout, dict[str, int]]:
    """Which columns a file has, and where they are."""
    layout = next((layout for layout in LAYOUTS if layout.fits(table.columns)), None)
    if layout is None:
        expected = " or ".join(", ".join(layout.needed) for layout in LAYOUTS)
        shown = ", ".join(map(repr, table.columns[:12]))
        raise PeopleError(f"{source} has the columns {shown}; expected are {expected}")
    places: dict[str, int] = {}
    for place, name in enumerate(map(tidy, table.columns)):
        if name in places and name in layout.columns:
            raise PeopleError(f"{source} has two columns {name!r}: rename one of them")
        places[name] = place
    return layout, {name: place for name, place in places.items() if name in layout.columns}


def _rows(table: Table, layout: Layout, places: dict[str, int]) -> Rows:
    """All of the file as numbers."""
    levels = _Names()
    meanings: dict[str, Callable[[Any], int]] = {"level": levels, "player_id": _Names(), "dt": _day}
    known = {column: _Known(meanings.get(column, _count)) for column in places}
    pieces: dict[str, list[Ints]] = {column: [] for column in places}
    numbers: list[Ints] = []
    for rows, chunk in table.chunks:
        numbers.append(np.asarray(rows, np.int64))
        for column, place in places.items():
            meaning = known[column].__getitem__
            pieces[column].append(np.fromiter(map(meaning, chunk[place]), np.int64, len(rows)))
    number = np.concatenate([*numbers, np.zeros(0, np.int64)])
    nothing = np.full(number.size, NO_DAY)
    columns = {column: np.concatenate(pieces[column]) if numbers else number for column in places}
    attempts, successes = (columns[name] for name in layout.counts)
    player, day, players = (columns.get(name, nothing) for name in ("player_id", "dt", "players"))
    return Rows(number, columns["level"], player, day, attempts, successes, players, tuple(levels.numbers))


class _Known(dict[Any, int]):
    """Remembers what texts mean, so that each is read once."""

    def __init__(self, meaning: Callable[[Any], int]) -> None:
        super().__init__()
        self._meaning = meaning

    def __missing__(self, value: Any) -> int:
        self[value] = found = self._meaning(value)
        return found


class _Names:
    """Numbers names in the order in which they come."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def __call__(self, value: Any) -> int:
        name = _name(value)
        return self.numbers.setdefault(name, len(self.numbers)) if name else UNREADABLE


def _name(value: Any) -> str:
    """A name as text: whole numbers that a file keeps as 12.0 are 12; nothing where there is none."""
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return (value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)).strip()


def _count(value: Any) -> int:
    """A whole number from 0 upwards, also where it is written as 3.0."""
    try:
        number = value if isinstance(value, int) else float(value)
    except (TypeError, ValueError):
        return UNREADABLE
    return int(number) if 0 <= number < LARGEST and number == int(number) else UNREADABLE


def _day(value: Any) -> int:
    """The number of a day."""
    if isinstance(value, datetime.date):
        return value.toordinal()
    text = _name(value)
    if not text:
        return NO_DAY
    try:
        return datetime.date.fromisoformat(text[:10]).toordinal()
    except ValueError:
        return UNREADABLE
