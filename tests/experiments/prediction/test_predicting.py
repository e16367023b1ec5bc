"""Predictions: bands, far levels, calibration that guarantees what it says, and files."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, ndtr

from experiments.prediction import (
    Levels,
    Model,
    People,
    PredictionError,
    calibrated,
    fit,
    folds_by,
    forecast_of,
    load,
    measure,
    predict,
    random_folds,
    save,
)  # fmt: skip
from experiments.prediction.predicting import quantile_of
from experiments.statistics import Array
from tests.experiments.prediction.worlds import World

WORLD = World()


@pytest.fixture(scope="module")
def model() -> Model:
    levels, people, _ = WORLD.play(300, 240, seed=0)
    return fit(levels, people, source="simulated people")


@pytest.fixture(scope="module")
def others() -> tuple[Levels, People, Array]:
    return WORLD.play(400, 240, seed=1, tag="other")


def test_median_mean_and_band_are_of_one_distribution(model: Model, others: tuple[Levels, People, Array]) -> None:
    said = predict(model, others[0])
    assert said.median == pytest.approx(np.median(said.draws, axis=0), abs=0.02)
    nodes, weights = np.polynomial.hermite_e.hermegauss(31)
    mean = expit(said.logit + said.error * nodes[:, None]).T @ weights / weights.sum()
    assert said.mean == pytest.approx(mean, abs=0.008)
    half, whole = said.band(0.5), said.band()
    assert (whole.low < half.low).all() and (half.high < whole.high).all() and (whole.width > 0).all()
    assert whole.high == pytest.approx(expit(said.logit + 1.96 * said.error), abs=0.03)
    low, high = (ndtr((math.log(p / (1 - p)) - said.logit) / said.error) for p in (0.2, 0.4))
    assert said.probability(0.2, 0.4) == pytest.approx(high - low, abs=0.04)


def test_what_is_said_of_a_level_does_not_depend_on_its_company(
    model: Model, others: tuple[Levels, People, Array]
) -> None:
    alone, together = predict(model, others[0].at([7])), predict(model, others[0])
    assert alone.draws[:, 0] == pytest.approx(together.draws[:, 7], abs=1e-6)
    one, many = alone.observed(90, 30), together.observed(np.full(400, 90), 30)
    assert one.draws[:, 0] == pytest.approx(many.draws[:, 7], abs=0.03)
    assert predict(model, others[0], seed=1).draws[0, 0] != together.draws[0, 0]


def test_of_two_levels_the_harder_one_is_told_with_a_probability(
    model: Model, others: tuple[Levels, People, Array]
) -> None:
    said = predict(model, others[0])
    order = np.argsort(said.logit)
    assert said.harder(order[0], order[-1]) > 0.999 > 0.001 > said.harder(order[-1], order[0])
    first, second = order[200], order[201]
    z = (said.logit[second] - said.logit[first]) / math.hypot(said.error[first], said.error[second])
    assert said.harder(first, second) == pytest.approx(0.5 + 0.4 * z, abs=0.05)
    truth = others[2]
    pairs = np.random.default_rng(0).permutation(400).reshape(-1, 2)
    chance = np.array([said.harder(a, b) for a, b in pairs])
    assert np.mean(chance) == pytest.approx(np.mean([truth[a] < truth[b] for a, b in pairs]), abs=0.08)


def test_observed_rates_have_the_variance_of_their_design_effect(
    model: Model, others: tuple[Levels, People, Array]
) -> None:
    sure = replace(model, sigma=1e-6, covariance=0 * model.covariance, spread=2.0)
    said = predict(sure, replace(others[0], attempts=others[0].attempts * 1e6, successes=others[0].successes * 1e6))
    seen = said.observed(200, 50)
    p = said.median
    expected = p * (1 - p) / 200 * (1 + 2.0 * p * (1 - p) * 3)
    ordinary = (p > 0.05) & (p < 0.95)
    assert (seen.draws.var(axis=0) / expected)[ordinary] == pytest.approx(np.ones(ordinary.sum()), abs=0.15)
    assert seen.draws.mean(axis=0) == pytest.approx(p, abs=0.01)
    assert set(np.unique(np.round(seen.draws * 200, 9) % 1)) == {0.0}
    for attempts in (0, np.inf):
        with pytest.raises(PredictionError, match="1 attempt or more"):
            said.observed(attempts, 50)


def test_other_people_are_less_sure_and_predicted_alike(
    model: Model, others: tuple[Levels, People, Array], tmp_path: Path
) -> None:
    """Worlds in which each level's logit is off by 0.4 more: their people are inside, those of the fit more often."""
    levels, people, _ = WORLD.play(300, 240, seed=0)
    wider = fit(levels, people, other_people=0.4)
    same, said = predict(model, others[0]), predict(wider, others[0])
    assert np.array_equal(same.logit, said.logit)
    assert said.error**2 - same.error**2 == pytest.approx(0.4**2 * said.widened**2)
    strange, played, _ = replace(WORLD, sigma=math.hypot(WORLD.sigma, 0.4)).play(400, 240, seed=9, tag="strange")
    inside = [measure(forecast_of(each, strange, played), played).coverage[0.95] for each in (model, wider)]
    assert inside[0] < 0.9 and 0.93 <= inside[1] <= 0.98
    save(wider, tmp_path / "model.json")
    found = json.loads((tmp_path / "model.json").read_text())
    assert load(tmp_path / "model.json").other_people == found.pop("other_people") == 0.4
    (tmp_path / "model.json").write_text(json.dumps(found))
    assert load(tmp_path / "model.json").other_people == 0  # as older versions wrote it


def test_parts_add_up_to_the_logit(model: Model, others: tuple[Levels, People, Array]) -> None:
    said = predict(model, others[0])
    assert said.parts.sum(axis=1) + model.coefficients[0] == pytest.approx(said.logit)


def test_levels_unlike_those_of_the_fit_are_told_and_widened() -> None:
    levels, people, _ = WORLD.play(300, 240, seed=2)
    values = np.column_stack([levels.values, np.zeros(300)])
    locks = replace(levels, covariates=(*levels.covariates, "locks"), values=values, groups=())
    model = fit(locks, people)
    usual = predict(model, locks)
    assert usual.far.mean() < 0.03 and usual.odd[0] == ()
    new = predict(model, replace(locks, values=locks.values + np.eye(4)[3]))
    assert new.far.all() and new.odd[0] == ("locks",)
    assert (new.band().width / usual.band().width).mean() > 1.5
    strange = predict(model, replace(locks, successes=locks.successes[:, ::-1]))  # the weak win what the strong lose
    assert strange.far.mean() > 0.8


def test_calibration_holds_what_it_says_where_the_model_is_wrong() -> None:
    """People differ three times as much as the model was fitted to; 200 levels to calibrate on mend the band."""
    levels, people, _ = WORLD.play(300, 4000, seed=3)
    model = fit(levels, people)
    wilder, before, after = replace(WORLD, sigma=0.9), [], []
    for seed in range(6):
        known, played, _ = wilder.play(200, 240, 2 * seed + 50, tag="known")
        test, tested, _ = wilder.play(200, 240, 2 * seed + 51, tag="test")
        for which, sums in ((model, before), (calibrated(model, known, played), after)):
            band = predict(which, test).observed(240, 240).band()
            sums.append(np.mean((band.low <= tested.rates) & (tested.rates <= band.high)))
    assert np.mean(before) < 0.75 and 0.94 <= np.mean(after) <= 0.975
    corrected = forecast_of(calibrated(model, known, played), test, tested)
    assert measure(corrected, tested).coverage[0.5] == pytest.approx(0.5, abs=0.1)


def test_calibration_says_only_what_so_many_levels_allow() -> None:
    scores = tuple(float(score) for score in range(1, 20))
    assert quantile_of(scores, 0.95) == 19 and quantile_of(scores, 0.5) == 10
    assert quantile_of(scores[:18], 0.95) is None and quantile_of((), 0.5) is None
    levels, people, _ = WORLD.play(40, 240, seed=4)
    model = fit(levels, people)
    with pytest.raises(PredictionError, match="3 levels to calibrate on are among those that the model was fitted on"):
        calibrated(model, levels.at([1, 2, 3]), people.at([1, 2, 3]))
    known, played, _ = WORLD.play(10, 240, seed=5, tag="known")
    few = calibrated(model, known, played)
    assert len(few.scores) == 10
    one, other = (predict(each, known).observed(240, 240).band() for each in (model, few))
    assert np.array_equal(one.low, other.low)  # 95 % cannot be had of ten levels
    with pytest.raises(PredictionError, match="no level"):
        calibrated(model, known, replace(played, successes=np.zeros(10), attempts=np.zeros(10)))
    with pytest.raises(PredictionError, match="coverage"):
        predict(model, known).band(1.5)


def test_folds_hold_every_level_once() -> None:
    assert sorted(np.concatenate(random_folds(103, 5, 1)).tolist()) == list(range(103))
    assert [fold.tolist() for fold in folds_by(["x", "y", "x"])] == [[0, 2], [1]]
    with pytest.raises(PredictionError, match="3 levels cannot be dealt out to 5 folds"):
        random_folds(3)


# ---------------------------------------------------------------------------------- files


def test_a_model_read_again_says_the_same(model: Model, others: tuple[Levels, People, Array], tmp_path: Path) -> None:
    for part in ("whole", "constant"):
        levels = others[0] if part == "whole" else others[0].only()
        one = calibrated(model, *others[:2]) if part == "whole" else fit(levels, others[1])
        save(one, tmp_path / "model.json")
        again = load(tmp_path / "model.json")
        assert np.array_equal(predict(one, levels).draws, predict(again, levels).draws)
        assert (again.fitted, again.scores, again.shrinkage) == (one.fitted, one.scores, one.shrinkage)
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]
    with pytest.raises(PredictionError, match="cannot be written"):
        save(model, tmp_path / "nowhere" / "model.json")


DAMAGES: list[tuple[str, Any, str]] = [
    ("kind", "something", "its kind is not"), ("format", 2, "its format is 2, and this version reads 1"),
    ("agents", "a", "'agents' must be a list of names"), ("groups", ["one"], "a group for each covariate"),
    ("coefficients", [1.0, 2], r"'coefficients' must be numbers of the shape \(8,\)"),
    ("covariance", [[math.nan] * 8] * 8, "'covariance' must be numbers"),
    ("covariance", (-np.eye(8)).tolist(), "'covariance' must be symmetric, and positive"),
    ("sigma", -1, "'sigma' must be a number from 1e-09"), ("spread", True, "'spread' must be a number"),
    ("scores", [2.0, 1.0], "ascending"), ("population", None, "'population' must be an object"),
    ("reach", {"inverse": np.eye(7).tolist(), "edge": "far"}, "'edge' must be a number"),
]  # fmt: skip


@pytest.mark.parametrize(("key", "value", "sentence"), DAMAGES)
def test_damaged_models_are_refused_in_a_sentence(
    key: str, value: object, sentence: str, model: Model, tmp_path: Path
) -> None:
    path = tmp_path / "model.json"
    save(model, path)
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    with pytest.raises(PredictionError, match=sentence) as told:
        load(path)
    assert "\n" not in str(told.value) and "model.json" in str(told.value)


def test_what_is_no_model_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    for content, sentence in ((b"{", "it is not JSON"), (b"[]", "its kind is not"), (b"\xff", "it is not JSON")):
        path.write_bytes(content)
        with pytest.raises(PredictionError, match=sentence):
            load(path)
    with pytest.raises(PredictionError, match="cannot be read"):
        load(tmp_path / "nowhere.json")
