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
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from crush_gym.engine.batching import boards_of, flat_boards
from crush_gym.engine.compiling import Options

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
        return program(*cut)

    return jax.jit(call, compiler_options=dict(options))


_compiled: weakref.WeakSet[Callable[..., Any]] = weakref.WeakSet()
"""Programs that have run: the first call of one compiles it, which two threads would do at once, each for itself."""


def run_all(program: Callable[..., Tree], calls: Sequence[Callable[[], Tree]]) -> list[Tree]:
    """The results of the calls of a program, which run on as many threads as there are cores."""

    def finished(call: Callable[[], Tree]) -> Tree:
        return jax.block_until_ready(call())  # type: ignore[no-untyped-call]

    alone = len(calls) if cores() == 1 else int(program not in _compiled)
    done = [finished(call) for call in calls[:alone]]
    _compiled.add(program)
    if len(calls) - alone < 2:
        return done + [finished(call) for call in calls[alone:]]
    with ThreadPoolExecutor(min(cores(), len(calls) - alone)) as pool:
        return done + list(pool.map(finished, calls[alone:]))


def _joined(parts: list[Tree], starts: list[int], size: int) -> Tree:
    """The parts side by side, without what the last has in common with the one before."""
    return parts[0] if len(parts) == 1 else _join(starts[-2] + size - starts[-1], parts)


@functools.partial(jax.jit, static_argnums=0)
def _join(skip: int, parts: list[Tree]) -> Tree:
    last = jax.tree.map(lambda x: x[..., skip:], parts[-1])
    return jax.tree.map(lambda *xs: jnp.concatenate(xs, axis=-1), *parts[:-1], last)
