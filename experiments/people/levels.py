"""What people's results say level by level."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from experiments.people.data import Log, Totals
from experiments.statistics import Interval
from experiments.statistics.clusters import SPREAD, design_effect, pooled, pooled_interval, spread_of
from experiments.statistics.rates import wilson

RESAMPLES = 1000


class LevelResult(NamedTuple):
    """One level. NaN stands for what is not known, such as of single players in totals.

    players: 0 where unknown; rate: successes over attempts, with its interval
    design_effect: how many times the binomial variance the rate has, because attempts of one player are alike
    cleared: the share of players who ever won; replayed: the share who went on after it
    to_clear, to_clear_90: attempts of those who won, up to their first success: median, and what 90 % needed at most
    """

    name: str
    players: int
    attempts: int
    successes: int
    rate: Interval
    design_effect: float
    cleared: float
    replayed: float
    to_clear: float
    to_clear_90: float


def level_results(
    people: Log | Totals, seed: int = 0, *, players: int | None = None, resamples: int = RESAMPLES
) -> tuple[LevelResult, ...]:
    """Each level that has people. players: intervals as they would be with so many players on each level."""
    if isinstance(people, Totals):
        return tuple(_from_totals(people, int(level), players) for level in np.flatnonzero(people.attempts))
    spread = spread_of_players(people)
    starts = np.searchsorted(people.level, np.arange(len(people.levels) + 1))
    return tuple(
        _from_players(people, level, slice(*starts[level : level + 2]), spread, seed, players, resamples)
        for level in range(len(people.levels))
        if starts[level + 1] > starts[level]
    )


def spread_of_players(people: Log) -> float:
    """How much players differ, as `experiments.statistics.clusters.design_effect` uses it."""
    counts = people.counts()
    known = counts.attempts > 0
    rates = counts.successes[known] / counts.attempts[known]
    residual = people.successes - (counts.successes / np.maximum(counts.attempts, 1))[people.level] * people.attempts
    squares = np.bincount(people.level, residual**2, len(people.levels))[known]
    attempts, players = counts.attempts[known], counts.players[known]
    with np.errstate(divide="ignore", invalid="ignore"):
        effects = players / (players - 1) * squares / (attempts * rates * (1 - rates))
    return spread_of(rates, effects, attempts, players)


def _from_players(
    people: Log, level: int, pairs: slice, spread: float, seed: int, players: int | None, resamples: int
) -> LevelResult:
    attempts, successes, cleared = people.attempts[pairs], people.successes[pairs], people.cleared[pairs]
    interval = pooled_interval(
        attempts, successes, np.random.default_rng((seed, level)), players=players, spread=spread, resamples=resamples
    )
    needed = people.to_clear[pairs][cleared]
    middle, most = np.quantile(needed, (0.5, 0.9), method="inverted_cdf") if needed.size else (math.nan, math.nan)
    replayed = float((attempts > people.to_clear[pairs]).mean())
    return LevelResult(
        people.levels[level], attempts.size, int(attempts.sum()), int(successes.sum()), interval,
        pooled(attempts, successes).design_effect, float(cleared.mean()), replayed, float(middle), float(most),
    )  # fmt: skip


def _from_totals(people: Totals, level: int, wanted: int | None) -> LevelResult:
    attempts, successes, players = (int(each[level]) for each in (people.attempts, people.successes, people.players))
    rate = successes / attempts
    effect = float(design_effect((successes + 0.5) / (attempts + 1), attempts, players, SPREAD))
    more = wanted / players if wanted and players else 1.0
    nan = math.nan
    return LevelResult(
        people.levels[level],
        players,
        attempts,
        successes,
        wilson(rate, attempts * more / effect),
        nan,
        nan,
        nan,
        nan,
        nan,
    )
