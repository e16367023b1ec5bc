"""Monte-Carlo tree search after "Crushing Candy Crush": sparse UCT, its playouts to the end of the level.

The search simulates with its own keys, so it never sees the candies that will really come. It knows nothing of the
game but its rules: every rule set and every kind of level is searched in the same way.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from agents.protocol import Memory, Policy, bound
from agents.registry import check, make, name_of, pinned
from agents.search import returns, simulate
from agents.search.positions import one_axis
from agents.search.returns import SIGNALS, Range
from agents.search.simulate import ENDLESS, Guide, Knobs, Search, Settings
from agents.search.tree import NONE, ROOT, Tree, first_largest
from crush_gym import Game, Level, State
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
    options_for,
    randomness,
    sizes,
)

FINALS = ("max", "robust", "robust-max")
TO_MAST = "to-mast"


@dataclass(frozen=True)
class Mcts:
    """The defaults are the theses' own.

    simulations: of every move; seconds: stop a move's search after this time too (then results depend on the machine)
    exploration: the constant C of UCB1; outcomes: B, positions sampled of an action; depth: of the tree, None: no limit
    signal: what a lost playout is worth: "binary" (nothing), "partial" (share of the goals done), "score" (where its
        score lies among those of the search before; in the first search of an attempt, among its own so far),
        "combined" (the mean of the two); times `shrinking`. A won playout is worth 1
    playout: "random", "to-mast", or the name of a traceable agent, such as "heuristic" or "clouded"
    final: the move made: "max" (best mean), "robust" (most visits), "robust-max" (both at once, for which the search
        goes on for up to half as many simulations again; else the most visits)
    beam: actions that a node may try, the best by the hand-made values; None: all
    streak: stop a search when so many simulations in a row were won; None: never
    noise: temperature of the final move, in units of value; 0: none
    prior: the name of a traceable agent whose probabilities guide the choice (PUCT, with `exploration` as its
        constant), such as "clouded"; empty: UCB1, as in the theses. What does not tell its probabilities is asked
        sixteen times in every new node
    """

    simulations: int = 100
    seconds: float | None = None
    exploration: float = 0.6
    outcomes: int = 3
    depth: int | None = None
    signal: str = "score"
    shrinking: float = 0.5
    playout: str = "random"
    final: str = "max"
    beam: int | None = None
    streak: int | None = None
    noise: float = 0.0
    prior: str = ""

    def __post_init__(self) -> None:
        for name in ("simulations", "outcomes", "depth", "beam", "streak"):
            value = getattr(self, name)
            if value is not None and not 1 <= value <= 100_000:
                raise ValueError(f"{name} must be from 1 to 100,000, not {value}")
        for name in ("exploration", "noise", "seconds"):
            value = getattr(self, name)
            if value is not None and not (value >= 0 and math.isfinite(value)):
                raise ValueError(f"{name} must be a finite number that is not negative, not {value}")
        if self.prior and self.beam is not None:
            raise ValueError("prior and beam both say which actions are tried: give one of them")
        if not 0 <= self.shrinking <= 1:
            raise ValueError(f"shrinking must be from 0 to 1, not {self.shrinking}")
        for name, choices in (("signal", SIGNALS), ("final", FINALS)):
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} must be one of {', '.join(choices)}, not {getattr(self, name)!r}")
        for other in {self.playout, self.prior} - {"", "random", TO_MAST}:
            check(other)
        for name in ("playout", "prior"):
            object.__setattr__(self, name, pinned(getattr(self, name)))

    @property
    def name(self) -> str:
        """What makes this agent again."""
        return name_of("mcts", self)

    def bind(self, game: Game) -> Policy:
        """The player in this game."""
        return self.searcher(game).policy()

    def searcher(self, game: Game) -> Searcher:
        """The search in this game, which gives its trees as well as its moves."""
        playout = None if self.playout in ("random", TO_MAST) else _traceable(self.playout, game, "play playouts")
        prior = _traceable(self.prior, game, "guide a search") if self.prior else None
        settings = Settings(
            size=-(-self.most // sizes.TREE_STEP) * sizes.TREE_STEP,
            beam=self.beam,
            agree=self.final == "robust-max",
            tables=self.playout == TO_MAST,
            playout=Player(playout.start, playout.act) if playout else None,
            prior=Guide(Player(prior.start, prior.act), prior.logits) if prior else None,
        )
        knobs = self.knobs._replace(playout=playout.params if playout else (), prior=prior.params if prior else ())
        return Searcher(self, game, settings, knobs)

    @property
    def most(self) -> int:
        """Simulations that a search may need."""
        return self.simulations + (self.simulations // 2 if self.final == "robust-max" else 0)

    @property
    def knobs(self) -> Knobs:
        """What is data of a search."""
        done, rank = SIGNALS[self.signal]
        outcomes, depth, streak = (
            np.int32(ENDLESS if value is None else value) for value in (self.outcomes, self.depth, self.streak)
        )
        weights = np.float32(self.shrinking * done), np.float32(self.shrinking * rank)
        return Knobs(np.int32(self.simulations), np.float32(self.exploration), outcomes, depth, weights, streak)


def _traceable(name: str, game: Game, to: str) -> Policy:
    """The agent of this name, refused where it cannot be part of the search's program."""
    policy = bound(make(name), game)
    if not policy.traceable:
        raise ValueError(f"{name!r} cannot {to}: it takes an agent in pure JAX, such as heuristic or clouded")
    return policy


class Found(NamedTuple):
    """What a search found. action: int32[*boards]; scope: for the next search; tree, done: as in `Search`, flat."""

    action: jax.Array
    scope: Range
    tree: Tree
    done: jax.Array


@dataclass(frozen=True)
class Searcher:
    """The player in a game. Its memory is the range of scores of the attempt's last search."""

    agent: Mcts
    game: Game
    settings: Settings
    knobs: Knobs

    def policy(self) -> Policy:
        """The player, asked move by move, for as many boards as have room for their trees on a small machine."""
        return Policy(self.act, self.start, traceable=False, lanes=sizes.TREES * cores())

    def start(self, params: Any, key: jax.Array, state: State, level: Level) -> Memory:
        """No search has been made."""
        del params, key, level
        return returns.unknown(boards_of_state(state))

    def act(self, params: Any, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[jax.Array, Memory]:
        """Search, on all cores."""
        del params
        found = self.search(key, memory, state, level)
        return found.action, found.scope

    def search(self, key: jax.Array, memory: Memory, state: State, level: Level) -> Found:
        """Search from these positions; see `act`. One tree for each board, in their order."""
        boards = boards_of_state(state)
        bits = randomness.key_bits(key).reshape(2, -1)
        flat, levels = one_axis(state), flat_boards(level, LEVEL_RANKS)
        scope = Range(*(jnp.reshape(leaf, (-1,)) for leaf in memory))
        size = bits.shape[1]
        part = -(-size // min(cores(), size))
        options = options_for(self.game.spec, part, rollout=True)
        programs = _programs(self.game.spec, self.settings, self.agent.final, self.agent.noise, options)

        def call(first: int) -> Found:
            cut = functools.partial(_cut, first, part)
            mine = cut(levels) if jnp.ndim(levels.height) else levels
            searched = programs.start(self.knobs, bits[:, first : first + part], cut(scope), cut(flat), mine)
            return programs.decide(self._run(programs.advance, searched, mine))

        joined: Any = in_parts(programs.advance, call, size, part, FOUND_AXES)
        shaped = jax.tree.map(lambda x: x.reshape(boards), (joined.action, joined.scope))
        return Found(shaped[0], shaped[1], joined.tree, joined.done)

    def _run(self, advance: Callable[..., Search], search: Search, level: Level) -> Search:
        """All simulations, or as many as the time allows."""
        size = self.agent.most
        if self.agent.seconds is None:
            return advance(search, self.knobs, level, np.int32(size))
        end, step = time.monotonic() + self.agent.seconds, max(1, size // 20)
        for until in range(step, size + step, step):
            search = advance(search, self.knobs, level, np.int32(min(until, size)))
            search.done.block_until_ready()
            if time.monotonic() >= end:
                break
        return search


def _cut(first: int, size: int, tree: Any) -> Any:
    return jax.tree.map(lambda x: x[..., first : first + size], tree)


FOUND_AXES: Any = Found._make(
    [-1, Range._make([-1, -1]), Tree._make(0 if name in ("planes", "books") else -1 for name in Tree._fields), -1]
)
"""The boards' axis of everything that a search finds: of the stored positions it is the first."""


class Programs(NamedTuple):
    """The compiled parts of a search."""

    start: Callable[..., Search]
    advance: Callable[..., Search]
    decide: Callable[[Search], Found]


@functools.lru_cache(maxsize=64)
def _programs(spec: Spec, settings: Settings, final: str, noise: float, options: Options) -> Programs:
    start = functools.partial(simulate.started, spec, settings)
    advance = functools.partial(simulate.advanced, spec, settings)
    decide = functools.partial(_decided, final, noise)
    return Programs(
        kept.program(start, options), kept.program(advance, options, donate=(0,)), kept.program(decide, options)
    )


def _decided(final: str, noise: float, search: Search) -> Found:
    """The move of each board: NONE where there was nothing to search."""
    trees = search.tree
    mine = (trees.edge_parent == ROOT) & (trees.edge_visits > 0)
    visits = trees.edge_visits.astype(jnp.float32)
    mean = trees.edge_total / jnp.maximum(visits, 1.0)
    share = visits / jnp.maximum(search.done, 1)
    strength = mean if final == "max" else share + 1e-4 * mean  # of equally many visits the better
    if noise > 0:
        rows = jax.lax.broadcasted_iota(jnp.uint32, mean.shape, 0)
        uniform = (randomness.draw(search.bits, randomness.PASS, 0, rows) >> 8).astype(jnp.float32) + 0.5
        strength = strength - noise * jnp.log(-jnp.log(uniform / 2.0**24))  # the best is a sample of the softmax
    edge = first_largest(strength, mine)
    size = trees.edge_action.shape[0]
    action = jnp.take_along_axis(trees.edge_action, jnp.minimum(edge, size - 1)[None], axis=0)[0]
    scope = returns.of_scores(search.scores, search.done)
    known = search.done > 0
    scope = Range(*(jnp.where(known, new, old) for new, old in zip(scope, search.scope, strict=True)))
    return Found(jnp.where(edge < size, action, NONE), scope, trees, search.done)
