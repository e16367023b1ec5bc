"""What all of the statistics share: arrays, intervals, and how they refuse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


class StatisticsError(ValueError):
    """Values that a statistic cannot be had of, with the sentence that says why."""


class Interval(NamedTuple):
    """An estimate and its confidence limits."""

    value: float
    low: float
    high: float


def sample(values: Any, what: str, least: int = 1) -> Array:
    """The values as floats [n], refused where they are too few or not finite."""
    array = np.asarray(values, np.float64)
    if array.ndim != 1:
        raise StatisticsError(f"{what} must be one list of numbers, not an array of shape {array.shape}")
    if array.size < least:
        raise StatisticsError(f"{what} has {array.size} values, at least {least} are needed")
    if not np.isfinite(array).all():
        raise StatisticsError(
            f"{what} holds a value that is not finite at position {int(np.argmin(np.isfinite(array)))}"
        )
    return array


def samples(strata: Sequence[Any], least: int = 1) -> list[Array]:
    """The values of each level as floats, refused where there is no level or one has too few values."""
    if not len(strata):
        raise StatisticsError("there are no levels: give the values of at least one")
    return [sample(values, f"level {number}", least) for number, values in enumerate(strata)]


def confident(confidence: float) -> float:
    """The confidence, refused where it is none."""
    if not 0 < confidence < 1:
        raise StatisticsError(f"a confidence lies between 0 and 1, such as 0.95, not {confidence}")
    return confidence
