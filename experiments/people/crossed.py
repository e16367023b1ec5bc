"""How much levels and players differ: logit p = level + player + (player x level), three normal random effects.

Both crossed effects are integrated out by Laplace's approximation. The effect of a player on a level is integrated out
exactly: a pair has few attempts, for which Laplace's approximation would be far too low. On simulated people
the standard deviation of players came out 3 to 7 % too small where each played 4 to 15 levels, and right with 60.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import expit

from experiments.people.data import Ints, Log
from experiments.people.errors import PeopleError
from experiments.statistics import Array, Interval

GRID = np.arange(-12.0, 10.01, 0.25)
"""Logits at which a pair's integral is tabulated; between them it is interpolated."""

DEVIATES = np.linspace(-5.5, 5.5, 45)
"""Where the player x level effect is summed over, in standard deviations."""

SMALLEST, LARGEST = 0.02, 4.0
"""Standard deviations are looked for between these."""

NEAR, WIDE = 1e-4, 0.05
"""Steps of the numeric first and second derivatives by the logarithms of standard deviations."""


SHORT = 0.3
"""Newton's steps below this lead upwards anyway, on this scale."""


class Crossed(NamedTuple):
    """Standard deviations on the logit scale with 95 % intervals, and the mean logit of levels.

    level: of levels; player: of players; player_level: of players from level to level
    """

    mean: float
    level: Interval
    player: Interval
    player_level: Interval


def crossed(people: Log) -> Crossed:
    """Fit the model by maximum (restricted) likelihood; levels and players need to be crossed for it."""
    pairs, levels = people.attempts.size, len(np.unique(people.level))
    if levels < 3 or pairs < 2 * max(people.player_count, levels):
        raise PeopleError(
            f"{pairs:,} pairs of {people.player_count:,} players and {levels:,} levels do not tell players from levels:"
            " players must have played several levels each"
        )
    model = _Model(people)
    best = minimize(
        lambda logs: model.loss(logs) / pairs, np.log([1.2, 0.6, 0.6]), jac=lambda logs: model.slope(logs) / pairs,
        method="L-BFGS-B", bounds=[(math.log(SMALLEST), math.log(LARGEST))] * 3,
        options={"ftol": 1e-10, "gtol": 1e-3 / math.sqrt(pairs)},
    ).x  # fmt: skip
    error = np.sqrt(np.maximum(np.diag(np.linalg.pinv(model.curvature(best))), 0))
    model.loss(best)
    spans = [Interval(*(math.exp(x + z * e) for z in (0, -1.96, 1.96))) for x, e in zip(best, error, strict=True)]
    return Crossed(float(model.mean), *spans)


class _Table:
    """The log likelihood of pairs as a function of the logit, for each kind of pair, on `GRID`."""

    def __init__(self, attempts: Array, successes: Array, spread: float) -> None:
        self.spread = spread
        logits = GRID[:, None] + spread * DEVIATES
        weights = np.exp(-(DEVIATES**2) / 2)
        a, s = attempts[:, None, None], successes[:, None, None]
        each = s * logits - a * np.logaddexp(0, logits) + np.log(weights / weights.sum())
        top = each.max(axis=2, keepdims=True)
        share = np.exp(each - top)
        total = share.sum(axis=2, keepdims=True)
        share /= total
        p = expit(logits)
        pull = s - a * p
        self.value = (top + np.log(total))[..., 0].ravel()
        first = (share * pull).sum(axis=2)
        self.first = first.ravel()
        self.second = ((share * (pull**2 - a * p * (1 - p))).sum(axis=2) - first**2).ravel()

    def at(self, kind: Ints, logit: Array) -> tuple[Array, Array, Array]:
        """Value, slope and curvature at a logit, by cubic Hermite interpolation."""
        step = GRID[1] - GRID[0]
        place = np.clip((logit - GRID[0]) / step, 0, len(GRID) - 1.000001)
        left = place.astype(np.int64)
        t = place - left
        at = kind * len(GRID) + left
        value, slope, curve = (values[at] for values in (self.value, self.first, self.second))
        value_, slope_, curve_ = (values[at + 1] for values in (self.value, self.first, self.second))
        b, a, c, d = t**2 * (3 - 2 * t), (1 - t) ** 2 * (1 + 2 * t), t * (1 - t) ** 2 * step, t**2 * (t - 1) * step
        bend = (6 * t * (1 - t) / step, (1 - t) * (1 - 3 * t), t * (3 * t - 2))
        return (
            a * value + b * value_ + c * slope + d * slope_,
            a * slope + b * slope_ + c * curve + d * curve_,
            bend[0] * (slope_ - slope) + bend[1] * curve + bend[2] * curve_,
        )


@dataclass(frozen=True)
class _Side:
    """One of the two crossed effects: which one each pair has, and how many there are."""

    of_pair: Ints
    count: int

    def sum(self, values: Array) -> Array:
        return np.bincount(self.of_pair, values, self.count).astype(np.float64)


class _Model:
    """The restricted likelihood of the three standard deviations; remembers the last mode as a start for the next."""

    def __init__(self, people: Log) -> None:
        used, level = np.unique(people.level, return_inverse=True)
        self.level, self.player = _Side(level, len(used)), _Side(people.player, people.player_count)
        kinds, self.kind = np.unique(np.stack([people.attempts, people.successes]), axis=1, return_inverse=True)
        self.attempts, self.successes = kinds.astype(np.float64)
        self.table = _Table(self.attempts, self.successes, 0.5)
        self.system: _System | None = None
        self.mean = math.log((people.successes.sum() + 0.5) / ((people.attempts - people.successes).sum() + 0.5))
        self.levels, self.players = np.full(self.level.count, self.mean), np.zeros(self.player.count)

    def loss(self, logs: Array) -> float:
        """Minus the log likelihood, but for a constant."""
        level, player, both = np.exp(logs)
        if self.table.spread != both:
            self.table = _Table(self.attempts, self.successes, both)
        size, system = math.inf, self.system or self._system(level, player)
        for _ in range(100):
            value, pull, _ = self._likelihood()
            before = value - self._penalty(level, player)
            last, size = size, self._move(system.solve(*self._slopes(pull, level, player)), before, level, player)
            if size < 1e-7:
                break
            if size > 0.3 * last:  # equations of an earlier place serve as long as they lead on quickly
                system = self._system(level, player)
        self.system = self._system(level, player)
        likelihood = before - self.level.count * logs[0] - self.player.count * logs[1]
        return 0.5 * self.system.log_determinant() - likelihood

    def slope(self, logs: Array) -> Array:
        """The loss' derivatives by the logarithms of the standard deviations, [3]."""
        here = self.loss(logs)
        return np.array([(self.loss(logs + step) - here) / NEAR for step in NEAR * np.eye(3)])

    def curvature(self, logs: Array) -> Array:
        """The loss' second derivatives, [3, 3]."""
        here, steps = self.loss(logs), WIDE * np.eye(3)
        up, down = ([self.loss(logs + sign * step) for step in steps] for sign in (1, -1))
        found = np.diag([(a + b - 2 * here) / WIDE**2 for a, b in zip(up, down, strict=True)])
        for i, j in ((0, 1), (0, 2), (1, 2)):
            both = self.loss(logs + steps[i] + steps[j])
            found[i, j] = found[j, i] = (both - up[i] - up[j] + here) / WIDE**2
        return found

    def _system(self, level: float, player: float) -> _System:
        return _System(self, self._likelihood()[2], level, player)

    def _likelihood(self) -> tuple[float, Array, Array]:
        value, pull, curve = self.table.at(
            self.kind, self.levels[self.level.of_pair] + self.players[self.player.of_pair]
        )
        return float(value.sum()), pull, np.maximum(-curve, 1e-9)

    def _penalty(self, level: float, player: float) -> float:
        return float(((self.levels - self.mean) ** 2).sum()) / (2 * level**2) + float((self.players**2).sum()) / (
            2 * player**2
        )

    def _slopes(self, pull: Array, level: float, player: float) -> tuple[Array, Array, float]:
        away = (self.levels - self.mean) / level**2
        return self.level.sum(pull) - away, self.player.sum(pull) - self.players / player**2, float(away.sum())

    def _move(self, steps: tuple[Array, Array, float], before: float, level: float, player: float) -> float:
        """Go Newton's step, a long one only as far as it leads upwards; how long it was."""
        share, start = 1.0, (self.levels, self.players, self.mean)
        long = max(float(np.abs(steps[0]).max()), float(np.abs(steps[1]).max()))
        while True:
            self.levels, self.players = start[0] + share * steps[0], start[1] + share * steps[1]
            self.mean = start[2] + share * steps[2]
            if share * long < SHORT or self._likelihood()[0] - self._penalty(level, player) >= before:
                return share * long
            share /= 2


class _System:
    """Newton's equations for levels, players and the mean. The larger side is diagonal, so it is eliminated."""

    def __init__(self, model: _Model, weight: Array, level: float, player: float) -> None:
        self.levels_first = model.level.count >= model.player.count
        large, small = (model.level, model.player) if self.levels_first else (model.player, model.level)
        pull = -1 / level**2  # between a level and the mean
        own = {True: 1 / level**2, False: 1 / player**2}
        self.diagonal = large.sum(weight) + own[self.levels_first]
        self.joint = _joint(weight, large, small, pull if self.levels_first else 0.0)
        core = np.diag(np.append(small.sum(weight) + own[not self.levels_first], model.level.count / level**2))
        if not self.levels_first:
            core[-1, :-1] = core[:-1, -1] = pull
        if isinstance(self.joint, np.ndarray):
            across = self.joint.T @ (self.joint / self.diagonal[:, None])
        else:
            across = (self.joint.T @ (sparse.diags_array(1 / self.diagonal) @ self.joint)).toarray()
        self.factor: Any = cho_factor(core - across, lower=True)

    def solve(self, levels: Array, players: Array, mean: float) -> tuple[Array, Array, float]:
        """The step for these slopes."""
        large, small = (levels, players) if self.levels_first else (players, levels)
        rest = np.append(small, mean) - self.joint.T @ (large / self.diagonal)
        found = cho_solve(self.factor, rest)
        first = (large - self.joint @ found) / self.diagonal
        return (first, found[:-1], found[-1]) if self.levels_first else (found[:-1], first, found[-1])

    def log_determinant(self) -> float:
        """Of the matrix of the equations."""
        return float(np.log(self.diagonal).sum() + 2 * np.log(np.diag(self.factor[0])).sum())


def _joint(weight: Array, large: _Side, small: _Side, pull: float) -> Any:
    """What the equations of the larger side hold of the smaller side and the mean, [large, small + 1]."""
    shape = (large.count, small.count + 1)
    if weight.size > 0.1 * math.prod(shape):
        dense = np.zeros(shape)
        dense[large.of_pair, small.of_pair] = weight
        dense[:, -1] = pull
        return dense
    rows, columns = np.arange(large.count), np.full(large.count, small.count)
    place = (np.append(large.of_pair, rows), np.append(small.of_pair, columns))
    return sparse.csr_array((np.append(weight, np.full(large.count, pull)), place), shape=shape)
