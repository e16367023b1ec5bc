"""Levels from a seed: `generate`; and by playing them: `winnable`, `calibrate`, with the heuristic player
(`crush_gym.policies.heuristic`).

`generate` is pure Python and plays nothing. `winnable` and `calibrate` play many levels in one compiled game.
"""

import warnings
from typing import Any

from crush_gym import policies
from crush_gym.generator.effort import estimate
from crush_gym.generator.features import FEATURES
from crush_gym.generator.goals import KINDS
from crush_gym.generator.making import generate
from crush_gym.generator.shapes import SHAPES, SYMMETRIES
from crush_gym.generator.traits import traits
from crush_gym.generator.trials import Trials, calibrate, play, winnable

__all__ = [
    "FEATURES", "KINDS", "SHAPES", "SYMMETRIES", "Trials", "calibrate", "estimate", "generate", "play",
    "traits", "winnable",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Names of version 0.1."""
    if name == "greedy":
        told = "crush_gym.generator.greedy has become crush_gym.policies.heuristic"
        warnings.warn(told, DeprecationWarning, stacklevel=2)
        return policies.heuristic
    raise AttributeError(f"module 'crush_gym.generator' has no attribute {name!r}")
