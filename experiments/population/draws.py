"""What synthetic players draw: numbers from their keys that depend on what they are for and on nothing else."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from crush_gym.runtime import randomness

LAPSE, HOW_MANY, LOOK, CHOICE, NOTICE, PICK = range(1, 7)
"""What a number is drawn for."""


LAST = 1 - 2.0**-24
"""The greatest float32 below 1."""


def uniform(bits: jax.Array, purpose: int, cell: jax.Array | int = 0) -> jax.Array:
    """From 0 to 1, neither of them: float32[..., B]. bits: words of the players' keys, uint32[2, B]."""
    return between(randomness.draw(bits, randomness.PASS, cell, purpose))


def between(word: jax.Array) -> jax.Array:
    """From 0 to 1, neither of them, in proportion to a word: float32 from uint32."""
    # The last of 2**24 midpoints has no float32 of its own and would be 1.
    return jnp.minimum(((word >> 8).astype(jnp.float32) + 0.5) / 2.0**24, LAST)


def gumbel(bits: jax.Array, purpose: int, cell: jax.Array | int = 0) -> jax.Array:
    """Gumbel noise: the greatest of logarithms of weights and such noise is a draw in proportion to the weights."""
    return -jnp.log(-jnp.log(uniform(bits, purpose, cell)))
