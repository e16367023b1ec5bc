"""A move ahead on the real simulator: the mean worth of sampled futures of each move, and the best of them.

The player plays every move that it considers several times with keys of its own, never with the one that will decide
which candies really fall, to the end of its cascade, and makes the one that brought most on average. It is the
strongest of the players here that learn nothing, for much of what a move brings is the cascade of candies that
already stand, which no value of the swap alone sees and which playouts to the end of a level drown in noise.

Futures may go on: with some moves of a cheap player, and with what a player that knows values, a learned one say,
expects of the position that it comes to.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from agents.protocol import Memory, Policy, bound
from agents.registry import make, name_of, pinned
from agents.search import deeper, futures
from agents.search.cores import over_cores
from agents.search.deeper import Future, Judge, Knobs
from agents.search.futures import WORTHS, Measure, Span
from crush_gym import Game, Level, State
from crush_gym.keys import of_words
from crush_gym.policies import Logits
from crush_gym.runtime import Player, Spec, cores, legal, randomness, sizes

MOST_CONSIDERED, MOST_SAMPLES, DEEPEST = 480, 100_000, 1_000


@dataclass(frozen=True)
class Lookahead:
    """A look ahead on the simulator.

    considered: moves that are tried, drawn at random or as `consider` says; samples: futures of each
    worth: what counts in a future: "score", the points of its turns; "progress", the share of the goals that they do,
        and once more as much as all of them for doing the last
    halving: spend the same futures in rounds, of which each keeps the better half of the moves (sequential halving)
    consider: the name of an agent in pure JAX that knows its probabilities, by which moves are drawn without
        repetition, such as "clouded"
    depth: moves after the one that is tried; then: the name of the agent that makes them, in pure JAX and without a
        memory, such as "greedy"
    value: the name of an agent in pure JAX and without a memory that knows values, counted in `worth`: what it expects
        of the position after a future's last move counts too; empty: nothing
    discount: by which every further move, and the value, counts less; None: as the value's agent does, else not at all

    The name of an agent that has commas stands in parentheses: `lookahead:value=(mine:Net:size=2,seed=3),samples=4`.
    """

    considered: int = 16
    samples: int = 8
    worth: str = "score"
    halving: bool = False
    consider: str = "random"
    depth: int = 0
    then: str = "random"
    value: str = ""
    discount: float | None = None

    def __post_init__(self) -> None:
        for name, least, most in (
            ("considered", 1, MOST_CONSIDERED), ("samples", 1, MOST_SAMPLES), ("depth", 0, DEEPEST),
        ):  # fmt: skip
            if not least <= getattr(self, name) <= most:
                raise ValueError(f"{name} must be from {least} to {most:,}, not {getattr(self, name)}")
        if self.worth not in WORTHS:
            raise ValueError(f"worth must be one of {', '.join(WORTHS)}, not {self.worth!r}")
        if self.discount is not None and not 0 <= self.discount <= 1:
            raise ValueError(f"discount must be from 0 to 1, not {self.discount}")
        if self.then != "random" and not self.depth:
            raise ValueError(f"then={self.then!r} does nothing without a depth: no move follows the one that is tried")
        if self.discount is not None and not (self.depth or self.value):
            raise ValueError(f"discount={self.discount:g} does nothing without a depth or a value: nothing follows")
        for name in ("consider", "then", "value"):
            object.__setattr__(self, name, pinned(getattr(self, name)))

    @property
    def name(self) -> str:
        """What makes this agent again."""
        return name_of("lookahead", self)

    def bind(self, game: Game) -> Policy:
        """The player in this game, asked move by move."""
        guide = _traceable(self.consider, game, "consider")
        if guide.logits is None:
            raise ValueError(
                f"consider={self.consider!r} must be an agent that knows its probabilities, such as clouded"
            )
        then = _traceable(self.then, game, "then") if self.depth and self.then != "random" else None
        value = _traceable(self.value, game, "value") if self.value else None
        if value is not None and value.value is None:
            raise ValueError(f"value={self.value!r} must be an agent that knows what positions are worth")
        if value is not None and value.worth != self.worth:
            raise ValueError(f"value={self.value!r} counts in {value.worth}: say worth={value.worth} with it")
        return _Lookahead(self, game, guide, then, value).policy()


def _traceable(name: str, game: Game, parameter: str) -> Policy:
    """The agent of this name, refused where it cannot be part of a look ahead's program."""
    policy = bound(make(name), game)
    if not policy.traceable:
        raise ValueError(f"{parameter}={name!r} must be an agent in pure JAX, such as heuristic or clouded")
    return policy


class Params(NamedTuple):
    """What is data. samples: futures of each move in each round, int32[rounds]; guide: parameters of the player that
    says what is considered."""

    samples: Any
    guide: Any
    knobs: Knobs


@dataclass(frozen=True)
class _Lookahead:
    agent: Lookahead
    game: Game
    guide: Policy
    then: Policy | None
    value: Policy | None

    def policy(self) -> Policy:
        """For as many boards at a time as keep all cores busy."""
        return Policy(self.act, params=self._params(), traceable=False, lanes=sizes.ASKED * cores())

    def _params(self) -> Params:
        own = 1.0 if self.value is None else self.value.discount
        discount = own if self.agent.discount is None else self.agent.discount
        then, value = (() if player is None else player.params for player in (self.then, self.value))
        samples = np.array([samples for _, samples in self.rounds], np.int32)
        return Params(samples, self.guide.params, Knobs(np.float32(discount), then, value))

    @property
    def rounds(self) -> tuple[tuple[int, int], ...]:
        """See `rounds`."""
        return rounds(min(self.agent.considered, self.game.actions), self.agent.samples, self.agent.halving)

    def act(
        self, params: Params, key: jax.Array, memory: Memory, state: State, level: Level
    ) -> tuple[jax.Array, Memory]:
        """See `crush_gym.policies.Act`."""
        search = self.search()
        return over_cores(Search.best, search, search.spec, params, key, state, level), memory

    def search(self) -> Search:
        """What is compiled."""
        agent, then, value, guide = self.agent, self.then, self.value, self.guide
        assert guide.logits is not None
        moves, samples = zip(*self.rounds, strict=True)
        future = Future(
            measure=Measure.of(agent.worth, sum(samples), fractions=agent.depth > 0 or value is not None),
            depth=agent.depth,
            then=Player(then.start, then.act) if then else None,
            judge=Judge(value.start, value.value) if value and value.value else None,
        )
        most = 1 << max(samples).bit_length()
        return Search(self.game.spec, Player(guide.start, guide.act), guide.logits, moves, most, future)


@dataclass(frozen=True)
class Search:
    """What a look ahead is compiled for.

    guide, logits: of the player that says what is considered; moves: that are kept in each round
    most: futures of each of them at most; future: what is played
    """

    spec: Spec
    guide: Player
    logits: Logits
    moves: tuple[int, ...]
    most: int
    future: Future

    def best(self, params: Params, bits: jax.Array, state: State, level: Level) -> jax.Array:
        """The best move of each board, int32[B]; -1 where there is none. bits: of the players' keys, uint32[2, B]."""
        actions = self.considered(params.guide, bits, state, level)
        sums, first = jnp.zeros_like(actions), jnp.int32(0)
        for number, moves in enumerate(self.moves):
            order = jnp.argsort(jnp.where(actions >= 0, -sums, 2**31 - 1), axis=0, stable=True)[:moves]
            actions, sums = (jnp.take_along_axis(x, order, axis=0) for x in (actions, sums))
            span = Span(first, params.samples[number], self.most)
            sums += self.sums_of(params.knobs, bits, state, level, actions, span)
            first += span.samples
        best = jnp.argmax(jnp.where(actions >= 0, sums, -(2**31)), axis=0)
        return jnp.take_along_axis(actions, best[None], axis=0)[0]

    def considered(self, params: Any, bits: jax.Array, state: State, level: Level) -> jax.Array:
        """The moves that are tried, int32[considered, B], -1 from where there are no more: drawn by the guide."""
        mask = legal(self.spec, state)
        memory = self.guide.start(params, of_words(bits), state, level)
        rows = jax.lax.broadcasted_iota(jnp.uint32, mask.shape, 0)
        uniform = (randomness.draw(bits, randomness.PICK, 0, rows) >> 8).astype(jnp.float32) + 0.5
        # The greatest of log p + Gumbel noise are a draw without repetition.
        strength = self.logits(params, memory, state, level) - jnp.log(-jnp.log(uniform / 2.0**24))
        strength = jnp.where(mask, strength, -jnp.inf)
        top, action = jax.lax.top_k(strength.T, self.moves[0])
        return jnp.where(top > -jnp.inf, action, -1).T.astype(jnp.int32)

    def sums_of(
        self,
        knobs: Knobs,
        bits: jax.Array,
        state: State,
        level: Level,
        actions: jax.Array,
        span: Span,
    ) -> jax.Array:
        """What futures of moves bring together, in grains: int32[C, B]."""
        spec, future = self.spec, self.future
        if future.depth or future.judge:
            return deeper.sums_of(spec, future, knobs, bits, state, level, actions, span)
        return futures.sums_of(spec, future.measure, bits, state, level, actions, span)


def rounds(considered: int, samples: int, halving: bool) -> tuple[tuple[int, int], ...]:
    """(moves kept, futures of each) of the rounds, whose futures are `considered` x `samples` in all, about."""
    if not halving or considered < 3:
        return ((considered, samples),)
    number = math.ceil(math.log2(considered))
    each = considered * samples / number
    kept = [max(2, math.ceil(considered / 2**n)) for n in range(number)]
    return tuple((moves, max(1, round(each / moves))) for moves in kept)
