"""Positions and the moves made in them, for searches that are led from the host: any number in chunks of one size.

Trees have as many nodes as they happen to have. Here every chunk of them goes through the same compiled turn, on
all cores, and what comes back is NumPy.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from crush_gym import State
from crush_gym.engine import randomness
from crush_gym.engine.bits import any_of, count, rows_of, total
from crush_gym.engine.board import Board
from crush_gym.engine.combos import which
from crush_gym.engine.moves import Moves, from_action, swap
from crush_gym.engine.runs import find_runs
from crush_gym.engine.spec import Spec
from crush_gym.game import LEVEL_RANKS, STATE_RANKS
from crush_gym.levels import Level
from crush_gym.runtime import kept, lockstep
from crush_gym.runtime.threads import run_all
from crush_gym.runtime.xla import Options, options_for

Array = np.ndarray[Any, np.dtype[Any]]
Tree = Any

CHUNKS = (64, 1408)
"""Sizes of a chunk: for few boards, and for many."""

NO_MOVE = -1
"""An action that is none: the board stays as it is."""

FEW = 4
"""Boards that small chunks serve."""


class Nodes(NamedTuple):
    """Positions in a search, boards last. bits: words of each one's own key, uint32[2, n]; root: its board, int[n]."""

    state: State
    bits: Array
    root: Array

    @property
    def size(self) -> int:
        return int(self.root.shape[0])

    def at(self, index: Array) -> Nodes:
        """Some of them."""
        taken: Nodes = taken_at(self, index)
        return taken


class Moved(NamedTuple):
    """What moves lead to. row: mean row of the cells that the swap itself clears, of a combo the two swapped cells."""

    nodes: Nodes
    row: Array


def one_axis(state: State) -> State:
    """The boards of a state along one axis, a single one too."""
    one: State = jax.tree.map(lambda x, r: x.reshape(*x.shape[:r], math.prod(x.shape[r:])), state, STATE_RANKS)
    return one


def taken_at(tree: Tree, index: Array) -> Tree:
    """Some boards of a tree, boards last."""
    return jax.tree.map(lambda x: np.take(x, index, axis=-1, mode="clip"), tree)


class Expander:
    """Moves in the positions of one search. level: one for all boards of the search, or one each."""

    def __init__(self, spec: Spec, level: Level, boards: int) -> None:
        self.spec = spec
        self.chunk = CHUNKS[boards > FEW]
        self.options = options_for(spec, self.chunk)
        level = _once(jax.tree.map(np.asarray, level))
        self.shared = np.ndim(level.height) == 0
        self.level = jax.tree.map(jnp.asarray, level) if self.shared else level
        self.order = scan_order(spec)

    def moves(self, nodes: Nodes) -> tuple[Array, Array]:
        """All legal moves: of which node, and which action; by nodes, and within one from the top left."""
        program = _legal(self.spec, self.options)
        masks = self._chunked(program, nodes.size, lambda index: program(taken_at(nodes.state, index)))
        index, place = np.nonzero(masks[self.order].T)
        return index, self.order[place].astype(np.int32)

    def play(self, nodes: Nodes, index: Array, action: Array, then: Callable[[Moved, Nodes, Level], Tree]) -> Tree:
        """Make moves, as `moves` names them, and keep what `then` (moved, from, level) makes of them."""
        program = _turn(self.spec, self.options)
        index, action = np.append(index, 0), np.append(action, NO_MOVE)  # what fills up the last chunk

        def some(items: Array) -> Tree:
            before = nodes.at(index[items])
            level = self.level_of(before.root)
            bits, state, row = program(before.bits, before.state, action[items], level)
            return then(Moved(Nodes(state, np.asarray(bits), before.root), np.asarray(row)), before, level)

        return self._chunked(program, len(index) - 1, some)

    def level_of(self, root: Array) -> Level:
        """The levels of these boards."""
        if self.shared:
            return self.level
        return jax.tree.map(lambda x, rank: np.take(x, root, axis=-1) if x.ndim > rank else x, self.level, LEVEL_RANKS)

    def _chunked(self, program: Callable[..., Tree], size: int, call: Callable[[Array], Tree]) -> Tree:
        """`call(indices)` for all indices below `size`, in chunks, side by side; results joined as NumPy.

        The last chunk is filled up with the index `size`.
        """
        starts = range(0, max(size, 1), self.chunk)
        calls = [functools.partial(call, np.arange(s, s + self.chunk).clip(max=size)) for s in starts]
        return joined(run_all(program, calls), size)


def _once(level: Level) -> Level:
    """One level where all boards have the same: it need not be cut out for every chunk."""
    pairs = list(zip(jax.tree.leaves(level), jax.tree.leaves(LEVEL_RANKS), strict=True))
    if np.ndim(level.height) and all(x.ndim == rank or (x == x[..., :1]).all() for x, rank in pairs):
        return jax.tree.map(lambda x, rank: x[..., 0] if x.ndim > rank else x, level, LEVEL_RANKS)
    return level


def joined(parts: Sequence[Tree], size: int) -> Tree:
    """Chunks side by side, as NumPy, without the filling of the last."""
    return jax.tree.map(lambda *xs: np.concatenate(xs, axis=-1)[..., :size], *parts)


def scan_order(spec: Spec) -> Array:
    """The actions from the top left, by rows, of one cell the pair to the right before the one below."""
    height, width = spec.height, spec.width
    right = np.add.outer(np.arange(height) * width, np.arange(width - 1)).ravel() * 2
    below = np.arange((height - 1) * width) * 2 + 1
    return np.argsort(np.concatenate([right, below]))


@functools.lru_cache(maxsize=64)
def _legal(spec: Spec, options: Options) -> Callable[[State], jax.Array]:
    return kept.program(functools.partial(lockstep.legal, spec), options)


@functools.lru_cache(maxsize=64)
def _turn(spec: Spec, options: Options) -> Callable[..., tuple[jax.Array, State, jax.Array]]:
    """A turn of every board, with a key of its own for every action."""

    def turn(bits: jax.Array, state: State, action: jax.Array, level: Level) -> tuple[jax.Array, State, jax.Array]:
        own = randomness.fold(bits, action)
        board = Board.of(spec, state.planes).awake()
        row = _mean_row(board, from_action(spec, action))
        return own, lockstep.step(spec, own, state, action, level)[0], row

    return kept.program(turn, options)


def _mean_row(board: Board, moves: Moves) -> jax.Array:
    """See `Moved`; float32[B], 0 where nothing is cleared."""
    swapped = board.with_items(board.fence(swap(board.items, moves)))
    cells = find_runs(swapped).cells
    if board.spec.has("striped"):
        pair = moves.firsts | moves.seconds
        combo = any_of(which(board, moves.firsts, moves.seconds))
        cells = (cells & ~combo) | (pair & combo)
    cells = board.fence(cells)
    rows = total(jax.lax.population_count(row) * jnp.uint16(r) for r, row in enumerate(rows_of(cells)))
    return rows.astype(jnp.float32) / jnp.maximum(count(cells), 1).astype(jnp.float32)
