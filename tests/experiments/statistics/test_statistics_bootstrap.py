"""Bootstrap intervals: as wide as they must be, the same for the same seed, and right as often as they say."""

from __future__ import annotations

import numpy as np
import pytest

from experiments import statistics as s

LEVELS = 8


def wins(rng: np.random.Generator, rates: np.ndarray, attempts: int) -> list[np.ndarray]:
    return [(rng.random(attempts) < rate).astype(float) for rate in rates]


def test_intervals_over_attempts_hold_the_truth_as_often_as_they_say() -> None:
    rng, rates = np.random.default_rng(1), np.linspace(0.1, 0.9, LEVELS)
    hits = 0
    for trial in range(400):
        found = s.bootstrap(wins(rng, rates, 30), s.mean, trial, resamples=300)
        hits += found.low <= rates.mean() <= found.high
    assert 0.91 <= hits / 400 <= 0.98


def test_intervals_over_levels_hold_the_mean_of_all_levels_as_often_as_they_say() -> None:
    """Levels differ here: the truth is the mean rate of levels that are not in the sample."""
    rng, hits, narrow = np.random.default_rng(2), 0, 0
    for trial in range(400):
        strata = wins(rng, rng.uniform(0, 1, 25), 10)
        wide, slim = (s.bootstrap(strata, s.mean, trial, resamples=300, over_levels=over) for over in (True, False))
        hits += wide.low <= 0.5 <= wide.high
        narrow += slim.low <= 0.5 <= slim.high
    assert 0.90 <= hits / 400 <= 0.98
    assert narrow < 0.9 * hits


def test_spread_of_resampled_means_has_its_closed_form() -> None:
    values = np.array([0.0] * 30 + [1.0] * 10)
    drawn = s.resampled_means([values, values * 2], 0, resamples=40_000)
    assert drawn.mean(axis=0) == pytest.approx([0.25, 0.5], abs=0.002)
    assert drawn.std(axis=0) == pytest.approx(np.array([1, 2]) * values.std() / np.sqrt(40), rel=0.02)
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 0.02


def test_levels_may_have_different_numbers_of_attempts() -> None:
    found = s.bootstrap([[1, 1, 1], [0, 0], [1, 0, 1, 0]], s.mean, 0)
    assert found.value == 0.5 and 0.3 < found.low < 0.5 < found.high < 0.7


def test_the_same_seed_gives_the_same_interval() -> None:
    strata = [[1, 2, 3, 4], [5, 1, 2]]
    assert s.bootstrap(strata, s.iqm, 7) == s.bootstrap(strata, s.iqm, np.random.default_rng(7))
    assert s.bootstrap(strata, s.iqm, 7) != s.bootstrap(strata, s.iqm, 8)


def test_profile_band_surrounds_the_profile() -> None:
    rng = np.random.default_rng(3)
    middle, low, high = s.profile_band(wins(rng, np.linspace(0, 1, 20), 40), np.linspace(0, 1, 11), 0)
    assert (low <= middle + 1e-12).all() and (middle <= high + 1e-12).all() and (high - low).max() > 0.02
    assert middle[0] >= 0.9 and middle[-1] == 0


def test_probability_of_improvement_of_equal_players_is_a_half() -> None:
    rng = np.random.default_rng(4)
    first, second = ([rng.normal(size=60) for _ in range(4)] for _ in range(2))
    found = s.probability_of_improvement(first, second, 0)
    assert found.low < 0.5 < found.high
    assert s.probability_of_improvement([[2, 3]], [[0, 1]], 0) == (1, 1, 1)


def test_improvement_counts_pairs() -> None:
    first, second = [1, 4, 4, 7], [4, 2, 9]
    pairs = [(a > b) + (a == b) / 2 for a in first for b in second]
    assert s.improvement(first, second) == pytest.approx(np.mean(pairs))


def test_interquartile_means_are_covered_too() -> None:
    rng, rates = np.random.default_rng(5), np.random.default_rng(6).beta(0.8, 0.8, 10)
    hits = 0
    for trial in range(300):
        found = s.bootstrap(wins(rng, rates, 30), s.iqm, trial, resamples=300)
        hits += found.low <= float(s.iqm(rates)) <= found.high
    assert 0.89 <= hits / 300 <= 0.98


def test_mean_differences_of_rates_are_covered_where_wins_are_rare() -> None:
    rng, first, second = np.random.default_rng(7), np.array([0.02, 0.05, 0.3]), np.array([0.01, 0.1, 0.1])
    hits = 0
    for _ in range(600):
        a, b = rng.binomial(40, first), rng.binomial(40, second)
        levels = [s.rate_difference((int(x), 40), (int(y), 40)) for x, y in zip(a, b, strict=True)]
        found = s.mean_interval(levels)
        hits += found.low <= (first - second).mean() <= found.high
    assert 0.92 <= hits / 600 <= 0.99
