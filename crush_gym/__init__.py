"""Match-3 as a suite of reinforcement-learning environments, vectorised in JAX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crush_gym.envs import register

__version__ = "0.1.0"

__all__ = [
    "OUTCOMES", "REASONS", "Game", "Level", "LevelError", "LevelPack", "State", "Stats", "Turn", "generate",
    "load_pack",
]  # fmt: skip

# Names are imported when they are first used: `crush-gym --help` must not wait for JAX.
if TYPE_CHECKING:
    from crush_gym.engine.state import State
    from crush_gym.engine.turns import Turn
    from crush_gym.game import OUTCOMES, REASONS, Game, Stats
    from crush_gym.generator import generate
    from crush_gym.levels import Level, LevelError, LevelPack, load_pack
else:
    import importlib

    _HOMES = {
        "crush_gym.engine.state": ("State",),
        "crush_gym.engine.turns": ("Turn",),
        "crush_gym.game": ("OUTCOMES", "REASONS", "Game", "Stats"),
        "crush_gym.generator": ("generate",),
        "crush_gym.levels": ("Level", "LevelError", "LevelPack", "load_pack"),
    }
    _MODULES = ("engine", "game", "generator", "layout", "levels")

    def __getattr__(name):
        if name in _MODULES:
            return importlib.import_module(f"crush_gym.{name}")
        for home, names in _HOMES.items():
            if name in names:
                value = globals()[name] = getattr(importlib.import_module(home), name)
                return value
        raise AttributeError(f"module 'crush_gym' has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *__all__, *_MODULES})


register()
