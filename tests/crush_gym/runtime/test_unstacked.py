"""Programs on planes that are not stacked: the same results, rule by rule and for beats of the game."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from crush_gym import Game, load_pack
from crush_gym.engine import bits, randomness
from crush_gym.engine.board import Board
from crush_gym.engine.mechanics import specials
from crush_gym.engine.state import rest
from crush_gym.engine.terrain import survey, with_boards_axis
from crush_gym.runtime import chunks, rollout, unstacked, xla

X = np.arange(3 * 4 * 5, dtype=np.uint16).reshape(3, 4, 5) * 7919
Y = X[::-1] ^ 0x5555

by_rows_shifted = bits.by_rows(lambda a: lax.pad(a, np.uint16(0), [(0, 0, 0), (-1, 1, 0), (0, 0, 0)]) & a[:1])

OPERATIONS: dict[str, Callable[[jax.Array, jax.Array], Any]] = {
    "words": lambda x, y: (x & ~y) | (x << 3) | (y >> 2),
    "one plane of a stack": lambda x, y: x[1] | y[-1],
    "planes, rows and boards": lambda x, y: (x[:2], x[:, 1:3], x[..., 1:4], x[::2, ::3]),
    "stacks": lambda x, y: (jnp.stack([x[0], y[2]]), jnp.concatenate([x, y]), jnp.concatenate([x, y], axis=1)),
    "halos": lambda x, y: lax.pad(x, np.uint16(0), [(0, 0, 0), (-1, 1, 0), (0, 0, 0)]),
    "a halo of planes": lambda x, y: lax.pad(x, np.uint16(9), [(1, 0, 0), (0, 0, 0), (0, 0, 0)]),
    "spread": lambda x, y: (x[0][None] & y, x[:, None] | y[None], x[0, 0] + y, jnp.broadcast_to(x[0, :, :1], (4, 5))),
    "sums": lambda x, y: (x.sum(0), x.sum(1), x.max((0, 1)), (x > y).any(0), x.sum(dtype=np.uint16), x.sum((0, 2))),
    "shapes": lambda x, y: (x.reshape(12, 5), x.reshape(3, 2, 2, 5), x.reshape(-1), x[0][None, None], x[:1].squeeze(0)),
    "turned": lambda x, y: (x.transpose(1, 0, 2), x.transpose(2, 1, 0), jnp.flip(x, 0)),
    "chosen": lambda x, y: (jnp.where(x > y, x, y), jnp.where(x[0, 0] > 9, x, y), jnp.take(x, jnp.array([2, 0]), -1)),
    "nothing": lambda x, y: (x[:0], jnp.zeros((0, 4, 5)).sum(0), jnp.concatenate([x[:0], y])),
    "numbers": lambda x, y: (lax.broadcasted_iota(np.uint16, x.shape, 1) + x, lax.population_count(y), x.astype("f4")),
    "a scan": lambda x, y: lax.scan(lambda c, _: (c ^ (c << 1) ^ y, None), x, None, length=9)[0],
    "a scan of few rounds": lambda x, y: lax.fori_loop(0, 3, lambda i, c: c + y + i.astype(np.uint16), x),
    "a scan along an array": lambda x, y: lax.scan(lambda c, p: (c ^ p, c & p), x[0], y),
    "a scan that empties planes": lambda x, y: lax.fori_loop(0, 9, lambda i, c: (c[0] ^ c[1] ^ y, x * 0), (x, y)),
    "a scan that leaves numbers alone": lambda x, y: lax.fori_loop(
        0, 9, lambda i, c: (c[0] ^ c[1] ^ c[2], c[1], jnp.zeros_like(c[2]), c[3] + i), (x, y, x, x[0].astype("i4"))
    ),
    "a scan with what all boards share": lambda x, y: lax.fori_loop(
        0, 9, lambda i, c: c ^ jnp.where(y[:, :, :1] > 3, y[:, :, :1] + 1, c), x
    ),
    "by rows": lambda x, y: bits.by_rows(lambda a: (a[0] | a[1, :1], lax.broadcasted_iota(np.uint16, a.shape, 1)))(x)[
        0
    ],
    "by rows within a scan": lambda x, y: lax.fori_loop(0, 9, lambda i, c: c ^ by_rows_shifted(c) ^ y, x),
    "a loop": lambda x, y: lax.while_loop(lambda c: c[1] < y[0, 0, 1], lambda c: (c[0] ^ y, c[1] + 1), (x, x[0, 0, 0])),
    "a condition": lambda x, y: lax.cond(x[0, 0, 1] > 3, lambda a: a ^ 1, lambda a: a ^ 2, y),
    "a call": lambda x, y: jax.jit(lambda a: a[0] | a[1])(x) & y,
}


@pytest.mark.parametrize("whole", [unstacked.ROWS, unstacked.PLANES])
@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_give_what_they_gave(name: str, whole: int) -> None:
    f = OPERATIONS[name]
    assert_equal(unstacked.unstacked(f, whole)(X, Y), f(jnp.asarray(X), jnp.asarray(Y)))


def test_elsewhere_than_on_a_cpu_the_last_branch_is_taken_without_barriers() -> None:
    def f(x: jax.Array) -> jax.Array:
        y: jax.Array = lax.platform_dependent(x, cpu=lambda a: a + 1, default=lambda a: lax.optimization_barrier(a + 2))
        return y

    assert np.array_equal(unstacked.unstacked(f)(X), X + 2)
    text = jax.jit(unstacked.unstacked(f)).lower(X).as_text()
    assert "optimization_barrier" not in text and "case" not in text


def test_a_loop_hands_on_only_what_its_rounds_change() -> None:
    def f(x: jax.Array, y: jax.Array) -> Any:
        return lax.fori_loop(0, 9, lambda i, c: (c[0] ^ c[1] ^ c[2], c[1], jnp.zeros_like(c[2])), (x, y, x))

    made = jax.make_jaxpr(unstacked.unstacked(f))(X, Y)
    (loop,) = (x for x in made.eqns if x.primitive.name == "scan")
    assert loop.params["num_carry"] == 2 + len(X)  # the number of the round, twice, and the planes of one array


def test_what_levels_fix_is_worked_out_before_a_loop() -> None:
    def f(x: jax.Array, level: jax.Array) -> Any:
        return lax.fori_loop(0, 9, lambda i, c: c ^ jnp.where(level > 3, level * 2, level), x)

    made = jax.make_jaxpr(unstacked.unstacked(f))(X, X[0, :, :1])
    (loop,) = (x for x in made.eqns if x.primitive.name == "scan")
    assert "mul" in str(made) and "mul" not in str(loop.params["jaxpr"])


def small() -> Game:
    return Game(rules="combo", shape=(4, 4), colours=3, moves=9)


def of_level(name: str) -> Game:
    return Game(load_pack("basics")[name])


@pytest.mark.parametrize(
    ("game", "whole"),
    [
        (small, unstacked.ROWS),
        pytest.param(partial(of_level, "specials"), unstacked.PLANES, marks=pytest.mark.slow),
        pytest.param(partial(of_level, "everything"), unstacked.PLANES, marks=pytest.mark.slow),
    ],
)
def test_beats_of_the_game_are_the_same(game: Callable[[], Game], whole: int) -> None:
    played = game()
    assert played.level is not None
    keys = jax.random.split(jax.random.key(4), 3)
    state, bits, own = played.reset(keys), randomness.key_bits(keys), with_boards_axis(played.level)
    play, terrain = rest(Board.of(played.spec, state.planes), state.books), survey(played.spec, own)

    def beat(play: Any) -> Any:
        play, moves, words = rollout.at_rest(terrain, bits, play)
        return rollout.move_on(terrain, play, rollout.at_random(play, moves, words), words)

    usual, apart = (jax.jit(f, compiler_options=dict(xla.QUICK)) for f in (beat, unstacked.unstacked(beat, whole)))
    for _ in range(6):
        after = usual(play)
        assert_equal(apart(play), after)
        play = after
    assert int(play.books.made.sum()) > 3 and int(play.cleared.sum()) > 0


def test_colour_bombs_that_draw_at_once_hit_what_they_hit_one_by_one() -> None:
    spec, draw = Game(rules="points", shape=(5, 6), colours=5).spec, np.random.default_rng(6)
    board = Board.of(spec, draw.integers(0, 1 << 6, (len(spec.planes), 5, 300), np.uint16))
    bombs = np.where(draw.random((5, 300)) < 0.2, draw.integers(0, 1 << 6, (5, 300)), 0).astype(np.uint16)
    words, number = draw.integers(0, 1 << 32, (2, 300), np.uint32), draw.integers(0, 9, 300, np.uint16)

    def at_once(board: Board, *given: Any) -> Any:
        return specials.bombed_at_once(board.awake(), *given)

    expected = specials.bombed_one_by_one(board.awake(), bombs, words, number)
    for f in (at_once, unstacked.unstacked(at_once)):
        assert_equal(f(board, bombs, words, number), expected)
    assert len({int(x) for x in np.bitwise_count(np.asarray(expected)).sum(0)}) > 9


def test_kernels_are_unstacked_where_programs_are_made_for_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(chunks, "unstacked", lambda f, pieces: asked.append(f) or f)

    def lowered(platform: str) -> str:
        return (
            jax.jit(lambda x: chunks.in_chunks(lambda a: a ^ 1)(x))
            .trace(X)
            .lower(lowering_platforms=(platform,))
            .as_text()
        )

    lowered("cuda")
    assert not asked
    monkeypatch.setattr(xla, "MADE_FOR", "gpu")
    lowered("cuda")
    assert len(asked) == 1


def assert_equal(found: Any, expected: Any) -> None:
    """Shapes, types and bytes."""
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        assert np.array_equal(a, b)
