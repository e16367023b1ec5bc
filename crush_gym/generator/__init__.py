"""Levels from a seed: `generate`; and by playing them: `winnable`, `calibrate`, with a greedy player.

`generate` is pure Python and plays nothing. `winnable` and `calibrate` play many levels in one compiled game.
"""

from crush_gym.generator.effort import estimate
from crush_gym.generator.features import FEATURES
from crush_gym.generator.goals import KINDS
from crush_gym.generator.making import generate
from crush_gym.generator.player import greedy
from crush_gym.generator.shapes import SHAPES, SYMMETRIES
from crush_gym.generator.traits import traits
from crush_gym.generator.trials import Trials, calibrate, play, winnable

__all__ = [
    "FEATURES", "KINDS", "SHAPES", "SYMMETRIES", "Trials", "calibrate", "estimate", "generate", "greedy", "play",
    "traits", "winnable",
]  # fmt: skip
