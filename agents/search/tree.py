"""The search trees of many boards (S boards, N nodes, E edges each), and what grows and reads them.

A node is a position that a move led to; an edge is an action that was tried in a node, a chance node: it has up to
`outcomes` positions. Boards last everywhere but in the positions' storage, where a position is one stretch of memory.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from crush_gym import State
from crush_gym.runtime import Books, Spec, randomness

ROOT, NONE = 0, -1


class Tree(NamedTuple):
    """The trees of S boards.

    planes: uint16[S, N, planes * H]; books: int32[S, N, numbers]: the positions
    node_edge: the edge that leads to a node, int32[N, S]; NONE for the root and where there is no node yet
    node_visits, node_wins: playouts from a node and from below it, and how many of them won, int32[N, S]
    node_total: sum of their values, float32[N, S]
    node_actions: how many actions a node may try, 0 where the attempt is over, int32[N, S]
    node_last: rank of the last action tried in a node, uint32[N, S]: they are tried in falling order
    nodes, edges: how many there are, int32[S]
    prior: the players' probabilities of the actions in the nodes, float32[N, A, S]; A is 0 where nobody guides
    edge_parent, edge_action, edge_visits: int32[E, S]; edge_total: sum of the values of its visits, float32[E, S]
    """

    planes: jax.Array
    books: jax.Array
    node_edge: jax.Array
    node_visits: jax.Array
    node_wins: jax.Array
    node_total: jax.Array
    node_actions: jax.Array
    node_last: jax.Array
    nodes: jax.Array
    edge_parent: jax.Array
    edge_action: jax.Array
    edge_visits: jax.Array
    edge_total: jax.Array
    edges: jax.Array
    prior: jax.Array


class Choice(NamedTuple):
    """Where a descent ended. int32[S] each.

    node: the last node; edge: its edge to draw a new outcome of, NONE: none, or one that is not there yet
    grows: bool[S], whether the node tries a new action; stays: bool[S], whether the node itself is played out
    action: that it tries then, where a prior says which
    """

    node: jax.Array
    edge: jax.Array
    grows: jax.Array
    stays: jax.Array
    action: jax.Array


def planted(state: State, actions: jax.Array, size: int, prior: jax.Array | None = None) -> Tree:
    """Trees of one node each. actions: of the roots, int32[S]; size: most simulations; prior: of the roots, or None."""
    boards, nodes = actions.shape[0], size + 1
    planes, books = packed(state)
    per_node = jnp.full((nodes, boards), NONE, jnp.int32)
    per_edge = jnp.full((size, boards), NONE, jnp.int32)
    zero = jnp.zeros(boards, jnp.int32)
    return Tree(
        planes=jnp.zeros((boards, nodes, planes.shape[0]), planes.dtype).at[:, ROOT].set(planes.T),
        books=jnp.zeros((boards, nodes, books.shape[0]), books.dtype).at[:, ROOT].set(books.T),
        node_edge=per_node,
        node_visits=jnp.zeros_like(per_node),
        node_wins=jnp.zeros_like(per_node),
        node_total=jnp.zeros(per_node.shape, jnp.float32),
        node_actions=jnp.zeros_like(per_node).at[ROOT].set(actions),
        node_last=jnp.full((nodes, boards), 2**32 - 1, jnp.uint32),
        nodes=zero + 1,
        edge_parent=per_edge,
        edge_action=per_edge,
        edge_visits=jnp.zeros_like(per_edge),
        edge_total=jnp.zeros((size, boards), jnp.float32),
        edges=zero,
        prior=_priors(prior, nodes, boards),
    )


def _priors(prior: jax.Array | None, nodes: int, boards: int) -> jax.Array:
    """Room for those of all nodes. prior: of the roots, float32[A, S]."""
    if prior is None:
        return jnp.zeros((nodes, 0, boards), jnp.float32)
    return jnp.zeros((nodes, *prior.shape), jnp.float32).at[ROOT].set(prior)


def with_prior(tree: Tree, node: jax.Array, prior: jax.Array, where: jax.Array) -> Tree:
    """The probabilities of a new node's actions entered. node: int32[S]; prior: float32[A, S]; where: bool[S]."""
    place = jnp.where(where, node, tree.prior.shape[0])
    boards = jnp.arange(node.shape[0])
    return tree._replace(prior=tree.prior.at[place, :, boards].set(prior.T, mode="drop"))


def packed(state: State) -> tuple[jax.Array, jax.Array]:
    """Positions as columns of words: uint16[planes * H, S], int32[numbers, S]."""
    boards = state.planes.shape[-1]
    books = [leaf.reshape(-1, boards) for leaf in state.books]
    return state.planes.reshape(-1, boards), jnp.concatenate(books)


def unpacked(spec: Spec, planes: jax.Array, books: jax.Array, like: Books) -> State:
    """Positions from columns of words. like: books of the same kind."""
    boards = planes.shape[-1]
    leaves, start = [], 0
    for leaf in like:
        size = math.prod(leaf.shape[:-1])
        leaves.append(books[start : start + size].reshape(*leaf.shape[:-1], boards))
        start += size
    return State(planes.reshape(-1, spec.height, boards), Books(*leaves))


def at_node(tree: Tree, node: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The positions of one node a board, as columns of words."""
    boards = jnp.arange(node.shape[0])
    return tree.planes[boards, node].T, tree.books[boards, node].T


def of(table: jax.Array, index: jax.Array) -> jax.Array:
    """One entry a board: table[n, S], int32[S] -> [S]."""
    return jnp.take_along_axis(table, index[None], axis=0, mode="clip")[0]


def put(table: jax.Array, index: jax.Array, values: jax.Array, where: jax.Array) -> jax.Array:
    """The table with one entry a board replaced, on the boards where it is asked."""
    rows = jnp.where(where, index, table.shape[0])
    return table.at[rows, jnp.arange(index.shape[0])].set(values, mode="drop")


def grown(tree: Tree, edge: jax.Array, state: State, actions: jax.Array, where: jax.Array) -> Tree:
    """With a new outcome of an edge, on the boards where it is asked. actions: that it may try, int32[S]."""
    planes, books = packed(state)
    boards, slot = jnp.arange(where.shape[0]), tree.nodes
    row = jnp.where(where, slot, tree.planes.shape[1])
    return tree._replace(
        planes=tree.planes.at[boards, row].set(planes.T, mode="drop"),
        books=tree.books.at[boards, row].set(books.T, mode="drop"),
        node_edge=put(tree.node_edge, slot, edge, where),
        node_actions=put(tree.node_actions, slot, actions, where),
        nodes=tree.nodes + where,
    )


def with_edge(tree: Tree, node: jax.Array, action: jax.Array, rank: jax.Array, where: jax.Array) -> Tree:
    """With a new action tried in a node, on the boards where it is asked."""
    return tree._replace(
        edge_parent=put(tree.edge_parent, tree.edges, node, where),
        edge_action=put(tree.edge_action, tree.edges, action, where),
        node_last=put(tree.node_last, node, rank, where),
        edges=tree.edges + where,
    )


def backed_up(tree: Tree, leaf: jax.Array, value: jax.Array, won: jax.Array, where: jax.Array) -> Tree:
    """With a visit of this value entered in a node and everything above it, on the boards where it is asked."""

    def up(carry: tuple[Tree, jax.Array]) -> tuple[Tree, jax.Array]:
        tree, node = carry
        there = node >= 0
        edge = jnp.where(there, of(tree.node_edge, node), NONE)
        below = edge >= 0
        tree = tree._replace(
            node_visits=put(tree.node_visits, node, of(tree.node_visits, node) + 1, there),
            node_wins=put(tree.node_wins, node, of(tree.node_wins, node) + won, there),
            node_total=put(tree.node_total, node, of(tree.node_total, node) + value, there),
            edge_visits=put(tree.edge_visits, edge, of(tree.edge_visits, edge) + 1, below),
            edge_total=put(tree.edge_total, edge, of(tree.edge_total, edge) + value, below),
        )
        return tree, jnp.where(below, of(tree.edge_parent, edge), NONE)

    start = tree, jnp.where(where, leaf, NONE)
    return lax.while_loop(lambda carry: jnp.any(carry[1] >= 0), up, start)[0]


def descended(
    tree: Tree, bits: jax.Array, where: jax.Array, exploration: jax.Array, outcomes: jax.Array, depth: jax.Array
) -> Choice:
    """From the roots down to where something new is tried. bits: words of the simulations' keys, uint32[2, S].

    exploration: C of UCB1; outcomes: most positions sampled of an action; depth: most moves in the tree; scalars.
    """

    def down(carry: tuple[Choice, jax.Array, jax.Array]) -> tuple[Choice, jax.Array, jax.Array]:
        choice, going, level = carry
        node = choice.node
        actions = of(tree.node_actions, node)
        stays = (actions == 0) | (level >= depth)
        mine = tree.edge_parent == node
        grows = ~stays & (jnp.sum(mine, axis=0) < actions)
        edge = best_edge(tree, mine, of(tree.node_visits, node), exploration)
        drawn = tree.node_edge == edge
        fresh = jnp.sum(drawn, axis=0) < outcomes
        child = _any_of(drawn, bits, level)
        stops = stays | grows | fresh
        found = Choice(jnp.where(stops, node, child), edge, grows, stays, choice.action)
        merged = Choice(*(jnp.where(going, new, old) for new, old in zip(found, choice, strict=True)))
        return merged, going & ~stops, level + 1

    no = jnp.zeros_like(where)
    root = jnp.zeros(where.shape, jnp.int32)
    start = Choice(root, root + NONE, no, no, root + NONE), where, jnp.int32(0)
    return lax.while_loop(lambda carry: jnp.any(carry[1]), down, start)[0]


def guided(
    tree: Tree, bits: jax.Array, where: jax.Array, exploration: jax.Array, outcomes: jax.Array, depth: jax.Array
) -> Choice:
    """`descended` by PUCT: mean + C P sqrt(n_parent) / (1 + n_child); what was never tried has its node's own mean.

    Every action of a node competes from the start, so that those which the prior thinks little of may stay untried.
    """
    boards = jnp.arange(where.shape[0])

    def down(carry: tuple[Choice, jax.Array, jax.Array]) -> tuple[Choice, jax.Array, jax.Array]:
        choice, going, level = carry
        node = choice.node
        stays = (of(tree.node_actions, node) == 0) | (level >= depth)
        prior = tree.prior[node, :, boards].T
        mine = tree.edge_parent == node
        place = jnp.where(mine, tree.edge_action, prior.shape[0])
        visits, total = (
            jnp.zeros_like(prior).at[place, boards].add(x.astype(jnp.float32), mode="drop")
            for x in (tree.edge_visits, tree.edge_total)
        )
        parent = jnp.maximum(of(tree.node_visits, node), 1).astype(jnp.float32)
        mean = jnp.where(visits > 0, total / jnp.maximum(visits, 1.0), of(tree.node_total, node) / parent)
        action = first_largest(mean + exploration * prior * jnp.sqrt(parent) / (1.0 + visits), prior > 0)
        rows = lax.broadcasted_iota(jnp.int32, mine.shape, 0)
        edge = jnp.min(jnp.where(mine & (tree.edge_action == action), rows, mine.shape[0]), axis=0)
        grows = ~stays & (edge == mine.shape[0])
        drawn = tree.node_edge == edge
        fresh = jnp.sum(drawn, axis=0) < outcomes
        stops = stays | grows | fresh
        found = Choice(jnp.where(stops, node, _any_of(drawn, bits, level)), edge, grows, stays, action)
        merged = Choice(*(jnp.where(going, new, old) for new, old in zip(found, choice, strict=True)))
        return merged, going & ~stops, level + 1

    no, root = jnp.zeros_like(where), jnp.zeros(where.shape, jnp.int32)
    start = Choice(root, root + NONE, no, no, root + NONE), where, jnp.int32(0)
    return lax.while_loop(lambda carry: jnp.any(carry[1]), down, start)[0]


def best_edge(tree: Tree, mine: jax.Array, visits: jax.Array, exploration: jax.Array) -> jax.Array:
    """The edge with the greatest UCB1 value, mean + C sqrt(ln n_parent / n_child); int32[S]."""
    n = jnp.maximum(tree.edge_visits, 1).astype(jnp.float32)
    spread = jnp.sqrt(jnp.log(jnp.maximum(visits, 1).astype(jnp.float32)) / n)
    return first_largest(tree.edge_total / n + exploration * spread, mine)


def first_largest(values: jax.Array, where: jax.Array) -> jax.Array:
    """The first row of the greatest value among those allowed: [n, S] -> int32[S]; n where none is allowed."""
    masked = jnp.where(where, values, -jnp.inf)
    rows = lax.broadcasted_iota(jnp.int32, values.shape, 0)
    best = where & (masked == jnp.max(masked, axis=0))
    return jnp.min(jnp.where(best, rows, values.shape[0]), axis=0)


def _any_of(rows: jax.Array, bits: jax.Array, level: jax.Array) -> jax.Array:
    """One of the rows, uniformly: bool[n, S] -> int32[S]."""
    numbers = lax.broadcasted_iota(jnp.uint32, rows.shape, 0)
    rank = randomness.draw(bits, randomness.PASS, level, numbers) >> 8  # 24 bits: exact in float32
    return jnp.minimum(first_largest(rank.astype(jnp.float32), rows), rows.shape[0] - 1)
