"""Rates, tests and aggregates against values of SciPy 1.17.1 and rliable 1.2.0, published ones and closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from experiments import statistics as s

X = (np.arange(35) * 37 % 101).reshape(7, 5) / 100
Y = (np.arange(45) * 53 % 97).reshape(9, 5) / 90
"""Scores of 7 and 9 runs on 5 levels, as the pinned values below were computed from."""

THRESHOLDS = (0, 0.1, 0.25, 0.5, 0.77, 0.9)
PROFILE_OF_RUNS = (34 / 35, 30 / 35, 26 / 35, 16 / 35, 7 / 35, 3 / 35)
PROFILE_OF_MEANS = (1, 1, 1, 0.4, 0, 0)
MEAN_LIMITS = (0.39371429, 0.586)
IMPROVEMENT_LIMITS = (0.35873016, 0.61904762)


@pytest.mark.parametrize(
    ("successes", "attempts", "low", "high"),
    [
        (0, 10, 0.0, 0.27753279986288926),
        (3, 10, 0.10779126740630102, 0.6032218525388546),
        (108, 200, 0.4708228918895333, 0.6076694820002854),
        (200, 200, 0.9811546736227335, 1.0),
        (1, 3, 0.06149194472039626, 0.7923403991979523),
    ],
)
def test_wilson_interval_is_scipys(successes: int, attempts: int, low: float, high: float) -> None:
    assert s.rate(successes, attempts) == pytest.approx((successes / attempts, low, high), abs=1e-14)


def test_wilson_interval_takes_its_confidence() -> None:
    assert s.rate(7, 50, 0.9)[1:] == pytest.approx((0.07772089782062996, 0.2392389959454846), abs=1e-14)


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [((56, 70), (48, 80), 0.0524, 0.3339), ((9, 10), (3, 10), 0.1705, 0.8090), ((10, 10), (0, 10), 0.6075, 1.0)],
)
def test_difference_of_rates_is_newcombes(
    first: tuple[int, int], second: tuple[int, int], low: float, high: float
) -> None:
    """Newcombe 1998, table II, method 10."""
    assert s.rate_difference(first, second)[1:] == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(
    ("a", "b", "x", "value"),
    [
        (0.5, 0.5, 0.3, 0.36901011956554536),
        (2, 3, 0.5, 0.6875),
        (10.5, 0.5, 0.99, 0.6498436580780913),
        (500, 0.5, 0.999, 0.31731044730971725),
        (5e5, 0.5, 0.99999, 0.0015653640065981895),
        (30, 40, 0.5, 0.8857998873233515),
    ],
)
def test_incomplete_beta_is_scipys(a: float, b: float, x: float, value: float) -> None:
    assert s.incomplete_beta(a, b, x) == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize(
    ("t", "dof", "p"),
    [
        (14.59, 998, 7.560738788257579e-44),
        (2, 5.5, 0.09675439023118504),
        (-0.1, 1, 0.936548965138893),
        (3.439, 997.2, 0.0006080236434065584),
        (36.756, 800, 5.376215504199254e-174),
        (0, 4, 1.0),
        (math.inf, 4, 0.0),
    ],
)
def test_two_sided_p_is_scipys(t: float, dof: float, p: float) -> None:
    assert s.two_sided_p(t, dof) == pytest.approx(p, rel=1e-9)


@pytest.mark.parametrize(
    ("confidence", "dof", "t"),
    [(0.95, 1, 12.706204736174694), (0.95, 10, 2.228138851986274), (0.99, 997.3, 2.5807680566837963)],
)
def test_t_quantile_is_scipys(confidence: float, dof: float, t: float) -> None:
    assert s.t_quantile(confidence, dof) == pytest.approx(t, rel=1e-10)


def test_welch_is_scipys() -> None:
    found = s.welch([3, 1, 4, 1, 5, 9, 2, 6], [2, 7, 1, 8, 2, 8])
    assert found[:3] == pytest.approx((-0.4740739206973408, 9.627344116889189, 0.6460153718488814), rel=1e-10)
    assert found.difference == pytest.approx((-19 / 24, -4.532100863932911, 2.9487675305995764), rel=1e-10)


def test_welch_without_variation_says_equal_or_different_for_sure() -> None:
    assert s.welch([2, 2, 2], [2, 2])[:3] == (0, 3, 1)
    assert s.welch([3, 3, 3], [2, 2])[:3] == (math.inf, 3, 0)


def test_aggregates_are_rliables() -> None:
    assert s.iqm(X.ravel()) == pytest.approx(0.4884210526315789)
    assert s.iqm(Y.ravel()) == pytest.approx(0.49951690821256023)
    assert s.optimality_gap(Y.ravel()) == pytest.approx(0.49950617283950616)
    assert s.optimality_gap(X.ravel(), 0.5) == pytest.approx(0.132)


def test_aggregates_work_along_the_last_axis() -> None:
    assert s.iqm(X) == pytest.approx([s.iqm(row) for row in X])
    assert s.iqm([5.0]) == 5 and s.iqm([1, 2, 9]) == 4 and s.iqm([0, 1, 2, 99]) == 1.5


def test_profiles_are_rliables() -> None:
    assert s.profile(list(X.T), THRESHOLDS) == pytest.approx(PROFILE_OF_RUNS)
    assert s.profile([[mean] for mean in X.mean(axis=0)], THRESHOLDS) == pytest.approx(PROFILE_OF_MEANS)


def test_probability_of_improvement_is_rliables() -> None:
    found = s.probability_of_improvement(list(X.T), list(Y.T), 0, resamples=5000)
    assert found.value == pytest.approx(0.4904761904761904)
    assert found[1:] == pytest.approx(IMPROVEMENT_LIMITS, abs=0.01)


def test_bootstrap_is_rliables() -> None:
    found = s.bootstrap(list(X.T), s.mean, 0, resamples=20_000)
    assert found.value == pytest.approx(0.48971428571428566)
    assert found[1:] == pytest.approx(MEAN_LIMITS, abs=0.005)


def test_normalised_puts_the_random_player_at_0_and_the_reference_at_1() -> None:
    assert s.normalised([10, 20, 40], 20, 40) == pytest.approx([-0.5, 0, 1])


def test_thesis_measures_have_their_closed_forms() -> None:
    bot, human = [0.5, 0.3, 0.2, 1.0], [0.2, 0.5, 0.1, 1.0]
    assert s.delta(bot, human) == pytest.approx([0.3, -0.2, 0.1, 0])
    z = [0.3 / 0.4, -0.2 / 0.5, 0.1 / 0.3, math.nan]
    assert s.adjusted_delta(bot, human) == pytest.approx(z, nan_ok=True)
    assert s.accumulated(bot) == pytest.approx([0.5, 0.8, 1.0, 2.0])
    found = s.agreement(bot, human)
    assert found[:4] == pytest.approx(
        (0.05, np.std([0.3, -0.2, 0.1, 0], ddof=1), np.mean(z[:3]), np.std(z[:3], ddof=1))
    )
    assert found[4:6] == pytest.approx(np.polyfit(human, s.delta(bot, human), 1))
    assert found.without_adjusted == 1


def test_top_means_take_the_best_attempts() -> None:
    assert s.top_mean(range(1, 101), 0.05) == 98
    assert s.top_mean(range(1, 101), 0.15) == 93
    assert s.top_mean([1, 5, 3], 0.05) == 5


def test_features_count_no_moves_left_where_nothing_was_won() -> None:
    found = s.features([1, 0, 1, 0], [10, 20, 30, 40], [4, 9, 2, 0])
    assert found == pytest.approx((0.5, 25, np.std([10, 20, 30, 40], ddof=1), 40, 40, 1.5, 4, 4))


def test_features_of_timed_levels_have_no_moves_left() -> None:
    assert all(math.isnan(value) for value in s.features([1, 0], [10, 20], [-1, -1])[5:])


def test_quartiles_end_whiskers_at_values() -> None:
    assert s.quartiles([1, 2, 3, 4, 5, 100]) == (1, 2.25, 3.5, 4.75, 5)


def test_histogram_holds_every_value_once() -> None:
    shares, edges = s.histogram([0, 0, 1, 4], 4)
    assert shares.tolist() == [0.5, 0.25, 0, 0.25] and edges.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: s.rate(3, 2), "3 successes of 2 attempts"),
        (lambda: s.welch([1], [1, 2]), "the first sample has 1 values, at least 2 are needed"),
        (lambda: s.welch([1, 2], [1, math.nan]), "not finite at position 1"),
        (lambda: s.normalised([1], 2, 2), "its 1 above its 0"),
        (lambda: s.bootstrap([], s.iqm, 0), "no levels"),
        (lambda: s.bootstrap([[1, 2], []], s.iqm, 0), "level 1 has 0 values"),
        (lambda: s.bootstrap([[1, 2]], s.iqm, 0, confidence=95), "between 0 and 1"),
        (lambda: s.probability_of_improvement([[1]], [[1], [2]], 0), "one has 1 and the other 2"),
        (lambda: s.agreement([0.5, 0.5], [0, 1]), "0 levels have a human success rate between 0 and 1"),
        (lambda: s.delta([0.5], [1.5]), "the human must be a list of numbers from 0 to 1"),
        (lambda: s.top_mean([1], 5), "such as 0.05"),
        (lambda: s.two_sided_p(1, 0), "degrees of freedom"),
        (lambda: s.incomplete_beta(1, 1, 2), "x from 0 to 1"),
    ],
)
def test_what_cannot_be_had_is_refused_in_a_sentence(ask: Callable[[], object], words: str) -> None:
    with pytest.raises(s.StatisticsError, match=words):
        ask()


def test_mean_of_intervals_adds_errors_in_squares() -> None:
    one = s.rate_difference((9, 10), (3, 10))
    assert s.mean_interval([one]) == pytest.approx(one)
    assert s.mean_interval([s.Interval(1, 0, 2), s.Interval(3, 0, 4)]) == pytest.approx(
        (2, 2 - 10**0.5 / 2, 2 + 2**0.5 / 2)
    )
    with pytest.raises(s.StatisticsError, match="no intervals"):
        s.mean_interval([])
