"""Match-3 as a suite of reinforcement-learning environments, vectorised in JAX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crush_gym.envs import register
from crush_gym.moved import moved

__version__ = "0.1.0"

__all__ = [
    "OUTCOMES", "REASONS", "Game", "Level", "LevelError", "LevelPack", "Motion", "Preview", "State", "Stats", "Turn",
    "generate", "load_pack", "traits_of",
]  # fmt: skip

# Names are imported when they are first used: `crush-gym --help` must not wait for JAX.
if TYPE_CHECKING:
    from crush_gym.engine.state import State
    from crush_gym.game import OUTCOMES, REASONS, Game, Stats
    from crush_gym.generator import generate
    from crush_gym.levels import Level, LevelError, LevelPack, load_pack
    from crush_gym.runtime.lockstep import Turn
    from crush_gym.runtime.preview import Preview
    from crush_gym.runtime.replay import Motion
    from crush_gym.traits import traits_of
else:
    import importlib

    _HOMES = {
        "crush_gym.engine.state": ("State",),
        "crush_gym.runtime.lockstep": ("Turn",),
        "crush_gym.runtime.preview": ("Preview",),
        "crush_gym.runtime.replay": ("Motion",),
        "crush_gym.game": ("OUTCOMES", "REASONS", "Game", "Stats"),
        "crush_gym.generator": ("generate",),
        "crush_gym.levels": ("Level", "LevelError", "LevelPack", "load_pack"),
        "crush_gym.traits": ("traits_of",),
    }
    _MODULES = (
        "engine", "game", "generator", "keys", "layout", "levels", "policies", "runtime", "session", "swaps", "traits",
    )  # fmt: skip

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


moved(
    {
        "crush_gym.cli.session": "crush_gym.session",
        "crush_gym.engine.batching": "crush_gym.runtime.vmap",
        "crush_gym.engine.blocks": "crush_gym.runtime.threads",
        "crush_gym.engine.compiling": "crush_gym.runtime.xla",
        "crush_gym.engine.draws": "crush_gym.engine.randomness",
        "crush_gym.engine.kernels": "crush_gym.runtime.chunks",
        "crush_gym.engine.lanes": "crush_gym.runtime.subset",
        "crush_gym.engine.observe": "crush_gym.runtime.observe",
        "crush_gym.engine.rollout": "crush_gym.runtime.rollout",
        "crush_gym.engine.room": "crush_gym.runtime.memory",
        "crush_gym.engine.turns": "crush_gym.runtime.lockstep",
        "crush_gym.records": "crush_gym.attempt_log",
        "crush_gym.render.frames": "crush_gym.attempt_log",
        "crush_gym.values": "crush_gym.move_values",
        "crush_gym.values.choose": "crush_gym.move_values.choose",
        "crush_gym.values.first_round": "crush_gym.move_values.first_round",
        "crush_gym.values.goals": "crush_gym.move_values.goals",
        "crush_gym.values.runs": "crush_gym.move_values.runs",
        "crush_gym.values.sliced": "crush_gym.move_values.sliced",
    }
)

register()
