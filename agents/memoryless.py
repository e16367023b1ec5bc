"""The old name of players without a memory: `crush_gym.policies.of_function` makes them now."""

from __future__ import annotations

import warnings

from crush_gym import Game
from crush_gym.policies import Function, Policy, of_function


def Memoryless(game: Game, function: Function) -> Policy:  # noqa: N802 (it was a class)
    """The player of a function (words of the player's keys uint32[2, B], states, levels) -> actions int32[B]."""
    del game
    warnings.warn(
        "agents.memoryless.Memoryless(game, function) has become crush_gym.policies.of_function(function)",
        DeprecationWarning,
        stacklevel=2,
    )
    return of_function(function)
