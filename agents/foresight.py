"""What can be foreseen: the move that certainly brings most, by `Game.preview`.

Everything that follows from the candies that already stand is known before a move is made: the specials it makes and
sets off, and the cascades of what falls. Nothing is sampled, so a move costs a fraction of a look ahead's.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from agents.protocol import Memory, Policy
from agents.registry import name_of
from crush_gym import Game, Level, Preview, State
from crush_gym.policies import WORTHS, preview
from crush_gym.runtime import Spec


@dataclass(frozen=True)
class Foresight:
    """The move that brings most of `worth` before new candies have a say; of equal ones the one with most points.

    worth: "score", points; "progress", the share of all the goals that it does
    """

    worth: str = "score"

    def __post_init__(self) -> None:
        if self.worth not in WORTHS:
            raise ValueError(f"worth must be one of {', '.join(WORTHS)}, not {self.worth!r}")

    @property
    def name(self) -> str:
        """What makes this agent again."""
        return name_of("foresight", self)

    def bind(self, game: Game) -> Policy:
        """The player in this game; the same functions for all games of a kind."""
        return _policy(game.spec, self.worth)


@functools.lru_cache(maxsize=64)
def _policy(spec: Spec, worth: str) -> Policy:
    def act(params: Any, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[jax.Array, Memory]:
        del params, key
        return _best(preview(spec, state, level), worth), memory

    return Policy(act)


def _best(brings: Preview, worth: str) -> jax.Array:
    """The move of each board that brings most, the last of equal ones, int32[B]; -1 where none is legal."""
    best = brings.legal
    for gain in (brings.goals.sum(axis=0),) * (worth == "progress") + (brings.score,):
        most = jnp.max(jnp.where(best, gain, -1), axis=0)
        best &= gain == most
    last = best.shape[0] - 1 - jnp.argmax(best[::-1], axis=0)
    return jnp.where(best.any(axis=0), last, -1).astype(jnp.int32)
