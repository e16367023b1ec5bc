"""Words of bits as cells, boards in front."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crush_gym.runtime.observe import cells_of


@pytest.mark.parametrize("width", [1, 2, 7, 8, 9, 16])
def test_cells_are_the_bits_of_the_words(width: int) -> None:
    words = np.random.default_rng(width).integers(0, 2**16, (3, 4, 5)).astype(np.uint16)
    expected = np.zeros((5, 3, 4, width), np.uint8)
    for n, r, b in np.ndindex(words.shape):
        expected[b, n, r] = [255 * (int(words[n, r, b]) >> c & 1) for c in range(width)]
    for found in (cells_of(width, words, np), jax.jit(lambda x: cells_of(width, x))(jnp.asarray(words))):  # type: ignore[arg-type]
        assert found.dtype == np.uint8
        np.testing.assert_array_equal(found, expected)
