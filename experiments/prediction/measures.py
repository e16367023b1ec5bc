"""How well people's observed success rates were predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.special import expit

from experiments.prediction.data import People, PredictionError
from experiments.prediction.predicting import Band, Observed, quantile_of
from experiments.prediction.quadrature import integrate, single
from experiments.statistics import Array, Interval, interval_of
from experiments.statistics.forecasts import crps, pit, winkler
from experiments.statistics.ranks import kendall, spearman

COVERAGES = (0.5, 0.8, 0.95)
BINS = 10
RESAMPLES = 1000


class Forecast(NamedTuple):
    """What was said of levels that people then played, [levels]. draws: of the observed rate, [draws, levels].

    error: of the observed rate's logit, its standard deviation
    """

    names: tuple[str, ...]
    logit: Array
    error: Array
    median: Array
    draws: Array
    bands: Mapping[float, Band]


class Third(NamedTuple):
    """A third of the levels, by people's rate. bias: mean of predicted minus observed."""

    low: float
    high: float
    levels: int
    mae: float
    bias: float
    outside: float


class Measured(NamedTuple):
    """How good a forecast is; intervals are over levels.

    mae: mean absolute error of the median; bias: mean of predicted minus observed; floor: the mean absolute error that
    somebody who knows the true rates would have
    outside, width: share of observed rates outside the 95 % band, and its mean width
    kappa: standard deviation of what the prediction leaves open, on the logit scale
    crps, winkler: scores of the distribution, and of the 95 % band; coverage: share within each band
    spearman, kendall: of predicted and observed rates; pit: shares of levels in `BINS` bins
    """

    levels: int
    mae: Interval
    bias: float
    floor: float
    outside: Interval
    width: float
    kappa: float
    crps: float
    winkler: float
    coverage: Mapping[float, float]
    spearman: Interval
    kendall: Interval
    pit: tuple[float, ...]
    thirds: tuple[Third, ...]


def forecast(observed: Observed) -> Forecast:
    """A prediction of observed rates, as it is measured."""
    prediction = observed.prediction
    bands = {coverage: observed.band(coverage) for coverage in COVERAGES}
    error = np.sqrt(prediction.error**2 + observed.noise)
    return Forecast(prediction.names, prediction.logit, error, prediction.median, observed.draws, bands)


def join(parts: Sequence[tuple[npt.NDArray[np.int64], Forecast]]) -> Forecast:
    """Forecasts of parts of the levels as one: each with the places of its levels, which make up 0, 1, 2, ..."""
    place = np.concatenate([index for index, _ in parts]).astype(np.int64)
    if not np.array_equal(np.sort(place), np.arange(place.size)):
        raise PredictionError("the parts of a forecast must hold every level once")
    order = np.argsort(place)
    whole = [each for _, each in parts]
    names = [name for each in whole for name in each.names]
    bands = {
        coverage: Band(*(np.concatenate([each.bands[coverage][side] for each in whole])[order] for side in (0, 1)))
        for coverage in COVERAGES
    }
    logit, error, median = (
        np.concatenate([getattr(each, name) for each in whole])[order] for name in ("logit", "error", "median")
    )
    return Forecast(
        tuple(names[i] for i in order), logit, error, median,
        np.concatenate([each.draws for each in whole], axis=1)[:, order], bands,
    )  # fmt: skip


def measure(found: Forecast, people: People, seed: int = 0) -> Measured:
    """Measure a forecast by what people did; levels that nobody played do not count."""
    played = people.attempts > 0
    people, rates = people.at(played), people.rates[played]
    if rates.size < 3:
        raise PredictionError(f"{rates.size} of the forecast's levels have people, and 3 are needed to measure it")
    median, draws = found.median[played], found.draws[:, played]
    bands = {coverage: Band(*(side[played] for side in band)) for coverage, band in found.bands.items()}
    within = {c: (band.low <= rates + 1e-12) & (rates <= band.high + 1e-12) for c, band in bands.items()}
    error, outside = median - rates, (~within[0.95]).astype(np.float64)
    places = pit(draws, rates, seed)
    return Measured(
        levels=rates.size,
        mae=_mean(np.abs(error), seed),
        bias=float(error.mean()),
        floor=noise_floor(people),
        outside=_mean(outside, seed),
        width=float(bands[0.95].width.mean()),
        kappa=kappa(people, found.logit[played]),
        crps=float(crps(draws, rates).mean()),
        winkler=float(winkler(*bands[0.95], rates).mean()),
        coverage={c: float(inside.mean()) for c, inside in within.items()},
        spearman=spearman(median, rates, seed),
        kendall=kendall(median, rates, seed),
        pit=tuple((np.histogram(places, BINS, (0, 1))[0] / rates.size).tolist()),
        thirds=_thirds(rates, error, outside),
    )


class Calibrated(NamedTuple):
    """How bands do that were calibrated on some of the levels and measured on the others: means over such draws.

    outside, width: of the 95 % band; levels: that it was calibrated on; draws: how often they were drawn
    """

    outside: float
    width: float
    levels: int
    draws: int


def calibration(found: Forecast, people: People, levels: int = 100, draws: int = 20, seed: int = 0) -> Calibrated:
    """Measure the 95 % band after split-conformal calibration on levels drawn at random, on those left."""
    played = people.attempts > 0
    people, logit, error = people.at(played), found.logit[played], found.error[played]
    size = len(people)
    if size < 2 * levels:
        raise PredictionError(f"{size} levels have people: {levels} to calibrate on leave too few to measure")
    rate = (people.successes + 0.5) / (people.attempts + 1)
    scores = np.abs(np.log(rate / (1 - rate)) - logit) / error
    rng, outside, width = np.random.default_rng(seed), [], []
    for _ in range(draws):
        order = rng.permutation(size)
        known, rest = order[:levels], order[levels:]
        reach = quantile_of(np.sort(scores[known]).tolist(), 0.95)
        if reach is None:
            raise PredictionError(f"{levels} levels are too few to calibrate a 95 % band on: 19 or more")
        low, high = (expit(logit[rest] + sign * reach * error[rest]) for sign in (-1, 1))
        outside.append((scores[rest] > reach).mean())
        width.append((high - low).mean())
    return Calibrated(float(np.mean(outside)), float(np.mean(width)), levels, draws)


def noise_floor(people: People) -> float:
    """The mean absolute error of somebody who knows the true rates: what chance adds to the observed ones."""
    smooth = (people.successes + 0.5) / (people.attempts + 1)
    variance = smooth * (1 - smooth) * people.design_effects / np.maximum(people.attempts, 1)
    return float(np.sqrt(2 / np.pi * variance)[people.attempts > 0].mean())


def kappa(people: People, logit: Array) -> float:
    """The standard deviation of levels' true logits round predicted ones, [levels], by maximum likelihood."""
    effect = people.design_effects
    rows = single(people.successes / effect, people.attempts / effect)

    def loss(log: float) -> float:
        return -float(integrate(rows, logit, np.full(logit.size, np.exp(log))).value.sum())

    return float(np.exp(minimize_scalar(loss, bounds=(np.log(1e-3), np.log(5)), method="bounded").x))


def _mean(values: Array, seed: int) -> Interval:
    drawn = np.random.default_rng(seed).integers(values.size, size=(RESAMPLES, values.size))
    return interval_of(float(values.mean()), values[drawn].mean(axis=1))


def _thirds(rates: Array, error: Array, outside: Array) -> tuple[Third, ...]:
    """The hardest levels first."""
    return tuple(
        Third(
            float(rates[part].min()), float(rates[part].max()), part.size, float(np.abs(error[part]).mean()),
            float(error[part].mean()), float(outside[part].mean()),
        )
        for part in np.array_split(np.argsort(rates, kind="stable"), 3)
    )  # fmt: skip
