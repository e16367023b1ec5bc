"""A model tried on levels that it was not fitted on, beside simpler ones."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from experiments.prediction.data import Levels, People, PredictionError
from experiments.prediction.fitting import fit
from experiments.prediction.measures import Calibrated, Forecast, Measured, calibration, measure
from experiments.prediction.validation import Fitting, Fold, held_out, random_folds, simpler

WHOLE = "the model"

SPLIT = re.compile(r"(random|blocks|first):([1-9]\d*)")

CALIBRATED = 100
"""Levels that bands are calibrated on."""


class Split(NamedTuple):
    """Which levels are predicted together, by a model that was fitted on all others."""

    name: str
    folds: tuple[Fold, ...]


class Entrant(NamedTuple):
    """A model and how it did. calibrated: after calibration; None where there are too few levels for that."""

    name: str
    measured: Measured
    calibrated: Calibrated | None


class Tested(NamedTuple):
    """A test. forecast, people: of the levels that were predicted; entrants: the whole model first."""

    split: Split
    forecast: Forecast
    people: People
    entrants: tuple[Entrant, ...]


def split_of(text: str, levels: int) -> Split:
    """A split as it is written: random:5 (fifths, dealt out with seed 0), blocks:8 (eight parts in order), first:800
    (fitted on the first 800, tested on the rest).
    """
    match = SPLIT.fullmatch(text)
    if match is None:
        raise PredictionError(f"a split is random:5, blocks:8 or first:800, say, not {text!r}")
    kind, number = match[1], int(match[2])
    if kind == "random":
        return Split(f"random parts, {number} of them", tuple(random_folds(levels, number)))
    if kind == "first":
        if not number < levels:
            raise PredictionError(f"the first {number} of {levels} levels leave none to test on")
        return Split(f"fitted on the first {number} levels", (np.arange(number, levels),))
    if not 2 <= number <= levels:
        raise PredictionError(f"{levels} levels cannot be cut into {number} parts")
    return Split(f"parts in the levels' order, {number} of them", tuple(np.array_split(np.arange(levels), number)))


def examine(
    levels: Levels,
    people: People,
    split: Split,
    *,
    tested: People | None = None,
    watched: Sequence[str] = (),
    other_people: float = 0.0,
    others: bool = True,
    seed: int = 0,
    told: Callable[[str], None] = lambda name: None,
) -> Tested:
    """Predict each part of the levels by models fitted on the others.

    Args:
        levels: all of them.
        people: who the models are fitted on.
        split: which parts.
        tested: who is predicted; the same people unless said.
        watched: groups of covariates that predict nothing.
        other_people: see `fit`.
        others: whether simpler models are tried as well.
        told: hears the name of each model before it is tried.
    """
    shown = people if tested is None else tested
    places = np.sort(np.concatenate(split.folds))
    measured = shown.at(places)
    plain = functools.partial(fit, other_people=other_people)
    models: dict[str, tuple[Levels, Fitting]] = {WHOLE: (levels, functools.partial(plain, watched=watched))}
    if others:
        models |= {name: (part, plain) for name, part in simpler(levels).items()}
    entrants, forecasts = [], []
    for name, (part, fitting) in models.items():
        told(name)
        forecasts.append(held_out(part, people, split.folds, fitting, seed, tested=shown))
        entrants.append(
            Entrant(name, measure(forecasts[-1], measured, seed), _calibrated(forecasts[-1], measured, seed))
        )
    return Tested(split, forecasts[0], measured, tuple(entrants))


def _calibrated(found: Forecast, people: People, seed: int) -> Calibrated | None:
    enough = int((people.attempts > 0).sum()) >= 2 * CALIBRATED
    return calibration(found, people, CALIBRATED, seed=seed) if enough else None
