"""Integrals of binomial likelihoods over a normal effect, by adaptive Gauss-Hermite quadrature.

Rows of one group share an effect: logit p = mean + scale * z with z standard normal. The nodes lie round the mode of
each group's integrand, as far apart as it is wide, so that a few of them do for 20 attempts and for 20,000. One node
is Laplace's approximation.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from experiments.statistics import Array

NODES = 9
LONGEST = 2.0
"""How far Newton's search for a mode goes in one step, in logits: the binomial likelihood is flat far away."""


class Rows(NamedTuple):
    """Binomial results, sorted by group. successes, attempts: [rows], need not be whole; starts: of groups."""

    successes: Array
    attempts: Array
    starts: npt.NDArray[np.int64]

    @property
    def group(self) -> npt.NDArray[np.int64]:
        """The group of each row, [rows]."""
        return np.repeat(np.arange(self.starts.size), np.diff(np.append(self.starts, self.successes.size)))


class Integral(NamedTuple):
    """The log of each group's integral, and how it changes.

    value, by_scale: [groups]; by_mean: [rows]; these derivatives are exact for this number of nodes
    bend: minus the second derivative by a row's mean, as if other rows did not depend on it, [rows]
    mode: the effect where the integrand is largest, a start for the next search, [groups]
    effect, variance: mean and variance of the effect given the results, [groups]
    """

    value: Array
    by_mean: Array
    by_scale: Array
    bend: Array
    mode: Array
    effect: Array
    variance: Array


def single(successes: Array, attempts: Array) -> Rows:
    """Rows of which each is a group of its own."""
    return Rows(successes, attempts, np.arange(successes.size))


def integrate(rows: Rows, mean: Array, scale: Array, nodes: int = NODES, mode: Array | None = None) -> Integral:
    """Integrate each group's likelihood. mean: [rows]; scale: [groups]; mode: where to look for it first, [groups]."""
    group = rows.group
    own = scale[group]
    mode = _mode(rows, mean, scale, np.zeros(scale.size) if mode is None else mode)
    p = expit(mean + own * mode[group])
    weight = rows.attempts * p * (1 - p)
    skew = weight * (1 - 2 * p)
    w, v = _sum(weight, rows.starts), _sum(skew, rows.starts)
    width = 1 / np.sqrt(1 + scale**2 * w)
    points, log_weights = _nodes(nodes)
    z = mode[:, None] + width[:, None] * points
    logit = mean[:, None] + own[:, None] * z[group]
    p_at = expit(logit)
    log_likelihood = rows.successes[:, None] * logit - rows.attempts[:, None] * np.logaddexp(0, logit)
    pull = rows.successes[:, None] - rows.attempts[:, None] * p_at
    terms = log_weights + points**2 / 2 - z**2 / 2 + _sum(log_likelihood, rows.starts)
    top = terms.max(axis=1)
    share = np.exp(terms - top[:, None])
    total = share.sum(axis=1)
    share /= total[:, None]
    pulls = _sum(pull, rows.starts)
    # The nodes move with the mode and the width, which depend on the mean and the scale: the chain rule through both.
    slope = scale[:, None] * pulls - z
    by_mode = (share * slope).sum(axis=1)
    by_width = (1 / width + (share * points * slope).sum(axis=1)) * width**3 / 2
    through = (by_mode - by_width * scale**3 * v) * width**2
    mean_pull = (share[group] * pull).sum(axis=1)
    at_mode = _sum(rows.successes - rows.attempts * p, rows.starts)
    by_scale = (share * z * pulls).sum(axis=1) + through * (at_mode - scale * mode * w)
    effect = (share * z).sum(axis=1)
    return Integral(
        value=np.log(width) + top + np.log(total),
        by_mean=mean_pull - through[group] * own * weight - by_width[group] * own**2 * skew,
        by_scale=by_scale - by_width * (2 * scale * w + scale**2 * mode * v),
        bend=(share[group] * (rows.attempts[:, None] * p_at * (1 - p_at) - pull**2)).sum(axis=1) + mean_pull**2,
        mode=mode,
        effect=effect,
        variance=(share * z**2).sum(axis=1) - effect**2,
    )


def _mode(rows: Rows, mean: Array, scale: Array, z: Array) -> Array:
    """Where each integrand is largest, by Newton's method."""
    group = rows.group
    longest = LONGEST / np.maximum(scale, 1e-12)
    for _ in range(60):
        p = expit(mean + (scale * z)[group])
        slope = scale * _sum(rows.successes - rows.attempts * p, rows.starts) - z
        curve = 1 + scale**2 * _sum(rows.attempts * p * (1 - p), rows.starts)
        step = np.clip(slope / curve, -longest, longest)
        z = z + step
        if np.abs(step).max(initial=0) < 1e-9:
            break
    return z


@cache
def _nodes(number: int) -> tuple[Array, Array]:
    """Nodes and logs of weights of the integral over a standard normal."""
    points, weights = np.polynomial.hermite_e.hermegauss(number)
    return points, np.log(weights / weights.sum())


def _sum(values: Array, starts: npt.NDArray[np.int64]) -> Array:
    """Sums over the rows of each group."""
    return values if starts.size == len(values) else np.add.reduceat(values, starts, axis=0)
