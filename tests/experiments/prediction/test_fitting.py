"""Fits: known truth is found, shrinkage helps where data are few, and what cannot be fitted is refused."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from experiments.prediction import (
    Levels,
    Model,
    People,
    PredictionError,
    fit,
    forecast_of,
    held_out,
    measure,
    moved,
    predict,
    random_folds,
    simpler,
)  # fmt: skip
from experiments.statistics import Array
from tests.experiments.prediction.worlds import World

WORLD = World()


def slopes(model: Model) -> tuple[Array, Array]:
    """Coefficients and their errors on the scale of the world: covariates unscaled, the intercept left out."""
    scale = np.append(np.ones(len(model.agents)), model.scales.scale[len(model.agents) :])
    return model.coefficients[1:] / scale, np.sqrt(np.diag(model.covariance))[1:] / scale


@pytest.mark.parametrize("people", [20, 240, 20_000])
def test_truth_is_found_at_any_number_of_attempts(people: int) -> None:
    levels, played, _ = WORLD.play(600, people, seed=people)
    model = fit(levels, played)
    found, error = slopes(model)
    assert np.abs((found - [*WORLD.slopes, *WORLD.effects]) / error).max() < 3.2 and error.max() < 0.06
    assert abs(np.log(model.sigma / WORLD.sigma)) < 3 * model.log_error < 0.6


def test_a_level_without_people_or_without_an_agent_is_normal() -> None:
    levels, people, truth = WORLD.play(300, 240, seed=1)
    gaps = levels.attempts.copy()
    gaps[::3, 1] = 0
    holes = levels.values.copy()
    holes[::5, 0] = np.nan
    levels = replace(levels, successes=np.minimum(levels.successes, gaps), attempts=gaps, values=holes)
    attempts = np.where(np.arange(300) % 4 == 0, 0, 240)
    model = fit(levels, replace(people, successes=np.minimum(people.successes, attempts), attempts=attempts))
    assert (model.fitted.levels, model.fitted.attempts) == (225, 225 * 240)
    unseen = predict(model, levels.at(attempts == 0))
    error = np.abs(unseen.median - expit(truth[attempts == 0]))
    assert error.mean() < 0.065


def test_shrinkage_beats_the_best_single_agent_with_few_levels() -> None:
    """Four agents and 30 covariates of noise, 20 levels: as good as the one agent that one would have to know."""
    errors: dict[str, list[float]] = {"all": [], "b": [], "constant": []}
    test, tested, _ = WORLD.play(200, 2000, seed=99, tag="test")
    rng = np.random.default_rng(0)
    names = tuple(f"noise {number}" for number in range(30))

    def with_noise(levels: Levels) -> Levels:
        return replace(levels, covariates=names, values=rng.normal(size=(len(levels), 30)), groups=("noise",) * 30)

    test = with_noise(test)
    for seed in range(5):
        levels, people, _ = WORLD.play(20, 240, seed=seed)
        levels = with_noise(levels)
        for name, part, other in (
            ("all", levels, test), ("b", levels.only("b"), test.only("b")), ("constant", levels.only(), test.only())
        ):  # fmt: skip
            error = predict(fit(part, people), other, draws=2).median - tested.rates
            errors[name].append(float(np.abs(error).mean()))
    found = {name: np.mean(each) for name, each in errors.items()}
    assert found["all"] < found["b"] + 0.003 < 0.1 < found["constant"]


def test_clustered_people_count_as_fewer() -> None:
    levels, people, _ = WORLD.play(200, 240, seed=3)
    clustered = fit(levels, replace(people, players=np.full(200, 60.0), spread=3.0))
    effect = replace(people, players=np.full(200, 60.0), spread=3.0).design_effects
    assert effect.mean() > 1.8
    fewer = fit(levels, People(people.successes / effect, people.attempts / effect, people.players, 0.0))
    assert clustered.coefficients == pytest.approx(fewer.coefficients)
    assert clustered.sigma < fit(levels, people).sigma


def test_starting_from_a_model_helps_with_few_levels_and_says_how_far_it_went() -> None:
    known, people, _ = WORLD.play(500, 2000, seed=4)
    base = fit(known, people, source="many")
    others = replace(WORLD, intercept=-0.3, slopes=(0.2, 0.5, 0.15, 0.0))
    few, few_people, _ = others.play(20, 240, seed=5)
    test, tested, _ = others.play(400, 2000, seed=6, tag="test")
    fresh, started = fit(few, few_people), fit(few, few_people, start=base, source="few")
    mae = [measure(forecast_of(m, test, tested), tested).mae.value for m in (base, fresh, started)]
    assert mae[2] < min(mae[:2])
    change = moved(base, started, few)
    here = base.scales.centre[:4] @ np.subtract(others.slopes, WORLD.slopes) + others.intercept - WORLD.intercept
    assert change.coefficients["intercept"] == pytest.approx(here, abs=0.2) and 0.04 < change.rate < 0.2
    nothing = fit(few, People(np.full(20, 1e-4), np.full(20, 1e-3), np.full(20, 1), 0.0), start=base)
    assert moved(base, nothing, few).rate < 0.001


def test_simpler_models_are_the_baselines() -> None:
    levels, people, _ = WORLD.play(120, 240, seed=7)
    known = simpler(levels)
    assert list(known) == ["constant", "a alone", "b alone", "c alone", "d alone", "covariates alone"]
    folds = random_folds(120)
    mae = {name: measure(held_out(part, people, folds), people).mae.value for name, part in known.items()}
    whole = measure(held_out(levels, people, folds), people).mae.value
    assert whole < mae["b alone"] < mae["covariates alone"] < mae["constant"] + 0.01


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"successes": np.full((12, 4), 300)}, "successes of agents must be numbers from 0 to the attempts"),
        ({"attempts": np.ones((12, 3))}, r"attempts of agents must have the shape \(12, 4\), not \(12, 3\)"),
        ({"agents": ("a", "b", "a", "c")}, "two agents have the same name: 'a'"),
        ({"values": np.full((12, 3), np.inf)}, "the covariate 'x0' is infinite"),
        ({"groups": ("one",)}, "3 covariates, but groups of 1"),
    ],
)
def test_levels_that_cannot_be_are_refused(change: dict[str, object], sentence: str) -> None:
    levels = WORLD.play(12, 9, seed=0)[0]
    with pytest.raises(PredictionError, match=sentence):
        replace(levels, **change)  # type: ignore[arg-type]


def test_what_cannot_be_fitted_is_refused() -> None:
    levels, people, _ = WORLD.play(30, 50, seed=0)
    with pytest.raises(PredictionError, match="30 levels, but people's results on 29"):
        fit(levels, people.at(range(29)))
    with pytest.raises(PredictionError, match="7 levels have people, and a fit needs 8"):
        fit(levels.at(range(7)), people.at(range(7)))
    with pytest.raises(PredictionError, match="fitted with the agents a, b, c, d, and these levels have a, b"):
        predict(fit(levels, people), levels.only("ab"))
    with pytest.raises(PredictionError, match="successes of people"):
        People(np.array([3]), np.array([2]), np.array([1]))


@pytest.mark.slow
def test_a_fit_of_800_levels_and_four_agents_takes_less_than_five_seconds() -> None:
    levels, people, _ = World(effects=(0.1,) * 40).play(800, 240, seed=0)
    start = time.process_time()
    fit(levels, people)
    assert time.process_time() - start < 5


@pytest.mark.slow
@pytest.mark.parametrize(("size", "attempts"), [(20, 240), (100, 60), (300, 1000)])
def test_bands_hold_over_200_data_sets(size: int, attempts: int) -> None:
    """True and observed rates of levels that were not fitted on lie within their bands as often as they say."""
    true, seen, bias = [], [], []
    for seed in range(200):
        levels, people, truth = WORLD.play(size + 10, attempts, seed)
        prediction = predict(fit(levels.at(range(size)), people.at(range(size))), levels.at(range(size, size + 10)))
        band, rates = prediction.band(), expit(truth[size:])
        true.append((band.low <= rates) & (rates <= band.high))
        observed = prediction.observed(attempts, attempts).band()
        seen.append((observed.low <= people.rates[size:]) & (people.rates[size:] <= observed.high))
        bias.append(prediction.logit - truth[size:])
    assert 0.93 <= np.mean(true) <= 0.975 and 0.93 <= np.mean(seen) <= 0.98
    assert abs(np.mean(bias)) < 0.03
