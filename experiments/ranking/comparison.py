"""Two players compared, level by level and over all levels, and a verdict that claims no more than its interval."""

from __future__ import annotations

from dataclasses import dataclass

from experiments.ranking.field import Field, PlayedTask
from experiments.report.words import signed
from experiments.statistics import (
    Interval,
    Welch,
    bootstrap,
    improvement,
    mean,
    mean_interval,
    probability_of_improvement,
    rate_difference,
    welch,
)


@dataclass(frozen=True)
class LevelDifference:
    """One level. first, second: success rates where there are goals, else mean scores; difference: with interval.

    improvement: how probably an attempt of the first beats one of the second; scores: Welch's test of the scores.
    """

    task: PlayedTask
    first: float
    second: float
    difference: Interval
    improvement: float
    scores: Welch


@dataclass(frozen=True)
class Comparison:
    """success: the mean difference of success rates over the levels with goals, None without such.

    over_levels: whether intervals are for levels like these, else for more attempts at these.
    """

    first: str
    second: str
    levels: tuple[LevelDifference, ...]
    improvement: Interval
    success: Interval | None
    fewest: int
    over_levels: bool

    @property
    def clear(self) -> tuple[int, int]:
        """Levels whose own interval says that the first is better, and that the second is."""
        return sum(d.difference.low > 0 for d in self.levels), sum(d.difference.high < 0 for d in self.levels)

    @property
    def verdict(self) -> str:
        """One sentence."""
        where = f"levels like these {len(self.levels):,}" if self.over_levels else self._these()
        return f"On {where}, {self._judgement()} comes out ahead in {self._ahead()} of attempts{self._wins()}."

    def _judgement(self) -> str:
        if self.improvement.low > 0.5:
            return f"{self.first} does better than {self.second}: it"
        if self.improvement.high < 0.5:
            return f"{self.first} does worse than {self.second}: it"
        return f"these results do not tell {self.first} and {self.second} apart: the former"

    def _these(self) -> str:
        one = len(self.levels) == 1
        return repr(self.levels[0].task.label) if one else f"these {len(self.levels):,} levels together"

    def _ahead(self) -> str:
        value, low, high = (f"{100 * each:.1f}" for each in self.improvement)
        return f"{value} % (95 % interval {low} to {high}; ties count half)"

    def _wins(self) -> str:
        if self.success is None:
            return ""
        value, low, high = (signed(f"{100 * each:+.1f}") for each in self.success)
        return f", and its success rate differs by {value} percentage points ({low} to {high})"


def compare(field: Field, first: str, second: str, seed: int = 0, *, over_levels: bool = False) -> Comparison:
    """Compare two players of a field on its levels, at 95 % confidence."""
    if over_levels:
        field.refuse_few_levels()
    levels = tuple(_level(field, task, first, second) for task in field.tasks)
    wins = [each.difference for each in levels if each.task.goal]
    fewest = min(field.fewest(first), field.fewest(second))
    improved = _improvement(field, levels, (first, second), seed, over_levels)
    success = _mean(wins, seed, over_levels) if wins else None
    return Comparison(first, second, levels, improved, success, fewest, over_levels)


def _improvement(
    field: Field, levels: tuple[LevelDifference, ...], players: tuple[str, str], seed: int, over_levels: bool
) -> Interval:
    """The mean over levels; where levels are drawn again, they keep what was found on them."""
    if over_levels:
        return bootstrap([[each.improvement] for each in levels], mean, seed, over_levels=True)
    first, second = ([field.values(player, task) for task in field.tasks] for player in players)
    return probability_of_improvement(first, second, seed)


def _mean(differences: list[Interval], seed: int, over_levels: bool) -> Interval:
    if over_levels:
        return bootstrap([[each.value] for each in differences], mean, seed, over_levels=True)
    return mean_interval(differences)


def _level(field: Field, task: PlayedTask, first: str, second: str) -> LevelDifference:
    a, b = field.of(first, task), field.of(second, task)
    scores = welch(a.score, b.score)
    if task.goal:
        difference = rate_difference((int(a.won.sum()), a.attempts), (int(b.won.sum()), b.attempts))
    else:
        difference = scores.difference
    x, y = field.values(first, task), field.values(second, task)
    return LevelDifference(task, float(x.mean()), float(y.mean()), difference, improvement(x, y), scores)
