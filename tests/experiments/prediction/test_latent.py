"""Agents' latent rates: against integrals, against the likelihood of all counts together, and against a long chain."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from experiments.prediction.latent import Population, population_of, rates_of
from experiments.prediction.quadrature import single
from experiments.prediction.regression import Problem, regress
from experiments.statistics import Array

TWO = Population(np.array([-2.0, 0.5]), np.array([[3.0, 2.2], [2.2, 2.5]]), 10.0)


def grid_moments(wins: Array, attempts: Array, population: Population) -> tuple[Array, Array]:
    """Mean and covariance of two agents' logits given their counts, summed over a grid."""
    x = np.stack(np.meshgrid(*[np.linspace(-14, 10, 500)] * 2, indexing="ij"), axis=-1)
    away = x - population.mean
    log = -0.5 * np.einsum("...a,ab,...b", away, np.linalg.inv(population.covariance), away)
    log += (wins * x - attempts * np.logaddexp(0, x)).sum(axis=-1)
    share = np.exp(log - log.max())
    share /= share.sum()
    mean = np.einsum("xy,xya->a", share, x)
    return mean, np.einsum("xy,xya,xyb->ab", share, x - mean, x - mean)


@pytest.mark.parametrize(
    "counts", [((0, 200), (3, 200)), ((0, 50), (0, 50)), ((7, 20), (0, 0)), ((100, 100), (98, 100))]
)
def test_moments_are_those_of_the_exact_posterior(counts: tuple[tuple[int, int], tuple[int, int]]) -> None:
    """An agent that never won, and one that did not play, included; modes, as Laplace has them, are up to 0.25 off."""
    wins, attempts = (np.array([[pair[i] for pair in counts]], float) for i in (0, 1))
    found = rates_of(wins, attempts, TWO)
    mean, covariance = grid_moments(wins[0], attempts[0], TWO)
    assert found.mean[0] == pytest.approx(mean, abs=0.002)
    assert found.covariance[0] == pytest.approx(covariance, rel=0.04)


def test_what_is_said_of_a_level_does_not_depend_on_the_others() -> None:
    wins, attempts = np.array([[0.0, 3], [9, 10], [2, 7]]), np.full((3, 2), 10.0)
    assert rates_of(wins[1:2], attempts[1:2], TWO).mean[0] == pytest.approx(
        rates_of(wins, attempts, TWO).mean[1], abs=1e-6
    )


def counts_of(size: int, attempts: int, seed: int, agents: int = 2) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    logits = rng.multivariate_normal(TWO.mean[:agents], TWO.covariance[:agents, :agents], size)
    return logits, rng.binomial(attempts, expit(logits)).astype(float), np.full(logits.shape, float(attempts))


@pytest.mark.parametrize("attempts", [30, 1000])
def test_population_and_rates_are_found(attempts: int) -> None:
    logits, wins, n = counts_of(1500, attempts, attempts)
    population, rates = population_of(wins, n)
    assert population.mean == pytest.approx(TWO.mean, abs=0.15)
    assert population.covariance == pytest.approx(TWO.covariance, rel=0.12)
    z = (logits - rates.mean) / np.sqrt(np.diagonal(rates.covariance, axis1=1, axis2=2))
    assert np.abs(z.mean(axis=0)).max() < 0.1 and np.abs(z.std(axis=0) - 1).max() < 0.07


def test_an_agent_that_never_wins_is_no_trouble() -> None:
    population, rates = population_of(np.zeros((40, 2)), np.full((40, 2), 200.0))
    assert np.isfinite(rates.mean).all() and (population.mean > -12).all() and (rates.mean < -4).all()


def test_a_known_population_counts_as_many_levels_as_it_had() -> None:
    _, wins, n = counts_of(400, 200, 0)
    known, _ = population_of(wins, n)
    few, _ = population_of(wins[:5], n[:5], known)
    assert few.mean == pytest.approx(known.mean, abs=0.1) and few.levels == known.levels + 5
    assert few.covariance == pytest.approx(known.covariance, rel=0.05)


@pytest.mark.slow
def test_one_agent_agrees_with_quadrature_over_both_latent_rates() -> None:
    """All five parameters by the likelihood of agent's and people's counts, integrated over a fine grid of both."""
    rng = np.random.default_rng(5)
    agent = rng.normal(-1, 1.6, 250)
    people = -0.5 + 0.7 * agent + rng.normal(0, 0.35, 250)
    k, y, n, m = rng.binomial(40, expit(agent)), rng.binomial(150, expit(people)), 40.0, 150.0
    x, w = np.polynomial.hermite_e.hermegauss(80)
    w = w / w.sum()

    def loss(p: Array) -> float:
        a = p[0] + np.exp(p[1]) * x
        t = p[2] + p[3] * a[:, None] + np.exp(p[4]) * x
        of_people = (
            np.exp(
                y[:, None, None] * t
                - m * np.logaddexp(0, t)
                - (y * np.log(y / m + 1e-9) + (m - y) * np.log(1 - y / m + 1e-9))[:, None, None]
            )
            @ w
        )
        of_agent = np.exp(k[:, None] * a - n * np.logaddexp(0, a) + 20)
        return -float(np.log((of_agent * of_people) @ w).sum())

    exact = minimize(loss, [-1, np.log(1.6), -0.5, 0.7, np.log(0.35)], method="BFGS", options={"gtol": 0.05}).x
    counts = k[:, None].astype(float), np.full((250, 1), n)
    population, rates = population_of(*counts)
    design = np.stack([np.ones(250), rates.mean[:, 0]], axis=1)
    found = regress(Problem(single(y.astype(float), np.full(250, m)), design, rates.covariance))
    error = np.sqrt(np.diag(found.covariance))
    assert np.abs(found.coefficients - exact[2:4]).max() < 0.35 * error.min()
    assert abs(np.log(found.sigma) - exact[4]) < 0.35 * found.log_error
    assert population.mean[0] == pytest.approx(exact[0], abs=0.03)
    assert np.log(population.covariance[0, 0]) / 2 == pytest.approx(exact[1], abs=0.04)


def chain(k: Array, n: Array, y: Array, m: Array, rounds: int, rng: np.random.Generator) -> Array:
    """Coefficients and sigma of a long chain: latent logits by Metropolis steps, all else by Gibbs steps."""
    size, agents = k.shape
    a, t = np.log((k + 0.5) / (n - k + 0.5)), np.log((y + 0.5) / (m - y + 0.5))
    mean, covariance = a.mean(axis=0), np.cov(a.T)
    b, variance, kept = np.append(-1.0, np.full(agents, 0.4)), 0.2, []
    for number in range(rounds):
        inverse = np.linalg.inv(covariance)

        def log_agents(a: Array) -> Array:
            away = a - mean  # noqa: B023
            own = (k * a - n * np.logaddexp(0, a)).sum(axis=1) - 0.5 * np.einsum("la,ab,lb->l", away, inverse, away)  # noqa: B023
            return own - (t - b[0] - a @ b[1:]) ** 2 / (2 * variance)  # noqa: B023

        for _ in range(2):
            for agent in range(agents):
                tried = a.copy()
                tried[:, agent] += 0.4 * rng.standard_normal(size)
                better = np.log(rng.random(size)) < log_agents(tried) - log_agents(a)
                a[better] = tried[better]
            tried_t = t + 0.35 * rng.standard_normal(size)
            expected = b[0] + a @ b[1:]
            change = y * (tried_t - t) - m * (np.logaddexp(0, tried_t) - np.logaddexp(0, t))
            change += ((t - expected) ** 2 - (tried_t - expected) ** 2) / (2 * variance)
            t = np.where(np.log(rng.random(size)) < change, tried_t, t)
        design = np.column_stack([np.ones(size), a])
        spread = np.linalg.inv(design.T @ design)
        b = rng.multivariate_normal(spread @ design.T @ t, variance * spread)
        variance = ((t - design @ b) ** 2).sum() / rng.chisquare(size - 1)
        mean = rng.multivariate_normal(a.mean(axis=0), covariance / size)
        root = np.linalg.cholesky((a - mean).T @ (a - mean))
        drawn = rng.standard_normal((size, agents)) @ np.linalg.inv(root)
        covariance = np.linalg.inv(drawn.T @ drawn)
        if number > rounds // 5:
            kept.append(np.append(b, np.sqrt(variance)))
    return np.array(kept)


@pytest.mark.slow
def test_two_agents_agree_with_a_long_chain() -> None:
    logits, k, n = counts_of(150, 60, 3)
    rng = np.random.default_rng(0)
    people = -0.8 + logits @ [0.25, 0.45] + rng.normal(0, 0.3, 150)
    y, m = rng.binomial(200, expit(people)).astype(float), np.full(150, 200.0)
    drawn = chain(k, n, y, m, 20_000, rng)
    _, rates = population_of(k, n)
    design = np.column_stack([np.ones(150), rates.mean])
    found = regress(Problem(single(y, m), design, rates.covariance))
    error = np.sqrt(np.diag(found.covariance))
    assert np.abs(found.coefficients - drawn[:, :3].mean(axis=0)) == pytest.approx(np.zeros(3), abs=0.5 * error.min())
    assert error == pytest.approx(drawn[:, :3].std(axis=0), rel=0.2)
    assert found.sigma == pytest.approx(drawn[:, 3].mean(), rel=0.12)
    assert found.log_error == pytest.approx(np.log(drawn[:, 3]).std(), rel=0.3)
