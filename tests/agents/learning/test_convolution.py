"""Convolutions: the gradients written by hand against JAX's own."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from agents.learning.convolution import convolve


def plainly(x: jax.Array, kernel: jax.Array) -> jax.Array:
    return lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@pytest.mark.parametrize(("rows", "columns"), [(3, 3), (1, 1), (5, 3)])
def test_gradients_are_those_of_jax(rows: int, columns: int) -> None:
    keys = jax.random.split(jax.random.key(0), 3)
    x = jax.random.normal(keys[0], (4, 6, 5, 3))
    kernel = jax.random.normal(keys[1], (rows, columns, 3, 2))
    weight = jax.random.normal(keys[2], (4, 6, 5, 2))

    def loss(convolution, x, kernel):
        return jnp.sum(jnp.sin(convolution(x, kernel)) * weight)

    mine = jax.jit(jax.grad(lambda x, k: loss(convolve, x, k), (0, 1)))(x, kernel)
    jaxs = jax.jit(jax.grad(lambda x, k: loss(plainly, x, k), (0, 1)))(x, kernel)
    for a, b in zip(mine, jaxs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_lowers_for_gpus() -> None:
    x, kernel = jnp.ones((2, 5, 5, 3)), jnp.ones((3, 3, 3, 4))
    gradient = jax.jit(jax.grad(lambda x, k: convolve(x, k).sum(), (0, 1)))
    assert "convolution" in gradient.trace(x, kernel).lower(lowering_platforms=("cuda",)).as_text()
