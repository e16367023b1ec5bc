"""A template: one small player, written three times. Copy this file to a folder of your own and change it.

As `my_player.py` in the current folder, its players are called `my_player:Lowest`, `my_player:Lowest:chance=0.1`,
`my_player:BatchedLowest`, `my_player:Restless`, wherever an agent's name is asked for. To be found by a short name, a
package declares the entry point

    [project.entry-points."crush_gym.agents"]
    lowest = "my_player:Lowest"

Two of them choose the legal swap furthest down, and with probability `chance` any legal one; the third remembers its
last move and stays away from its row. Keep the one you like, and let `agents.testing.check_agent` look at it.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from agents.protocol import Memory, Policy
from agents.registry import name_of
from crush_gym import Game, Level, State
from crush_gym.policies import chance, legal, random_action
from crush_gym.swaps import number_of_actions, swaps_of

# ------------------------------------------------------------------ plain Python, a board at a time: easy to write


class Lowest:
    """Asked for one move at a time; every attempt is played by a copy of its own, so it may remember things."""

    obs = "planes"
    """What it is shown: "planes", "king", "cells" or "rgb", as the environments' option `obs`."""

    def __init__(self, chance: float = 0.0) -> None:
        self.chance = chance

    def reset(self) -> None:
        """Called before the first move of an attempt."""
        self.moves = 0

    def act(self, obs: Any, mask: Any, rng: np.random.Generator) -> int:
        """The number of a legal action. obs: uint8[channels, H, W]; mask: bool[actions]; rng: for what is random."""
        self.moves += 1
        actions = np.flatnonzero(mask)
        if rng.random() < self.chance:
            return int(rng.choice(actions))
        rows = rows_of(obs.shape[1], obs.shape[2])[actions]
        return int(actions[np.argmax(rows)])


# ------------------------------------------------------------------ JAX, all boards at once: hundreds of times as fast


@dataclass(frozen=True)
class BatchedLowest:
    """The same player as pure functions of many boards, compiled. Parameters are fields, `name` tells them."""

    chance: float = 0.0

    @property
    def name(self) -> str:
        """From which it can be made again."""
        return name_of(f"{__name__}:BatchedLowest", self)

    def bind(self, game: Game) -> Policy:
        """What is static is decided here; what is a number goes into `params`: other values compile nothing."""
        return Policy(_lowest(game.spec), params=jnp.float32(self.chance))


@functools.lru_cache(maxsize=64)
def _lowest(spec: Any) -> Any:
    """One function for each kind of game: compiled programs are kept by it."""
    rows = jnp.asarray(rows_of(spec.height, spec.width))[:, None]

    def act(params: Any, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[jax.Array, Memory]:
        """Actions int32[B], and the memory. key: the player's, keys[B]; boards last everywhere."""
        lowest = jnp.argmax(jnp.where(legal(spec, state), rows, -1), axis=0).astype(jnp.int32)
        return jnp.where(chance(key) < params, random_action(spec, key, state), lowest), memory

    return act


# ------------------------------------------------------------------ the same with a memory of each board


@dataclass(frozen=True)
class Restless:
    """The legal swap furthest down, but never in the row of its last move where there is another one."""

    @property
    def name(self) -> str:
        """From which it can be made again."""
        return f"{__name__}:Restless"

    def bind(self, game: Game) -> Policy:
        """A pair of functions: what is remembered at the start, and the moves."""
        return Policy(_restless(game.spec), start=_nowhere)


def _nowhere(params: Any, key: jax.Array, state: State, level: Level) -> Memory:
    """The row of the last move of each board, int32[B]: none yet. Every leaf of a memory ends in the boards' axis."""
    return jnp.full(state.books.made.shape, -1, jnp.int32)


@functools.lru_cache(maxsize=64)
def _restless(spec: Any) -> Any:
    rows = jnp.asarray(rows_of(spec.height, spec.width), jnp.int32)

    def act(params: Any, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[jax.Array, Memory]:
        worth = rows[:, None] + jnp.where(rows[:, None] == memory, 0, spec.height)
        action = jnp.argmax(jnp.where(legal(spec, state), worth, -1), axis=0).astype(jnp.int32)
        return action, rows[action]

    return act


def rows_of(height: int, width: int) -> Any:
    """The lower row of each action's two cells, int[actions]: first the swaps within rows, then those across them."""
    swaps = swaps_of(np.arange(number_of_actions((height, width))), (height, width))
    return swaps.rows + swaps.down
