"""Two levels compared, such as two versions of one: the same players, attempt by attempt with the same keys."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from experiments.ranking.field import FEWEST, RankingError
from experiments.report.words import signed
from experiments.results.row import Row, without_goals
from experiments.results.task import Task
from experiments.statistics import Array, Interval, paired_difference, paired_rate_difference

DRAWS = "0" * 8
"""What the keys of attempts at levels that are compared are made of, whatever the levels are."""


@dataclass(frozen=True)
class TwoLevels:
    """One player on two levels. first, second: success rates, or mean scores where neither has a goal.

    levels: what they are called; difference: first minus second, with its interval over pairs of attempts
    """

    agent: str
    levels: tuple[str, str]
    goal: bool
    attempts: int
    first: float
    second: float
    difference: Interval

    @property
    def verdict(self) -> str:
        """One sentence, about this player only."""
        first, second = map(repr, self.levels)
        if self.difference.low > 0:
            found = f"{first} is easier than {second}" if self.goal else f"{first} gives more points than {second}"
        elif self.difference.high < 0:
            found = f"{first} is harder than {second}" if self.goal else f"{first} gives fewer points than {second}"
        else:
            found = f"these attempts do not tell {first} and {second} apart"
        return f"For {self.agent}, {found}: {self._figures()}{self._advice()}."

    def _figures(self) -> str:
        of = f"of {self.attempts:,} attempts each"
        if self.goal:
            value, low, high = (signed(f"{100 * each:+.1f}") for each in self.difference)
            rates = f"it wins {100 * self.first:.1f} % against {100 * self.second:.1f} % {of}"
            return f"{rates}, a difference of {value} percentage points (95 % interval {low} to {high})"
        value, low, high = (signed(f"{each:+,.0f}") for each in self.difference)
        means = f"{self.first:,.0f} against {self.second:,.0f} points on average {of}"
        return f"{means}, a difference of {value} (95 % interval {low} to {high})"

    def _advice(self) -> str:
        """What to do where all attempts at both levels end alike."""
        if not self.goal or self.first != self.second or self.first not in (0.0, 1.0):
            return ""
        return f"; a {'stronger' if self.first == 0 else 'weaker'} player may tell them apart"


def comparable(first: Task, second: Task) -> tuple[Task, Task]:
    """The tasks, whose attempts have the same keys; refused where they cannot be compared."""
    if first.identity == second.identity:
        raise RankingError(f"{first.name!r} and {second.name!r} are the same level: there is nothing to compare")
    goals = [bool(task.content()["level"].get("goals")) for task in (first, second)]
    if goals[0] != goals[1]:
        which, other = (first, second) if goals[0] else (second, first)
        raise RankingError(
            f"{which.name!r} has goals and {other.name!r} has none: a share of wins cannot be compared with points"
        )
    a, b = (dataclasses.replace(task, draws=DRAWS) for task in (first, second))
    return a, b


def compare_levels(rows: Iterable[Row], tasks: Sequence[Task], levels: tuple[str, str]) -> tuple[TwoLevels, ...]:
    """Each player on the two levels, in the order of the rows; over the attempts that it has at both.

    Args:
        rows: of these tasks, from `comparable`.
        levels: what the two are called.
    """
    known = list(rows)
    goal = tasks[0].identity not in without_goals(known)
    found = {(row.agent, row.task, row.seed, row.attempt): row for row in known}
    agents = dict.fromkeys(row.agent for row in known)
    return tuple(_compared(agent, _pairs(found, agent, tasks), goal, levels) for agent in agents)


Key = tuple[str, str, int, int]


def _pairs(found: dict[Key, Row], agent: str, tasks: Sequence[Task]) -> list[tuple[Row, Row]]:
    first, second = (task.identity for task in tasks)
    mine = (row for key, row in found.items() if key[:2] == (agent, first))
    pairs = [(row, found[other]) for row in mine if (other := (agent, second, row.seed, row.attempt)) in found]
    if len(pairs) < FEWEST:
        raise RankingError(f"{agent!r} has {len(pairs)} attempts at both levels, at least {FEWEST} are needed")
    return pairs


def _compared(agent: str, pairs: list[tuple[Row, Row]], goal: bool, levels: tuple[str, str]) -> TwoLevels:
    a, b = (_values([pair[place] for pair in pairs], goal) for place in (0, 1))
    difference = (paired_rate_difference if goal else paired_difference)(a, b)
    return TwoLevels(agent, levels, goal, len(pairs), float(a.mean()), float(b.mean()), difference)


def _values(rows: list[Row], goal: bool) -> Array:
    return np.array([row.won if goal else row.score for row in rows], np.float64)
