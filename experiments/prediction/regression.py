"""Binomial regression with a normal random effect: logit p = design @ coefficients + effect of the group.

Coefficients may have a normal prior, whose variances are found together with the effect's: then coefficients are
integrated out (Laplace's approximation, which is good for them), as restricted likelihood does. Without a prior it is
maximum likelihood, as lme4's `glmer` has it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from experiments.prediction.quadrature import NODES, Integral, Rows, integrate
from experiments.statistics import Array

SMALLEST, LARGEST = 1e-3, 10.0
"""Standard deviations are looked for between these."""

NEAR, WIDE = 1e-5, 0.05
"""Steps of the numeric first and second derivatives by the logarithms of standard deviations."""


@dataclass(frozen=True)
class Problem:
    """What is fitted. design: [rows, columns].

    noise: for columns that are known with errors only, the errors' covariances, [rows, noisy, noisy]; they belong to
    the columns from `first` on. Each row is a group of its own then.
    """

    rows: Rows
    design: Array
    noise: Array | None = None
    first: int = 1
    nodes: int = NODES


class Prior(NamedTuple):
    """A normal prior of coefficients, [columns] and [columns, columns], and what it adds to the log likelihood."""

    mean: Array
    precision: Array
    constant: float


Priors = Callable[[Array], Prior]
"""From the logarithms of all standard deviations, the effect's first, to the coefficients' prior."""


class Fit(NamedTuple):
    """What was found. covariance: of the coefficients, [columns, columns].

    sigma: the effect's standard deviation, log_error: the standard error of its logarithm
    scales: the priors' standard deviations; value: the log likelihood, without binomial coefficients
    """

    coefficients: Array
    covariance: Array
    sigma: float
    log_error: float
    scales: Array
    value: float


def regress(problem: Problem, priors: Priors | None = None, scales: int = 0) -> Fit:
    """Fit. priors: of coefficients, given the effect's and `scales` more standard deviations; None for none."""
    search = _Search(problem, priors)
    bounds = [(math.log(SMALLEST), math.log(LARGEST))] * (1 + scales)
    weight = 1 / max(problem.rows.starts.size, 1)
    start = np.log([0.5, *[0.3] * scales])
    best = minimize(
        lambda logs: weight * search.loss(logs), start, jac=lambda logs: weight * search.slope(logs),
        method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-12, "gtol": 1e-7},
    ).x  # fmt: skip
    value = -search.loss(best)
    step = np.zeros(best.size)
    step[0] = WIDE
    curve = (search.loss(best + step) + search.loss(best - step) + 2 * value) / WIDE**2
    search.loss(best)
    covariance = inverse(search.information(best))[:-1, :-1]
    log_error = 1 / math.sqrt(max(curve, 1.0))
    sds = np.exp(best)
    return Fit(search.coefficients, covariance, float(sds[0]), log_error, sds[1:], value)


def inverse(matrix: Array) -> Array:
    """Of a matrix, or of each of many."""
    return np.asarray(np.linalg.inv(matrix), np.float64)


class _Search:
    """The best coefficients for given standard deviations; starts from those it found last."""

    def __init__(self, problem: Problem, priors: Priors | None) -> None:
        self.problem, self.priors = problem, priors
        columns = problem.design.shape[1]
        self.flat = Prior(np.zeros(columns), np.zeros((columns, columns)), 0.0)
        self.coefficients = np.zeros(columns) if priors is None else priors(np.zeros(32))[0].copy()
        self.mode: Array | None = None

    def loss(self, logs: Array) -> float:
        """Minus the log likelihood of standard deviations, with the best coefficients or without any."""
        prior, sigma = self._prior(logs), math.exp(logs[0])
        value, slope, curve = self._at(self.coefficients, sigma, prior)
        for _ in range(60):
            factor = cho_factor(curve)
            step = cho_solve(factor, slope)
            gain, share = float(slope @ step), 1.0
            while True:
                tried = self._at(self.coefficients + share * step, sigma, prior)
                if tried[0] >= value - 1e-10 * abs(value) or share < 1e-6:
                    break
                share /= 2
            self.coefficients = self.coefficients + share * step
            value, slope, curve = tried
            if gain < 1e-12:
                break
        if self.priors is None:
            return -value
        return 0.5 * float(np.linalg.slogdet(curve)[1]) - value - prior.constant

    def slope(self, logs: Array) -> Array:
        """The loss' derivatives."""
        here = self.loss(logs)
        if self.priors is None:
            return -np.array([self._by_log_sigma(self.coefficients, math.exp(logs[0]))])
        return np.array([(self.loss(logs + step) - here) / NEAR for step in NEAR * np.eye(logs.size)])

    def information(self, logs: Array) -> Array:
        """Minus the second derivatives by coefficients and the log of sigma, [columns + 1, columns + 1].

        They are numeric, of exact first derivatives.
        """
        prior, size = self._prior(logs), self.coefficients.size + 1
        here = np.append(self.coefficients, logs[0])
        found = np.empty((size, size))
        for column, step in enumerate(1e-4 * np.eye(size)):
            up, down = (self._slopes(here + sign * step, prior) for sign in (1, -1))
            found[column] = (down - up) / 2e-4
        found[-1, -1] = max(found[-1, -1], 1.0)  # where sigma is about 0, its logarithm changes nothing
        return (found + found.T) / 2

    def _slopes(self, place: Array, prior: Prior) -> Array:
        """The log posterior's derivatives by coefficients and the log of sigma."""
        sigma = math.exp(place[-1])
        return np.append(self._at(place[:-1], sigma, prior)[1], self._by_log_sigma(place[:-1], sigma))

    def _prior(self, logs: Array) -> Prior:
        return self.flat if self.priors is None else self.priors(logs)

    def _integral(self, coefficients: Array, sigma: float) -> tuple[Integral, Array, Array]:
        """Also each group's scale and, where columns are noisy, its derivative by the coefficients."""
        problem = self.problem
        scale = np.full(problem.rows.starts.size, sigma)
        by = np.zeros((0, 0))
        if problem.noise is not None:
            noisy = coefficients[problem.first : problem.first + problem.noise.shape[1]]
            by = problem.noise @ noisy
            scale = np.sqrt(sigma**2 + by @ noisy)
            by = by / scale[:, None]
        found = integrate(problem.rows, problem.design @ coefficients, scale, problem.nodes, self.mode)
        self.mode = found.mode
        return found, scale, by

    def _at(self, coefficients: Array, sigma: float, prior: Prior) -> tuple[float, Array, Array]:
        """Log posterior of coefficients, its slope, and about minus its second derivatives."""
        problem, away = self.problem, coefficients - prior.mean
        found, _, by = self._integral(coefficients, sigma)
        slope = problem.design.T @ found.by_mean - prior.precision @ away
        if by.size:
            slope[problem.first : problem.first + by.shape[1]] += found.by_scale @ by
        curve = problem.design.T @ (problem.design * np.maximum(found.bend, 0)[:, None]) + prior.precision
        value = float(found.value.sum()) - 0.5 * float(away @ prior.precision @ away)
        return value, slope, curve

    def _by_log_sigma(self, coefficients: Array, sigma: float) -> float:
        found, scale, _ = self._integral(coefficients, sigma)
        return float((found.by_scale / scale).sum()) * sigma**2
