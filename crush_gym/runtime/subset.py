"""Taking a few boards out of a batch and putting them back; the boards' axis is the last of every array."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp
from jax import lax

from crush_gym import sizes
from crush_gym.engine.shuffle import due, shuffle
from crush_gym.engine.state import Play
from crush_gym.engine.terrain import Terrain

Tree = TypeVar("Tree")


def on_few(tree: Tree, chosen: jax.Array, most: int, work: Callable[[Tree], Tree]) -> Tree:
    """Do `work` on the first `most` of the boards chosen (bool[B]) and leave the others as they are.

    Where fewer are chosen the rest are copies of the last board, and what becomes of them is dropped.
    `work` must leave boards alone that are not chosen: where `most` is all, it gets them all; and what all boards
    share, arrays whose last axis has size 1.
    """
    size = chosen.shape[0]
    if most >= size:
        return work(tree)
    lanes = jnp.nonzero(chosen, size=most, fill_value=size)[0]
    few = jax.tree.map(lambda x: x if x.shape[-1] == 1 else x.at[..., lanes].get(mode="clip"), tree)
    done = work(few)
    return jax.tree.map(lambda x, y, z: x if z is y else x.at[..., lanes].set(z, mode="drop"), tree, few, done)


def shuffle_all(terrain: Terrain, play: Play) -> Play:
    """Shuffle until no board is without a legal move, or lost; few at a time, for it is rare."""
    few = max(sizes.SHUFFLED, sizes.SHUFFLED_CELLS // (play.spec.height * play.spec.width))

    def some(boards: tuple[Play, jax.Array]) -> tuple[Play, jax.Array]:
        return on_few(boards, due(boards[0]), few, _until_done)

    return lax.while_loop(lambda x: jnp.any(due(x[0])), some, (play, terrain.colours))[0]


def _until_done(boards: tuple[Play, jax.Array]) -> tuple[Play, jax.Array]:
    play, colours = boards
    return lax.while_loop(lambda p: jnp.any(due(p)), functools.partial(shuffle, colours), play), colours
