"""The greedy player: the move that clears and makes most at once, of equal ones the one furthest down."""

from __future__ import annotations

from dataclasses import dataclass

from agents.protocol import Policy
from crush_gym import Game, policies


@dataclass(frozen=True)
class Greedy:
    """Candies and colour bombs cleared in the swap's first round plus specials made, exactly."""

    name: str = "greedy"

    def bind(self, game: Game) -> Policy:
        """See `crush_gym.policies.greedy`."""
        return policies.greedy(game)
