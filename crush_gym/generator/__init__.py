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
from crush_gym.generator.trials import Trials, calibrate, play, winnable
from crush_gym.traits import traits_of

__all__ = [
    "FEATURES", "KINDS", "SHAPES", "SYMMETRIES", "Trials", "calibrate", "estimate", "generate", "play", "winnable",
]  # fmt: skip


_FORMER: dict[str, tuple[str, Any]] = {
    "greedy": ("crush_gym.policies.heuristic", policies.heuristic),
    "traits": ("crush_gym.traits_of", traits_of),
}


def __getattr__(name: str) -> Any:
    """Names of version 0.1."""
    if name in _FORMER:
        told, value = _FORMER[name]
        warnings.warn(f"crush_gym.generator.{name} has become {told}", DeprecationWarning, stacklevel=2)
        return value
    raise AttributeError(f"module 'crush_gym.generator' has no attribute {name!r}")
