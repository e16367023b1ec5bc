"""The 24 features of moves of "CandyCrush.ai: An AI Agent for Candy Crush", 4.6.2, of all moves of many boards at once.

As they are read here. The first three and the sixth belong to the move, the fifth to the move and chance, and the rest
to the position alone, so that a linear function's choice does not depend on them. The fourth, "the number of valid
moves (i.e. number of pairs of adjacent candies with the same color)", is the number of legal moves. The fifth, the
"median utility of 25 simulated episodes", is the median of their discounted returns: of each, the points of the move
itself and of four random ones after it.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from agents.search import deeper
from agents.search.deeper import Future, Knobs
from agents.search.futures import Measure
from crush_gym import Level, State
from crush_gym.move_values import by_action, gains
from crush_gym.runtime import Board, Spec, coloured, count, lanes_for, legal, rows_of, sizes, with_boards_axis
from crush_gym.swaps import swaps_of

LINES = 9
"""Rows and columns of the largest board that the features describe; smaller ones have zeros there."""

RETURN = "sampled return"

NAMES = (
    "upper row", "lower row", "same column", "legal moves", RETURN, "cleared at once",
    *(f"most of one colour in row {n}" for n in range(LINES)),
    *(f"most of one colour in column {n}" for n in range(LINES)),
)  # fmt: skip

EPISODES, MOVES, DISCOUNT = 25, 5, 0.5
"""Of the fifth feature: sampled episodes, their moves, and by how much each of these counts less."""


@dataclass(frozen=True)
class Features:
    """The features of all moves in one kind of game. names: those that are wanted, of `NAMES`."""

    spec: Spec
    names: tuple[str, ...]

    def of(self, params: Any, bits: jax.Array, state: State, level: Level) -> tuple[jax.Array, jax.Array]:
        """float32[features, actions, B], and which moves are legal, bool[actions, B].

        Args:
            params: nothing.
            bits: words of the players' keys, uint32[2, B]; only the sampled return draws anything, and it costs nearly
                all of the time.
        """
        spec = self.spec
        board, mask = Board.of(spec, state.planes).awake(), legal(spec, state)
        known = _of_positions(board, mask) | _of_moves(spec, board)
        if RETURN in self.names:
            known[RETURN] = sampled_returns(spec, bits, state, level, mask)
        return jnp.stack([jnp.broadcast_to(known[name], mask.shape) for name in self.names]).astype(jnp.float32), mask


def _of_moves(spec: Spec, board: Board) -> dict[str, Any]:
    """What is known of each move, [actions, 1] or [actions, B]."""
    swaps = swaps_of(np.arange(spec.actions), (spec.height, spec.width))
    return {
        "upper row": jnp.asarray(swaps.rows)[:, None],
        "lower row": jnp.asarray(swaps.rows + swaps.down)[:, None],
        "same column": jnp.asarray(swaps.down)[:, None],
        "cleared at once": by_action(spec, board.fence(gains(board))),
    }


def _of_positions(board: Board, mask: jax.Array) -> dict[str, Any]:
    """What is known of each position, [B]."""
    candies = [coloured(board.colours, code) for code in range(1, board.spec.colours + 1)]
    rows = jnp.stack([jnp.stack([lax.population_count(row) for row in rows_of(plane)]) for plane in candies])
    columns = jnp.stack([jnp.stack([count(plane & (1 << n)) for n in range(board.spec.width)]) for plane in candies])
    found = {"legal moves": mask.sum(axis=0)}
    for name, most in (("row", rows.max(axis=0)), ("column", columns.max(axis=0))):
        for n in range(LINES):
            found[f"most of one colour in {name} {n}"] = most[n] if n < len(most) else jnp.zeros_like(most[0])
    return found


def sampled_returns(spec: Spec, bits: jax.Array, state: State, level: Level, mask: jax.Array) -> jax.Array:
    """The median discounted return of episodes that begin with each move, in points: float32[actions, B].

    Zero where the move is not legal. Each legal move of each board has a lane of its own, on which its episodes are
    played one after the other, so many lanes at a time.
    """
    actions, boards = mask.shape
    lanes = min(sizes.ROLLOUT, lanes_for(actions * boards))
    room = -(-actions * boards // lanes) * lanes
    pairs = jnp.nonzero(mask.T.ravel(), size=room, fill_value=actions * boards)[0]  # of one board side by side
    future = Future(Measure.of("score", 1, fractions=True), depth=MOVES - 1, each=True)
    median = functools.partial(_medians, spec, future, bits, state, level)

    def some(n: jax.Array, found: jax.Array) -> jax.Array:
        mine = lax.dynamic_slice_in_dim(pairs, n * lanes, lanes)
        there = mine < actions * boards
        board = jnp.minimum(mine // actions, boards - 1)
        return found.at[mine].set(median(board, jnp.where(there, mine % actions, -1)), mode="drop")

    parts = (mask.sum() + lanes - 1) // lanes
    found = lax.fori_loop(0, parts, some, jnp.zeros(actions * boards, jnp.float32))
    return found.reshape(boards, actions).T


def _medians(
    spec: Spec, future: Future, bits: jax.Array, state: State, level: Level, board: jax.Array, action: jax.Array
) -> jax.Array:
    """The medians of one move of one board each: float32[S]."""

    def taken(x: jax.Array) -> jax.Array:
        return x[..., board]

    def taken_of_level(x: jax.Array) -> jax.Array:
        return x if x.shape[-1] == 1 else taken(x)

    bits, state = jax.tree.map(taken, (bits, state))
    level = jax.tree.map(taken_of_level, with_boards_axis(level))
    results = deeper.results_of(spec, future, Knobs(jnp.float32(DISCOUNT)), bits, state, level, action, EPISODES)
    return jnp.median(results.astype(jnp.float32) / future.measure.grains, axis=0)
