"""How probably an attempt of one player beats an attempt of another on the same level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.statistics.bootstrap import RESAMPLES, Seed, interval_of, resampled_counts
from experiments.statistics.errors import Array, Interval, StatisticsError, samples


def improvement(first: Any, second: Any) -> float:
    """P(first > second) + P(equal) / 2 on one level: the Mann-Whitney U of the first over n1 n2."""
    (a, b) = samples([first, second])
    below, upto = np.searchsorted(np.sort(b), a, "left"), np.searchsorted(np.sort(b), a, "right")
    return float((below + upto).mean() / (2 * b.size))


def probability_of_improvement(
    first: Sequence[Any], second: Sequence[Any], seed: Seed, *, resamples: int = RESAMPLES, confidence: float = 0.95
) -> Interval:
    """The mean of `improvement` over levels, with its stratified bootstrap interval."""
    a, b = samples(first), samples(second)
    if len(a) != len(b):
        raise StatisticsError(f"both players need the same levels, but one has {len(a)} and the other {len(b)}")
    rng = np.random.default_rng(seed)
    pairs = list(zip(a, b, strict=True))
    drawn = np.mean([_resampled(x, y, rng, resamples) for x, y in pairs], axis=0)
    return interval_of(float(np.mean([improvement(x, y) for x, y in pairs])), drawn, confidence)


def _resampled(a: Array, b: Array, rng: np.random.Generator, resamples: int) -> Array:
    """`improvement` in resamples of one level, [resamples]."""
    (x, x_counts), (y, y_counts) = (resampled_counts(values, rng, resamples) for values in (a, b))
    better = (np.sign(x[:, None] - y) + 1) / 2
    return np.einsum("ri,ri->r", x_counts @ better, y_counts) / (a.size * b.size)
