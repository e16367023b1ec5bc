"""From a file's rows, as numbers, to results of players on levels; whatever is odd about a row is told."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from experiments.people.data import Ints, Log, Totals
from experiments.people.errors import Problems

UNREADABLE = -1
NO_DAY = 0


class Rows(NamedTuple):
    """A file's rows as numbers, each [rows]; what cannot be read is -1.

    number: where the row stands in the file; level, player: numbers of names; day: 0 where there is none
    players: in totals, 0 where unknown; names: of the levels
    """

    number: Ints
    level: Ints
    player: Ints
    day: Ints
    attempts: Ints
    successes: Ints
    players: Ints
    names: tuple[str, ...]

    def where(self, kept: npt.NDArray[np.bool_] | Ints) -> Rows:
        """Some of the rows."""
        number, level, player, day, attempts, successes, players = (column[kept] for column in self[:-1])
        return Rows(number, level, player, day, attempts, successes, players, self.names)


def usable(rows: Rows, levels: Sequence[str] | None, problems: Problems) -> Rows:
    """The rows that can be counted; levels: those that are known, or None for all."""
    allowed = None if levels is None else set(levels)
    known = np.array([allowed is None or name in allowed for name in rows.names] + [True])
    kept = np.ones(rows.number.size, bool)
    for kind, wrong in {
        "no player": rows.player == UNREADABLE,
        "no level": rows.level == UNREADABLE,
        "counts": (rows.attempts == UNREADABLE) | (rows.successes == UNREADABLE) | (rows.players == UNREADABLE),
        "unknown level": ~known[rows.level],
    }.items():
        problems.add(kind, rows.number[kept & wrong])
        kept &= ~wrong
    rows = rows if kept.all() else rows.where(kept)
    problems.add("no attempts", rows.number[(rows.attempts == 0) & (rows.successes == 0)])
    problems.add("wins above attempts", rows.number[rows.successes > rows.attempts])
    problems.add("day", rows.number[rows.day == UNREADABLE])
    return rows


def log_of_rows(rows: Rows, problems: Problems) -> Log:
    """Add up the days of each player on each level; days are in order, those of unknown date first."""
    day = np.maximum(rows.day, NO_DAY)
    rows = rows.where(np.lexsort((day, rows.player, rows.level)))
    new = _changes(rows.level) | _changes(rows.player)
    start = np.flatnonzero(new)
    pair = np.cumsum(new) - 1
    problems.add("twice", np.sort(rows.number[~new & ~_changes(rows.day) & (rows.day > NO_DAY)]))
    attempts_before, wins_before = (_before(values, start, pair) for values in (rows.attempts, rows.successes))
    played = (rows.attempts > 0) | (rows.successes > 0)
    replays = ((wins_before > 0) & played) | (rows.successes > 1)
    problems.add("replays", np.sort(rows.number[replays]))
    attempts, successes = (_sums(values, start) for values in (rows.attempts, rows.successes))
    attempts = np.maximum(attempts, successes)  # a success without an attempt was one
    first = np.flatnonzero((wins_before == 0) & (rows.successes > 0))
    to_clear = attempts.copy()
    on_the_day = np.maximum(rows.attempts[first] - rows.successes[first] + 1, 0)
    to_clear[pair[first]] = np.clip(attempts_before[first] + on_the_day, 1, attempts[pair[first]])
    played_pairs = attempts > 0
    columns = (rows.level[start], rows.player[start], attempts, successes, to_clear)
    return _named(rows.names, *(column[played_pairs] for column in columns))


def totals_of_rows(rows: Rows, problems: Problems) -> Totals:
    """Add up the rows of each level, in the levels' natural order."""
    seen = np.zeros(len(rows.names), bool)
    repeated = np.ones(rows.number.size, bool)
    repeated[np.unique(rows.level, return_index=True)[1]] = False
    problems.add("twice", rows.number[repeated])
    attempts = np.maximum(rows.attempts, rows.successes)
    sums = [
        np.bincount(rows.level, values, len(rows.names)).astype(np.int64)
        for values in (attempts, rows.successes, rows.players)
    ]
    seen[rows.level] = True
    order = [n for n in sorted(range(len(rows.names)), key=lambda n: natural(rows.names[n])) if seen[n]]
    a, s, players = (values[order] for values in sums)
    return Totals(tuple(rows.names[n] for n in order), a, s, players)


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """A key that sorts `level 2` before `level 10`."""
    parts = re.split(r"(\d+)", name)
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in parts if part)


def _changes(values: Ints) -> npt.NDArray[np.bool_]:
    """Where a value differs from the one before; true for the first."""
    return np.concatenate([np.ones(min(values.size, 1), bool), values[1:] != values[:-1]])


def _sums(values: Ints, start: Ints) -> Ints:
    return np.add.reduceat(values, start) if start.size else values


def _before(values: Ints, start: Ints, pair: Ints) -> Ints:
    """What the pair's rows before each row add up to."""
    before = np.cumsum(values) - values
    return before - before[start][pair] if start.size else before


def _named(names: Sequence[str], level: Ints, player: Ints, attempts: Ints, successes: Ints, to_clear: Ints) -> Log:
    """The log, its levels in their natural order, its players numbered without gaps."""
    used = sorted(np.unique(level).tolist(), key=lambda n: natural(names[n]))
    place = np.zeros(len(names) + 1, np.int64)
    place[used] = np.arange(len(used))
    people, player = np.unique(player, return_inverse=True)
    level = place[level]
    order = np.lexsort((player, level))
    columns = (column[order] for column in (level, player.astype(np.int64), attempts, successes, to_clear))
    return Log(tuple(names[n] for n in used), len(people), *columns)
