"""Whether two lists put things in the same order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from experiments.statistics.bootstrap import Seed, interval_of
from experiments.statistics.errors import Array, Interval, StatisticsError, sample

RESAMPLES = 500


def spearman(x: Any, y: Any, seed: Seed, resamples: int = RESAMPLES) -> Interval:
    """Spearman's rank correlation of [values], with its bootstrap interval; NaN where a list does not vary."""
    from scipy.stats import rankdata  # half a second to import, which predictions do not need

    return _both(x, y, seed, resamples, lambda a, b: _correlation(rankdata(a, axis=1), rankdata(b, axis=1)))


def kendall(x: Any, y: Any, seed: Seed, resamples: int = RESAMPLES) -> Interval:
    """Kendall's rank correlation (tau b) of [values], with its bootstrap interval; NaN where a list does not vary."""
    from scipy.stats import kendalltau

    return _both(
        x, y, seed, resamples,
        lambda a, b: np.array([kendalltau(one, two).statistic for one, two in zip(a, b, strict=True)]),
    )  # fmt: skip


def _both(x: Any, y: Any, seed: Seed, resamples: int, statistic: Any) -> Interval:
    a, b = sample(x, "the first list", 3), sample(y, "the second list", 3)
    if a.size != b.size:
        raise StatisticsError(f"lists of {a.size} and {b.size} values have no common order")
    if not (np.ptp(a) > 0 and np.ptp(b) > 0):
        return Interval(math.nan, math.nan, math.nan)
    drawn = np.random.default_rng(seed).integers(a.size, size=(resamples, a.size))
    found = statistic(a[drawn], b[drawn])
    return interval_of(float(statistic(a[None], b[None])[0]), found[np.isfinite(found)])


def _correlation(a: Array, b: Array) -> Array:
    """Pearson's correlation over the last axis; NaN where a list does not vary."""
    a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    scale = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    return np.divide((a * b).sum(axis=1), scale, out=np.full(len(a), np.nan), where=scale > 0)
