"""The random player: a legal move, each with the same probability."""

from __future__ import annotations

from dataclasses import dataclass

import jax

from agents.protocol import Memory, Policy
from crush_gym import Game, State
from crush_gym.levels import Level


@dataclass(frozen=True)
class Random:
    """Uniformly random legal moves."""

    name: str = "random"

    def bind(self, game: Game) -> Policy:
        """The engine's own random player."""
        return _RandomPolicy(game)


@dataclass(frozen=True)
class _RandomPolicy:
    game: Game
    choice: str = "random"

    def start(self, key: jax.Array, state: State, level: Level) -> Memory:
        del key, state, level
        return ()

    def act(self, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[jax.Array, Memory]:
        del level
        return self.game.random_action(key, state), memory
