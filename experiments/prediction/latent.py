"""The success rates of agents behind their counts: logits that are jointly normal over levels.

A level's logits given its counts are taken as normal, with the mean and the covariance that expectation propagation
finds: each agent's binomial likelihood is replaced by a normal one with the same first two moments. Unlike Laplace's
approximation, which takes the mode for the mean, it is right where an agent never won.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from experiments.prediction.quadrature import integrate, single
from experiments.prediction.regression import inverse
from experiments.statistics import Array

NODES = 15
SWEEPS, ROUNDS = 60, 200
ENOUGH = 1e-7
"""Logits to which means are found."""

EASE, UNSURE = -1.0, 3.0
"""What is known of an agent's mean logit beforehand: about so much, give or take."""

WEIGHT = 2.0
"""How many levels what is known of the covariance beforehand is worth, beside one for each agent."""

ALIKE, ALONE = 2.5, 0.5
"""That covariance: agents have variances of their sum, of which the first is common to all."""


class Population(NamedTuple):
    """Agents' logits over levels. mean: [agents]; covariance: [agents, agents]; levels: how many it is of."""

    mean: Array
    covariance: Array
    levels: float


class Rates(NamedTuple):
    """Agents' logits on levels given their counts. mean: [levels, agents]; covariance: [levels, agents, agents]."""

    mean: Array
    covariance: Array


class _Sites(NamedTuple):
    """The normal likelihoods in place of the binomial ones, [levels, agents]: precision, and precision times mean."""

    precision: Array
    shift: Array


def rates_of(successes: Array, attempts: Array, population: Population) -> Rates:
    """What counts say of agents' logits, [levels, agents]; an agent without attempts is told by the others."""
    return _propagate(successes, attempts, population, _start(successes, attempts))[0]


def population_of(successes: Array, attempts: Array, known: Population | None = None) -> tuple[Population, Rates]:
    """The agents' population, by expectation and maximisation, and the levels' rates.

    known: what other levels said, which counts as much as so many of these; its mean and covariance otherwise begin
    with nothing but a weak guess.
    """
    levels, agents = successes.shape
    prior = known or _guess(agents)
    population, sites = prior, _start(successes, attempts)
    for _ in range(ROUNDS):
        rates, sites = _propagate(successes, attempts, population, sites)
        before, population = population, _maximised(rates, prior, known is not None)
        if (
            max(np.abs(after - old).max(initial=0) for after, old in zip(population[:2], before[:2], strict=True))
            < 1e-3
        ):
            break
    return population._replace(levels=levels + (known.levels if known else 0.0)), rates


def _guess(agents: int) -> Population:
    covariance = np.full((agents, agents), ALIKE) + ALONE * np.eye(agents)
    return Population(np.full(agents, EASE), covariance, WEIGHT + agents)


def _maximised(rates: Rates, prior: Population, informed: bool) -> Population:
    """The likeliest population of levels with these rates, and of what was known before."""
    levels = len(rates.mean)
    spread = inverse(prior.covariance / prior.levels if informed else UNSURE**2 * np.eye(len(prior.mean)))
    within = inverse(np.cov(rates.mean.T, ddof=0).reshape(prior.covariance.shape) + rates.covariance.mean(axis=0))
    mean = np.linalg.solve(spread + levels * within, spread @ prior.mean + levels * within @ rates.mean.mean(axis=0))
    away = rates.mean - mean
    covariance = (away.T @ away + rates.covariance.sum(axis=0) + prior.levels * prior.covariance) / (
        levels + prior.levels
    )
    return Population(mean, covariance, prior.levels)


def _start(successes: Array, attempts: Array) -> _Sites:
    """Normal likelihoods round the observed logits."""
    rate = (successes + 0.5) / (attempts + 1)
    precision = attempts * rate * (1 - rate)
    return _Sites(precision, precision * np.log(rate / (1 - rate)))


def _propagate(successes: Array, attempts: Array, population: Population, sites: _Sites) -> tuple[Rates, _Sites]:
    """Make every site agree with its binomial likelihood, given the others."""
    precision = inverse(population.covariance)
    pull = precision @ population.mean
    counts = single(successes.ravel(), attempts.ravel())
    mode = None
    rates = _posterior(precision, pull, sites)
    for _ in range(SWEEPS):
        variance = np.diagonal(rates.covariance, axis1=1, axis2=2)
        others = 1 / np.maximum(1 / variance - sites.precision, 1e-9)
        mean = others * (rates.mean / variance - sites.shift)
        found = integrate(counts, mean.ravel(), np.sqrt(others).ravel(), NODES, mode)
        mode = found.mode
        tilted = mean + np.sqrt(others) * found.effect.reshape(mean.shape)
        shrunk = np.minimum(found.variance.reshape(mean.shape), 1.0)
        sites = _Sites((1 / shrunk - 1) / others, tilted / (others * shrunk) - mean / others)
        before, rates = rates, _posterior(precision, pull, sites)
        if np.abs(rates.mean - before.mean).max(initial=0) < ENOUGH:
            break
    return rates, sites


def _posterior(precision: Array, pull: Array, sites: _Sites) -> Rates:
    covariance = inverse(precision + sites.precision[:, :, None] * np.eye(len(pull)))
    return Rates((covariance @ (pull + sites.shift)[:, :, None])[:, :, 0], covariance)
