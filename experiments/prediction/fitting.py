"""Fits the model: people's success by agents' and by what else is known of levels."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from experiments.prediction.data import Levels, People, PredictionError
from experiments.prediction.latent import population_of
from experiments.prediction.model import Fitted, Model, Reach, Scales
from experiments.prediction.predicting import predict
from experiments.prediction.quadrature import single
from experiments.prediction.regression import Prior, Priors, Problem, inverse, regress
from experiments.statistics import Array

LEAST = 8
"""Levels with people that a fit needs."""

INTERCEPT = (-1.0, 3.0)
SLOPE = (0.7, 1.0)
"""What is known beforehand of the mean logit, and of the sum of all agents' slopes: mean and standard deviation."""

AGENTS, COVARIATES = 0.1, 0.3
"""Scales of the half-normal priors of slopes' standard deviations: agents' round the common one, covariates'."""

LARGE = 2.0
"""The level effect's standard deviation is below this beforehand, and not 0."""

NEW_PEOPLE = (0.7, 0.15, 0.1)
"""How far other people are from those of the model that a fit starts from: intercept, agents' slopes, covariates."""


def fit(
    levels: Levels,
    people: People,
    *,
    start: Model | None = None,
    source: str = "",
    watched: Sequence[str] = (),
    other_people: float = 0.0,
) -> Model:
    """Fit a model on the levels that people played.

    start: a model of the same agents and covariates to start from, for few levels or few people.
    source: in words, what the people are; it is part of everything that the model says.
    watched: groups of covariates that predict nothing, and tell which levels are unlike those of the fit.
    other_people: how far people other than these may differ on a level: a standard deviation in logits.
    """
    if len(levels) != len(people):
        raise PredictionError(f"there are {len(levels)} levels, but people's results on {len(people)}")
    played = people.attempts > 0
    levels, people = levels.at(played), people.at(played)
    if len(levels) < LEAST:
        raise PredictionError(f"{len(levels)} levels have people, and a fit needs {LEAST}")
    if start is not None:
        start.check(levels)
    agents, used = len(levels.agents), _used(levels, watched, start)
    population, rates = population_of(levels.successes, levels.attempts, start.population if start else None)
    raw = np.hstack([rates.mean, levels.values])
    scales = start.scales if start else Scales.of(raw, agents)
    scaled = scales.apply(raw)
    effect = people.design_effects
    problem = Problem(
        single(people.successes / effect, people.attempts / effect),
        np.hstack([np.ones((len(levels), 1)), scaled])[:, used],
        rates.covariance if agents else None,
    )
    blocks = _Blocks.of(levels.only(levels.agents, [group for group in levels.groups if group not in watched]))
    priors, names = (_from_model(start, used), ()) if start else (blocks.prior, blocks.names)
    found = regress(problem, priors, len(names))
    coefficients, covariance = np.zeros(used.size), np.zeros((used.size, used.size))
    coefficients[used], covariance[np.ix_(used, used)] = found.coefficients, found.covariance
    model = Model(
        levels.agents, levels.covariates, levels.groups, population, scales, start.reach if start else Reach.of(scaled),
        coefficients, covariance, found.sigma, found.log_error,
        dict(zip(names, map(float, found.scales), strict=True)), people.spread,
        Fitted(source, len(levels), int(people.attempts.sum()), frozenset(map(hashed, levels.names))),
        recipe=levels.recipe, other_people=other_people,
    )  # fmt: skip
    rates_said = np.sort(predict(model, levels, draws=1).median).round(5)
    return replace(model, fitted=model.fitted._replace(rates=tuple(rates_said.tolist())))


def _used(levels: Levels, watched: Sequence[str], start: Model | None) -> npt.NDArray[np.bool_]:
    """Which coefficients are looked for: not those of watched groups, bool[1 + columns]."""
    if start is not None:
        return np.diag(start.covariance) > 0
    kept = [group not in watched for group in levels.groups]
    return np.array([True, *[True] * len(levels.agents), *kept])


def hashed(name: str) -> str:
    """A level's name as models remember it."""
    return hashlib.sha256(name.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class _Blocks:
    """Which coefficients are shrunk together: agents towards a common slope, covariates towards 0."""

    agents: int
    groups: tuple[tuple[str, tuple[int, ...]], ...]

    @classmethod
    def of(cls, levels: Levels) -> _Blocks:
        named = {name: tuple(i for i, g in enumerate(levels.groups) if g == name) for name in levels.groups}
        return cls(len(levels.agents), tuple(named.items()))

    @property
    def names(self) -> tuple[str, ...]:
        return (*["agents"][: self.agents > 1], *(name for name, _ in self.groups))

    def prior(self, logs: Array) -> Prior:
        """The prior for standard deviations: the level effect's, agents' if there are several, each group's."""
        sds = np.exp(logs)
        size = 1 + self.agents + sum(len(columns) for _, columns in self.groups)
        mean, covariance = np.zeros(size), np.zeros((size, size))
        mean[0], covariance[0, 0] = INTERCEPT[0], INTERCEPT[1] ** 2
        constant = float(logs[0] - (sds[0] / LARGE) ** 2 / 2)
        place = 1
        if self.agents:
            own = slice(1, 1 + self.agents)
            mean[own] = SLOPE[0] / self.agents
            covariance[own, own] = (SLOPE[1] / self.agents) ** 2
            if self.agents > 1:
                covariance[own, own] += sds[place] ** 2 * np.eye(self.agents)
                constant -= (sds[place] / AGENTS) ** 2 / 2
                place += 1
        for _, columns in self.groups:
            at = 1 + self.agents + np.array(columns)
            covariance[at, at] = sds[place] ** 2
            constant -= (sds[place] / COVARIATES) ** 2 / 2
            place += 1
        precision = inverse(covariance)
        return Prior(mean, precision, constant - 0.5 * float(np.linalg.slogdet(covariance)[1]))


def _from_model(start: Model, used: npt.NDArray[np.bool_]) -> Priors:
    """The prior that a former model gives: its coefficients, as uncertain as they are for other people."""
    agents, covariates = len(start.agents), len(start.covariates)
    intercept, slope, covariate = NEW_PEOPLE
    apart = np.concatenate([[intercept], np.full(agents, slope), np.full(covariates, covariate)])
    precision = inverse((start.covariance + np.diag(apart**2))[np.ix_(used, used)])
    expected, error = np.log(start.sigma), np.hypot(start.log_error, 0.5)

    def prior(logs: Array) -> Prior:
        return Prior(start.coefficients[used], precision, float(-(((logs[0] - expected) / error) ** 2) / 2))

    return prior


class Moved(NamedTuple):
    """How far a fit went from the model that it started from.

    rate: mean absolute difference of the predicted success rates; coefficients: each one's difference
    """

    rate: float
    coefficients: Mapping[str, float]


def moved(start: Model, model: Model, levels: Levels) -> Moved:
    """What people's results on these levels changed."""
    before, after = (predict(each, levels, draws=1).median for each in (start, model))
    names = ("intercept", *model.agents, *model.covariates)
    change = (model.coefficients - start.coefficients).tolist()
    return Moved(float(np.abs(after - before).mean()), dict(zip(names, change, strict=True)))
