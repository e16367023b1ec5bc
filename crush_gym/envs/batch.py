"""Series of episodes side by side, as a host sees them: the engine room of every environment."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from crush_gym import sizes
from crush_gym.envs import task as tasks
from crush_gym.envs.options import Options as EnvOptions
from crush_gym.envs.task import Facts, Glance, Lanes, Pool, Seen, Step, Task
from crush_gym.runtime import kept, threads
from crush_gym.runtime.devices import Devices, placed_on, split_over
from crush_gym.runtime.parts import count_of, filled
from crush_gym.runtime.vmap import lanes_for
from crush_gym.runtime.xla import Options, on_cpu, options_for, placed

_AXES = {"outcome": 0, "seen": 0, "facts": 0, "final": -1, "final_facts": 0}
"""Where the boards are in what a step gives."""


class Batch:
    """So many lanes of one environment. Nothing is computed before the first `reset`."""

    def __init__(self, options: EnvOptions, lanes: int, mode: str, devices: Devices = ()) -> None:
        """mode: of autoreset, "next", "same" or "none"; devices: that the lanes are split over."""
        self.devices = devices
        self.options, self.task, self.order = options, options.task, options.order
        self.size, self.mode = lanes, mode
        self._blocks: list[Lanes] = []

    @property
    def started(self) -> bool:
        return bool(self._blocks)

    def reset(self, seeds: np.ndarray | None = None, which: np.ndarray | None = None) -> tuple[Seen, Facts]:
        """New episodes: number 0 of lanes of these seeds, or, without seeds, everywhere the next one.

        which: bool[lanes], the lanes meant; the others stay as they are.
        """
        old = self.lanes() if self._blocks else None
        if seeds is None:
            if old is None:
                raise ValueError("the first reset needs seeds")
            key, episode = np.asarray(old.key), np.asarray(old.episode) + 1
        else:
            key, episode = key_words(seeds), np.zeros(self.size, np.int32)
        if which is not None and old is not None:
            key, episode = np.where(which, key, old.key), np.where(which, episode, old.episode)
        return self.open(key, episode, old, which)

    def open(
        self,
        key: Any,
        episode: Any,
        old: Lanes | None = None,
        which: np.ndarray | None = None,
        number: np.ndarray | None = None,
    ) -> tuple[Seen, Facts]:
        """The episodes of these numbers, except where the old lanes stay. number: of the levels, if said."""
        key, episode = np.asarray(key, np.uint32), np.asarray(episode, np.int32)
        program = _opener(self.task, self.order, self._options, self.devices)
        given = np.full(self.size, -1, np.int32) if number is None else number
        parts = [program(*args, self._pool) for args in zip(*map(self._split, (key, episode, given)), strict=True)]
        lanes = self._join_lanes(parts)
        if which is not None and old is not None:
            lanes = jax.tree.map(lambda new, before: np.where(which, new, before), lanes, old)
        return self.restore(lanes)

    def restore(self, lanes: Lanes) -> tuple[Seen, Facts]:
        """Go on from these lanes, and see them."""
        leaves, structure = jax.tree.flatten(jax.tree.map(np.asarray, lanes))
        split = zip(*(self._split(leaf) for leaf in leaves), strict=True)
        self._blocks = [self._placed(jax.tree.unflatten(structure, block), -1) for block in split]
        look_at = _looker(self.task, self._options, self.devices)
        seen = [look_at(block, self._pool.levels) for block in self._blocks]
        return self._joined(seen, 0)

    def lanes(self) -> Lanes:
        """All lanes, on the host."""
        return self._join_lanes(self._blocks)

    def step(self, actions: np.ndarray) -> Step:
        """One step of every lane, the arrays of all lanes on the host, fresh ones that can be written to."""
        parts = self.step_blocks(actions)
        joined = {name: self._joined([getattr(part, name) for part in parts], axis) for name, axis in _AXES.items()}
        return Step(**joined)

    def step_blocks(self, actions: Any) -> list[Step]:
        """One step of every lane, block by block, on the device."""
        pool, program = self._pool, _advancer(self.task, self.mode, self.order, self._options, self.devices)
        calls = [
            functools.partial(program, block, action, pool)
            for block, action in zip(self._blocks, self._split(actions), strict=True)
        ]
        done = threads.run_all(program, calls)
        self._blocks = [lanes for lanes, _ in done]
        return [step for _, step in done]

    def on_device(self, parts: Sequence[Any], axis: int = 0) -> Any:
        """The blocks' arrays as one, on the device, without the lanes that fill up the last block."""
        if len(parts) == 1 and self._block == self.size:
            return parts[0]
        return _concatenate(axis, self.size)(tuple(parts))

    def shown(self, final: Glance, which: np.ndarray) -> Seen:
        """What was seen of some lanes at last: bool[lanes]; on the host."""
        few = jax.tree.map(lambda x: np.asarray(x)[..., which], final)
        return tasks.shown(self.task.spec, few, np)

    @functools.cached_property
    def example(self) -> Lanes:
        """Shapes and types of all lanes."""
        words, number = np.zeros((2, self.size), np.uint32), np.zeros(self.size, np.int32)
        return jax.eval_shape(_opener(self.task, self.order, ()), words, number, number, self.options.pool)

    @functools.cached_property
    def _block(self) -> int:
        """Lanes of one block."""
        if self.devices:
            return lanes_for(-(-self.size // len(self.devices))) * len(self.devices)
        if not on_cpu():
            return lanes_for(self.size)
        return lanes_for(-(-self.size // count_of(self.size, sizes.LOCKSTEP)))

    @functools.cached_property
    def _options(self) -> Options:
        """What the programs are compiled with."""
        return options_for(self.task.spec, self._block // max(len(self.devices), 1))

    @functools.cached_property
    def _pool(self) -> Pool:
        pool: Pool = self._placed(self.options.pool, None)
        return pool

    def _placed(self, tree: Any, axis: int | None) -> Any:
        """Arrays on the device, or cut along an axis and each part on its own."""
        return placed_on(self.devices, tree, axis) if self.devices else placed(tree)

    def _split(self, x: Any) -> list[Any]:
        """By blocks along the last axis; the last lane fills up the last block."""
        return filled(x, self.size, self._block)

    def _join_lanes(self, parts: Sequence[Lanes]) -> Lanes:
        return self._joined(parts, -1)

    def _joined(self, parts: Sequence[Any], axis: int) -> Any:
        """The blocks' arrays as one on the host, without the lanes that fill up the last block."""

        def join(*arrays: Any) -> np.ndarray:
            whole = np.concatenate([np.asarray(x) for x in arrays], axis=axis)
            return whole[: self.size] if axis == 0 else whole[..., : self.size]

        return jax.tree.map(join, *parts)


def key_words(seeds: np.ndarray) -> np.ndarray:
    """The words of `jax.random.key(seed)`, uint32[2, lanes]. seeds: uint32[lanes]."""
    seeds = np.asarray(seeds, np.uint32)
    return np.stack([np.zeros_like(seeds), seeds])


@functools.lru_cache(maxsize=64)
def _opener(task: Task, order: str, options: Options, devices: Devices = ()) -> Callable[..., Lanes]:
    def opened(key: jax.Array, episode: jax.Array, given: jax.Array, pool: Pool) -> Lanes:
        number = jnp.where(given < 0, tasks.next_level(key, episode, pool, order), given)
        return tasks.opened(task, key, episode, number, pool.levels)

    return _program(opened, options, devices, (-1, -1, -1, None), -1)


@functools.lru_cache(maxsize=64)
def _looker(task: Task, options: Options, devices: Devices = ()) -> Callable[..., tuple[Seen, Facts]]:
    return _program(functools.partial(tasks.look_at, task), options, devices, (-1, None), 0)


@functools.lru_cache(maxsize=64)
def _advancer(
    task: Task, mode: str, order: str, options: Options, devices: Devices = ()
) -> Callable[..., tuple[Lanes, Step]]:
    advance = functools.partial(tasks.advance, task, mode, order)
    axes: Any = Step._make(_AXES[name] for name in Step._fields)
    return _program(advance, options, devices, (-1, -1, None), (-1, axes))


def _program(
    f: Callable[..., Any], options: Options, devices: Devices, in_axes: tuple[Any, ...], out_axes: Any
) -> Callable[..., Any]:
    """Compiled for one device, or for parts of the lanes on several. in_axes, out_axes: of the lanes."""
    return kept.program(split_over(devices, f, in_axes, out_axes) if devices else f, options)


@functools.lru_cache(maxsize=64)
def _concatenate(axis: int, size: int) -> Callable[[tuple[Any, ...]], Any]:
    def whole(*xs: jax.Array) -> jax.Array:
        return jax.lax.slice_in_dim(jnp.concatenate(xs, axis), 0, size, axis=axis)

    return kept.program(lambda parts: jax.tree.map(whole, *parts))
