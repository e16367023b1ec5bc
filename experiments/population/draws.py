"""What synthetic players draw: numbers from their keys that depend on what they are for and on nothing else."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from crush_gym.runtime import randomness

LAPSE, HOW_MANY, LOOK, CHOICE, NOTICE, PICK = range(1, 7)
"""What a number is drawn for."""


def uniform(bits: jax.Array, purpose: int, cell: jax.Array | int = 0) -> jax.Array:
    """From 0 to 1, neither of them: float32[..., B]. bits: words of the players' keys, uint32[2, B]."""
    value = randomness.draw(bits, randomness.PASS, cell, purpose) >> 8
    return (value.astype(jnp.float32) + 0.5) / 2.0**24


def gumbel(bits: jax.Array, purpose: int, cell: jax.Array | int = 0) -> jax.Array:
    """Gumbel noise: the greatest of logarithms of weights and such noise is a draw in proportion to the weights."""
    return -jnp.log(-jnp.log(uniform(bits, purpose, cell)))
