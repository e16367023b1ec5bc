"""One move ahead on the real simulator: the mean worth of sampled futures of each move, and the best of them.

The player plays every move that it considers several times with keys of its own, never with the one that will decide
which candies really fall, to the end of its cascade, and makes the one that brought most on average. It is the
strongest of the players here that learn nothing, for much of what a move brings is the cascade of candies that
already stand, which no value of the swap alone sees and which playouts to the end of a level drown in noise.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from agents.protocol import Memory, Policy, bound
from agents.registry import make, name_of
from agents.search.futures import WORTHS, sums_of
from agents.search.positions import one_axis
from crush_gym import Game, Level, State
from crush_gym.policies import Logits
from crush_gym.runtime import (
    LEVEL_RANKS,
    Options,
    Player,
    Spec,
    boards_of_state,
    cores,
    flat_boards,
    in_parts,
    kept,
    legal,
    options_for,
    randomness,
    sizes,
)

MOST_CONSIDERED, MOST_SAMPLES = 480, 100_000


@dataclass(frozen=True)
class Lookahead:
    """One move ahead on the simulator.

    considered: moves that are tried, drawn at random or as `consider` says; samples: futures of each
    worth: what counts in a future: "score", the points of the turn; "progress", the share of the goals that it does,
        and once more as much as all of them for doing the last
    halving: spend the same futures in rounds, of which each keeps the better half of the moves (sequential halving)
    consider: the name of an agent in pure JAX that knows its probabilities, by which moves are drawn without
        repetition, such as "clouded"
    """

    considered: int = 16
    samples: int = 8
    worth: str = "score"
    halving: bool = False
    consider: str = "random"

    def __post_init__(self) -> None:
        for name, most in (("considered", MOST_CONSIDERED), ("samples", MOST_SAMPLES)):
            if not 1 <= getattr(self, name) <= most:
                raise ValueError(f"{name} must be from 1 to {most:,}, not {getattr(self, name)}")
        if self.worth not in WORTHS:
            raise ValueError(f"worth must be one of {', '.join(WORTHS)}, not {self.worth!r}")

    @property
    def name(self) -> str:
        """What makes this agent again."""
        return name_of("lookahead", self)

    def bind(self, game: Game) -> Policy:
        """The player in this game, asked move by move."""
        guide = bound(make(self.consider), game)
        if guide.logits is None:
            raise ValueError(
                f"consider={self.consider!r} must be an agent that knows its probabilities, such as clouded"
            )
        return _Lookahead(self, game, guide).policy()


@dataclass(frozen=True)
class _Lookahead:
    agent: Lookahead
    game: Game
    guide: Policy

    def policy(self) -> Policy:
        """For as many boards at a time as keep all cores busy."""
        return Policy(self.act, params=self.guide.params, traceable=False, lanes=sizes.ASKED * cores())

    def act(self, params: Any, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[jax.Array, Memory]:
        """See `crush_gym.policies.Act`."""
        boards = boards_of_state(state)
        bits, flat = randomness.key_bits(key).reshape(2, -1), one_axis(state)
        levels, size = flat_boards(level, LEVEL_RANKS), randomness.key_bits(key)[0].size
        part = -(-size // min(cores(), size))
        program = _program(self._search(), self.game.spec, options_for(self.game.spec, part, rollout=True))

        def call(first: int) -> jax.Array:
            def cut(x: jax.Array) -> jax.Array:
                return x[..., first : first + part]

            mine = jax.tree.map(cut, levels) if jnp.ndim(levels.height) else levels
            return program(params, cut(bits), jax.tree.map(cut, flat), mine)

        return in_parts(program, call, size, part).reshape(boards), memory

    def _search(self) -> Search:
        logits = self.guide.logits
        assert logits is not None
        agent = self.agent
        considered = min(agent.considered, self.game.actions)
        return Search(
            Player(self.guide.start, self.guide.act), logits, considered, agent.samples, agent.worth, agent.halving
        )


@dataclass(frozen=True)
class Search:
    """What a look ahead is compiled for; see `Lookahead`. guide, logits: of the player that says what is considered."""

    guide: Player
    logits: Logits
    considered: int
    samples: int
    worth: str
    halving: bool


@functools.lru_cache(maxsize=64)
def _program(search: Search, spec: Spec, options: Options) -> Callable[..., jax.Array]:
    return kept.program(functools.partial(looked_ahead, search, spec), options)


def looked_ahead(search: Search, spec: Spec, params: Any, bits: jax.Array, state: State, level: Level) -> jax.Array:
    """The best move of each board, int32[B]; -1 where there is none. bits: words of the players' keys, uint32[2, B]."""
    actions = considered(search, spec, params, bits, state, level)
    sums, first = jnp.zeros_like(actions), 0
    for moves, samples in rounds(search):
        order = jnp.argsort(jnp.where(actions >= 0, -sums, 2**31 - 1), axis=0, stable=True)[:moves]
        actions, sums = (jnp.take_along_axis(x, order, axis=0) for x in (actions, sums))
        sums += sums_of(spec, search.worth, bits, state, level, actions, first, samples)
        first += samples
    best = jnp.argmax(jnp.where(actions >= 0, sums, -(2**31)), axis=0)
    return jnp.take_along_axis(actions, best[None], axis=0)[0]


def considered(search: Search, spec: Spec, params: Any, bits: jax.Array, state: State, level: Level) -> jax.Array:
    """The moves that are tried, int32[considered, B], -1 from where there are no more: drawn by the guide."""
    keys = jax.random.wrap_key_data(jnp.moveaxis(bits, 0, -1), impl="threefry2x32")
    mask = legal(spec, state)
    memory = search.guide.start(params, keys, state, level)
    rows = jax.lax.broadcasted_iota(jnp.uint32, mask.shape, 0)
    uniform = (randomness.draw(bits, randomness.PICK, 0, rows) >> 8).astype(jnp.float32) + 0.5
    # The greatest of log p + Gumbel noise are a draw without repetition.
    strength = search.logits(params, memory, state, level) - jnp.log(-jnp.log(uniform / 2.0**24))
    strength = jnp.where(mask, strength, -jnp.inf)
    top, action = jax.lax.top_k(strength.T, search.considered)
    return jnp.where(top > -jnp.inf, action, -1).T.astype(jnp.int32)


def rounds(search: Search) -> list[tuple[int, int]]:
    """(moves kept, futures of each) of the rounds, whose futures are `considered` x `samples` in all, about."""
    if not search.halving or search.considered < 3:
        return [(search.considered, search.samples)]
    number = math.ceil(math.log2(search.considered))
    each = search.considered * search.samples / number
    kept = [max(2, math.ceil(search.considered / 2**n)) for n in range(number)]
    return [(moves, max(1, round(each / moves))) for moves in kept]
