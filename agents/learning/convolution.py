"""Convolutions whose gradients are as fast inside of loops as outside of them.

XLA:CPU does not bring the gradients of a convolution into the form that its fast code knows where they stand in the
body of a loop, as a learner's whole update does: there they take twenty times as long. Written by hand they do not:
the gradient of the input is a convolution in forward form with the kernel turned round, that of the kernel one product
of matrices for each of its places.
"""

from __future__ import annotations

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax import lax

__all__ = ["Conv", "convolve"]


@jax.custom_vjp
def convolve(x: jax.Array, kernel: jax.Array) -> jax.Array:
    """Convolve boards with zeros around them: float[B, H, W, C], float[rows, columns, C, D] -> float[B, H, W, D].

    Kernels have odd sides.
    """
    return _plainly(x, kernel)


def _plainly(x: jax.Array, kernel: jax.Array) -> jax.Array:
    return lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def _forward(x: jax.Array, kernel: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    return _plainly(x, kernel), (x, kernel)


def _backward(saved: tuple[jax.Array, jax.Array], gradient: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Other devices have libraries that choose the best way themselves."""
    given: Any = lax.platform_dependent(*saved, gradient, cpu=_by_hand, default=_by_jax)
    return given[0], given[1]


def _by_jax(x: jax.Array, kernel: jax.Array, gradient: jax.Array) -> tuple[jax.Array, jax.Array]:
    given: tuple[jax.Array, jax.Array] = jax.vjp(_plainly, x, kernel)[1](gradient)
    return given


def _by_hand(x: jax.Array, kernel: jax.Array, gradient: jax.Array) -> tuple[jax.Array, jax.Array]:
    """What the convolution did, backwards; see the head of this file."""
    rows, columns, taken, made = kernel.shape
    height, width = x.shape[1:3]
    of_input = _plainly(gradient, jnp.flip(kernel, (0, 1)).swapaxes(2, 3))
    padded = jnp.pad(x, ((0, 0), (rows // 2, rows // 2), (columns // 2, columns // 2), (0, 0)))
    flat = gradient.reshape(-1, made)
    places = [
        padded[:, row : row + height, column : column + width].reshape(-1, taken).T @ flat
        for row in range(rows)
        for column in range(columns)
    ]
    return of_input, jnp.stack(places).reshape(kernel.shape)


convolve.defvjp(_forward, _backward)


class Conv(nn.Module):
    """A layer of `convolve` with a bias. features: planes that it makes; side: of its kernel, odd."""

    features: int
    side: int = 3
    scale: float = 2.0**0.5

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """float[B, H, W, C] -> float[B, H, W, features]."""
        shape = (self.side, self.side, x.shape[-1], self.features)
        kernel = self.param("kernel", nn.initializers.orthogonal(self.scale), shape)
        bias = self.param("bias", nn.initializers.zeros, (self.features,))
        return convolve(x, kernel) + bias
