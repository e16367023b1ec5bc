"""A fitted model of people's success, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from experiments.prediction.data import Levels, PredictionError, Recipe
from experiments.prediction.latent import Population, Rates, rates_of
from experiments.prediction.regression import inverse
from experiments.statistics import Array

ONE = 0.5
"""The scale of a covariate that never varied, in its own size: a level where it does differs a lot."""

RARE = 8.0
"""Scales are at least the range over this, so that what two levels of a thousand have is not scaled up too far."""

RIDGE = 0.1
"""Variance that every direction has at least, of columns scaled to one, where it is asked how far away a level is."""

MOST = 0.99
"""The share of fitted levels within the edge."""


@dataclass(frozen=True)
class Scales:
    """How columns are centred and scaled: agents' logits and covariates, each [columns]; low, high: what was seen."""

    centre: Array
    scale: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, columns: Array, agents: int) -> Scales:
        """Of fitted levels, [levels, columns]. Agents' logits are centred only, so that slopes are in logits."""
        full = np.where(np.isfinite(columns).any(axis=0), columns, 0.0)
        centre, low, high = (function(full, axis=0) for function in (np.nanmean, np.nanmin, np.nanmax))
        scale = np.maximum(np.nanstd(full, axis=0), (high - low) / RARE)
        scale = np.where(high > low, scale, ONE * np.where(centre == 0, 1.0, np.abs(centre)))
        scale[:agents] = 1.0
        return cls(centre, scale, low, high)

    def apply(self, columns: Array) -> Array:
        """Scaled columns; what is unknown is where the fitted levels are on average."""
        return np.nan_to_num((columns - self.centre) / self.scale, nan=0.0)


@dataclass(frozen=True)
class Reach:
    """What the fitted levels look like. inverse: of their scaled columns' covariance, [columns, columns].

    edge: the distance within which all but a few of them lie, each seen from the others
    """

    inverse: Array
    edge: float

    @classmethod
    def of(cls, scaled: Array) -> Reach:
        """Of fitted levels' scaled columns, [levels, columns]."""
        size = scaled.shape[1]
        spread = np.maximum(scaled.std(axis=0), ONE)
        alike = (scaled / spread).T @ (scaled / spread) / len(scaled) + RIDGE * np.eye(size)
        found = cls(inverse(alike * np.outer(spread, spread)), 1.0)
        squares = found.distance(scaled) ** 2
        alone = squares / np.maximum(1 - squares / len(scaled), 0.05)
        return cls(found.inverse, float(np.sqrt(np.quantile(alone, MOST)))) if size else found

    def distance(self, scaled: Array) -> Array:
        """How far levels lie from the fitted ones' middle, [levels]."""
        return np.sqrt(np.einsum("lc,cd,ld->l", scaled, self.inverse, scaled))


class Fitted(NamedTuple):
    """What a model was fitted on.

    source: in words; levels, attempts: of people; names: of the levels, hashed
    rates: what the model says of these levels, in ascending order: so others can be compared with them
    """

    source: str
    levels: int
    attempts: int
    names: frozenset[str]
    rates: tuple[float, ...] = ()


@dataclass(frozen=True)
class Model:
    """logit p = coefficients @ (1, agents' logits, covariates) + a normal effect of the level.

    population: of agents' logits over levels; scales, reach: of the columns
    coefficients: the intercept, agents, covariates, [1 + columns]; covariance: theirs
    sigma: the effect's standard deviation; log_error: the standard error of its logarithm
    shrinkage: the standard deviation of each group's coefficients beforehand
    spread: how much players differ
    scores: of calibration, ascending; none where the model is not calibrated
    recipe: where the columns come from, where that is known
    other_people: standard deviation of what people other than those of the fit add to a level's logit
    """

    agents: tuple[str, ...]
    covariates: tuple[str, ...]
    groups: tuple[str, ...]
    population: Population
    scales: Scales
    reach: Reach
    coefficients: Array
    covariance: Array
    sigma: float
    log_error: float
    shrinkage: Mapping[str, float]
    spread: float
    fitted: Fitted
    scores: tuple[float, ...] = ()
    recipe: Recipe | None = None
    other_people: float = 0.0

    def rates(self, levels: Levels) -> Rates:
        """Agents' logits on levels."""
        self.check(levels)
        return rates_of(levels.successes, levels.attempts, self.population)

    def columns(self, levels: Levels, rates: Rates) -> Array:
        """The scaled columns, [levels, columns]."""
        return self.scales.apply(np.hstack([rates.mean, levels.values]))

    def check(self, levels: Levels) -> None:
        """Refuse levels that other agents played, or of which other things are known."""
        for mine, theirs, what in (
            (self.agents, levels.agents, "agents"),
            (self.covariates, levels.covariates, "covariates"),
        ):
            if mine != theirs:
                raise PredictionError(
                    f"the model was fitted with the {what} {', '.join(mine) or 'none'}, and these levels have"
                    f" {', '.join(theirs) or 'none'}"
                )
