"""The leaderboard: players over many levels, on one scale, with what chance leaves open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import default_rng

from experiments.ranking.field import Field, PlayedTask, RankingError
from experiments.ranking.yardstick import Yardstick, yardsticks
from experiments.statistics import (
    Array,
    Interval,
    interval_of,
    iqm,
    mean,
    normalised,
    optimality_gap,
    rate,
    resampled_means,
)


@dataclass(frozen=True)
class Standing:
    """A player's place. best, worst: the ranks that chance leaves open.

    iqm, mean: over levels, of the normalised means; gap: how far those stay below the reference on average
    success: over all attempts at levels with goals, None without such; seconds: an attempt's, on average
    """

    agent: str
    rank: int
    best: int
    worst: int
    iqm: Interval
    mean: Interval
    gap: Interval
    success: Interval | None
    seconds: float
    attempts: int


@dataclass(frozen=True)
class Leaderboard:
    """standings: best first. tasks: the levels that count; useless: those whose scale has no clear 0 and 1."""

    field: Field
    yardsticks: dict[str, Yardstick]
    standings: tuple[Standing, ...]
    tasks: tuple[PlayedTask, ...]
    useless: tuple[PlayedTask, ...]
    over_levels: bool
    reference: str | None = None

    def origins(self) -> dict[str, int]:
        """How many of the levels that count have a scale from where; see `experiments.ranking.yardstick`."""
        return dict(Counter(self.yardsticks[task.identity].origin for task in self.tasks))

    def strata(self, agent: str) -> list[Array]:
        """A player's normalised values, [attempts] for each level that counts."""
        return [_normalised(self.field, agent, task, self.yardsticks) for task in self.tasks]


def rank(
    field: Field, reference: str | None = None, seed: int = 0, *, over_levels: bool = False, confidence: float = 0.95
) -> Leaderboard:
    """Rank all players of a field by the interquartile mean of their normalised results; see `yardsticks`."""
    scales = yardsticks(field, reference)
    tasks = tuple(task for task in field.tasks if scales[task.identity].usable)
    useless = tuple(task for task in field.tasks if not scales[task.identity].usable)
    if not tasks:
        raise RankingError(
            f"on none of the {len(field.tasks)} levels is the reference clearly better than the random player: "
            "play more attempts, add players, or name another reference"
        )
    if over_levels:
        field.refuse_few_levels()
    rng = default_rng(seed)
    strata = {agent: [_normalised(field, agent, task, scales) for task in tasks] for agent in field.agents}
    drawn = {agent: resampled_means(strata[agent], rng, over_levels=over_levels) for agent in field.agents}
    ranks = _ranks([iqm(drawn[agent]) for agent in field.agents], confidence)
    found = [
        _standing(field, agent, strata[agent], drawn[agent], span, confidence)
        for agent, span in zip(field.agents, ranks, strict=True)
    ]
    ordered = sorted(found, key=lambda s: (-s.iqm.value, -s.mean.value, s.agent))
    placed = tuple(Standing(**{**vars(s), "rank": place}) for place, s in enumerate(ordered, 1))
    return Leaderboard(field, scales, placed, tasks, useless, over_levels, reference)


def _normalised(field: Field, agent: str, task: PlayedTask, scales: dict[str, Yardstick]) -> Array:
    return normalised(field.values(agent, task), *scales[task.identity][:2])


def _ranks(drawn: Sequence[Array], confidence: float) -> list[tuple[int, int]]:
    """The best and the worst rank of each player that its resamples hold, but for the tails."""
    table = np.stack(drawn)  # [players, resamples]
    better = np.array([(table > row + 1e-12).sum(axis=0) for row in table])
    worse = np.array([(table < row - 1e-12).sum(axis=0) for row in table])
    tail = (1 - confidence) / 2
    best = 1 + np.quantile(better, tail, axis=1, method="nearest")
    worst = len(drawn) - np.quantile(worse, tail, axis=1, method="nearest")
    return [(int(a), int(b)) for a, b in zip(best, worst, strict=True)]


def _standing(
    field: Field, agent: str, strata: list[Array], drawn: Array, ranks: tuple[int, int], confidence: float
) -> Standing:
    means = np.array([values.mean() for values in strata])
    middle, average, gap = (interval_of(float(f(means)), f(drawn), confidence) for f in (iqm, mean, optimality_gap))
    played = [(task, field.of(agent, task)) for task in field.tasks]
    wins = [p.won for task, p in played if task.goal]
    success = rate(int(sum(w.sum() for w in wins)), sum(w.size for w in wins), confidence) if wins else None
    seconds = float(np.concatenate([p.seconds for _, p in played]).mean())
    attempts = sum(p.attempts for _, p in played)
    return Standing(agent, 0, *ranks, middle, average, gap, success, seconds, attempts)
