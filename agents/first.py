"""The baseline of CandyCrush.ai: the first legal move, by the numbers of the actions."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from agents.memoryless import Memoryless
from agents.protocol import Choice, Policy
from crush_gym import Game, State
from crush_gym.engine.spec import Spec
from crush_gym.levels import Level
from crush_gym.runtime.lockstep import legal


@dataclass(frozen=True)
class First:
    """The legal move with the smallest number."""

    name: str = "first"

    def bind(self, game: Game) -> Policy:
        return Memoryless(game, _first(game.spec))


@functools.lru_cache(maxsize=64)
def _first(spec: Spec) -> Choice:
    def choose(bits: jax.Array, state: State, level: Level) -> jax.Array:
        del bits, level
        mask = legal(spec, state)
        return jnp.where(mask.any(axis=0), jnp.argmax(mask, axis=0), -1).astype(jnp.int32)

    return choose
