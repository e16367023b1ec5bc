"""Match-3 as a suite of reinforcement-learning environments, vectorised in JAX."""

from crush_gym.engine.state import State
from crush_gym.engine.turns import Turn
from crush_gym.game import OUTCOMES, REASONS, Game, Stats
from crush_gym.levels import Level, LevelError, LevelPack, load_pack

__version__ = "0.1.0"

__all__ = [
    "OUTCOMES", "REASONS", "Game", "Level", "LevelError", "LevelPack", "State", "Stats", "Turn", "load_pack",
]  # fmt: skip
