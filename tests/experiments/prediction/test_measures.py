"""Measures of forecasts, against definitions written out, SciPy, and simulated truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import kendalltau, spearmanr

from experiments.prediction import (
    Band,
    Forecast,
    People,
    PredictionError,
    fit,
    forecast_of,
    held_out,
    join,
    kappa,
    measure,
    noise_floor,
    random_folds,
)  # fmt: skip
from experiments.statistics import StatisticsError, crps, pit, winkler
from experiments.statistics.ranks import kendall, spearman
from tests.experiments.prediction.worlds import World

RNG = np.random.default_rng(0)


def test_crps_is_the_mean_distance_less_half_of_that_among_draws() -> None:
    draws, observed = RNG.normal(size=(40, 3)), np.array([0.1, -2.0, 5.0])
    expected = [
        np.mean([abs(x - y) for x in column]) - np.mean([abs(a - b) for a in column for b in column]) / 2
        for column, y in zip(draws.T, observed, strict=True)
    ]
    assert crps(draws, observed) == pytest.approx(expected)
    assert crps(np.full((9, 1), 2.0), [5.0]) == pytest.approx([3])
    with pytest.raises(StatisticsError, match="no forecast of 2 values"):
        crps(draws, [1, 2])


def test_winkler_adds_forty_times_what_a_95_percent_band_misses() -> None:
    assert winkler([0.1, 0.1, 0.1], [0.3, 0.3, 0.3], [0.2, 0.05, 0.31]) == pytest.approx([0.2, 0.2 + 2, 0.2 + 0.4])


def test_pit_of_right_forecasts_is_even_also_where_values_are_few() -> None:
    """Binomial counts of four: without the draw among equals the places would pile up."""
    p = RNG.uniform(0.2, 0.8, 4000)
    places = pit(RNG.binomial(4, p, size=(300, 4000)), RNG.binomial(4, p), 0)
    assert np.histogram(places, 10, (0, 1))[0] == pytest.approx(np.full(10, 400), abs=80)
    assert pit(np.zeros((9, 1)), [1.0], 0) == [1.0]


def test_rank_correlations_are_scipys_with_intervals() -> None:
    x = RNG.normal(size=60)
    y = np.round(x + RNG.normal(size=60), 1)
    for function, theirs in ((spearman, spearmanr), (kendall, kendalltau)):
        found = function(x, y, 0)
        assert found.value == pytest.approx(theirs(x, y).statistic)
        assert found.low < found.value < found.high and 0.1 < found.high - found.low < 0.5
    assert np.isnan(kendall([1, 1, 1], [1, 2, 3], 0)).all()
    with pytest.raises(StatisticsError, match="no common order"):
        spearman([1, 2, 3], [1, 2, 3, 4], 0)


def test_noise_floor_is_the_error_of_who_knows_the_truth() -> None:
    truth = expit(RNG.normal(-1, 1.2, 4000))
    n = np.full(4000, 240)
    people = People(RNG.binomial(n, truth), n, n, spread=0.0)
    assert noise_floor(people) == pytest.approx(np.abs(people.rates - truth).mean(), rel=0.03)
    clustered = People(people.successes, n, np.full(4000, 60), spread=4.0)
    assert noise_floor(clustered) == pytest.approx(
        noise_floor(people) * np.mean(clustered.design_effects**0.5), rel=0.06
    )


@pytest.mark.parametrize("sigma", [0.1, 0.4])
def test_kappa_is_what_the_prediction_leaves_open(sigma: float) -> None:
    logit = RNG.normal(-1, 1, 900)
    n = np.full(900, 300)
    people = People(RNG.binomial(n, expit(logit + RNG.normal(0, sigma, 900))), n, n, spread=0.0)
    assert kappa(people, logit) == pytest.approx(sigma, abs=0.03)


def test_a_right_model_is_measured_as_right() -> None:
    world = World()
    levels, people, truth = world.play(500, 240, seed=8)
    found = measure(held_out(levels, people, random_folds(500)), people)
    assert found.levels == 500 and abs(found.bias) < 0.008
    assert found.coverage == pytest.approx({0.5: 0.5, 0.8: 0.8, 0.95: 0.95}, abs=0.07)
    assert found.outside.value == pytest.approx(1 - found.coverage[0.95])
    assert world.sigma < found.kappa < world.sigma + 0.1 and max(found.pit) < 0.15 and min(found.pit) > 0.05
    assert found.floor < found.crps < found.mae.value < 0.06 and found.width < 0.3
    assert found.spearman.low > 0.9 and found.mae.low < found.mae.value < found.mae.high
    assert sum(third.levels for third in found.thirds) == 500
    weighted = sum(third.mae * third.levels for third in found.thirds) / 500
    assert weighted == pytest.approx(found.mae.value) and found.thirds[0].high <= found.thirds[2].low
    oracle = np.abs(expit(truth) - people.rates).mean()
    assert found.floor == pytest.approx(oracle, rel=0.08)


def test_parts_of_a_forecast_are_joined_in_the_levels_order() -> None:
    levels, people, _ = World().play(40, 100, seed=1)
    model = fit(levels, people)
    whole = forecast_of(model, levels, people)
    parts = [(np.array(index), forecast_of(model, levels.at(index), people.at(index))) for index in (range(1, 40), [0])]
    joined = join(parts)
    assert joined.names == whole.names and joined.logit == pytest.approx(whole.logit, abs=1e-6)
    assert joined.bands[0.8].low == pytest.approx(whole.bands[0.8].low, abs=0.011)
    with pytest.raises(PredictionError, match="every level once"):
        join(parts[:1])


def test_levels_that_nobody_played_do_not_count() -> None:
    low, high = np.zeros(5), np.ones(5)
    bands = {coverage: Band(low, high) for coverage in (0.5, 0.8, 0.95)}
    found = Forecast(tuple("vwxyz"), np.zeros(5), np.ones(5), np.full(5, 0.5), np.full((3, 5), 0.5), bands)
    people = People(np.array([1, 0, 2, 0, 3]), np.array([4, 0, 4, 0, 4]), np.array([4, 0, 4, 0, 4]))
    measured = measure(found, people)
    assert np.isnan(measured.spearman).all()
    assert measured.levels == 3 and measured.mae.value == pytest.approx((0.25 + 0 + 0.25) / 3)
    with pytest.raises(PredictionError, match="2 of the forecast's levels have people"):
        measure(found, People(np.array([1, 0, 2, 0, 0]), np.array([4, 0, 4, 0, 0]), np.zeros(5)))
