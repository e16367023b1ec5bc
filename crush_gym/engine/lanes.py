"""Taking a few boards out of a batch and putting them back; the boards' axis is the last of every array."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp

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
