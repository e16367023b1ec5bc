"""Several players in one program: which of them plays is a number, so that the game is compiled once for all."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from agents import registry
from agents.protocol import Agent, Memory, Policy, bound
from crush_gym import Game, Level, State
from crush_gym.policies import Act, Start


@dataclass(frozen=True)
class Among:
    """One of several players, who plays as he would alone. name: his; which: his number among them"""

    name: str
    which: int
    players: tuple[str | Agent, ...]

    def bind(self, game: Game) -> Policy:
        """He in this game; the program is the same whoever of them it is."""
        agents = [registry.make(player) if isinstance(player, str) else player for player in self.players]
        policies = [bound(agent, game) for agent in agents]
        own = policies[self.which]
        kinds = {(policy.act, policy.start): policy.params for policy in policies}
        if len(kinds) == 1:  # they differ by what they know, for which nothing is compiled anew
            return own
        kinds[own.act, own.start] = own.params
        act, start = _functions(tuple(kinds))
        return Policy(act, start, (np.int32(list(kinds).index((own.act, own.start))), tuple(kinds.values())))


@functools.lru_cache(maxsize=64)
def _functions(players: tuple[tuple[Act, Start], ...]) -> tuple[Act, Start]:
    """One pair for the same kinds of players: compiled programs are kept by them. Each has its place in the memory."""

    def start(params: Any, key: jax.Array, state: State, level: Level) -> Memory:
        which, own = params
        asked = [functools.partial(begin, each) for (_, begin), each in zip(players, own, strict=True)]
        blank = tuple(_nothing(jax.eval_shape(ask, key, state, level)) for ask in asked)
        return lax.switch(which, [_begun(n, ask, blank) for n, ask in enumerate(asked)], key, state, level)

    def act(params: Any, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[jax.Array, Memory]:
        which, own = params
        asked = [functools.partial(move, each) for (move, _), each in zip(players, own, strict=True)]
        return lax.switch(which, [_moved(n, ask) for n, ask in enumerate(asked)], key, memory, state, level)

    return act, start


def _nothing(memory: Memory) -> Memory:
    return jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), memory)


def _begun(place: int, start: Callable[..., Memory], blank: tuple[Memory, ...]) -> Callable[..., Memory]:
    """A player's start, which leaves the others' memories blank."""

    def begun(*asked: Any) -> Memory:
        return (*blank[:place], start(*asked), *blank[place + 1 :])

    return begun


def _moved(place: int, act: Callable[..., tuple[jax.Array, Memory]]) -> Callable[..., tuple[jax.Array, Memory]]:
    """A player's move, which leaves the others' memories alone."""

    def moved(key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[jax.Array, Memory]:
        action, own = act(key, memory[place], state, level)
        return jnp.asarray(action, jnp.int32), (*memory[:place], own, *memory[place + 1 :])

    return moved
