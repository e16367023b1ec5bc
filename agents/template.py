"""A template: one small player, written twice. Copy this file to a folder of your own and change it.

As `my_player.py` in the current folder, its players are called `my_player:Lowest`, `my_player:Lowest:chance=0.1`,
`my_player:BatchedLowest`, wherever an agent's name is asked for. To be found by a short name, a package declares the
entry point

    [project.entry-points."crush_gym.agents"]
    lowest = "my_player:Lowest"

Both forms choose the legal swap furthest down, and with probability `chance` any legal one. Keep the one you like.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from agents.memoryless import Memoryless
from agents.protocol import Choice, Policy
from agents.registry import name_of
from crush_gym import Game, State
from crush_gym.engine import randomness
from crush_gym.engine.spec import Spec
from crush_gym.levels import Level
from crush_gym.runtime.lockstep import legal, random_action
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
    """The same player as a pure function of many boards, compiled. Parameters are fields, `name` tells them."""

    chance: float = 0.0

    @property
    def name(self) -> str:
        """From which it can be made again."""
        return name_of(f"{__name__}:BatchedLowest", self)

    def bind(self, game: Game) -> Policy:
        """What is static is decided here. A player with a memory implements `agents.protocol.Policy` itself."""
        return Memoryless(game, _lowest(game.spec, self.chance))


@functools.lru_cache(maxsize=64)
def _lowest(spec: Spec, chance: float) -> Choice:
    """One function for each game and chance: compiled programs are kept by it."""
    rows = jnp.asarray(rows_of(spec.height, spec.width))[:, None]

    def choose(bits: jax.Array, state: State, level: Level) -> jax.Array:
        """Actions int32[B]. bits: the words of the player's keys, uint32[2, B]; boards last everywhere."""
        del level
        lowest = jnp.argmax(jnp.where(legal(spec, state), rows, -1), axis=0).astype(jnp.int32)
        value = randomness.draw(bits, randomness.PASS, 0, 0) / 2.0**32
        return jnp.where(value < chance, random_action(spec, bits, state), lowest)

    return choose


def rows_of(height: int, width: int) -> Any:
    """The lower row of each action's two cells, int[actions]: first the swaps within rows, then those across them."""
    swaps = swaps_of(np.arange(number_of_actions((height, width))), (height, width))
    return swaps.rows + swaps.down
