"""Predicts levels that a model was not fitted on: folds, simpler models to compare with, calibration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from experiments.prediction.data import Levels, People, PredictionError
from experiments.prediction.fitting import fit, hashed
from experiments.prediction.measures import Forecast, forecast, join
from experiments.prediction.model import Model
from experiments.prediction.predicting import predict, score

Fold = npt.NDArray[np.int64]
"""The places of the levels that are held out."""

Fitting = Callable[[Levels, People], Model]


def random_folds(levels: int, folds: int = 5, seed: int = 0) -> list[Fold]:
    """Levels dealt out at random, each to one of the folds."""
    if not 2 <= folds <= levels:
        raise PredictionError(f"{levels} levels cannot be dealt out to {folds} folds")
    return [np.sort(part) for part in np.array_split(np.random.default_rng(seed).permutation(levels), folds)]


def folds_by(families: Sequence[str]) -> list[Fold]:
    """Each family of levels is a fold."""
    return [np.flatnonzero([family == name for family in families]) for name in dict.fromkeys(families)]


def held_out(
    levels: Levels,
    people: People,
    folds: Sequence[Fold],
    fitting: Fitting = fit,
    seed: int = 0,
    *,
    tested: People | None = None,
) -> Forecast:
    """Forecast each fold by a model that was fitted on all other levels, for as many attempts as people made.

    The forecast is of the levels in any fold, in their order.
    tested: other people, whose results are forecast; the same ones unless said.
    """
    shown = people if tested is None else tested
    places = np.sort(np.concatenate(folds))
    return join(
        [
            (
                np.searchsorted(places, fold),
                forecast_of(fitting(*_others(levels, people, fold)), levels.at(fold), shown.at(fold), seed),
            )
            for fold in folds
        ]
    )


def forecast_of(model: Model, levels: Levels, people: People, seed: int = 0) -> Forecast:
    """Forecast levels for as many attempts and players as people had on them; 1 where nobody played."""
    return forecast(predict(model, levels, seed=seed).observed(np.maximum(people.attempts, 1), people.players, seed))


def calibrated(model: Model, levels: Levels, people: People) -> Model:
    """The model with its observed-rate band corrected by levels that it was not fitted on (split conformal).

    The band then holds an observed rate with at least its probability if the level is exchangeable with those of the
    calibration: drawn like them, played by such people. Of other levels it says nothing.
    """
    played = people.attempts > 0
    levels, people = levels.at(played), people.at(played)
    known = [name for name in levels.names if hashed(name) in model.fitted.names]
    if known:
        raise PredictionError(
            f"{len(known)} levels to calibrate on are among those that the model was fitted on, such as {known[0]!r}"
        )
    if not len(levels):
        raise PredictionError("no level to calibrate on has people")
    observed = predict(model, levels).observed(people.attempts, people.players)
    return replace(model, scores=tuple(np.sort(score(observed, people.successes)).tolist()))


def simpler(levels: Levels) -> Mapping[str, Levels]:
    """The same levels as simpler models see them: nothing, one agent alone, each group of covariates alone."""
    groups = dict.fromkeys(levels.groups)
    return {
        "constant": levels.only(),
        **{f"{agent} alone": levels.only([agent]) for agent in levels.agents},
        **{f"{group} alone": levels.only(groups=[group]) for group in groups},
    }


def _others(levels: Levels, people: People, fold: Fold) -> tuple[Levels, People]:
    kept = np.ones(len(levels), bool)
    kept[fold] = False
    return levels.at(kept), people.at(kept)
