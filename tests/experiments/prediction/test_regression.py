"""Quadrature and regression, against numerical integrals, lme4's published values, and known truth."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, gammaln

from experiments.prediction.quadrature import Rows, integrate, single
from experiments.prediction.regression import Prior, Problem, regress
from experiments.statistics import Array


@pytest.mark.parametrize("attempts", [1, 20, 240, 20_000])
@pytest.mark.parametrize("share", [0.0, 0.03, 0.5])
@pytest.mark.parametrize("scale", [0.05, 0.6, 2.0])
def test_nine_nodes_integrate_any_number_of_attempts(attempts: int, share: float, scale: float) -> None:
    wins, mean = float(round(share * attempts)), -0.7

    def integrand(z: float, power: int, top: float = 0.0) -> float:
        x = mean + scale * z
        return z**power * math.exp(wins * x - attempts * np.logaddexp(0, x) - z * z / 2 - top) / math.sqrt(2 * math.pi)

    found = integrate(single(np.array([wins]), np.array([float(attempts)])), np.array([mean]), np.array([scale]))
    x = mean + scale * found.mode[0]
    top = wins * x - attempts * np.logaddexp(0, x) - found.mode[0] ** 2 / 2
    reach = (found.mode[0] - 12, found.mode[0], found.mode[0] + 12)
    total, first, second = (
        sum(quad(integrand, a, b, (power, top), limit=400)[0] for a, b in itertools.pairwise(reach))
        for power in (0, 1, 2)
    )
    assert found.value[0] == pytest.approx(top + math.log(total), abs=2e-3)
    assert found.effect[0] == pytest.approx(first / total, abs=5e-3)
    assert found.variance[0] == pytest.approx(second / total - (first / total) ** 2, rel=0.02)


@pytest.mark.parametrize("nodes", [1, 2, 9])
def test_derivatives_are_those_of_the_approximation_itself(nodes: int) -> None:
    rows = Rows(np.array([2.0, 0, 7, 1.5]), np.array([9.0, 4, 8, 30]), np.array([0, 2, 3]))
    mean, scale, step = np.array([-1.0, 0.3, 0.5, -2]), np.array([0.7, 1.3, 0.2]), 1e-5
    found = integrate(rows, mean, scale, nodes)

    def change(by_mean: Array, by_scale: Array) -> float:
        up, down = (
            integrate(rows, mean + sign * by_mean, scale + sign * by_scale, nodes).value.sum() for sign in (step, -step)
        )
        return float(up - down) / (2 * step)

    assert found.by_mean == pytest.approx([change(row, np.zeros(3)) for row in np.eye(4)], abs=1e-7)
    assert found.by_scale == pytest.approx([change(np.zeros(4), group) for group in np.eye(3)], abs=1e-7)


def test_one_node_is_laplaces_approximation() -> None:
    found = integrate(single(np.array([3.0]), np.array([10.0])), np.array([0.2]), np.array([0.9]), 1)
    p = expit(0.2 + 0.9 * found.mode[0])
    assert 0.9 * (3 - 10 * p) == pytest.approx(found.mode[0])
    height = 3 * math.log(p) + 7 * math.log(1 - p) - found.mode[0] ** 2 / 2
    assert found.value[0] == pytest.approx(height - math.log(1 + 0.81 * 10 * p * (1 - p)) / 2)


def test_modes_are_found_from_far_away() -> None:
    rows = single(np.array([10_000.0, 0.0]), np.array([20_000.0, 20_000.0]))
    found = integrate(rows, np.array([-9.0, 9.0]), np.array([4.0, 0.05]), mode=np.array([-3.0, 50.0]))
    logit = np.array([-9, 9]) + np.array([4, 0.05]) * found.mode
    slope = np.array([4, 0.05]) * (rows.successes - rows.attempts * expit(logit)) - found.mode
    assert slope == pytest.approx([0, 0], abs=1e-5)


# ---------------------------------------------------------------------------------- lme4's values

SIZES = [
    14, 12, 9, 5, 22, 18, 21, 22, 16, 16, 20, 10, 10, 9, 6, 18, 25, 24, 4, 17, 17, 18, 20, 16, 10, 9, 5, 34, 9, 6, 8, 6,
    22, 22, 18, 22, 25, 27, 22, 22, 10, 8, 6, 5, 21, 24, 19, 23, 19, 2, 3, 2, 19, 15, 15, 15,
]  # fmt: skip
INCIDENCES = [
    2, 3, 4, 0, 3, 1, 1, 8, 2, 0, 2, 2, 0, 2, 0, 5, 0, 0, 1, 3, 0, 0, 1, 8, 1, 3, 0, 12, 2, 0, 0, 0, 1, 1, 0, 2, 0, 5,
    3, 1, 2, 1, 0, 0, 1, 2, 0, 0, 11, 0, 0, 0, 1, 1, 1, 0,
]  # fmt: skip
HERDS = [4, 3, *[4] * 5, 1, *[4] * 7]
"""cbpp, which comes with lme4: cases of a disease of cattle, herd by herd, in up to four periods."""


def cbpp(nodes: int) -> Problem:
    period = np.concatenate([np.arange(size) for size in HERDS])
    design = np.stack([np.ones(56), *(period == p for p in (1, 2, 3))], axis=1).astype(float)
    starts = np.cumsum([0, *HERDS[:-1]])
    return Problem(Rows(np.array(INCIDENCES, float), np.array(SIZES, float), starts), design, nodes=nodes)


def test_laplace_is_lme4s_on_cbpp() -> None:
    """glmer(cbind(incidence, size - incidence) ~ period + (1 | herd), binomial), as lme4's manual prints it.

    lme4's optimiser stops up to 0.0006 short; drmTMB and glmm, on the same data, go to the figures tested second.
    """
    found = regress(cbpp(1))
    assert found.coefficients == pytest.approx([-1.3983, -0.9919, -1.1282, -1.5797], abs=7e-4)
    assert found.sigma == pytest.approx(0.6421, abs=3e-4)
    assert found.coefficients == pytest.approx([-1.398532, -0.992333, -1.128672, -1.580314], abs=2e-6)
    assert found.sigma == pytest.approx(0.642261, abs=2e-6)
    sizes, cases = np.array(SIZES), np.array(INCIDENCES)
    constant = (gammaln(sizes + 1) - gammaln(cases + 1) - gammaln(sizes - cases + 1)).sum()
    assert found.value + constant == pytest.approx(-92.026282, abs=1e-6)


def test_quadrature_is_lme4s_on_cbpp() -> None:
    """The same with nAGQ = 7: estimates, their standard errors, and the herds' standard deviation."""
    found = regress(cbpp(7))
    assert found.coefficients == pytest.approx([-1.39923, -0.99140, -1.12783, -1.57944], abs=4e-5)
    assert np.sqrt(np.diag(found.covariance)) == pytest.approx([0.233512, 0.306767, 0.326770, 0.427591], abs=2e-5)
    assert found.sigma == pytest.approx(0.647518, abs=5e-6)


# ---------------------------------------------------------------------------------- known truth


@pytest.mark.parametrize("attempts", [20, 240, 20_000])
def test_truth_is_found_at_any_number_of_attempts(attempts: int) -> None:
    rng = np.random.default_rng(attempts)
    design = np.stack([np.ones(600), rng.normal(size=600)], axis=1)
    truth = design @ [-1, 0.8] + rng.normal(0, 0.4, 600)
    found = regress(
        Problem(single(rng.binomial(attempts, expit(truth)).astype(float), np.full(600, float(attempts))), design)
    )
    error = np.sqrt(np.diag(found.covariance))
    assert (np.abs(found.coefficients - [-1, 0.8]) < 3 * error).all() and error.max() < 0.05
    assert abs(math.log(found.sigma / 0.4)) < 3 * found.log_error < 0.5


def test_columns_known_with_errors_give_the_slope_of_the_truth() -> None:
    """Ordinary regression on noisy columns would find 0.8 of it; with regression calibration it is all there."""
    rng = np.random.default_rng(1)
    error = 0.5
    truth = rng.normal(size=1500)
    seen = truth + error * rng.normal(size=1500)
    shrunk = seen / (1 + error**2)
    noise = np.full((1500, 1, 1), error**2 / (1 + error**2))
    people = rng.binomial(400, expit(-1 + truth + rng.normal(0, 0.3, 1500))).astype(float)
    rows, design = single(people, np.full(1500, 400.0)), np.stack([np.ones(1500), shrunk], axis=1)
    found, naive = regress(Problem(rows, design, noise)), regress(Problem(rows, design))
    assert found.coefficients == pytest.approx([-1, 1], abs=0.06) and found.sigma == pytest.approx(0.3, abs=0.05)
    assert naive.sigma > 0.48  # what the column leaves open would count as the levels' own


def test_a_prior_pulls_as_much_as_its_precision() -> None:
    """With very many attempts the logits are known, and ridge regression is a formula."""
    rng = np.random.default_rng(2)
    design = np.stack([np.ones(60), *rng.normal(size=(3, 60))], axis=1)
    logit = design @ [0.2, 0.5, -0.3, 0] + rng.normal(0, 0.5, 60)
    n = 1e9
    precision, mean = np.diag([0.0, 9, 9, 9]), np.array([0, 1.0, 0, 0])
    found = regress(Problem(single(n * expit(logit), np.full(60, n)), design), lambda logs: Prior(mean, precision, 0.0))
    weight = design.T @ design / found.sigma**2
    expected = np.linalg.solve(weight + precision, design.T @ logit / found.sigma**2 + precision @ mean)
    assert found.coefficients == pytest.approx(expected, abs=1e-5)
    assert np.diag(found.covariance) == pytest.approx(np.diag(np.linalg.inv(weight + precision)), rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("attempts", [20, 400])
def test_intervals_of_coefficients_hold_over_200_data_sets(attempts: int) -> None:
    inside, sigmas = np.zeros(3), []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        design = np.stack([np.ones(80), rng.normal(size=80)], axis=1)
        logit = design @ [-1, 0.7] + rng.normal(0, 0.4, 80)
        rows = single(rng.binomial(attempts, expit(logit)).astype(float), np.full(80, float(attempts)))
        found = regress(Problem(rows, design))
        error = np.append(np.sqrt(np.diag(found.covariance)), found.log_error)
        away = np.append(found.coefficients - [-1, 0.7], math.log(found.sigma / 0.4))
        inside += np.abs(away) < 1.96 * error
        sigmas.append(found.sigma)
    assert (inside[:2] >= 181).all() and (inside[:2] <= 199).all() and inside[2] >= 174
    assert np.mean(sigmas) == pytest.approx(0.4, rel=0.06)
