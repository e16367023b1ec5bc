"""Levels' rates over players: against formulas written out, naive resampling, and many simulated crowds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit

from experiments.people import Log, PeopleError, Totals, crossed, level_results, log_of, spread_of_players, summarise
from experiments.people.crossed import _Table
from experiments.statistics import Interval, StatisticsError, pooled, pooled_interval, rate
from experiments.statistics.clusters import DESIGN_EFFECT, FEW, SPREAD, design_effect, spread_of
from tests.experiments.people.crowds import LEVEL, MEAN, PLAYER, PLAYER_LEVEL, crowd

A = np.array([1, 4, 2, 9, 3, 1, 1, 5, 12, 2])
S = np.array([1, 0, 1, 1, 1, 1, 0, 1, 0, 2])


def test_design_effect_is_the_variance_over_players_through_the_binomial_one() -> None:
    p = 8 / 40
    residuals = [s - p * a for a, s in zip(A, S, strict=True)]
    variance = sum(r * r for r in residuals) / 40**2 * 10 / 9
    assert pooled(A, S) == pytest.approx((p, variance / (p * (1 - p) / 40)))
    assert math.isnan(pooled([3], [1]).design_effect) and math.isnan(pooled([3, 2], [0, 0]).design_effect)


def test_coin_tosses_have_a_design_effect_of_one_and_alike_attempts_more() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(1, 9, 20_000)
    assert pooled(a, rng.binomial(a, 0.3)).design_effect == pytest.approx(1, abs=0.03)
    alike = a * (rng.random(a.size) < 0.3)
    assert pooled(a, alike).design_effect == pytest.approx((a**2).sum() / a.sum(), rel=0.03)


def test_interval_is_that_of_players_drawn_again() -> None:
    people = crowd(1, 40, 1, 1)
    a, s = people.attempts, people.successes
    drawn = np.random.default_rng(1).integers(a.size, size=(4000, a.size))
    low, high = np.quantile(s[drawn].sum(axis=1) / a[drawn].sum(axis=1), (0.025, 0.975))
    found = pooled_interval(a, s, 0, resamples=4000)
    assert found.value == s.sum() / a.sum()
    wider = (found.high - found.low) / (high - low)
    assert 1.0 < wider < 1.12  # it makes up for the bootstrap's narrowness
    assert (found.high + found.low) / 2 == pytest.approx((high + low) / 2, abs=0.1 * (high - low))


def test_more_players_would_narrow_the_interval() -> None:
    people = crowd(1, 100, 1, 3)
    own, many = (pooled_interval(people.attempts, people.successes, 0, players=players) for players in (None, 900))
    assert own.high - own.low == pytest.approx(3 * (many.high - many.low), rel=0.15)
    few = [pooled_interval(A, S, 0, players=players) for players in (None, 250)]
    assert few[1].high - few[1].low < 0.3 * (few[0].high - few[0].low)


def test_few_players_and_certain_results_still_have_an_interval() -> None:
    assert pooled_interval([1] * 40, [1] * 40, 0) == rate(40, 40)
    effect = max(pooled(A, S).design_effect, float(design_effect(8.5 / 41, 40, 10, SPREAD)))
    wider, tosses = pooled_interval(A, S, 0), rate(8, 40)
    assert A.size < FEW and wider.high - wider.low == pytest.approx((tosses.high - tosses.low) * effect**0.5, rel=0.1)
    for attempts, successes, sentence in (([0], [0], "1 attempt or more"), ([1], [2], "0 to attempts")):
        with pytest.raises(StatisticsError, match=sentence):
            pooled_interval(attempts, successes, 0)


def test_spread_gives_the_levels_design_effects_back() -> None:
    p, m = np.array([0.05, 0.2, 0.5, 0.3]), np.array([100, 80, 60, 5])
    attempts = m * np.array([9.0, 4, 2, 3])
    effects = design_effect(p, attempts, m, 1.7)
    assert effects[0] == pytest.approx(1 + 1.7 * 0.05 * 0.95 * 8)
    effects[3] = 50.0  # of five players
    assert spread_of(p, effects, attempts, m) == pytest.approx(1.7)
    assert spread_of(p, np.full(4, np.nan), attempts, m) == SPREAD
    assert design_effect(0.5, 10, 0, 1.7) == DESIGN_EFFECT


@pytest.mark.slow
@pytest.mark.parametrize("players", [8, 30, 120])
def test_intervals_hold_the_rate_of_a_large_crowd(players: int) -> None:
    large = crowd(1, 200_000, 1, 5)
    truth = large.successes.sum() / large.attempts.sum()
    drawn = np.random.default_rng(0).integers(large.attempts.size, size=(1000, players))
    inside = 0
    for seed, part in enumerate(drawn):
        found = pooled_interval(large.attempts[part], large.successes[part], seed, spread=1.3, resamples=600)
        inside += found.low <= truth <= found.high
    assert 0.91 <= inside / 1000 <= 0.985


def test_a_level_says_what_its_players_did() -> None:
    people = log_of(["x"] * 4 + ["y"], ["a", "b", "c", "d", "a"], [3, 6, 9, 2, 4], [1, 2, 0, 1, 0])
    x, y = level_results(people)
    assert (x.name, x.players, x.attempts, x.successes) == ("x", 4, 20, 4) and x.rate.value == 0.2
    assert (x.cleared, x.replayed, x.to_clear, x.to_clear_90) == (0.75, 0.25, 3, 5)
    assert (y.players, y.cleared) == (1, 0) and math.isnan(y.to_clear) and math.isnan(y.design_effect)
    assert y.rate.low == 0 < y.rate.high


def test_totals_use_a_typical_design_effect() -> None:
    numbers = (np.array([200, 0, 50]), np.array([50, 0, 50]), np.array([0, 0, 25]))
    first, last = level_results(Totals(("x", "none", "y"), *numbers))
    tosses = rate(50, 200)
    assert (first.name, last.name) == ("x", "y") and math.isnan(first.cleared)
    assert first.rate.high - first.rate.low == pytest.approx((tosses.high - tosses.low) * DESIGN_EFFECT**0.5, rel=0.01)


def test_a_logs_spread_is_that_of_its_levels() -> None:
    people = crowd(12, 300, 8, 1)
    known = level_results(people)
    columns = [[(k.rate.value, k.design_effect, k.attempts, k.players)[i] for k in known] for i in range(4)]
    assert spread_of_players(people) == pytest.approx(spread_of(*columns))


# ---------------------------------------------------------------------------------- players and levels


def test_a_pairs_likelihood_is_the_integral_over_the_players_effect() -> None:
    attempts, successes = np.array([1.0, 7, 30]), np.array([1.0, 1, 12])
    logit, z = np.array([-3.3, -0.4, 1.1]), np.linspace(-9, 9, 4001)
    p = expit(logit[:, None] + 0.6 * z)
    each = p ** successes[:, None] * (1 - p) ** (attempts - successes)[:, None] * np.exp(-(z**2) / 2)
    expected = np.log(np.trapezoid(each, z, axis=1) / math.sqrt(2 * math.pi))
    table, kinds, step = _Table(attempts, successes, 0.6), np.arange(3), 1e-4
    value, slope, curve = table.at(kinds, logit)
    assert value == pytest.approx(expected, abs=1e-5)
    up, down = (table.at(kinds, logit + sign * step) for sign in (1, -1))
    assert slope == pytest.approx((up[0] - down[0]) / (2 * step), abs=2e-3)
    assert curve == pytest.approx((up[1] - down[1]) / (2 * step), abs=1e-5)


@pytest.mark.parametrize("sparse", [False, True])
def test_players_and_levels_can_change_places(sparse: bool) -> None:
    """The larger side is eliminated, densely or sparsely; which one it is must not matter."""
    people = crowd(12 if not sparse else 60, 90, 6, 2)
    turned = Log(
        tuple(map(str, range(people.player_count))), len(people.levels), people.player, people.level,
        people.attempts, people.successes, people.to_clear,
    )  # fmt: skip
    one, other = crossed(people), crossed(turned)
    assert one.level == pytest.approx(other.player, rel=5e-3) and one.player == pytest.approx(other.level, rel=5e-3)
    assert one.mean == pytest.approx(other.mean, abs=0.02)


def test_differences_of_a_crowd_are_found() -> None:
    found = crossed(crowd(40, 150, 20, 7))
    for interval, truth in ((found.player, PLAYER), (found.player_level, PLAYER_LEVEL), (found.level, LEVEL)):
        assert interval.low < truth < interval.high and interval.high / interval.low < 2
    assert found.mean == pytest.approx(MEAN, abs=0.6)


@pytest.mark.slow
@pytest.mark.parametrize(("levels", "players", "each"), [(15, 300, 6), (80, 100, 20), (200, 120, 60)])
def test_standard_deviations_are_within_a_tenth_on_average(levels: int, players: int, each: int) -> None:
    found = [crossed(crowd(levels, players, each, seed)) for seed in range(40)]
    for truth, intervals in ((PLAYER, [f.player for f in found]), (PLAYER_LEVEL, [f.player_level for f in found])):
        assert np.mean([interval.value for interval in intervals]) == pytest.approx(truth, rel=0.1)
        assert np.mean([interval.low < truth < interval.high for interval in intervals]) >= 0.85


def test_players_of_one_level_cannot_be_told_from_levels() -> None:
    people = crowd(5, 50, 1, 0)
    with pytest.raises(PeopleError, match="must have played several levels"):
        crossed(people)
    summary = summarise(people)
    assert summary.differences is None and "several levels" in summary.unknown and len(summary.levels) == 5
    assert "totals" in summarise(Totals(("x",), *np.array([[9], [3], [2]]))).unknown


def test_large_logs_are_told_apart_by_some_players(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.people.summary.MOST_PAIRS", 900)
    summary = summarise(crowd(20, 100, 12, 0))
    assert summary.drawn == 75 and summary.players == 100
    assert summary.differences is not None and isinstance(summary.differences.player, Interval)


def test_levels_of_a_pack_are_put_in_its_order() -> None:
    people = log_of(["x", "y", "x"], ["a", "a", "b"], [3, 1, 2], [1, 1, 0])
    chosen = people.of(["z", "y", "x"])
    assert [each.tolist() for each in chosen.counts()[1:]] == [[0, 1, 5], [0, 1, 1], [0, 1, 2]]
    assert level_results(chosen)[1].rate == level_results(people)[0].rate
    assert Totals(("x", "y"), *np.array([[5, 1], [1, 1], [2, 1]])).of(["z", "y"]).counts().attempts.tolist() == [0, 1]
    with pytest.raises(PeopleError, match="attempts from 1"):
        log_of(["x"], ["a"], [0], [0])
