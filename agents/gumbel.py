"""Gumbel MuZero's search through mctx on the real rules, with a trained player's probabilities and values.

mctx keeps one outcome of each move in its tree for ever. Where nothing new falls in (`spawn_candies: false`), there is
only one, and a deep tree is right. Where candies are refilled, every visit sees the same ones, and the best of many
moves is partly the luckiest: `lookahead` draws fresh futures instead. Here it is for comparison.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from agents.learning.learner import masked
from agents.protocol import Memory, Policy, bound
from agents.registry import make
from agents.search.cores import over_cores
from crush_gym import Game, Level, State
from crush_gym.keys import of_words
from crush_gym.policies import Logits, Start, Value
from crush_gym.runtime import PLAYING, Spec, cores, legal, progress, randomness, step

try:
    import mctx
except ImportError as missing:
    raise ImportError("gumbel needs mctx, which is not installed: pip install 'crush-gym[search]'") from missing

__all__ = ["Gumbel"]

MOST_SIMULATIONS = 4096

BOARDS = 64
"""Of a core at a time: every simulation keeps a whole position of each."""


@dataclass(frozen=True)
class Gumbel:
    """Search by mctx; `gumbel:GUIDE:simulations=32`, such as `gumbel:policy:best.safetensors:simulations=64`.

    guide: the name of an agent in pure JAX and without a memory that knows its probabilities and what positions are
    worth, such as `policy:PATH`
    simulations: moves that are played for each decision; considered: moves that the root begins with
    """

    guide: str
    simulations: int = 32
    considered: int = 16

    def __post_init__(self) -> None:
        for name, most in (("simulations", MOST_SIMULATIONS), ("considered", 480)):
            if not 1 <= getattr(self, name) <= most:
                raise ValueError(f"{name} must be from 1 to {most:,}, not {getattr(self, name)}")
        object.__setattr__(self, "guide", make(self.guide).name)

    @property
    def name(self) -> str:
        """What makes this agent again; the guide's own parameters end where these begin."""
        considered = f",considered={self.considered}" if self.considered != 16 else ""
        return f"gumbel:{self.guide}:simulations={self.simulations}{considered}"

    def bind(self, game: Game) -> Policy:
        """The player in this game, asked move by move."""
        return _policy(*self.searcher(game))

    def searcher(self, game: Game) -> tuple[Search, Params]:
        """The search in this game, which gives what it expects as well as its moves, and its data."""
        guide = bound(make(self.guide), game)
        if not guide.traceable or guide.logits is None or guide.value is None:
            raise ValueError(
                f"guide={self.guide!r} must be an agent in pure JAX that knows its probabilities and what positions "
                "are worth, such as policy:PATH"
            )
        search = Search(
            game.spec, guide.start, guide.logits, guide.value, guide.worth, self.simulations, self.considered
        )
        return search, Params(guide.params, jnp.float32(guide.discount))


class Params(NamedTuple):
    """What is data. discount: of each further move, float32[]."""

    guide: Any
    discount: jax.Array


def _policy(search: Search, params: Params) -> Policy:
    def act(params: Params, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[jax.Array, Memory]:
        return over_cores(Search.best, search, search.spec, params, key, state, level), memory

    return Policy(act, params=params, traceable=False, lanes=BOARDS * cores())


@dataclass(frozen=True)
class Search:
    """What is compiled. start, logits, value, worth: of the guide; see `crush_gym.policies.Policy`."""

    spec: Spec
    start: Start
    logits: Logits
    value: Value
    worth: str
    simulations: int
    considered: int

    def best(self, params: Params, bits: jax.Array, state: State, level: Level) -> jax.Array:
        """The moves that the search ends with, int32[B]; see `found`."""
        return self.found(params, bits, state, level).action

    def found(self, params: Params, bits: jax.Array, state: State, level: Level) -> Found:
        """What the search ends with. bits: words of the players' keys, uint32[2, B].

        mctx draws noise for all boards from one key, so that a board's move would depend on its place among others:
        each board's noise is added to its logits here, and mctx adds none.
        """
        keys = of_words(bits)
        logits, value = self._judged(params, keys, state, level)
        mask = legal(self.spec, state).T
        noise = jax.vmap(lambda key: jax.random.gumbel(key, logits.shape[1:]))(keys)
        found = mctx.gumbel_muzero_policy(
            params=params,
            rng_key=jax.random.key(0),
            root=mctx.RootFnOutput(
                prior_logits=masked(logits + noise, mask), value=value, embedding=_node(state, bits)
            ),
            recurrent_fn=functools.partial(self._moved, level),
            num_simulations=self.simulations,
            invalid_actions=~mask,
            max_num_considered_actions=min(self.considered, self.spec.actions),
            gumbel_scale=0.0,
        )
        chosen: jax.Array = found.action.astype(jnp.int32)
        values = found.search_tree.summary().qvalues
        return Found(chosen, jnp.take_along_axis(values, chosen[:, None], axis=1)[:, 0], value)

    def _moved(self, level: Level, params: Params, key: jax.Array, action: jax.Array, node: Node) -> tuple[Any, Node]:
        """A move from a node: what it brings and what is thought of the position after it. action: int32[B]."""
        del key
        before = jax.tree.map(lambda x: jnp.moveaxis(x, 0, -1), node.state)
        bits = randomness.fold(node.bits.T, action)
        after, _ = step(self.spec, bits, before, action, level)
        logits, value = self._judged(params, of_words(bits), after, level)
        goes_on = after.books.outcome == PLAYING
        told = mctx.RecurrentFnOutput(
            reward=self.brought(after, level) - self.brought(before, level),
            discount=jnp.where(goes_on, params.discount, 0.0),
            prior_logits=masked(logits, legal(self.spec, after).T),
            value=jnp.where(goes_on, value, 0.0),
        )
        return told, _node(after, bits)

    def _judged(self, params: Params, keys: jax.Array, state: State, level: Level) -> tuple[jax.Array, jax.Array]:
        """The guide's logits, float32[B, actions], and values, float32[B]."""
        memory = self.start(params.guide, keys, state, level)
        logits = self.logits(params.guide, memory, state, level).T
        return logits, self.value(params.guide, memory, state, level)

    def brought(self, state: State, level: Level) -> jax.Array:
        """What a position has brought so far, in the units of the guide's values: float32[B]."""
        if self.worth == "score":
            return state.books.score.astype(jnp.float32)
        done = progress(self.spec, state, level)
        return done + (done >= 1.0)


class Found(NamedTuple):
    """action: int32[B]; expected, guessed: what the tree says of it and the guide of the position, float32[B], in the
    units of the guide's values."""

    action: jax.Array
    expected: jax.Array
    guessed: jax.Array


class Node(NamedTuple):
    """What mctx keeps of a position, boards first. bits: words of the key that its outcomes are drawn from."""

    state: State
    bits: jax.Array


def _node(state: State, bits: jax.Array) -> Node:
    return Node(jax.tree.map(lambda x: jnp.moveaxis(x, -1, 0), state), bits.T)
