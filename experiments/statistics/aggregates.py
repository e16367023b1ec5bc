"""One number for many levels. Each function works on the last axis, so that it also takes resamples."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.statistics.errors import Array, StatisticsError


def mean(values: Any) -> Array:
    """The mean over the last axis."""
    return np.asarray(values, np.float64).mean(axis=-1)


def iqm(values: Any) -> Array:
    """The interquartile mean over the last axis: floor(n / 4) of n values are dropped at each end."""
    ordered = np.sort(np.asarray(values, np.float64), axis=-1)
    size = ordered.shape[-1]
    return ordered[..., size // 4 : size - size // 4].mean(axis=-1)


def optimality_gap(values: Any, target: float = 1.0) -> Array:
    """How far values fall short of the target on average, over the last axis; what is above it does not help."""
    return target - np.minimum(np.asarray(values, np.float64), target).mean(axis=-1)


def normalised(values: Any, zero: float, one: float) -> Array:
    """Values on the scale on which `zero` is 0 and `one` is 1."""
    if not one > zero:
        raise StatisticsError(f"a scale needs its 1 above its 0, not {one:g} and {zero:g}")
    return (np.asarray(values, np.float64) - zero) / (one - zero)
