"""Any number of boards in any arrangement, from functions that know one flat batch with the boards last.

`native(f, ...)` gives a function of arrays that end in boards' axes (none, one or several), which flattens
them, pads them to a good number of lanes, calls `f`, and restores them. Under `jax.vmap`, nested as deep as
you like, the mapped axis becomes one more boards' axis of the same call, so a mapped program runs at the
speed of the native one: a plain vmap would put the boards first and turn every `cond` into a select.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap

from crush_gym import sizes
from crush_gym.runtime.chunks import chunk_for

Tree = Any
Ranks = Any
"""A tree like the argument's, with the number of axes that each leaf has on one board."""


def lanes_for(boards: int) -> int:
    """A good number of lanes for so many boards: whole chunks.

    Rows of a multiple of 4 KiB share a set of the cache: without chunks, 4,096 boards ran at a third of the speed of
    4,160.
    """
    if boards <= sizes.UNPADDED:
        return boards
    chunk = chunk_for(boards) if boards > sizes.CHUNK else -(-boards // sizes.VECTOR) * sizes.VECTOR
    lanes = -(-boards // chunk) * chunk
    return lanes + chunk if lanes % 2048 == 0 else lanes


OWN, COMMON, SHARED = "own", "common", "shared"
"""Kinds of arguments: each board has its own; boards may have one in common (levels); or it has no boards (weights)."""


def native(f: Callable[..., Tree], in_ranks: tuple[Ranks, ...], kinds: tuple[str, ...]) -> Callable[..., Tree]:
    """Lift `f`, whose arguments and results end in one axis of boards, but those that are SHARED.

    in_ranks: for each argument the ranks of its leaves on one board; kinds: OWN, COMMON or SHARED
    """

    def on_boards(*args: Tree) -> Tree:
        boards = boards_of(args, in_ranks)
        size = math.prod(boards)
        lanes = lanes_for(size)
        flat = tuple(
            arg if kind == SHARED else jax.tree.map(lambda x, r, k=kind: _flatten(x, r, boards, lanes, k), arg, rank)
            for arg, rank, kind in zip(args, in_ranks, kinds, strict=True)
        )
        return jax.tree.map(lambda y: y[..., :size].reshape(*y.shape[:-1], *boards), f(*flat))

    mapped = custom_vmap(on_boards)

    @mapped.def_vmap
    def rule(axis_size: int, in_batched: tuple[Tree, ...], *args: Tree) -> tuple[Tree, Tree]:
        if any(any(jax.tree.leaves(b)) for b, kind in zip(in_batched, kinds, strict=True) if kind == SHARED):
            out = _one_by_one(mapped, in_batched, args)
            return out, jax.tree.map(lambda _: True, out)
        inner = len(boards_of(args, in_ranks, in_batched))

        def moved(arg: Tree, batched: Tree, rank: Ranks, kind: str) -> Tree:
            if kind == SHARED:
                return arg
            if kind == COMMON:
                return jax.tree.map(lambda x, b, r: _level_axis(x, b, r, inner), arg, batched, rank)
            return jax.tree.map(lambda x, b, r: _axis_to_boards(x, b, r, inner, axis_size), arg, batched, rank)

        out = mapped(*map(moved, args, in_batched, in_ranks, kinds))
        out = jax.tree.map(lambda y: jnp.moveaxis(y, -1, 0), out)
        return out, jax.tree.map(lambda _: True, out)

    return mapped


def _one_by_one(f: Callable[..., Tree], batched: tuple[Tree, ...], args: tuple[Tree, ...]) -> Tree:
    """Several sets of weights, one after the other: their boards have no common program."""
    leaves, tree = jax.tree.flatten(args)
    marks = jax.tree.leaves(batched)

    def call(mapped: list[jax.Array]) -> Tree:
        rest = iter(mapped)
        return f(*jax.tree.unflatten(tree, [next(rest) if b else x for x, b in zip(leaves, marks, strict=True)]))

    return jax.lax.map(call, [x for x, b in zip(leaves, marks, strict=True) if b])


def boards_of(
    args: tuple[Tree, ...], ranks: tuple[Ranks, ...], batched: tuple[Tree, ...] | None = None
) -> tuple[int, ...]:
    """The arrangement of the boards: what the leaves have beyond one board's axes."""
    shapes = set()
    for i, (arg, rank) in enumerate(zip(args, ranks, strict=True)):
        leaves, wanted = jax.tree.leaves(arg), jax.tree.leaves(rank)
        marks = [False] * len(leaves) if batched is None else jax.tree.leaves(batched[i])
        shapes |= {x.shape[1:][r:] if b else x.shape[r:] for x, r, b in zip(leaves, wanted, marks, strict=True)}
    shapes.discard(())  # what all boards share; looking up more than one arrangement takes longer than all of the above
    return shapes.pop() if len(shapes) == 1 else jnp.broadcast_shapes(*shapes)


def _flatten(x: jax.Array, rank: int, boards: tuple[int, ...], lanes: int, kind: str) -> jax.Array:
    """One boards' axis, padded by repeating the last board."""
    x = jnp.asarray(x)
    if kind == COMMON and x.ndim == rank:
        return x[..., None]
    x = jnp.broadcast_to(x, (*x.shape[:rank], *boards)).reshape(*x.shape[:rank], math.prod(boards))
    short = lanes - x.shape[-1]
    return jnp.pad(x, [(0, 0)] * rank + [(0, short)], mode="edge") if short else x


def flat_boards(tree: Tree, ranks: Ranks) -> Tree:
    """One boards' axis on every leaf that has any; what has none stays."""
    return jax.tree.map(lambda x, r: x.reshape(*x.shape[:r], math.prod(x.shape[r:])) if x.ndim != r else x, tree, ranks)


def _axis_to_boards(x: jax.Array, batched: bool, rank: int, inner: int, size: int) -> jax.Array:
    """The mapped axis as the last of the boards' axes; an unmapped leaf is repeated along it."""
    if batched:
        return _spread(jnp.moveaxis(x, 0, -1), rank, inner + 1)
    return jnp.broadcast_to(_spread(x, rank, inner)[..., None], (*_spread(x, rank, inner).shape, size))


def _level_axis(x: jax.Array, batched: bool, rank: int, inner: int) -> jax.Array:
    if not batched:
        return x if x.ndim == rank else _spread(x, rank, inner)[..., None]
    return _spread(jnp.moveaxis(x, 0, -1), rank, inner + 1)


def _spread(x: jax.Array, rank: int, axes: int) -> jax.Array:
    """With axes of size 1 between the board's own axes and those of the boards, `axes` of the latter in all."""
    missing = axes - (x.ndim - rank)
    return x.reshape(*x.shape[:rank], *(1,) * missing, *x.shape[rank:])
