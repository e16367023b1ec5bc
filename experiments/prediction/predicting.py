"""What a model says of levels: rates with bands, also of rates that are yet to be observed."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, ndtri

from experiments.prediction.data import Levels, PredictionError
from experiments.prediction.latent import Rates
from experiments.prediction.model import Model
from experiments.statistics import Array
from experiments.statistics.clusters import design_effect

DRAWS = 2000
FEWEST_ATTEMPTS = 1.0
"""Effective attempts of an observed rate, at least."""


class Band(NamedTuple):
    """Limits of a rate, each [levels]."""

    low: Array
    high: Array

    @property
    def width(self) -> Array:
        """How far apart they are."""
        return self.high - self.low


@dataclass(frozen=True)
class Prediction:
    """What a model says of levels.

    logit: of the median success rate; error: its standard deviation, all that is uncertain included, [levels]
    draws: of the true success rate, [draws, levels]; draws of one number belong together
    widened: how many times wider than usual the effect is taken, because the level is unlike those of the fit
    parts: what each column adds to the logit, compared with the fitted levels' mean, [levels, columns]
    """

    model: Model
    names: tuple[str, ...]
    logit: Array
    error: Array
    draws: Array
    widened: Array
    parts: Array
    odd: tuple[tuple[str, ...], ...]

    @property
    def median(self) -> Array:
        """The success rate of which a level's true one is as likely above as below, [levels]."""
        return expit(self.logit)

    @property
    def mean(self) -> Array:
        """The expected success rate, [levels]."""
        return self.draws.mean(axis=0)

    @property
    def far(self) -> Any:
        """Which levels lie outside of what the model has seen, bool[levels]."""
        return self.widened > 1

    def band(self, coverage: float = 0.95) -> Band:
        """Where the true success rate lies with this probability."""
        return _quantiles(self.draws, coverage)

    def observed(self, attempts: Any, players: Any, seed: int = 0) -> Observed:
        """The success rate that so many people would show in so many attempts, each one number or [levels]."""
        size = (len(self.names),)
        n, m = (np.broadcast_to(np.asarray(each, np.float64), size) for each in (attempts, players))
        if (n < 1).any() or not np.isfinite(n).all():
            raise PredictionError("an observed rate needs 1 attempt or more on every level")
        return Observed(self, n, m, _observe(self, n, m, seed))

    def probability(self, low: float, high: float) -> Array:
        """How probable it is that the true success rate lies between these, [levels]."""
        return ((self.draws >= low) & (self.draws <= high)).mean(axis=0)

    def harder(self, first: int, second: int) -> float:
        """How probable it is that the first of two levels is the harder one."""
        a, b = self.draws[:, first], self.draws[:, second]
        return float(((a < b) + 0.5 * (a == b)).mean())


@dataclass(frozen=True)
class Observed:
    """Rates that people will show. attempts, players: [levels]; draws: of the observed rate, [draws, levels]."""

    prediction: Prediction
    attempts: Array
    players: Array
    draws: Array

    @property
    def noise(self) -> Array:
        """About the variance of the observed rate's logit, given the true one, [levels]."""
        p = self.prediction.median
        effective = self.attempts / design_effect(p, self.attempts, self.players, self.prediction.model.spread)
        return 1 / (effective * p + 0.5) + 1 / (effective * (1 - p) + 0.5)

    def band(self, coverage: float = 0.95) -> Band:
        """Where the observed rate lies. A calibrated model's band holds at least this share of levels like those that
        it was calibrated on, and of no others; an uncalibrated one's is right as far as the model is.
        """
        model = self.prediction.model
        reach = quantile_of(model.scores, coverage)
        if reach is None:
            return _quantiles(self.draws, coverage)
        half = reach * np.sqrt(self.prediction.error**2 + self.noise)
        limits = (expit(self.prediction.logit + sign * half) for sign in (-1, 1))
        low, high = (np.clip((rate * (self.attempts + 1) - 0.5) / self.attempts, 0, 1) for rate in limits)
        return Band(low, high)


def score(observed: Observed, successes: Array) -> Array:
    """How far observed rates are off: the error on the logit in its standard deviations, [levels]."""
    rate = (successes + 0.5) / (observed.attempts + 1)
    error = np.log(rate / (1 - rate)) - observed.prediction.logit
    return np.abs(error) / np.sqrt(observed.prediction.error**2 + observed.noise)


def quantile_of(scores: Sequence[float], coverage: float) -> float | None:
    """The score that a further level stays below with this probability; None where there are too few to say."""
    rank = math.ceil(round(coverage * (len(scores) + 1), 9))
    return scores[rank - 1] if 1 <= rank <= len(scores) else None


def predict(model: Model, levels: Levels, *, seed: int = 0, draws: int = DRAWS) -> Prediction:
    """Predict people's success on levels. What is said of a level does not depend on the others."""
    rates = model.rates(levels)
    columns = model.columns(levels, rates)
    design = np.hstack([np.ones((len(levels), 1)), columns])
    logit = design @ model.coefficients
    widened = (
        np.maximum(model.reach.distance(columns) / model.reach.edge, 1.0) if columns.shape[1] else np.ones(len(levels))
    )
    besides = _noise(model, rates) + model.other_people**2
    spread = np.sqrt(model.sigma**2 + besides)
    shared = np.random.default_rng(seed)
    errors = shared.multivariate_normal(np.zeros_like(model.coefficients), model.covariance, draws)
    # Where the levels' own effects are larger than found, so are the coefficients' errors: as in Student's t.
    factor = np.exp(model.log_error * shared.standard_normal(draws))
    coefficients, sigma = model.coefficients + errors * factor[:, None], model.sigma * factor
    own = _own_draws(levels.names, seed, draws)
    spreads = np.sqrt(sigma[:, None] ** 2 + besides) * widened
    # The median and the mean coefficients belong together: what is drawn is the error around them.
    drawn = expit(coefficients @ design.T + own * spreads)
    error = np.sqrt((spread * widened) ** 2 + np.einsum("lc,cd,ld->l", design, model.covariance, design))
    parts = columns * model.coefficients[1:]
    return Prediction(model, levels.names, logit, error, drawn, widened, parts, _odd(model, levels, rates))


def _noise(model: Model, rates: Rates) -> Array:
    """What agents' finite attempts add to the variance of the logit, [levels]."""
    slopes = model.coefficients[1 : 1 + len(model.agents)]
    return np.einsum("a,lab,b->l", slopes, rates.covariance, slopes)


def _own_draws(names: Sequence[str], seed: int, draws: int) -> Array:
    """Each level's own deviates, [draws, levels]: all quantiles of a normal distribution, in an order by its name."""
    quantiles = ndtri((np.arange(draws) + 0.5) / draws)
    orders = [np.random.default_rng((seed, zlib.crc32(name.encode()))).permutation(draws) for name in names]
    return quantiles[np.array(orders, np.int64).reshape(len(names), draws)].T


def _odd(model: Model, levels: Levels, rates: Rates) -> tuple[tuple[str, ...], ...]:
    """Of each level, the columns that lie outside of what the fitted levels had, the furthest first."""
    raw, scales = np.hstack([rates.mean, levels.values]), model.scales
    names = (*model.agents, *model.covariates)
    with np.errstate(invalid="ignore"):
        beyond = np.maximum(scales.low - raw, raw - scales.high) / scales.scale
    beyond = np.nan_to_num(beyond, nan=-1.0)
    order = np.argsort(-beyond, axis=1, kind="stable")
    return tuple(
        tuple(names[column] for column in order[level] if beyond[level, column] > 0) for level in range(len(levels))
    )


def _observe(prediction: Prediction, attempts: Array, players: Array, seed: int) -> Array:
    """Observed rates for the draws of the true one, [draws, levels]: beta-binomial, with the design effect."""
    found = np.empty_like(prediction.draws)
    spread = prediction.model.spread
    for level, name in enumerate(prediction.names):
        rng = np.random.default_rng((seed, zlib.crc32(name.encode()), 1))
        p, n = prediction.draws[:, level], attempts[level]
        effect = design_effect(p, n, players[level], spread)
        size = np.maximum((n - effect) / np.maximum(effect - 1, 1e-9), 1e-3)
        chance = rng.beta(np.maximum(p * size, 1e-9), np.maximum((1 - p) * size, 1e-9))
        found[:, level] = rng.binomial(round(n), np.clip(chance, 0, 1)) / round(n)
    return found


def _quantiles(draws: Array, coverage: float) -> Band:
    if not 0 < coverage < 1:
        raise PredictionError(f"a coverage lies between 0 and 1, such as 0.95, not {coverage}")
    tail = (1 - coverage) / 2
    low, high = np.quantile(draws, (tail, 1 - tail), axis=0)
    return Band(low, high)
