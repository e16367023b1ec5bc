"""What a player is: an `Agent` says how it plays; bound to a game it is a `Policy`, which plays many boards at once."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any, Protocol, runtime_checkable

import jax

from crush_gym import Game, Level, State
from crush_gym.keys import player_key
from crush_gym.policies import Memory, Policy, Traits

__all__ = ["Agent", "Memory", "Policy", "Traits", "bound"]


@runtime_checkable
class Agent(Protocol):
    """A player that is not yet bound to a game."""

    @property
    def name(self) -> str:
        """What tells it apart from all others, its parameters included."""
        ...

    def bind(self, game: Game) -> Policy:
        """The player in this game; what is static is decided here. See `crush_gym.policies.Policy`."""
        ...


def bound(agent: Agent, game: Game) -> Policy:
    """The agent in this game; what `bind` gave is refused in a sentence where it is no player.

    An object with `params`, `start` and `act` of its own serves as well as a `Policy`.
    """
    policy: Any = agent.bind(game)
    if isinstance(policy, Policy):
        return policy
    if not (callable(getattr(policy, "act", None)) and callable(getattr(policy, "start", None))):
        raise TypeError(
            f"the agent {agent.name!r} gave a {type(policy).__name__} for a game: `bind` must give a "
            "crush_gym.policies.Policy, or an object with params, start and act"
        )
    if not hasattr(policy, "params"):
        return _without_params(policy, agent.name)
    known = {
        field.name: getattr(policy, field.name) for field in dataclasses.fields(Policy) if hasattr(policy, field.name)
    }
    return Policy(**known)


def _without_params(policy: Any, name: str) -> Policy:
    """A player of the protocol of version 0.1: start(key, state, level) and act(key, memory, state, level)."""
    warnings.warn(
        f"the agent {name!r} has start and act without params: they get params first now, and `bind` gives a "
        "crush_gym.policies.Policy (agents/template.py shows one); the old form goes with the next version",
        DeprecationWarning,
        stacklevel=3,
    )

    def act(params: Any, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[jax.Array, Memory]:
        actions, memory = policy.act(key, memory, state, level)
        return actions, memory

    def start(params: Any, key: jax.Array, state: State, level: Level) -> Memory:
        return policy.start(key, state, level)

    return Policy(act, start, traceable=False, lanes=getattr(policy, "lanes", None))


def __getattr__(name: str) -> Any:
    """Names of version 0.1."""
    if name == "own_key":
        warnings.warn(
            "agents.protocol.own_key has moved to crush_gym.keys.player_key", DeprecationWarning, stacklevel=2
        )
        return player_key
    raise AttributeError(f"module 'agents.protocol' has no attribute {name!r}")
