"""Large batches on a CPU: in blocks that fit its caches, on all its cores.

XLA:CPU splits every operation over the cores, which for operations of microseconds costs more than it
brings (measured: two cores are slower than one). Here each block is a call of its own on a host thread;
calls of one compiled program run side by side. On other devices, and under a JAX transformation, a batch
is one call. No result depends on the blocks.
"""

from __future__ import annotations

import functools
import math
import os
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from crush_gym.runtime import kept
from crush_gym.runtime.vmap import boards_of, flat_boards
from crush_gym.runtime.xla import Options

Tree = Any


def cores() -> int:
    """How many CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_parts(program: Callable[..., Tree], call: Callable[[int], Tree], size: int, part: int) -> Tree:
    """`call(first)` for `size` results, `part` at a time, side by side on the cores; joined along the last axis.

    program: what `call` calls. Parts are of one size, so that one compilation serves: the last may overlap the
    one before.
    """
    starts = [min(start, size - part) for start in range(0, size, part)]
    return _joined(run_all(program, [functools.partial(call, start) for start in starts]), starts, part)


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
    on_block = _on_block(program, ranks, block, options)
    result = in_parts(on_block, lambda start: on_block(start, *args), size, block)
    return jax.tree.map(lambda x: x.reshape(*x.shape[:-1], *boards), result) if len(boards) > 1 else result


def count_of(size: int, most: int) -> int:
    """How many blocks of at most `most` boards: as many for every core."""
    return -(-size // (most * cores())) * cores() if size > most else 1


@functools.lru_cache(maxsize=256)
def _on_block(
    program: Callable[..., Tree], ranks: tuple[Tree, ...], block: int, options: Options
) -> Callable[..., Tree]:
    """The program for the boards from `start`, which it cuts out itself: a call costs more than a copy."""

    def call(start: jax.Array, *args: Tree) -> Tree:
        cut = jax.tree.map(
            lambda x, r: lax.dynamic_slice_in_dim(x, start, block, axis=-1) if x.ndim > r else x, args, ranks
        )
        return Packed.of(program(*cut))

    return kept.program(call, options)


_compiled: weakref.WeakSet[Callable[..., Any]] = weakref.WeakSet()
"""Programs that have run: the first call of one compiles it, which two threads would do at once, each for itself."""


def run_all(program: Callable[..., Tree], calls: Sequence[Callable[[], Tree]]) -> list[Tree]:
    """The results of the calls of a program, which run on as many threads as there are cores."""

    def finished(call: Callable[[], Tree]) -> Tree:
        return jax.block_until_ready(call())  # type: ignore[no-untyped-call]

    alone = len(calls) if cores() == 1 else int(program not in _compiled)
    done = [finished(call) for call in calls[:alone]]
    _compiled.add(program)
    return done + _side_by_side([functools.partial(finished, call) for call in calls[alone:]])


def _side_by_side(calls: Sequence[Callable[[], Tree]]) -> list[Tree]:
    """Their results; this thread takes its share of the calls, for waking another costs time."""
    results: list[Tree] = [None] * len(calls)
    waiting = iter(range(len(calls)))

    def work() -> None:
        for i in waiting:
            results[i] = calls[i]()

    helpers = [_helpers().submit(work) for _ in range(min(cores(), len(calls)) - 1)]
    work()
    for helper in helpers:
        if not helper.cancel():
            helper.result()
    return results


@functools.lru_cache(maxsize=1)
def _helpers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(cores(), thread_name_prefix="crush_gym")


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


def _joined(parts: list[Tree], starts: list[int], size: int) -> Tree:
    """The parts side by side, without what the last has in common with the one before, and unpacked."""
    return _join(starts[-2] + size - starts[-1] if len(starts) > 1 else 0)(parts)


@functools.lru_cache(maxsize=256)
def _join(skip: int) -> Callable[[list[Tree]], Tree]:
    def join(parts: list[Tree]) -> Tree:
        last = jax.tree.map(lambda x: x[..., skip:], parts[-1])
        whole = jax.tree.map(lambda *xs: jnp.concatenate(xs, axis=-1), *parts[:-1], last)
        return jax.tree.map(
            lambda x: x.unpacked() if isinstance(x, Packed) else x, whole, is_leaf=lambda x: isinstance(x, Packed)
        )

    return kept.program(join)
