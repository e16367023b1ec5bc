"""How near a bot's success rates come to people's, as the thesis "Crushing Candy Crush" measures it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from experiments.statistics.errors import Array, StatisticsError


class Agreement(NamedTuple):
    """Means and standard deviations over levels; trend: delta = slope * human + intercept.

    without_adjusted: levels that nobody, or everybody, wins: they have no adjusted delta.
    """

    delta_mean: float
    delta_sd: float
    adjusted_mean: float
    adjusted_sd: float
    slope: float
    intercept: float
    without_adjusted: int


def delta(bot: Any, human: Any) -> Array:
    """Bot's minus human success rate on each level, [levels]."""
    b, h = _rates(bot, "the bot"), _rates(human, "the human")
    if b.shape != h.shape:
        raise StatisticsError(f"both need a rate for every level, but there are {b.size} and {h.size}")
    return b - h


def adjusted_delta(bot: Any, human: Any) -> Array:
    """z = (bot - human) / sqrt(human (1 - human)) on each level, [levels]; NaN where nobody or everybody wins."""
    difference, h = delta(bot, human), _rates(human, "the human")
    spread = np.sqrt(h * (1 - h))
    return np.divide(difference, spread, out=np.full(h.shape, np.nan), where=spread > 0)


def accumulated(rates: Any) -> Array:
    """Success rates summed up to each level, [levels]: how many levels one attempt at each would have won so far."""
    return np.cumsum(_rates(rates, "the player"))


def trend(x: Any, y: Any) -> tuple[float, float]:
    """Slope and intercept of the line of least squares; without a slope where x does not vary."""
    a, b = np.asarray(x, np.float64), np.asarray(y, np.float64)
    spread = float(((a - a.mean()) ** 2).sum())
    slope = float(((a - a.mean()) * (b - b.mean())).sum()) / spread if spread > 0 else 0.0
    return slope, float(b.mean() - slope * a.mean())


def agreement(bot: Any, human: Any) -> Agreement:
    """Delta, adjusted delta (standard deviations of samples) and the trend of delta over the human rate."""
    differences, z = delta(bot, human), adjusted_delta(bot, human)
    known = z[np.isfinite(z)]
    if known.size < 2:
        raise StatisticsError(f"{known.size} levels have a human success rate between 0 and 1, at least 2 are needed")
    return Agreement(
        float(differences.mean()),
        float(differences.std(ddof=1)),
        float(known.mean()),
        float(known.std(ddof=1)),
        *trend(human, differences),
        int(z.size - known.size),
    )


def _rates(values: Any, whose: str) -> Array:
    array = np.asarray(values, np.float64)
    if array.ndim != 1 or not array.size or not ((array >= 0) & (array <= 1)).all():
        raise StatisticsError(f"success rates of {whose} must be a list of numbers from 0 to 1")
    return array
