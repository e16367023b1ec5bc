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

from agents.protocol import Choice, Memory, Policy
from agents.registry import make, name_of
from agents.search import returns, simulate
from agents.search.positions import one_axis
from agents.search.returns import SIGNALS, Range
from agents.search.simulate import ENDLESS, Knobs, Search, Settings
from agents.search.tree import NONE, ROOT, Tree, first_largest
from crush_gym import Game, State
from crush_gym.checks import boards_of_state
from crush_gym.engine import randomness
from crush_gym.engine.spec import Spec
from crush_gym.game import LEVEL_RANKS
from crush_gym.levels import Level
from crush_gym.runtime import kept
from crush_gym.runtime.threads import cores, run_all
from crush_gym.runtime.vmap import flat_boards
from crush_gym.runtime.xla import Options, options_for

FINALS = ("max", "robust", "robust-max")
TO_MAST = "to-mast"

SIZES = 25
"""Trees are made for a multiple of so many simulations, so that near numbers share what is compiled."""


@dataclass(frozen=True)
class Mcts:
    """The defaults are the theses' own.

    simulations: of every move; seconds: stop a move's search after this time too (then results depend on the machine)
    exploration: the constant C of UCB1; outcomes: B, positions sampled of an action; depth: of the tree, None: no limit
    signal: what a lost playout is worth: "binary" (nothing), "partial" (share of the goals done), "score" (where its
        score lies among those of the search before; in the first search of an attempt, among its own so far),
        "combined" (the mean of the two); times `shrinking`. A won playout is worth 1
    playout: "random", "to-mast", or the name of an agent that needs no memory, such as "heuristic" or "clouded"
    final: the move made: "max" (best mean), "robust" (most visits), "robust-max" (both at once, for which the search
        goes on for up to half as many simulations again; else the most visits)
    beam: actions that a node may try, the best by the hand-made values; None: all
    streak: stop a search when so many simulations in a row were won; None: never
    noise: temperature of the final move, in units of value; 0: none
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

    def __post_init__(self) -> None:
        for name in ("simulations", "outcomes", "depth", "beam", "streak"):
            value = getattr(self, name)
            if value is not None and not 1 <= value <= 100_000:
                raise ValueError(f"{name} must be from 1 to 100,000, not {value}")
        for name in ("exploration", "noise", "seconds"):
            value = getattr(self, name)
            if value is not None and not (value >= 0 and math.isfinite(value)):
                raise ValueError(f"{name} must be a finite number that is not negative, not {value}")
        if not 0 <= self.shrinking <= 1:
            raise ValueError(f"shrinking must be from 0 to 1, not {self.shrinking}")
        for name, choices in (("signal", SIGNALS), ("final", FINALS)):
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} must be one of {', '.join(choices)}, not {getattr(self, name)!r}")

    @property
    def name(self) -> str:
        """What makes this agent again."""
        return name_of("mcts", self)

    def bind(self, game: Game) -> Policy:
        """The player in this game."""
        return MctsPolicy(self, game, self.settings(game))

    def settings(self, game: Game) -> Settings:
        """What the compiled search is made for."""
        return Settings(
            size=-(-self.most // SIZES) * SIZES,
            beam=self.beam,
            agree=self.final == "robust-max",
            tables=self.playout == TO_MAST,
            playout=None if self.playout in ("random", TO_MAST) else _playout(self.playout, game),
        )

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


def _playout(name: str, game: Game) -> Choice:
    """The agent that plays the playouts, as the engine asks for it."""
    function = getattr(make(name).bind(game), "function", None)
    if function is None:
        raise ValueError(f"{name!r} cannot play playouts: it takes an agent without memory, such as heuristic, clouded")
    choice: Choice = function
    return choice


class Found(NamedTuple):
    """What a search found. action: int32[*boards]; scope: for the next search; tree, done: as in `Search`, flat."""

    action: jax.Array
    scope: Range
    tree: Tree
    done: jax.Array


@dataclass(frozen=True)
class MctsPolicy:
    """The player bound to a game. Its memory is the range of scores of the attempt's last search."""

    agent: Mcts
    game: Game
    settings: Settings

    @property
    def lanes(self) -> int:
        """Boards at a time: trees of so many fit into the memory of a small machine."""
        return 352 * cores()

    def start(self, key: jax.Array, state: State, level: Level) -> Memory:
        """No search has been made."""
        del key, level
        return returns.unknown(boards_of_state(state))

    def act(self, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[jax.Array, Memory]:
        """Search, on all cores."""
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
        starts = [min(first, size - part) for first in range(0, size, part)]
        options = options_for(self.game.spec, part, rollout=True)
        programs = _programs(self.game.spec, self.settings, self.agent.final, self.agent.noise, options)

        def call(first: int) -> Found:
            cut = functools.partial(_cut, first, part)
            searched = programs.start(bits[:, first : first + part], cut(scope), cut(flat))
            mine = cut(levels) if jnp.ndim(levels.height) else levels
            return programs.decide(self._run(programs.advance, searched, mine))

        parts = run_all(programs.advance, [functools.partial(call, first) for first in starts])
        joined: Any = _joined(parts, starts, part)
        shaped = jax.tree.map(lambda x: x.reshape(boards), (joined.action, joined.scope))
        return Found(shaped[0], shaped[1], joined.tree, joined.done)

    def _run(self, advance: Callable[..., Search], search: Search, level: Level) -> Search:
        """All simulations, or as many as the time allows."""
        size = self.agent.most
        if self.agent.seconds is None:
            return advance(search, self.agent.knobs, level, np.int32(size))
        end, step = time.monotonic() + self.agent.seconds, max(1, size // 20)
        for until in range(step, size + step, step):
            search = advance(search, self.agent.knobs, level, np.int32(min(until, size)))
            search.done.block_until_ready()
            if time.monotonic() >= end:
                break
        return search


def _cut(first: int, size: int, tree: Any) -> Any:
    return jax.tree.map(lambda x: x[..., first : first + size], tree)


def _joined(parts: list[Found], starts: list[int], part: int) -> Found:
    """The parts side by side, without what the last has in common with the one before."""
    if len(parts) == 1:
        return parts[0]
    skip = starts[-2] + part - starts[-1]

    def join(axis: int, *leaves: jax.Array) -> jax.Array:
        last = jax.lax.slice_in_dim(leaves[-1], skip, None, axis=axis)
        return jnp.concatenate([*leaves[:-1], last], axis=axis)

    trees = [found.tree for found in parts]
    stored = {name: join(0, *(getattr(t, name) for t in trees)) for name in ("planes", "books")}
    rest = {name: join(-1, *(getattr(t, name) for t in trees)) for name in Tree._fields if name not in stored}
    flat = jax.tree.map(functools.partial(join, -1), *((found.action, found.scope, found.done) for found in parts))
    return Found(flat[0], flat[1], Tree(**stored, **rest), flat[2])


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
