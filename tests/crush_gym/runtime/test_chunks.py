"""A few boards at a time in one kernel: the same values, whatever the number of boards."""

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crush_gym.engine import randomness
from crush_gym.engine.spec import Spec
from crush_gym.game import Game, _compiled
from crush_gym.runtime import chunks, lockstep
from crush_gym.runtime.chunks import Part, chunk_for, in_chunks, in_chunks_by_parts
from crush_gym.runtime.identity import identity
from crush_gym.runtime.vmap import lanes_for
from crush_gym.runtime.xla import QUICK, known
from crush_gym.sizes import CHUNK
from crush_gym.sizes import RICH_PLANES as RICH


def worked(shared: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """A number for every board, and one more than its plane; shared: of size 1."""
    return jnp.sum(x, axis=0) * shared, x + 1


@pytest.mark.parametrize("boards", [1, 2, 31, 64, CHUNK, CHUNK + 1, 200, 3 * CHUNK, 1000])
def test_boards_do_not_notice_the_chunks(boards: int) -> None:
    x = np.arange(5 * boards, dtype=np.int32).reshape(5, boards)
    sums, more = jax.jit(in_chunks(worked))(jnp.full(1, 3), x)
    np.testing.assert_array_equal(sums, 3 * x.sum(axis=0))
    np.testing.assert_array_equal(more, x + 1)


def in_parts(part: Part, shared: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """A plane to which `shared` is added wherever it is below 7, until it is nowhere; and its sum."""
    added = part(lambda shared, x: jnp.where(x < 7, x + shared, x))
    more = jax.lax.while_loop(lambda x: jnp.any(x < 7), lambda x: added(shared, x), x)
    return jnp.sum(more, axis=0), more


def spec_of(planes: int) -> Spec:
    return Spec(9, 9, 6, "saga", "any", frozenset(), tuple(f"plane{i}" for i in range(planes)))


@pytest.mark.parametrize("planes", [RICH - 1, RICH])
@pytest.mark.parametrize("boards", [1, CHUNK, 200])
def test_boards_do_not_notice_how_many_kernels_there_are(boards: int, planes: int) -> None:
    x = np.arange(5 * boards, dtype=np.int32).reshape(5, boards) % 11
    sums, more = jax.jit(in_chunks_by_parts(spec_of(planes), in_parts))(jnp.full(1, 3), x)
    expected = np.where(x < 7, x + 3 * -(-(7 - x) // 3), x)
    np.testing.assert_array_equal(more, expected)
    np.testing.assert_array_equal(sums, expected.sum(axis=0))


def test_only_rich_games_have_a_kernel_for_each_part() -> None:
    def loops_in_the_kernel(planes: int) -> bool:
        # Newer XLAs make kernels of small loops themselves.
        options = {"xla_disable_hlo_passes": "small-while-loop-hoisting"}
        program = jax.jit(in_chunks_by_parts(spec_of(planes), in_parts), compiler_options=options)
        entry = program.lower(jnp.full(1, 3), jnp.ones((5, 64), jnp.int32)).compile().as_text().split("ENTRY")[1]
        return "while(" not in entry

    assert loops_in_the_kernel(RICH - 1)
    assert not loops_in_the_kernel(RICH)


@pytest.mark.parametrize("boards", [1, 65, CHUNK, CHUNK + 1, 1088, 2112, 4096, 65_536])
def test_batches_are_padded_to_whole_chunks(boards: int) -> None:
    lanes = lanes_for(boards)
    assert boards <= lanes <= boards + 2 * CHUNK and lanes % chunk_for(lanes) == 0


def test_a_call_is_small_on_a_cpu_alone() -> None:
    args = (jnp.full(1, 3), jnp.zeros((5, 300), jnp.int32))
    for whole in (in_chunks(worked), in_chunks_by_parts(spec_of(RICH), in_parts)):
        traced = jax.jit(whole).trace(*args)
        assert 'xla_cpu_small_call="true"' in traced.lower().compile().as_text()
        assert "xla_cpu_small_call" not in traced.lower(lowering_platforms=("cuda",)).as_text()


def test_without_kernels_nothing_is_marked_and_games_are_played_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    game, key = Game(rules="points", shape=(3, 3), colours=3, moves=2), jax.random.key(0)
    state = game.reset(key)
    args = randomness.key_bits(key), state, np.argmax(game.legal(state)).astype(np.int32), game.level

    def played() -> tuple[list[bytes], str]:
        program = _compiled.__wrapped__(game.spec, "step", known(QUICK))  # type: ignore[attr-defined]
        return [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(program(*args))], program.lower(*args).as_text()

    with_kernels, text = played()
    assert "xla_cpu_small_call" in text
    monkeypatch.setattr(chunks, "KERNELS", False)
    without, text = played()
    assert "xla_cpu_small_call" not in text
    assert without == with_kernels


@pytest.mark.parametrize(("setting", "kernels"), [("off", "False"), ("", "True")])
def test_kernels_are_off_where_the_environment_says_so(setting: str, kernels: str) -> None:
    command = [sys.executable, "-c", "from crush_gym.runtime import chunks; print(chunks.KERNELS)"]
    done = subprocess.run(
        command, env={**os.environ, "CRUSH_GYM_KERNELS": setting}, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == kernels


def test_programs_with_and_without_kernels_are_different_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    known = identity(lockstep.legal)
    monkeypatch.setattr(chunks, "KERNELS", False)
    assert identity(lockstep.legal) != known


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
