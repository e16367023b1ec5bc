"""Success rates: Wilson's interval of one, Newcombe's of the difference of two."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

from experiments.statistics.errors import Interval, StatisticsError, confident


def rate(successes: int, attempts: int, confidence: float = 0.95) -> Interval:
    """The success rate with Wilson's score interval, which is also right for none and for all."""
    if not 0 <= successes <= attempts or attempts < 1:
        raise StatisticsError(f"{successes} successes of {attempts} attempts is no success rate")
    return wilson(successes / attempts, attempts, confidence)


def wilson(p: float, attempts: float, confidence: float = 0.95) -> Interval:
    """Wilson's score interval of a rate that was observed in so many attempts, which need not be a whole number."""
    z = NormalDist().inv_cdf(0.5 + confident(confidence) / 2)
    weight = z * z / attempts
    middle = (p + weight / 2) / (1 + weight)
    half = math.sqrt(p * (1 - p) * weight + weight * weight / 4) / (1 + weight)
    low = 0.0 if p == 0 else max(0.0, middle - half)
    return Interval(p, low, 1.0 if p == 1 else min(1.0, middle + half))


def rate_difference(first: tuple[int, int], second: tuple[int, int], confidence: float = 0.95) -> Interval:
    """First rate minus second, each (successes, attempts), with Newcombe's hybrid score interval (his method 10)."""
    a, b = rate(*first, confidence), rate(*second, confidence)
    difference = a.value - b.value
    low = difference - math.hypot(a.value - a.low, b.high - b.value)
    return Interval(difference, low, difference + math.hypot(a.high - a.value, b.value - b.low))


def mean_interval(intervals: Sequence[Interval]) -> Interval:
    """The mean of independent estimates, with an interval out of theirs (MOVER, Zou and Donner 2008).

    It keeps what a bootstrap loses: where all attempts went one way, there still is a width.
    """
    if not intervals:
        raise StatisticsError("there are no intervals to take the mean of")
    value = sum(each.value for each in intervals) / len(intervals)
    below = math.hypot(*(each.value - each.low for each in intervals)) / len(intervals)
    return Interval(value, value - below, value + math.hypot(*(e.high - e.value for e in intervals)) / len(intervals))
