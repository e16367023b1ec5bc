"""Work cut into parts of one size, so that one compiled program serves; run on all cores; joined again.

Large batches on a CPU go in blocks that fit its caches. On other devices, and under a JAX transformation, a batch is
one call. No result depends on the parts.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from crush_gym.runtime import kept
from crush_gym.runtime.threads import cores, run_all
from crush_gym.runtime.vmap import boards_of, flat_boards
from crush_gym.runtime.xla import Options

Tree = Any

Array = np.ndarray[Any, np.dtype[Any]]


def in_parts(
    program: Callable[..., Tree], call: Callable[[int], Tree], size: int, part: int, axes: Tree | None = None
) -> Tree:
    """`call(first)` for `size` results, `part` at a time; the last part may overlap the one before.

    Args:
        program: what `call` calls.
        axes: like a result, the axis along which each leaf is joined; the last unless said.
    """
    starts = [min(start, size - part) for start in range(0, size, part)]
    found = run_all(program, [functools.partial(call, start) for start in starts])
    overlap = starts[-2] + part - starts[-1] if len(starts) > 1 else 0
    if axes is not None:
        return _joined_along(axes, overlap, found)
    return _joined(overlap)(found)


def of_indices(program: Callable[..., Tree], call: Callable[[Array], Tree], size: int, part: int) -> Tree:
    """`call(indices)` for all indices below `size`, `part` at a time, joined as NumPy along the last axis.

    The last part is filled up with the index `size`.
    """
    starts = range(0, max(size, 1), part)
    calls = [functools.partial(call, np.arange(start, start + part).clip(max=size)) for start in starts]
    return jax.tree.map(lambda *x: np.concatenate(x, axis=-1)[..., :size], *run_all(program, calls))


def filled(x: Any, size: int, part: int) -> list[Any]:
    """Cut along the last axis; the last part is filled up with the last entry."""
    total = -(-size // part) * part
    if total != size:
        xp = jnp if isinstance(x, jax.Array) else np
        x = xp.concatenate([x, xp.repeat(x[..., -1:], total - size, axis=-1)], axis=-1)
    return [x[..., start : start + part] for start in range(0, total, part)]


def in_blocks(
    program: Callable[..., Tree], args: tuple[Tree, ...], ranks: tuple[Tree, ...], most: int, options: Options
) -> Tree:
    """Call `program` on blocks of at most `most` boards, side by side.

    program: a compiled function that stays the same object from call to call
    ranks: like the arguments, the number of axes of each leaf on one board; leaves without boards' axes are
    shared by all.
    options: that the blocks' program is compiled with
    """
    boards = boards_of(args, ranks)
    size = math.prod(boards)
    block = -(-size // count_of(size, most))
    if len(boards) > 1:
        args = tuple(flat_boards(arg, rank) for arg, rank in zip(args, ranks, strict=True))
    leaves, tree = jax.tree.flatten(ranks)
    on_block = _on_block(program, tree, tuple(leaves), block, options)
    result = in_parts(on_block, lambda start: on_block(start, *args), size, block)
    return jax.tree.map(lambda x: x.reshape(*x.shape[:-1], *boards), result) if len(boards) > 1 else result


def count_of(size: int, most: int) -> int:
    """How many blocks of at most `most` boards: as many for every core."""
    return -(-size // (most * cores())) * cores() if size > most else 1


@functools.lru_cache(maxsize=256)
def _on_block(
    program: Callable[..., Tree], tree: Any, leaves: tuple[int, ...], block: int, options: Options
) -> Callable[..., Tree]:
    """The program for the boards from `start`, which it cuts out itself: a call costs more than a copy.

    tree, leaves: of the ranks
    """
    ranks = jax.tree.unflatten(tree, leaves)

    def call(start: jax.Array, *args: Tree) -> Tree:
        cut = jax.tree.map(
            lambda x, r: lax.dynamic_slice_in_dim(x, start, block, axis=-1) if x.ndim > r else x, args, ranks
        )
        return Packed.of(program(*cut))

    return kept.program(call, options)


@functools.lru_cache(maxsize=256)
def _joined(overlap: int) -> Callable[[list[Tree]], Tree]:
    """Puts parts side by side along the last axis, and unpacks them."""

    def join(parts: list[Tree]) -> Tree:
        last = jax.tree.map(lambda x: x[..., overlap:], parts[-1])
        whole = jax.tree.map(lambda *xs: jnp.concatenate(xs, axis=-1), *parts[:-1], last)
        return jax.tree.map(
            lambda x: x.unpacked() if isinstance(x, Packed) else x, whole, is_leaf=lambda x: isinstance(x, Packed)
        )

    return kept.program(join)


def _joined_along(axes: Tree, overlap: int, parts: list[Tree]) -> Tree:
    """The parts side by side, each leaf along an axis of its own."""
    if len(parts) == 1:
        return parts[0]

    def join(axis: int, *leaves: jax.Array) -> jax.Array:
        last = jax.lax.slice_in_dim(leaves[-1], overlap, None, axis=axis)
        return jnp.concatenate([*leaves[:-1], last], axis=axis)

    return jax.tree.map(join, axes, *parts)


@jax.tree_util.register_pytree_node_class
@dataclass(frozen=True)
class Packed:
    """A tree's arrays in one of each type, for a call's results cost more each than their copying.

    arrays: by type, [rows, boards]
    tree, leaves: the tree's structure, and of each leaf its type and the shape of one board
    """

    arrays: dict[str, jax.Array]
    tree: Any
    leaves: tuple[tuple[str, tuple[int, ...]], ...]

    @classmethod
    def of(cls, tree: Tree) -> Packed:
        """From arrays that end in the boards' axis."""
        leaves, structure = jax.tree.flatten(tree)
        rows: dict[str, list[jax.Array]] = {}
        for leaf in leaves:
            rows.setdefault(leaf.dtype.name, []).append(leaf.reshape(-1, leaf.shape[-1]))
        arrays = {name: jnp.concatenate(parts) for name, parts in rows.items()}
        return cls(arrays, structure, tuple((leaf.dtype.name, leaf.shape[:-1]) for leaf in leaves))

    def unpacked(self) -> Tree:
        """The tree again."""
        taken, leaves = dict.fromkeys(self.arrays, 0), []
        for name, shape in self.leaves:
            rows = self.arrays[name][taken[name] : taken[name] + math.prod(shape)]
            leaves.append(rows.reshape(*shape, rows.shape[-1]))
            taken[name] += math.prod(shape)
        return jax.tree.unflatten(self.tree, leaves)

    def tree_flatten(self) -> tuple[tuple[dict[str, jax.Array]], tuple[Any, Any]]:
        return (self.arrays,), (self.tree, self.leaves)

    @classmethod
    def tree_unflatten(cls, static: tuple[Any, Any], arrays: tuple[dict[str, jax.Array]]) -> Packed:
        return cls(*arrays, *static)
