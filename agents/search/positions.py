"""Positions and the moves made in them, for searches that are led from the host: any number in chunks of one size.

Trees have as many nodes as they happen to have. Here every chunk of them goes through the same compiled turn, on
all cores, and what comes back is NumPy.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from crush_gym import Level, State
from crush_gym.runtime import (
    LEVEL_RANKS,
    STATE_RANKS,
    Board,
    Moves,
    Options,
    Spec,
    any_of,
    count,
    find_runs,
    from_action,
    kept,
    legal,
    of_indices,
    options_for,
    randomness,
    rows_of,
    sizes,
    step,
    swap,
    total,
    which,
)
from crush_gym.swaps import swaps_of

Array = np.ndarray[Any, np.dtype[Any]]
Tree = Any

NO_MOVE = -1
"""An action that is none: the board stays as it is."""


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
        self.chunk = sizes.POSITIONS[boards > sizes.FEW_BOARDS]
        self.options = options_for(spec, self.chunk)
        level = _once(jax.tree.map(np.asarray, level))
        self.shared = np.ndim(level.height) == 0
        self.level = jax.tree.map(jnp.asarray, level) if self.shared else level
        self.order = scan_order(spec)

    def moves(self, nodes: Nodes) -> tuple[Array, Array]:
        """All legal moves: of which node, and which action; by nodes, and within one from the top left."""
        program = _legal(self.spec, self.options)
        masks = of_indices(program, lambda index: program(taken_at(nodes.state, index)), nodes.size, self.chunk)
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

        return of_indices(program, some, len(index) - 1, self.chunk)

    def level_of(self, root: Array) -> Level:
        """The levels of these boards."""
        if self.shared:
            return self.level
        return jax.tree.map(lambda x, rank: np.take(x, root, axis=-1) if x.ndim > rank else x, self.level, LEVEL_RANKS)


def _once(level: Level) -> Level:
    """One level where all boards have the same: it need not be cut out for every chunk."""
    pairs = list(zip(jax.tree.leaves(level), jax.tree.leaves(LEVEL_RANKS), strict=True))
    if np.ndim(level.height) and all(x.ndim == rank or (x == x[..., :1]).all() for x, rank in pairs):
        return jax.tree.map(lambda x, rank: x[..., 0] if x.ndim > rank else x, level, LEVEL_RANKS)
    return level


def scan_order(spec: Spec) -> Array:
    """The actions from the top left, by rows, of one cell the pair to the right before the one below."""
    swaps = swaps_of(np.arange(spec.actions), (spec.height, spec.width))
    return np.lexsort((swaps.down, swaps.columns, swaps.rows))


@functools.lru_cache(maxsize=64)
def _legal(spec: Spec, options: Options) -> Callable[[State], jax.Array]:
    return kept.program(functools.partial(legal, spec), options)


@functools.lru_cache(maxsize=64)
def _turn(spec: Spec, options: Options) -> Callable[..., tuple[jax.Array, State, jax.Array]]:
    """A turn of every board, with a key of its own for every action."""

    def turn(bits: jax.Array, state: State, action: jax.Array, level: Level) -> tuple[jax.Array, State, jax.Array]:
        own = randomness.fold(bits, action)
        board = Board.of(spec, state.planes).awake()
        row = _mean_row(board, from_action(spec, action))
        return own, step(spec, own, state, action, level)[0], row

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
