"""Synthetic people play levels until they clear them or give up; what comes of it, as people's results are kept."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from crush_gym import Level
from experiments.people import Log, log_of
from experiments.results.row import Row
from experiments.results.task import Task

HEADING = ("player_id", "dt", "level", "num_attempts", "num_success")
FIRST_DAY = np.datetime64("2001-01-01")
"""Players play a level a day, in the order of the levels: the days of synthetic people mean nothing else."""


class Pair(NamedTuple):
    """A player on a level: attempts, and whether the last of them was won."""

    player: int
    level: str
    attempts: int
    cleared: bool


class PlayingError(ValueError):
    """Levels that people's results cannot be kept of, with the sentence that says why."""


def check(tasks: Sequence[Task]) -> None:
    """Refuse levels that nobody can clear, or that results could not tell apart."""
    for task in tasks:
        if not _has_goals(task.level):
            raise PlayingError(f"level {task.name!r} has no goals, so that nobody can clear it")
    names = [task.name for task in tasks]
    if "" in names:
        raise PlayingError("a level has no name, by which people's results are told apart: give it one")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise PlayingError(f"two levels are called {twice[0]!r}: people's results are told apart by the levels' names")


def _has_goals(level: Level) -> bool:
    ingredients = level.goal_cherry + level.goal_hazelnut
    return bool(level.goal_score > 0 or level.goal_jelly or ingredients > 0 or np.any(level.orders > 0))


def pairs_of(rows: Iterable[Row], tasks: Sequence[Task]) -> list[Pair]:
    """What each player did on each level, by players, and of one player in the order of the levels."""
    place = {task.identity: n for n, task in enumerate(tasks)}
    attempts: dict[tuple[int, int], int] = {}
    cleared: set[tuple[int, int]] = set()
    for row in rows:
        key = row.player, place[row.task]
        attempts[key] = attempts.get(key, 0) + 1
        if row.won:
            cleared.add(key)
    return [Pair(key[0], tasks[key[1]].name, attempts[key], key in cleared) for key in sorted(attempts)]


def csv_of(pairs: Sequence[Pair], tasks: Sequence[Task]) -> str:
    """A table as `crush-gym people` reads it, one row for each player and level."""
    day = {task.name: str(FIRST_DAY + n) for n, task in enumerate(tasks)}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADING)
    writer.writerows((p.player, day[p.level], p.level, p.attempts, int(p.cleared)) for p in pairs)
    return text.getvalue()


def log_of_pairs(pairs: Sequence[Pair], tasks: Sequence[Task]) -> Log:
    """The same as `experiments.people` knows it, without the way through a file."""
    levels, players = [pair.level for pair in pairs], [pair.player for pair in pairs]
    attempts, cleared = [pair.attempts for pair in pairs], [pair.cleared for pair in pairs]
    return log_of(levels, players, attempts, np.array(cleared, np.int64), [task.name for task in tasks])
