"""What moves are worth: masks, chance and returns, each against its definition."""

import jax
import jax.numpy as jnp
import numpy as np

from agents.learning.action_values import chosen, dueling, highest, of_moves, returns, shares
from agents.learning.learner import masked


def some(seed: int = 0) -> tuple[jax.Array, jax.Array, jax.Array]:
    """logits, values and legal moves of 50 boards with 9 actions."""
    rng = np.random.default_rng(seed)
    legal = rng.random((50, 9)) < 0.4
    legal[:, 4] |= ~legal.any(axis=1)
    return jnp.asarray(rng.normal(size=(50, 9))), jnp.asarray(rng.normal(size=50)), jnp.asarray(legal)


def test_a_board_is_worth_the_mean_of_its_legal_moves() -> None:
    logits, value, legal = some()
    found = dueling(logits, value, legal)
    np.testing.assert_allclose(np.mean(found, axis=1, where=legal), value, rtol=1e-5, atol=1e-6)
    elsewhere = dueling(jnp.where(legal, logits, 1e6), value, legal)
    np.testing.assert_array_equal(elsewhere[legal], found[legal])


def test_the_best_move_is_that_of_the_greatest_logit() -> None:
    logits, value, legal = some()
    best = highest(dueling(logits, value, legal), legal)
    assert (best == jnp.argmax(masked(logits, legal), axis=1)).all()
    assert (best == np.argmax(np.where(legal, logits, -np.inf), axis=1)).all()


def test_a_board_without_legal_moves_has_no_nan() -> None:
    logits, value, legal = some()
    assert np.isfinite(dueling(logits, value, legal & False)).all()


def test_chance_draws_each_legal_move_equally_often_and_no_other() -> None:
    legal = jnp.asarray([True, False, True, False, True])
    values = jnp.broadcast_to(jnp.asarray([0.0, 9.0, 1.0, 9.0, 0.0]), (20_000, 5))
    share = jnp.full(20_000, 0.3)
    made = chosen(jax.random.key(0), values, jnp.broadcast_to(legal, values.shape), share)
    often = np.bincount(made, minlength=5) / len(made)
    np.testing.assert_allclose(often, [0.1, 0, 0.8, 0, 0.1], atol=0.01)  # four standard errors
    assert often[1] == often[3] == 0
    assert (chosen(jax.random.key(0), values, legal[None] & (values > -1), share * 0) == 2).all()


def test_shares_fall_geometrically_and_end_with_boards_without_chance() -> None:
    found = np.asarray(shares(16, 0.4, 0.125))
    assert (found[14:] == 0).all()
    np.testing.assert_allclose(found[[0, 13]], [0.4, 0.004], rtol=1e-5)
    np.testing.assert_allclose(found[1:14] / found[:13], 0.01 ** (1 / 13), rtol=1e-5)
    assert (np.asarray(shares(8, 0.4, 1.0)) == 0).all()


def test_returns_are_the_weighted_means_of_those_of_so_many_moves() -> None:
    rng, discount, trace, moves, boards = np.random.default_rng(0), 0.9, 0.7, 7, 5
    reward, following = rng.normal(size=(2, moves, boards))
    over = rng.random((moves, boards)) < 0.2

    def counted(start: int, number: int, board: int) -> float:
        """So many rewards, then what is thought to follow."""
        total = 0.0
        for n in range(number):
            total += discount**n * reward[start + n, board]
            if over[start + n, board]:
                return total
        return total + discount**number * following[start + number - 1, board]

    expected = np.zeros((moves, boards))
    for start, board in np.ndindex(moves, boards):
        most = moves - start
        each = [counted(start, number, board) for number in range(1, most + 1)]
        weights = [(1 - trace) * trace**n for n in range(most - 1)] + [trace ** (most - 1)]
        expected[start, board] = np.dot(weights, each)
    found = returns(*map(jnp.asarray, (reward, over, following)), discount, trace)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_nothing_follows_the_end_of_an_attempt_not_even_nan() -> None:
    reward, over = jnp.ones((3, 1)), jnp.asarray([[False], [True], [False]])
    following = jnp.asarray([[4.0], [jnp.nan], [2.0]])
    found = returns(reward, over, following, 0.5, 0.0)
    np.testing.assert_allclose(found[:, 0], [1 + 0.5 * 4, 1, 1 + 0.5 * 2])


def test_the_value_of_a_move_is_taken_at_its_number() -> None:
    assert of_moves(jnp.arange(6.0).reshape(2, 3), jnp.asarray([2, 0])).tolist() == [2, 3]
