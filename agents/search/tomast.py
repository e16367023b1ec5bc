"""TO-MAST: how often each swap was made in the trees and how often a win followed, wherever it was made."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from agents.search.tree import NONE, Tree, of
from crush_gym.move_values import Sliced
from crush_gym.runtime import Plane, Spec, Word

BITS = 4
"""A swap's share of wins, in sixteenths, is its weight in a playout; unknown swaps have the middle one."""


class Table(NamedTuple):
    """For each action and board: float32[actions, S]; `wins` sums the values of the playouts."""

    visits: jax.Array
    wins: jax.Array


def empty(actions: int, boards: int) -> Table:
    zero = jnp.zeros((actions, boards), jnp.float32)
    return Table(zero, zero)


def entered(table: Table, tree: Tree, leaf: jax.Array, value: jax.Array, where: jax.Array) -> Table:
    """With the moves that led from the root to a node, on the boards where it is asked."""
    boards = jnp.arange(leaf.shape[0])

    def up(carry: tuple[Table, jax.Array]) -> tuple[Table, jax.Array]:
        table, node = carry
        edge = jnp.where(node >= 0, of(tree.node_edge, node), NONE)
        action = jnp.where(edge >= 0, of(tree.edge_action, edge), table.visits.shape[0])
        table = Table(
            table.visits.at[action, boards].add(1.0, mode="drop"),
            table.wins.at[action, boards].add(value, mode="drop"),
        )
        return table, jnp.where(edge >= 0, of(tree.edge_parent, edge), NONE)

    return lax.while_loop(lambda c: jnp.any(c[1] >= 0), up, (table, jnp.where(where, leaf, NONE)))[0]


def weights(spec: Spec, table: Table) -> Sliced:
    """Weights 1 to 15 of all swaps: planes uint16[2, H, S]."""
    most = 2**BITS - 1
    share = jnp.where(table.visits > 0, table.wins / jnp.maximum(table.visits, 1.0), 0.5)
    number = (1 + jnp.round(share * (most - 1))).astype(jnp.int32)
    height, width = spec.height, spec.width
    split = height * (width - 1)
    across = jnp.pad(number[:split].reshape(height, width - 1, -1), ((0, 0), (0, 1), (0, 0)))
    down = jnp.pad(number[split:].reshape(height - 1, width, -1), ((0, 1), (0, 0), (0, 0)))
    return tuple(jnp.stack([_plane(across >> i & 1), _plane(down >> i & 1)]) for i in range(BITS))


def _plane(bits: jax.Array) -> Plane:
    """Numbers 0 and 1, int32[H, W, S], as a plane."""
    columns = lax.broadcasted_iota(jnp.int32, (bits.shape[1], 1), 0)
    return jnp.sum(bits << columns, axis=1).astype(Word)
