"""CandyCrush.ai's "Q-learning on the fly": every move, episodes from the position to the end decide what it is worth.

"CandyCrush.ai: An AI Agent for Candy Crush", 4.5. As it is read here: in each episode, the first move is random
while nothing is known about the position, and then epsilon-greedy by Q, the mean final score of the episodes that
began with that move so far. No position behind it is known (in practice none is met twice, as the authors found),
so the rest of the episode is random, as they say of positions without values. The move with the greatest Q is made.
The paper has an epsilon of 0.25 where it describes this and of 0.5 where it reports; the first is the default.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from agents.protocol import Memory, Policy
from agents.registry import name_of
from agents.search.positions import one_axis
from crush_gym import Game, Level, State
from crush_gym.keys import attempt_key, move_key
from crush_gym.runtime import LEVEL_RANKS, boards_of_state, flat_boards, kept, randomness, sizes


@dataclass(frozen=True)
class MonteCarlo:
    """Values by random episodes. episodes: of each move, to the end; epsilon: share of them that begin at random."""

    episodes: int = 25
    epsilon: float = 0.25

    def __post_init__(self) -> None:
        if self.episodes < 1:
            raise ValueError(f"episodes must be at least 1, not {self.episodes}")
        if not 0 <= self.epsilon <= 1:
            raise ValueError(f"epsilon must be from 0 to 1, not {self.epsilon}")

    @property
    def name(self) -> str:
        return name_of("montecarlo", self)

    def bind(self, game: Game) -> Policy:
        return _MonteCarlo(self, game).policy()


@dataclass(frozen=True)
class _MonteCarlo:
    agent: MonteCarlo
    game: Game

    def policy(self) -> Policy:
        """The player, asked move by move."""
        return Policy(self.act, self.start, traceable=False, lanes=sizes.EPISODES)

    def start(self, params: Any, key: jax.Array, state: State, level: Level) -> Memory:
        """Nothing is remembered: no position is met twice."""
        del params, key, state, level
        return ()

    def act(self, params: Any, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[jax.Array, Memory]:
        """See `crush_gym.policies.Act`."""
        del params
        boards = boards_of_state(state)
        actions = self._searched(key.reshape(-1), one_axis(state), flat_boards(level, LEVEL_RANKS))
        return actions.reshape(boards), memory

    def _searched(self, keys: jax.Array, state: State, level: Level) -> jax.Array:
        """The moves; -1 where there is none. One boards' axis."""
        mask = self.game.legal(state, level)
        sums, numbers = jnp.zeros(mask.shape, jnp.float32), jnp.zeros(mask.shape, jnp.int32)
        for episode in range(self.agent.episodes):
            own = attempt_key(keys, episode)
            first = _first(self.agent.epsilon)(randomness.key_bits(own), mask, sums, numbers)
            after, _ = self.game.step(move_key(own, state.books.made), state, first, level)
            score = self.game.rollout(own, after, level)[1].score
            sums, numbers = _entered(first, score, sums, numbers)
        return _best(mask, sums, numbers)


@functools.lru_cache(maxsize=16)
def _first(epsilon: float) -> Callable[..., jax.Array]:
    """The first move of an episode: at random, or the best so far. bits: words of the episodes' keys."""

    def choose(bits: jax.Array, mask: jax.Array, sums: jax.Array, numbers: jax.Array) -> jax.Array:
        rank = randomness.below(randomness.draw(bits, randomness.PICK, 0, 0), mask.sum(0)).astype(jnp.int32)
        picked = jnp.argmax(mask & (jnp.cumsum(mask, axis=0) == rank + 1), axis=0)
        chance = randomness.draw(bits, randomness.PASS, 0, 0).astype(jnp.float32) / 2.0**32
        explores = (chance < epsilon) | ~jnp.any(numbers > 0, axis=0)
        return jnp.where(explores, picked, _best(mask, sums, numbers)).astype(jnp.int32)

    return kept.program(choose)


@jax.jit
def _entered(action: jax.Array, score: jax.Array, sums: jax.Array, numbers: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Q's sums and numbers of episodes with these episodes in them."""
    here = jnp.arange(sums.shape[0])[:, None] == action
    return sums + jnp.where(here, score, 0), numbers + here


@jax.jit
def _best(mask: jax.Array, sums: jax.Array, numbers: jax.Array) -> jax.Array:
    """The move with the greatest mean, of equals the one with the smallest number; -1 where nothing is legal."""
    means = jnp.where(mask & (numbers > 0), sums / jnp.maximum(numbers, 1), -jnp.inf)
    return jnp.where(mask.any(axis=0), jnp.argmax(means, axis=0), -1).astype(jnp.int32)
