"""Success rates of people: attempts of one player are alike and stop at a success, so players are what is counted.

A rate is a ratio of sums over players. Its variance is `design_effect` times the binomial one.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr, stdtrit

from experiments.statistics.bootstrap import RESAMPLES, Seed, resampled_counts
from experiments.statistics.errors import Array, Interval, StatisticsError, confident
from experiments.statistics.rates import wilson

FEW = 20
"""Fewer players than this are too few to draw from again: the interval is Wilson's at the effective attempts."""

SPREAD = 2.2
"""`spread` of real players: public aggregates of 15 levels of a match-three game, sums over all levels."""

DESIGN_EFFECT = 1.8
"""The mean over the same levels, for rates of which nothing but attempts and successes is known."""


class Pooled(NamedTuple):
    """A rate over players. design_effect: its variance over the binomial one; NaN where it cannot be had."""

    rate: float
    design_effect: float


def pooled(attempts: Any, successes: Any) -> Pooled:
    """Successes over attempts of all players, each [players], with the variance of a ratio estimator."""
    a, s = _players(attempts, successes)
    rate, players = float(s.sum() / a.sum()), a.size
    binomial = rate * (1 - rate) / a.sum()
    if players < 2 or binomial == 0:
        return Pooled(rate, math.nan)
    variance = players / (players - 1) * float(((s - rate * a) ** 2).sum()) / a.sum() ** 2
    return Pooled(rate, variance / binomial)


def spread_of(rates: Any, design_effects: Any, attempts: Any, players: Any) -> float:
    """How much players differ, from levels' design effects, each [levels]: see `design_effect`.

    Levels with few players say little and are left out; where none is left, it is that of real players.
    """
    p, effect, a, m = (np.asarray(each, np.float64) for each in (rates, design_effects, attempts, players))
    known = np.isfinite(effect) & (m >= FEW)
    room = float((p * (1 - p) * (a / np.maximum(m, 1) - 1))[known].sum())
    return max(float((effect - 1)[known].sum()) / room, 0.0) if room > 0 else SPREAD


def design_effect(rates: Any, attempts: Any, players: Any, spread: float) -> Array:
    """The design effect 1 + spread p (1 - p) (attempts a player - 1) of levels, [levels]; players of 0 are unknown.

    That of a single level is a noisy estimate which depends on its rate; this one is not.
    """
    p, a, m = (np.asarray(each, np.float64) for each in (rates, attempts, players))
    effect = 1 + spread * p * (1 - p) * np.maximum(a / np.maximum(m, 1) - 1, 0)
    return np.where(m > 0, effect, DESIGN_EFFECT)


def pooled_interval(
    attempts: Any,
    successes: Any,
    seed: Seed,
    *,
    players: int | None = None,
    spread: float = SPREAD,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
) -> Interval:
    """The pooled rate of players, each [players], with its bootstrap interval over players.

    The percentiles are Hesterberg's expanded ones, which make up for the bootstrap's narrowness. With few players, or
    where all attempts went one way, it is Wilson's interval at the attempts over the design effect.
    players: for how many players like these, else for just as many.
    """
    a, s = _players(attempts, successes)
    rate, own = float(s.sum() / a.sum()), a.size
    many = own if players is None else players
    if many < 1:
        raise StatisticsError(f"an interval is for 1 player or more, not for {many}")
    tail = (1 - confident(confidence)) / 2
    if own < FEW or many < 2 or rate in (0.0, 1.0):
        guess = (s.sum() + 0.5) / (a.sum() + 1)
        effect = max(float(design_effect(guess, a.sum(), own, spread)), pooled(a, s).design_effect)
        return wilson(rate, a.sum() * many / own / (effect if effect > 1 else 1.0), confidence)
    rng = np.random.default_rng(seed)
    kinds, counts = resampled_counts(a * (s.max() + 1) + s, rng, resamples, many)
    wins = kinds % (s.max() + 1)
    drawn = counts @ wins / (counts @ ((kinds - wins) / (s.max() + 1)))
    tail = float(ndtr(math.sqrt(many / (many - 1)) * stdtrit(many - 1, tail)))
    low, high = np.quantile(drawn, (tail, 1 - tail))
    return Interval(rate, float(low), float(high))


def _players(attempts: Any, successes: Any) -> tuple[Array, Array]:
    a, s = np.asarray(attempts, np.float64), np.asarray(successes, np.float64)
    if a.ndim != 1 or a.shape != s.shape or not a.size or (a < 1).any() or (s < 0).any() or (s > a).any():
        raise StatisticsError("every player needs 1 attempt or more, and successes from 0 to attempts")
    return a, s
