"""A few boards at a time in one kernel: the same values, whatever the number of boards."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crush_gym.engine.batching import lanes_for
from crush_gym.engine.kernels import CHUNK, chunk_for, in_chunks


def worked(shared: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """A number for every board, and one more than its plane; shared: of size 1."""
    return jnp.sum(x, axis=0) * shared, x + 1


@pytest.mark.parametrize("boards", [1, 2, 31, 64, CHUNK, CHUNK + 1, 200, 3 * CHUNK, 1000])
def test_boards_do_not_notice_the_chunks(boards: int) -> None:
    x = np.arange(5 * boards, dtype=np.int32).reshape(5, boards)
    sums, more = jax.jit(in_chunks(worked))(jnp.full(1, 3), x)
    np.testing.assert_array_equal(sums, 3 * x.sum(axis=0))
    np.testing.assert_array_equal(more, x + 1)


@pytest.mark.parametrize("boards", [1, 65, CHUNK, CHUNK + 1, 1088, 2112, 4096, 65_536])
def test_batches_are_padded_to_whole_chunks(boards: int) -> None:
    lanes = lanes_for(boards)
    assert boards <= lanes <= boards + 2 * CHUNK and lanes % chunk_for(lanes) == 0


def test_a_call_is_small_on_a_cpu_alone() -> None:
    args = (jnp.full(1, 3), jnp.zeros((5, 300), jnp.int32))
    traced = jax.jit(in_chunks(worked)).trace(*args)
    assert 'xla_cpu_small_call="true"' in traced.lower().compile().as_text()
    assert "xla_cpu_small_call" not in traced.lower(lowering_platforms=("cuda",)).as_text()


@pytest.mark.parametrize("boards", [1, 300])
def test_arguments_may_be_empty_constant_or_of_no_use(boards: int) -> None:
    def step(x: jax.Array, unused: jax.Array, empty: jax.Array, constant: jax.Array) -> tuple[jax.Array, jax.Array]:
        return x + jnp.sum(empty) + constant, empty

    def loop(x: jax.Array, empty: jax.Array) -> jax.Array:
        def once(_: int, x: jax.Array) -> jax.Array:
            return in_chunks(step)(x, x + 1, empty, jnp.full(1, 7))[0]

        return jax.lax.fori_loop(0, 3, once, x)

    x = jnp.arange(boards)
    np.testing.assert_array_equal(jax.jit(loop)(x, jnp.zeros((0, boards), jnp.int32)), x + 21)
