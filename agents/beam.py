"""McAdams' player: a tree of all legal moves to some depth, of which a narrowing beam of the best is followed.

"Approximating Optimal Strategy in Match-Three Puzzle Games" describes it twice, and not alike:

| | variant="text" | variant="pseudocode" |
|---|---|---|
| moves kept of a node on level 1 | depth² | depth² |
| on the next levels | the floor of the square root: 9, 3, 1 | (levels left)²: 9, 4, 1 |
| are chosen | before deeper levels are built, by their heuristic | afterwards, by their averages |
| H2's structure | by piece, a colour bomb by its best neighbour | by pair of neighbours, summed |
| H2 where no move is left | only the score counts | like everywhere |

The rest is common. As it is read here, a node's value is its heuristic, averaged with the mean of its kept children;
the score of H2 is what was gained since the position in which the move is chosen (both procedures call it
CurrentState); every node keeps its own best children. The paper's table of seen states is of no use here: of
thousands of boards no two positions are ever the same.

Coming candies are drawn anew for every node with the player's own key: the real ones cannot be foreseen.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import numpy as np

from agents.protocol import Memory, Policy
from agents.registry import name_of
from agents.search.positions import Array, Expander, Moved, Nodes, one_axis
from agents.search.structure import SIXTHS, structure
from agents.search.topk import best_of
from crush_gym import Game, Level, State
from crush_gym.runtime import LEVEL_RANKS, PLAYING, Spec, boards_of_state, flat_boards, kept, randomness, sizes

HEURISTICS = ("h1", "h2")
VARIANTS = ("text", "pseudocode")
TIES = ("mean-row", "off")
DEEPEST = 8

PIECE = {"points": 1, "combo": 20, "saga": 20}
"""Points of a piece of H2's structure: what each of three candies in a run brings."""


@dataclass(frozen=True)
class Beam:
    """The beam player.

    depth: moves looked ahead; heuristic: "h1" (score / moves) or "h2" (score gained and structure)
    variant: "text" or "pseudocode", see above
    ties: "mean-row" prefers, of equal moves, the one that clears further down; "off" the first from the top
    """

    depth: int = 2
    heuristic: str = "h2"
    variant: str = "text"
    ties: str = "mean-row"

    def __post_init__(self) -> None:
        if not 1 <= self.depth <= DEEPEST:
            raise ValueError(f"depth must be from 1 to {DEEPEST}, not {self.depth}")
        for name, choices in (("heuristic", HEURISTICS), ("variant", VARIANTS), ("ties", TIES)):
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} must be {' or '.join(choices)}, not {getattr(self, name)!r}")

    @property
    def name(self) -> str:
        return name_of("beam", self)

    def bind(self, game: Game) -> Policy:
        return _Beam(self, game).policy()

    def width(self, level: int) -> int:
        """Children that a node keeps, on levels from 1."""
        if self.variant == "pseudocode":
            return (self.depth - level + 1) ** 2
        return self.depth**2 if level == 1 else math.isqrt(self.width(level - 1))


@dataclass(frozen=True)
class _Beam:
    agent: Beam
    game: Game

    def policy(self) -> Policy:
        """The player, asked move by move."""
        return Policy(self.act, self.start, traceable=False, lanes=sizes.ASKED)

    def start(self, params: Any, key: jax.Array, state: State, level: Level) -> Memory:
        """Nothing is remembered."""
        del params, key, state, level
        return ()

    def act(self, params: Any, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[jax.Array, Memory]:
        """See `crush_gym.policies.Act`."""
        del params
        boards = boards_of_state(state)
        bits = np.asarray(randomness.key_bits(key)).reshape(2, -1)
        flat = jax.tree.map(np.asarray, one_axis(state))
        expander = Expander(self.game.spec, flat_boards(level, LEVEL_RANKS), bits.shape[1])
        search = _Search(self.agent, expander, flat.books.score)
        actions = search.choose(Nodes(flat, bits, np.arange(bits.shape[1])))
        return jax.numpy.asarray(actions.reshape(boards)), memory


class Children(NamedTuple):
    """The moves of some nodes, all of them, in the order of their nodes.

    node: which one each belongs to; action: the move; row: see `agents.search.positions.Moved`; value: float64
    """

    node: Array
    action: Array
    row: Array
    value: Array


@dataclass(frozen=True)
class _Search:
    """The trees of many boards, built together. start: scores of the boards as they are."""

    agent: Beam
    expander: Expander
    start: Array

    def choose(self, roots: Nodes) -> Array:
        """The best move of each board, -1 where there is none; int32[n]."""
        children, kept = self.grown(roots, 1)
        final = np.full_like(children.value, -np.inf)
        final[kept[kept >= 0]] = children.value[kept[kept >= 0]]
        best = self.best(children._replace(value=final), roots.size, 1)[0]
        return np.where(best >= 0, np.append(children.action, -1)[best], -1).astype(np.int32)

    def grown(self, nodes: Nodes, level: int) -> tuple[Children, Array]:
        """The children of nodes whose moves are on this level, with their final values, and which of them are kept."""
        node, action = self.expander.moves(nodes)
        last = level == self.agent.depth
        states, row, value = self.expander.play(nodes, node, action, functools.partial(self._valued, not last))
        children, width = Children(node, action, row, value), self.agent.width(level)
        if self.agent.variant == "pseudocode":
            if not last:
                value[:] = self.averaged(states, value, level + 1)
            return children, self.best(children, nodes.size, width)
        kept = self.best(children, nodes.size, width)
        if not last:
            followed = kept[kept >= 0]
            value[followed] = self.averaged(states.at(followed), value[followed], level + 1)
        return children, kept

    def averaged(self, nodes: Nodes, value: Array, level: int) -> Array:
        """The nodes' values with those of their children on this level; where there are none, their own."""
        parts = [value[:0]]
        for start in range(0, nodes.size, sizes.NODES):
            some = np.arange(start, min(start + sizes.NODES, nodes.size))
            children, kept = self.grown(nodes.at(some), level)
            number = (kept >= 0).sum(0)
            sums = np.zeros(len(some))
            for slot in kept:
                sums += np.where(slot >= 0, np.append(children.value, 0.0)[slot], 0.0)
            parts.append(np.where(number > 0, (value[some] + sums / np.maximum(number, 1)) / 2, value[some]))
        return np.concatenate(parts)

    def best(self, children: Children, nodes: int, width: int) -> Array:
        """Positions among the children of each node's best, int[width, nodes], from the best on; -1: no more."""
        row = children.row if self.agent.ties == "mean-row" else None
        return best_of(children.node, children.value, row, nodes, width)

    def _valued(self, keep: bool, moved: Moved, before: Nodes, level: Level) -> tuple[Nodes | None, Array, Array]:
        """Positions (if they are needed), rows and heuristic values of children."""
        books = moved.nodes.state.books
        score = np.asarray(books.score, np.float64)
        if self.agent.heuristic == "h1":
            value = score / np.maximum(np.asarray(books.made), 1)
        else:
            value = score - self.start[before.root] + self._structure(moved.nodes.state, level)
        return (moved.nodes if keep else None), moved.row, value

    def _structure(self, state: State, level: Level) -> Array:
        """H2's structure in points."""
        spec = self.expander.spec
        sixths = np.asarray(_structure(spec, self.agent.variant)(state, level))
        if self.agent.variant == "text":
            sixths = np.where(np.asarray(state.books.outcome) == PLAYING, sixths, 0)
        return PIECE[spec.rules] * sixths / SIXTHS


@functools.lru_cache(maxsize=64)
def _structure(spec: Spec, variant: str) -> Callable[[State, Level], jax.Array]:
    return kept.program(functools.partial(structure, spec, variant=variant))
