"""What the attempts on one level look like: scores and moves left, their quartiles and their best."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from experiments.statistics.errors import Array, StatisticsError, sample


class Features(NamedTuple):
    """Of one player's attempts on one level. top_5, top_15: means of the best 5 % and 15 % of the attempts.

    Moves left count as 0 where an attempt was not won; they are NaN on timed levels.
    """

    success: float
    score_mean: float
    score_sd: float
    score_top_5: float
    score_top_15: float
    moves_left_mean: float
    moves_left_top_5: float
    moves_left_top_15: float


def top_mean(values: Any, share: float) -> float:
    """The mean of the best values: of the share's number of them, rounded up."""
    ordered = np.sort(sample(values, "the sample"))
    if not 0 < share <= 1:
        raise StatisticsError(f"a share lies above 0 and at most at 1, such as 0.05, not {share}")
    best = math.ceil(round(share * ordered.size, 9))
    return float(ordered[-best:].mean())


def features(won: Any, score: Any, moves_left: Any) -> Features:
    """The features of attempts, each [attempts]; moves_left is negative on timed levels."""
    wins, scores = sample(won, "wins"), sample(score, "scores", 2)
    left = np.where(wins > 0, sample(moves_left, "moves left"), 0.0)
    timed = bool((np.asarray(moves_left) < 0).any())
    spare = [math.nan] * 3 if timed else [float(left.mean()), top_mean(left, 0.05), top_mean(left, 0.15)]
    tops = top_mean(scores, 0.05), top_mean(scores, 0.15)
    return Features(float(wins.mean()), float(scores.mean()), float(scores.std(ddof=1)), *tops, *spare)


def quartiles(values: Any) -> tuple[float, float, float, float, float]:
    """A box plot's numbers: lower whisker, first quartile, median, third quartile, upper whisker.

    Whiskers end at the furthest values within 1.5 interquartile ranges of the box.
    """
    array = sample(values, "the sample")
    first, middle, third = (float(q) for q in np.quantile(array, (0.25, 0.5, 0.75)))
    reach = 1.5 * (third - first)
    within = array[(array >= first - reach) & (array <= third + reach)]
    return float(within.min()), first, middle, third, float(within.max())


def histogram(values: Any, bins: int = 20) -> tuple[Array, Array]:
    """The share of the values in each of equally wide bins [bins], and the bins' edges [bins + 1]."""
    array = sample(values, "the sample")
    counts, edges = np.histogram(array, bins)
    return counts / array.size, edges
