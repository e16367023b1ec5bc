"""The random player: a legal move, each with the same probability."""

from __future__ import annotations

from dataclasses import dataclass

from agents.protocol import Policy
from crush_gym import Game, policies


@dataclass(frozen=True)
class Random:
    """Uniformly random legal moves."""

    name: str = "random"

    def bind(self, game: Game) -> Policy:
        """See `crush_gym.policies.random`."""
        return policies.random(game)
