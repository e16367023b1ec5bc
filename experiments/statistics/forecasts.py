"""How good forecasts are that are distributions: draws of each value that was then observed."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.statistics.bootstrap import Seed
from experiments.statistics.errors import Array, StatisticsError, confident


def crps(draws: Any, observed: Any) -> Array:
    """The continuous ranked probability score of draws [draws, values] for observed [values]: smaller is better.

    It is the mean absolute error of a forecast that is a single number.
    """
    x, y = _forecast(draws, observed)
    ordered, size = np.sort(x, axis=0), len(x)
    weight = 2 * np.arange(1, size + 1) - size - 1
    apart = (weight[:, None] * ordered).sum(axis=0) * 2 / size**2
    return np.abs(x - y).mean(axis=0) - apart / 2


def winkler(low: Any, high: Any, observed: Any, coverage: float = 0.95) -> Array:
    """The interval score, [values]: the width, and 2 / (1 - coverage) for each unit by which the interval misses."""
    a, b, y = (np.asarray(each, np.float64) for each in (low, high, observed))
    cost = 2 / (1 - confident(coverage))
    return b - a + cost * np.maximum(a - y, 0) + cost * np.maximum(y - b, 0)


def pit(draws: Any, observed: Any, seed: Seed) -> Array:
    """Where observed values lie among their draws, from 0 to 1, [values]: evenly spread if forecasts are right.

    A value that draws equal lies anywhere among those, at random.
    """
    x, y = _forecast(draws, observed)
    rng = np.random.default_rng(seed)
    return (x < y).mean(axis=0) + rng.random(y.size) * (x == y).mean(axis=0)


def _forecast(draws: Any, observed: Any) -> tuple[Array, Array]:
    x, y = np.asarray(draws, np.float64), np.asarray(observed, np.float64)
    if x.ndim != 2 or y.shape != x.shape[1:] or not x.size:
        raise StatisticsError(f"draws of shape {x.shape} are no forecast of {y.size} values")
    return x, y
