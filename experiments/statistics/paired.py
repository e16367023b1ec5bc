"""Differences of attempts that belong together in pairs, such as those played with the same keys."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np

from experiments.statistics.errors import Array, Interval, StatisticsError, confident, sample
from experiments.statistics.student import t_quantile


def paired_rate_difference(first: Any, second: Any, confidence: float = 0.95) -> Interval:
    """First success rate minus second, from pairs of 0 and 1, with Bonett and Price's adjusted Wald interval (2012).

    It adds one pair of each kind in which the two differ, which keeps a width where no pair does.
    """
    a, b = _pairs(first, second)
    if not np.isin((a, b), (0, 1)).all():
        raise StatisticsError("wins are 0 or 1")
    better, worse = (int(np.sum(a > b)) + 1) / (a.size + 2), (int(np.sum(a < b)) + 1) / (a.size + 2)
    half = _normal(confidence) * math.sqrt((better + worse - (better - worse) ** 2) / (a.size + 2))
    middle = better - worse
    return Interval(float(a.mean() - b.mean()), max(-1.0, middle - half), min(1.0, middle + half))


def paired_difference(first: Any, second: Any, confidence: float = 0.95) -> Interval:
    """The mean of the pairs' differences, first minus second, with Student's interval."""
    a, b = _pairs(first, second)
    differences = a - b
    half = t_quantile(confidence, a.size - 1) * float(differences.std(ddof=1)) / math.sqrt(a.size)
    middle = float(differences.mean())
    return Interval(middle, middle - half, middle + half)


def _pairs(first: Any, second: Any) -> tuple[Array, Array]:
    a, b = sample(first, "the first sample", 2), sample(second, "the second sample", 2)
    if a.size != b.size:
        raise StatisticsError(f"pairs need as many of the one as of the other, not {a.size} and {b.size}")
    return a, b


def _normal(confidence: float) -> float:
    return NormalDist().inv_cdf(0.5 + confident(confidence) / 2)
