"""Performance profiles: the share of levels, or of attempts, on which a player does better than a threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.statistics.bootstrap import RESAMPLES, Seed, resampled_means
from experiments.statistics.errors import Array, confident, samples


def profile(strata: Sequence[Any], thresholds: Any) -> Array:
    """The share of values above each threshold, averaged over levels, [thresholds].

    Give every level its attempts for the distribution of attempts, or its mean alone for that of levels.
    """
    limits = np.asarray(thresholds, np.float64)
    return np.mean([(values[:, None] > limits).mean(axis=0) for values in samples(strata)], axis=0)


def profile_band(
    strata: Sequence[Any], thresholds: Any, seed: Seed, *, resamples: int = RESAMPLES, confidence: float = 0.95
) -> tuple[Array, Array, Array]:
    """The profile of the levels' means and its pointwise limits, each [thresholds]; attempts are drawn again."""
    limits = np.asarray(thresholds, np.float64)
    drawn = resampled_means(strata, seed, resamples=resamples)
    shares = np.stack([(drawn > limit).mean(axis=1) for limit in limits], axis=1)
    tail = (1 - confident(confidence)) / 2
    low, high = np.quantile(shares, (tail, 1 - tail), axis=0)
    return profile([[each.mean()] for each in samples(strata)], limits), low, high
