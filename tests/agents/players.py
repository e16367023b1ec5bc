"""Players for tests, by name: those that know what positions are worth, and those that may not."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from agents.protocol import Memory, Policy
from agents.registry import name_of
from crush_gym import Game, Level, State, policies


@dataclass(frozen=True)
class Judge:
    """Random moves; expects so many points of each legal move that there is."""

    points: float = 10.0
    counts: str = "score"
    remembers: bool = False

    @property
    def name(self) -> str:
        return name_of("tests.agents.players:Judge", self)

    def bind(self, game: Game) -> Policy:
        known = policies.random(game)
        start = _one if self.remembers else known.start
        return Policy(
            known.act, start, jnp.float32(self.points), value=_value(game.spec), worth=self.counts, discount=0.5
        )


@functools.lru_cache
def _value(spec: Any) -> policies.Value:
    def value(params: Any, memory: Memory, state: State, level: Level) -> jax.Array:
        return params * policies.legal(spec, state).sum(axis=0).astype(jnp.float32)

    return value


def _one(params: Any, key: jax.Array, state: State, level: Level) -> Memory:
    return jnp.ones_like(state.books.made)
