"""Boards split over several devices, each of which plays its own without asking the others: `jax.shard_map`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

Tree = Any

Devices = tuple[jax.Device, ...]
"""That boards are split over; none: wherever JAX computes."""

BOARDS = "boards"
"""The name of the only axis of a mesh."""


def chosen(devices: Sequence[jax.Device] | None) -> Devices:
    """The devices that somebody named, refused where they are none, or not all different."""
    if devices is None:
        return ()
    named = tuple(devices)
    if not named or len(set(named)) < len(named) or not all(isinstance(x, jax.Device) for x in named):
        raise ValueError(f"devices must be different devices of JAX, such as jax.devices(), not {devices!r}")
    return named


@functools.lru_cache(maxsize=64)
def mesh_of(devices: Devices) -> Mesh:
    """Devices in a row."""
    return Mesh(np.array(devices), (BOARDS,))


def cut(devices: Devices, x: Any) -> NamedSharding:
    """An array in parts along its last axis, that of the boards."""
    return NamedSharding(mesh_of(devices), _along(-1, len(x.shape)))


def whole(devices: Devices) -> NamedSharding:
    """An array whole on each of the devices."""
    return NamedSharding(mesh_of(devices), PartitionSpec())  # type: ignore[no-untyped-call]


def placed_on(devices: Devices, tree: Tree, axis: int | None) -> Tree:
    """Arrays cut along an axis, one part a device; with None, whole on each."""
    mesh = mesh_of(devices)
    return jax.tree.map(lambda x: jax.device_put(x, NamedSharding(mesh, _along(axis, np.ndim(x)))), tree)


def even(size: int, devices: Devices, what: str) -> int:
    """How many of so many each device gets; refused where they cannot be shared out evenly."""
    if size % len(devices):
        raise ValueError(f"{size} {what} cannot be split evenly over {len(devices)} devices: take a multiple of that")
    return size // len(devices)


def split_over(
    devices: Devices, f: Callable[..., Tree], in_axes: Sequence[Tree], out_axes: Tree
) -> Callable[..., Tree]:
    """`f` on the part of the boards that each device has.

    Args:
        f: a function that treats every board for itself.
        in_axes: for each argument the boards' axis: 0 or -1; None: all devices get the whole of it. Of a tree one for
            all its leaves, or a tree of them.
        out_axes: the same of the result.
    """
    mesh = mesh_of(devices)

    def call(*args: Tree) -> Tree:
        specs = tuple(_specs(axes, arg) for axes, arg in zip(in_axes, args, strict=True))
        own = tuple(_parts(axes, arg, len(devices)) for axes, arg in zip(in_axes, args, strict=True))
        out = _specs(out_axes, jax.eval_shape(f, *own))
        mapped = jax.shard_map(f, mesh=mesh, in_specs=specs, out_specs=out, check_vma=False)
        return mapped(*args)

    return call


def _along(axis: int | None, rank: int) -> PartitionSpec:
    """A cut along the first axis or the last one, where there is one."""
    spec: Any = PartitionSpec
    if axis is None or rank == 0:
        whole: PartitionSpec = spec()
        return whole
    found: PartitionSpec = spec(BOARDS) if axis == 0 else spec(*(None,) * (rank - 1), BOARDS)
    return found


def _each(axes: Tree, tree: Tree, of_leaf: Callable[[int | None, Any], Any]) -> Tree:
    """A tree's leaves, each with its axis."""
    return jax.tree.map(
        lambda axis, part: jax.tree.map(lambda x: of_leaf(axis, x), part), axes, tree, is_leaf=lambda x: x is None
    )


def _specs(axes: Tree, tree: Tree) -> Tree:
    return _each(axes, tree, lambda axis, x: _along(axis, len(x.shape)))


def _parts(axes: Tree, tree: Tree, number: int) -> Tree:
    """The shapes of one device's part."""

    def part(axis: int | None, x: Any) -> jax.ShapeDtypeStruct:
        shape = list(x.shape)
        if axis is not None and shape:
            shape[axis] //= number
        return jax.ShapeDtypeStruct(tuple(shape), x.dtype)  # type: ignore[no-untyped-call]

    return _each(axes, tree, part)
