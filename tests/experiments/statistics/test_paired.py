"""Intervals of differences over pairs: against SciPy's paired t, and by the exact chance to cover the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from experiments.statistics import StatisticsError, paired_difference, paired_rate_difference, rate_difference

PAIRS = 25


def pairs_of(better: int, worse: int, number: int = PAIRS) -> tuple[np.ndarray, np.ndarray]:
    """So many pairs in which only the first won, and only the second; of the rest, half were won by both."""
    first, second = np.zeros(number), np.zeros(number)
    first[:better], second[better : better + worse] = 1, 1
    both = slice(better + worse, better + worse + (number - better - worse) // 2)
    first[both] = second[both] = 1
    return first, second


def test_the_interval_of_rates_covers_the_truth_as_often_as_it_says() -> None:
    numbers = [(a, b) for a in range(PAIRS + 1) for b in range(PAIRS + 1 - a)]
    found = np.array([paired_rate_difference(*pairs_of(a, b)) for a, b in numbers])
    assert np.all((found[:, 1] <= found[:, 0]) & (found[:, 0] <= found[:, 2]))
    coverage = []
    for better in np.linspace(0.02, 0.6, 12):
        for worse in np.linspace(0.02, 0.38, 10):
            chances = stats.multinomial.pmf(
                [(a, b, PAIRS - a - b) for a, b in numbers], PAIRS, [better, worse, 1 - better - worse]
            )
            truth = better - worse
            coverage.append(float(chances[(found[:, 1] <= truth) & (truth <= found[:, 2])].sum()))
    assert 0.945 < np.mean(coverage) < 0.985 and min(coverage) > 0.93


def test_pairs_that_agree_tell_more_than_attempts_by_themselves() -> None:
    first, second = pairs_of(6, 1, 200)
    paired = paired_rate_difference(first, second)
    alone = rate_difference((int(first.sum()), 200), (int(second.sum()), 200))
    assert paired.value == pytest.approx(alone.value)
    assert paired.high - paired.low < 0.5 * (alone.high - alone.low)
    same = paired_rate_difference(first, first)
    assert same.value == 0 and same.low == pytest.approx(-same.high) and 0 < same.high < 0.05


def test_the_interval_of_means_is_the_paired_t_tests() -> None:
    rng = np.random.default_rng(0)
    first = rng.normal(10, 3, 40)
    second = first + rng.normal(1, 0.5, 40)
    for confidence in (0.9, 0.95):
        known = stats.ttest_rel(first, second).confidence_interval(confidence)
        found = paired_difference(first, second, confidence)
        assert (found.low, found.high) == pytest.approx((known.low, known.high))
        assert found.value == pytest.approx(float((first - second).mean()))


def test_what_is_no_pairs_is_refused() -> None:
    with pytest.raises(StatisticsError, match="as many of the one as of the other, not 2 and 3"):
        paired_difference([1, 2], [1, 2, 3])
    with pytest.raises(StatisticsError, match="wins are 0 or 1"):
        paired_rate_difference([1, 2], [1, 0])
