"""Results as they are ranked: of each player on each level that all of them played, arrays over attempts."""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from experiments.results.labels import labels
from experiments.results.row import Row, without_goals
from experiments.statistics import Array, Interval, rate

FEWEST = 5
"""Attempts of a player on a level, at least: with fewer, even the clearest difference may be luck."""

LEVELS = 10
"""Levels, at least, for intervals that speak about levels like these."""


class RankingError(ValueError):
    """Results that cannot be ranked or compared, with the sentence that says why."""


@dataclass(frozen=True)
class PlayedTask:
    """A level under its rules. goal: whether attempts are won or lost; else their scores are what counts.

    level: its name, which another one may have as well; label: what tells it apart from all others
    """

    identity: str
    level: str
    goal: bool
    label: str


@dataclass(frozen=True)
class Played:
    """One player's attempts on one level, each array [attempts], in the order of seeds and attempts."""

    won: Array
    score: Array
    moves: Array
    moves_left: Array
    seconds: Array
    seeds: tuple[int, ...]

    @property
    def attempts(self) -> int:
        """How many."""
        return int(self.won.size)

    @property
    def success(self) -> Interval:
        """The success rate with Wilson's interval."""
        return rate(int(self.won.sum()), self.attempts)


@dataclass(frozen=True)
class Field:
    """Players and the levels that all of them played. left_out: names of levels that only some of them did.

    played: also holds what others played on these levels.
    """

    agents: tuple[str, ...]
    tasks: tuple[PlayedTask, ...]
    played: Mapping[tuple[str, str], Played]
    left_out: tuple[str, ...] = ()

    def of(self, agent: str, task: PlayedTask) -> Played:
        """A player's attempts on a level."""
        return self.played[agent, task.identity]

    def values(self, agent: str, task: PlayedTask) -> Array:
        """What counts on this level: wins (0 or 1) where it has goals, else scores."""
        played = self.of(agent, task)
        return played.won if task.goal else played.score

    def refuse_few_levels(self) -> None:
        """Refuse to speak about levels like these."""
        if len(self.tasks) < LEVELS:
            raise RankingError(
                f"intervals over levels need at least {LEVELS} levels, here are {len(self.tasks)}: leave out "
                "`--over-levels`, and the intervals are for more attempts at just these levels"
            )

    def fewest(self, agent: str | None = None) -> int:
        """The fewest attempts at one level, of one player or of all."""
        chosen = self.agents if agent is None else (agent,)
        return min(self.of(each, task).attempts for each in chosen for task in self.tasks)


def field_of(rows: Iterable[Row], agents: Sequence[str] | None = None, levels: Sequence[str] | None = None) -> Field:
    """Results by player and level.

    agents: these only, in this order; else all, by name. levels: only those whose name fits one of these patterns.
    """
    table: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        table[row.agent, row.task].append(row)
    if not table:
        raise RankingError("there are no results yet: `crush-gym evaluate` makes them")
    names = tuple(sorted({agent for agent, _ in table}))
    chosen = names if agents is None else tuple(dict.fromkeys(_known(agent, names) for agent in agents))
    tasks = _shared(table, chosen, levels)
    identities = {task.identity for task in tasks}
    played = {
        (agent, task): _played(agent, found)
        for (agent, task), found in table.items()
        if task in identities and (agent in chosen or len(found) >= FEWEST)
    }
    called = _labels(table)
    missing = {
        called[task]
        for (agent, task), found in table.items()
        if agent in chosen and task not in identities and _fits(levels, found[0].level, called[task])
    }
    return Field(chosen, tasks, played, tuple(sorted(missing, key=_natural)))


def _known(agent: str, names: Sequence[str]) -> str:
    if agent in names:
        return agent
    close = difflib.get_close_matches(agent, names, 1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    raise RankingError(f"there are no results of {agent!r}{hint}: there are those of {', '.join(names)}")


def _shared(
    table: Mapping[tuple[str, str], list[Row]], agents: Sequence[str], levels: Sequence[str] | None
) -> tuple[PlayedTask, ...]:
    """The levels that all of the players played, by name; refused where there are none."""
    names, called = _names(table), _labels(table)
    fitting = {task for task, level in names.items() if _fits(levels, level, called[task])}
    if not fitting:
        some = ", ".join(repr(name) for name in sorted(set(names.values()))[:5])
        raise RankingError(f"no level with results fits {' '.join(map(repr, levels or ()))}: there are {some} ...")
    shared = {task for task in fitting if all((agent, task) in table for agent in agents)}
    if not shared:
        counts = ", ".join(f"{agent} has {sum((agent, t) in table for t in fitting)}" for agent in agents)
        raise RankingError(
            f"no level was played by all of these players ({counts}): name players that share levels, or let "
            "`crush-gym evaluate` play the same ones with all of them"
        )
    endless = without_goals(row for found in table.values() for row in found)
    tasks = (PlayedTask(task, names[task], task not in endless, called[task]) for task in shared)
    return tuple(sorted(tasks, key=lambda task: (_natural(task.level), task.identity)))


def _names(table: Mapping[tuple[str, str], list[Row]]) -> dict[str, str]:
    return {task: found[0].level for (_, task), found in table.items()}


def _labels(table: Mapping[tuple[str, str], list[Row]]) -> dict[str, str]:
    """What tells the levels apart, by their identities."""
    return labels(_names(table))


def _fits(patterns: Sequence[str] | None, *called: str) -> bool:
    """Whether a level that is called so is meant."""
    return patterns is None or any(fnmatch.fnmatchcase(name, pattern) for name in called for pattern in patterns)


def _natural(name: str) -> tuple[tuple[int, str], ...]:
    """Names in the order in which people count: 13, 77, 100."""
    words = re.findall(r"[0-9]+|[^0-9]", name)
    numbers = (word.lstrip("0") if word[0] in "0123456789" else None for word in words)
    return tuple((-1, w) if n is None else (len(n), n) for w, n in zip(words, numbers, strict=True))


def _played(agent: str, rows: list[Row]) -> Played:
    if len(rows) < FEWEST:
        raise RankingError(
            f"{agent!r} has {len(rows)} attempts at {rows[0].level!r}, at least {FEWEST} are needed: play more with "
            "`crush-gym evaluate`, or leave the player out"
        )
    rows = sorted(rows, key=lambda row: (row.seed, row.attempt))
    won, score, moves, moves_left, seconds = (
        np.array([getattr(row, name) for row in rows], np.float64)
        for name in ("won", "score", "moves", "moves_left", "seconds")
    )
    return Played(won, score, moves, moves_left, seconds, tuple(sorted({row.seed for row in rows})))
