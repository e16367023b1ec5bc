"""Simulated people who play levels until they clear them or lose patience."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from experiments.people import Log, log_of

PLAYER, PLAYER_LEVEL, LEVEL, MEAN = 0.594, 0.566, 1.22, -1.35
"""Standard deviations and mean of logits, as of real players."""


def crowd(levels: int, players: int, each: int, seed: int) -> Log:
    """Every player plays `each` of the levels."""
    rng = np.random.default_rng(seed)
    ease, skill = rng.normal(MEAN, LEVEL, levels), rng.normal(0, PLAYER, players)
    level = np.concatenate([rng.choice(levels, each, replace=False) for _ in range(players)])
    player = np.repeat(np.arange(players), each)
    chance = expit(ease[level] + skill[player] + rng.normal(0, PLAYER_LEVEL, level.size))
    needed, patience = rng.geometric(chance), rng.geometric(1 / 12, level.size) + 1
    names = [f"level {number}" for number in level]
    return log_of(names, list(player), np.minimum(needed, patience), (needed <= patience).astype(int))
