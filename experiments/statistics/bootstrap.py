"""Stratified bootstrap: attempts are drawn again within their level, or whole levels are drawn again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from experiments.statistics.errors import Array, Interval, confident, samples

RESAMPLES = 2000
Seed = int | np.random.Generator
Statistic = Callable[[Array], Any]
"""From the levels' means [..., levels] to one number [...]."""


def bootstrap(
    strata: Sequence[Any],
    statistic: Statistic,
    seed: Seed,
    *,
    resamples: int = RESAMPLES,
    over_levels: bool = False,
    confidence: float = 0.95,
) -> Interval:
    """A statistic of the levels' means with its percentile interval.

    over_levels: the interval is for levels like these, else for more attempts on just these.
    """
    values = samples(strata)
    drawn = resampled_means(values, seed, resamples=resamples, over_levels=over_levels)
    point = float(statistic(np.array([each.mean() for each in values])))
    return interval_of(point, statistic(drawn), confidence)


def interval_of(point: float, drawn: Any, confidence: float = 0.95) -> Interval:
    """The percentile interval of a statistic's resamples [resamples]."""
    tail = (1 - confident(confidence)) / 2
    low, high = np.quantile(np.asarray(drawn, np.float64), (tail, 1 - tail))
    return Interval(point, float(low), float(high))


def resampled_means(
    strata: Sequence[Any], seed: Seed, *, resamples: int = RESAMPLES, over_levels: bool = False
) -> Array:
    """Means of levels in resamples, [resamples, levels].

    Over levels, levels are drawn with the means that they have: those means already differ by the luck of their
    attempts, and drawing attempts too would count that luck twice.
    """
    rng, values = np.random.default_rng(seed), samples(strata)
    if over_levels:
        means = np.array([each.mean() for each in values])
        return means[rng.integers(len(means), size=(resamples, len(means)))]
    drawn = (resampled_counts(each, rng, resamples) for each in values)
    return np.stack([counts @ distinct / counts[0].sum() for distinct, counts in drawn], axis=1)


def resampled_counts(
    values: Array, rng: np.random.Generator, resamples: int, size: int | None = None
) -> tuple[Array, Array]:
    """The distinct values [k] of a sample, and how often each occurs in its resamples [resamples, k].

    Wins are two values, however many attempts there are: counts are drawn instead of attempts.
    size: of each resample, where it is not the sample's.
    """
    distinct, counts = np.unique(values, return_counts=True)
    return distinct, rng.multinomial(size or values.size, counts / values.size, size=resamples).astype(np.float64)
