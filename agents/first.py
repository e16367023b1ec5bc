"""The baseline of CandyCrush.ai: the first legal move, by the numbers of the actions."""

from __future__ import annotations

from dataclasses import dataclass

from agents.protocol import Policy
from crush_gym import Game, policies


@dataclass(frozen=True)
class First:
    """The legal move with the smallest number."""

    name: str = "first"

    def bind(self, game: Game) -> Policy:
        """See `crush_gym.policies.first`."""
        return policies.first(game)
