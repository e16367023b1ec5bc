"""On a CPU: a few boards at a time, and everything that is done to them in one kernel.

XLA:CPU makes a kernel of every operation that it cannot fuse into another, and each goes over the whole batch before
the next one starts, so that all planes travel through memory. Told that a call is small, it compiles the call whole.
With no more boards at a time than a core's nearest cache holds, beats are two to three times as fast. The mark that
tells it is not documented: where `CRUSH_GYM_KERNELS=off` was set, nothing is marked.

On other devices all boards are taken at once, and what would be a kernel on a CPU is `unstacked`.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental.xla_metadata import set_xla_metadata

from crush_gym import sizes
from crush_gym.engine.spec import Spec
from crush_gym.runtime.unstacked import PLANES, ROWS, unstacked
from crush_gym.runtime.xla import on_cpu

Tree = Any
"""Any tree of arrays that end in the boards' axis, which has size 1 where all boards share something."""

Part = Callable[[Callable[..., Tree]], Callable[..., Tree]]
"""Makes a kernel of a function, or leaves it to a larger one."""

KERNELS = os.environ.get("CRUSH_GYM_KERNELS") != "off"
"""Whether calls are marked as small for XLA:CPU."""


def chunk_for(boards: int) -> int:
    """How many boards are taken at a time out of so many."""
    if boards <= sizes.CHUNK:
        return boards
    chunks = -(-boards // sizes.CHUNK)
    return -(-boards // (chunks * sizes.VECTOR)) * sizes.VECTOR


def one_kernel(f: Callable[..., Tree]) -> Callable[..., Tree]:
    """`f`, which treats every board for itself, as one kernel on a CPU; elsewhere as it is.

    Like after any JAX transformation, boards have to be made awake in `f` for their fences to work.
    """
    return lambda *args: _small_on_cpu(f, f, args)


def in_chunks(f: Callable[..., Tree], pieces: int = PLANES) -> Callable[..., Tree]:
    """The same, where the kernel takes a chunk of the boards at a time. pieces: what planes become; see `unstacked`."""
    return lambda *args: _small_on_cpu(_by_chunks(f, args), f, args, pieces)


def in_chunks_by_parts(spec: Spec, f: Callable[..., Tree]) -> Callable[..., Tree]:
    """`in_chunks`, where a rich game has several kernels: LLVM takes twice as long for all that they do in one.

    f: takes first what makes a kernel of a part, then the arguments
    """
    if not spec.rich:
        pieces = ROWS if len(spec.planes) <= sizes.FEW_PLANES else PLANES
        return in_chunks(functools.partial(f, lambda part: part), pieces)
    whole = functools.partial(f, one_kernel)

    def call(*args: Tree) -> Tree:
        cut = _by_chunks(whole, args)
        if not on_cpu():
            apart = unstacked(functools.partial(f, lambda part: part))
            return lax.platform_dependent(*args, cpu=cut, default=apart)
        return whole(*args) if cut is whole else lax.platform_dependent(*args, cpu=cut, default=whole)

    return call


def _small_on_cpu(
    f: Callable[..., Tree], elsewhere: Callable[..., Tree], args: tuple[Tree, ...], pieces: int = PLANES
) -> Tree:
    there = _call_of(elsewhere, args) if on_cpu() else unstacked(elsewhere, pieces)
    here = there if f is elsewhere and on_cpu() else _call_of(f, args)
    return lax.platform_dependent(*args, cpu=functools.partial(here, small=True), default=there)


def _by_chunks(f: Callable[..., Tree], args: tuple[Tree, ...]) -> Callable[..., Tree]:
    """`f` over one chunk after the other; itself where these arguments are no more than a chunk."""
    boards = max(x.shape[-1] for x in jax.tree.leaves(args))
    if chunk_for(boards) == boards:
        return f
    return functools.partial(_chunk_after_chunk, jax.jit(f), boards)  # which remembers its trace


def _chunk_after_chunk(f: Callable[..., Tree], boards: int, *args: Tree) -> Tree:
    chunk = chunk_for(boards)
    lanes = -(-boards // chunk) * chunk
    args = jax.tree.map(lambda x: _lengthened(x, lanes) if x.shape[-1] == boards else x, args)

    def part(start: jax.Array | int) -> Tree:
        cut = jax.tree.map(
            lambda x: lax.dynamic_slice_in_dim(x, start, chunk, axis=-1) if x.shape[-1] == lanes else x, args
        )
        return f(*cut)

    def put(i: jax.Array, done: Tree) -> Tree:
        def at_its_place(whole: jax.Array, new: jax.Array) -> jax.Array:
            return lax.dynamic_update_slice_in_dim(whole, new, i * chunk, axis=-1)

        return jax.tree.map(at_its_place, done, part(i * chunk))

    empty = jax.tree.map(lambda x: jnp.zeros((*x.shape[:-1], lanes), x.dtype), jax.eval_shape(lambda: part(0)))
    return jax.tree.map(lambda x: x[..., :boards], lax.fori_loop(0, lanes // chunk, put, empty))


def _lengthened(x: jax.Array, lanes: int) -> jax.Array:
    """With the last board repeated."""
    short = lanes - x.shape[-1]
    return jnp.concatenate([x, jnp.broadcast_to(x[..., -1:], (*x.shape[:-1], short))], axis=-1) if short else x


def _call_of(f: Callable[..., Tree], args: tuple[Tree, ...]) -> Callable[..., Tree]:
    """`f` as a call that can be marked for XLA:CPU as small, which is all that it asks to make one kernel of it.

    XLA must not dissolve the call before it looks, and it ends the process where a small call has an argument for
    which its own passes left no use. So the call returns its arguments, too; barriers hide what they are, and that
    nobody wants them; and empty ones, which XLA makes anew wherever they are used, stay outside.
    """
    shapes, tree = jax.tree.flatten(jax.eval_shape(lambda *args: args, *args))

    @jax.jit
    def with_arguments(full: list[jax.Array]) -> tuple[Tree, list[jax.Array]]:
        rest = iter(full)
        leaves = [next(rest) if x.size else jnp.zeros(x.shape, x.dtype) for x in shapes]
        return _hidden((f(*jax.tree.unflatten(tree, leaves)), full))

    def call(*args: Tree, small: bool = False) -> Tree:
        full = [x for x in jax.tree.leaves(args) if x.size]
        results, structure = jax.tree.flatten(with_arguments(_hidden(full)))
        if small and KERNELS:
            mark = {"xla_cpu_small_call": "true", "inlineable": "false"}
            results[0] = set_xla_metadata(results[0], **mark)  # type: ignore[no-untyped-call]
        return _hidden(jax.tree.unflatten(structure, results))[0]

    return call


def _hidden(tree: Tree) -> Tree:
    return lax.optimization_barrier(tree)  # type: ignore[no-untyped-call]
