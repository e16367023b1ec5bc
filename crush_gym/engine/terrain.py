"""What a level fixes, in the form that the beats use: worked out once, before any beat.

Every array ends in a boards axis, of size 1 where all boards play the same level.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from crush_gym import layout
from crush_gym.engine.bits import Plane, Word, any_of, look, unpack
from crush_gym.engine.spec import Spec
from crush_gym.levels import Level


class PortalLayer(NamedTuple):
    """Portals of which no two start, and no two end, in one column.

    source, target: planes of their ends, uint16[H, B]
    to: for every column, the bit of the column where its portal leads, uint16[W, B] (0: none)
    """

    source: Plane
    target: Plane
    to: jax.Array


class Goals(NamedTuple):
    """What is asked for at the start; see `Level`. Each int32[B], orders int32[n, B]."""

    score: jax.Array
    jelly: jax.Array
    cherry: jax.Array
    hazelnut: jax.Array
    orders: jax.Array


class Spawns(NamedTuple):
    """What entries spawn besides plain candies, in the order listed: int32[n, B]; `kind` is -1 where unused."""

    kind: jax.Array
    quota: jax.Array
    on_board: jax.Array
    every: jax.Array
    counter: jax.Array


class Terrain(NamedTuple):
    """One level, or one per board.

    floor, exits: planes
    entrances: cells whose item leaves only through a portal
    feeds: cells that feed the cell directly below
    entries: the entries, at most one of a column in each plane
    entry_cells: per layer, the cell numbers 16 r + c of the columns' entries, uint32[W, B]
    earlier: the columns of each layer (third axis) whose entry comes before that of a layer and column (first and
        second), uint16[layers, W, layers, B]
    colours: number of colours
    moves, time: what an attempt may use; time in deciseconds, -1 where untimed
    slides: most sideways steps of one settling
    """

    floor: Plane
    exits: Plane
    entrances: Plane
    feeds: Plane
    entries: list[Plane]
    entry_cells: list[jax.Array]
    earlier: jax.Array
    portals: list[PortalLayer]
    colours: jax.Array
    moves: jax.Array
    time: jax.Array
    slides: jax.Array
    goals: Goals
    spawns: Spawns
    spawn_candies: jax.Array


def survey(spec: Spec, level: Level) -> Terrain:
    """Work out the terrain of a level whose leaves have a boards axis or none."""
    boards_last = with_boards_axis(level)
    floor = boards_last.floor[: spec.height]
    entries = boards_last.entries[: spec.height]
    sources, targets = _portal_ends(spec, boards_last.portals)
    entrances = any_of(sources) if sources else jnp.zeros_like(floor)
    ends = any_of(targets) if targets else jnp.zeros_like(floor)
    feeds = floor & ~entrances & look(floor & ~ends, 1, 0)
    layers = _layers(unpack(spec.width, entries), spec.entry_layers)
    cells = _cell_numbers(layers)
    timed = boards_last.seconds > 0
    orders = [layout.ORDERS.index(name) for name in spec.orders]
    return Terrain(
        floor=floor,
        exits=boards_last.exits[: spec.height],
        entrances=entrances,
        feeds=feeds,
        entries=list(_words(layers)),
        entry_cells=list(cells),
        earlier=_words(cells[None, None] < cells[:, :, None, None]),
        portals=_portal_layers(spec, boards_last.portals),
        colours=boards_last.colours,
        moves=boards_last.moves,
        time=jnp.where(timed, boards_last.seconds * 10, -1),
        slides=4 * boards_last.height * boards_last.width,
        goals=Goals(
            score=boards_last.goal_score,
            jelly=boards_last.goal_jelly,
            cherry=boards_last.goal_cherry,
            hazelnut=boards_last.goal_hazelnut,
            orders=jnp.stack([boards_last.orders[i] for i in orders]) if orders else boards_last.orders[:0],
        ),
        spawns=Spawns(
            kind=boards_last.spawn.astype(jnp.int32)[: spec.spawn_kinds],
            quota=boards_last.spawn_quota[: spec.spawn_kinds],
            on_board=boards_last.spawn_on_board[: spec.spawn_kinds],
            every=boards_last.spawn_every[: spec.spawn_kinds],
            counter=boards_last.spawn_counter,
        ),
        spawn_candies=boards_last.spawn_candies,
    )


LEAF_RANKS = {
    "floor": 1, "entries": 1, "exits": 1, "portals": 2, "start": 2, "unfilled": 1, "orders": 1, "stars": 1,
    "spawn": 1, "spawn_quota": 1, "spawn_on_board": 1, "spawn_every": 1,
}  # fmt: skip


def with_boards_axis(level: Level) -> Level:
    """The level with a boards axis on every leaf: of size 1 where it had none."""
    paths, tree = jax.tree_util.tree_flatten_with_path(level)
    leaves = []
    for path, leaf in paths:
        leaf = jnp.asarray(leaf)
        rank = LEAF_RANKS.get(path[0].name, 0)
        leaves.append(leaf[..., None] if leaf.ndim == rank else leaf)
    result: Level = jax.tree_util.tree_unflatten(tree, leaves)
    return result


def _layers(entries: jax.Array, count: int) -> jax.Array:
    """The topmost entries of the columns, the next ones, ...: bool[layers, H, W, B]. entries: 0 or 1, [H, W, B]."""
    number = jnp.cumsum(entries, axis=0, dtype=Word)
    layer = lax.broadcasted_iota(Word, (count, 1, 1, 1), 0)
    return (entries != 0) & (number == layer + 1)


NOWHERE = 255 * 16
"""Above all cell numbers: of a column without an entry."""


def _cell_numbers(layers: jax.Array) -> jax.Array:
    """The number of each column's only cell: uint32[layers, W, B]."""
    rows, columns = (lax.broadcasted_iota(jnp.uint32, (*layers.shape[1:3], 1), axis) for axis in (0, 1))
    return jnp.min(jnp.where(layers, 16 * rows + columns, jnp.uint32(NOWHERE)), axis=1)


def _words(columns: jax.Array) -> jax.Array:
    """bool[..., W, B] as words uint16[..., B]."""
    bit = Word(1) << lax.broadcasted_iota(Word, (columns.shape[-2], 1), 0)
    return jnp.sum(jnp.where(columns, bit, Word(0)), axis=-2, dtype=Word)


def _portal_cells(spec: Spec, portals: jax.Array, end: int) -> jax.Array:
    """One plane per portal with its source (end 0) or target (end 2): uint16[n, H, B]."""
    rows = lax.broadcasted_iota(jnp.int32, (spec.height, 1), 0)
    portals = portals[: spec.portals].astype(jnp.int32)
    r, c = portals[:, end], portals[:, end + 1]
    bit = jnp.where(c >= 0, jnp.left_shift(1, jnp.maximum(c, 0)), 0).astype(Word)
    return jnp.where(r[:, None] == rows, bit[:, None], Word(0))


def _portal_ends(spec: Spec, portals: jax.Array) -> tuple[list[Plane], list[Plane]]:
    if not spec.portals:
        return [], []
    return list(_portal_cells(spec, portals, 0)), list(_portal_cells(spec, portals, 2))


def _portal_layers(spec: Spec, portals: jax.Array) -> list[PortalLayer]:
    """Portals in layers that never share a column: portal n goes to the first layer free of its columns."""
    if not spec.portals:
        return []
    sources, targets = _portal_ends(spec, portals)
    layers = [
        [
            jnp.zeros_like(sources[0]),
            jnp.zeros_like(sources[0]),
            jnp.zeros((spec.width, *sources[0].shape[1:]), Word),
        ]
        for _ in range(spec.portal_layers)
    ]
    columns = lax.broadcasted_iota(Word, (spec.width, 1), 0)
    for source, target in zip(sources, targets, strict=True):
        bit, to = any_of(list(source)), any_of(list(target))
        placed = bit == 0
        for layer in layers:
            busy = (any_of(list(layer[0])) & bit) | (any_of(list(layer[1])) & to)
            here = jnp.where(~placed & (busy == 0), Word(0xFFFF), Word(0))
            placed = placed | (here != 0)
            layer[0] = layer[0] | (source & here)
            layer[1] = layer[1] | (target & here)
            layer[2] = layer[2] | jnp.where(bit & here & (Word(1) << columns), to, Word(0))
    return [PortalLayer(*layer) for layer in layers]
