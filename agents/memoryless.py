"""Players that remember nothing and look only at the board: one function, for single moves and whole attempts."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import jax

from agents.protocol import OWN, Choice, Memory
from crush_gym import Game, State
from crush_gym.engine import randomness
from crush_gym.levels import Level


@dataclass(frozen=True)
class Memoryless:
    """The policy of a function (the words of the player's keys uint32[2, B], states, levels) -> actions int32[B].

    The function must stay the same object for a game's spec: compiled programs are kept by it.
    """

    game: Game
    function: Choice

    def start(self, key: jax.Array, state: State, level: Level) -> Memory:
        """Nothing is remembered."""
        del key, state, level
        return ()

    def act(self, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[jax.Array, Memory]:
        """Ask the function."""
        return self.game.choose(self.function, key, state, level), memory

    @property
    def choice(self) -> Choice:
        """The same player within `game.rollout`, which hands out the keys of the moves."""
        return with_own_keys(self.function)


@functools.lru_cache(maxsize=256)
def with_own_keys(function: Choice) -> Choice:
    """The function, given the words of the moves' keys instead of the player's. One for each function."""

    def choose(bits: jax.Array, state: State, level: Level) -> jax.Array:
        return function(randomness.fold(bits, jax.numpy.uint32(OWN)), state, level)

    return choose
