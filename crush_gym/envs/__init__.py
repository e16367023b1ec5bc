"""Environments for Gymnasium: importing `crush_gym` registers them."""

from __future__ import annotations

import gymnasium as gym

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
