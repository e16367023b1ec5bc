"""Players by a hand-made value of moves that knows the goals: the best move, or any by chance."""

from __future__ import annotations

from dataclasses import dataclass

from agents.protocol import Policy
from crush_gym import Game, policies


@dataclass(frozen=True)
class Heuristic:
    """A move of the highest value; ties are broken by chance. The player by which the packs are measured."""

    name: str = "heuristic"

    def bind(self, game: Game) -> Policy:
        """See `crush_gym.policies.heuristic`."""
        return policies.heuristic(game)


@dataclass(frozen=True)
class Clouded:
    """The thesis' clouded heuristic: a move with the probability p(a) = h(a) / sum of h."""

    name: str = "clouded"

    def bind(self, game: Game) -> Policy:
        """See `crush_gym.policies.clouded`."""
        return policies.clouded(game)
