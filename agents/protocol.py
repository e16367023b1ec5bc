"""What a player is: an `Agent` says how it plays, a `Policy` is one bound to a game and plays any number of boards."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import jax

from crush_gym import Game, State
from crush_gym.levels import Level
from crush_gym.runtime.rollout import Policy as Choice

__all__ = ["OWN", "Agent", "Choice", "Memory", "Policy", "choice_of", "own_key"]

Memory = Any
"""A pytree; every leaf, a JAX or a NumPy array, ends in the boards' axes."""

OWN = 2**32 - 1
"""Folded into a key of the game, it gives the key that the player has at that time: no move has this number."""


def own_key(key: jax.Array) -> jax.Array:
    """The player's keys beside the game's, so that nobody can foresee the candies: keys[*boards] -> keys[*boards].

    An attempt with key k gives its player `own_key(k)` at the start, and `own_key(fold_in(k, m))` for move m.
    """
    fold = jax.random.fold_in
    for _ in key.shape:
        fold = jax.vmap(fold, (0, None))
    return fold(key, OWN)


class Policy(Protocol):
    """A player bound to one game, for any number of boards at once; boards' axes come last everywhere.

    It may have an attribute `choice`, the same player as a function for `game.rollout(policy=...)`, or "random":
    then whole attempts are played there, where no board waits for another's cascade. And an attribute `lanes`:
    how many boards at a time suit it.
    """

    def start(self, key: jax.Array, state: State, level: Level) -> Memory:
        """What the player remembers at the start of an attempt. key: the player's, keys[*boards]."""
        ...

    def act(self, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[jax.Array, Memory]:
        """The moves, int32[*boards], and the memory afterwards; on finished boards, any action. key: as in `start`."""
        ...


def choice_of(policy: Policy) -> str | Choice | None:
    """The policy as `game.rollout` takes it; None where it must be asked move by move."""
    known: str | Choice | None = getattr(policy, "choice", None)
    return known


@runtime_checkable
class Agent(Protocol):
    """A player that is not yet bound to a game."""

    @property
    def name(self) -> str:
        """What tells it apart from all others, its parameters included."""
        ...

    def bind(self, game: Game) -> Policy:
        """The player in this game; what is static is decided here."""
        ...
