"""Environments for Gymnasium: importing `crush_gym` registers them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gymnasium as gym

if TYPE_CHECKING:
    from crush_gym.envs.options import Options, read_options
    from crush_gym.envs.saved import SavedStateError
    from crush_gym.envs.single import CrushEnv
    from crush_gym.envs.vector import CrushVectorEnv
else:

    def __getattr__(name):
        """Names are imported when they are first used: registering must not wait for JAX."""
        import importlib

        homes = {
            "CrushEnv": "single", "CrushVectorEnv": "vector", "Options": "options", "SavedStateError": "saved",
            "read_options": "options",
        }  # fmt: skip
        if name in homes:
            return getattr(importlib.import_module(f"crush_gym.envs.{homes[name]}"), name)
        raise AttributeError(f"module 'crush_gym.envs' has no attribute {name!r}")


__all__ = ["IDS", "CrushEnv", "CrushVectorEnv", "Options", "SavedStateError", "read_options", "register"]

IDS = {"Crush/Saga-v0": "saga", "Crush/Points-v0": "points", "Crush/Combo-v0": "combo"}
"""Every environment id and its rules."""


def register() -> None:
    """Register all ids, each for `gym.make` and `gym.make_vec`."""
    for name, rules in IDS.items():
        if name not in gym.registry:
            gym.register(
                id=name,
                entry_point="crush_gym.envs.single:CrushEnv",
                vector_entry_point="crush_gym.envs.vector:CrushVectorEnv",
                kwargs={"rules": rules},
            )
