"""PQN: legal moves only, the same from the same seed, normalised layers, and that it learns."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from agents.learning.inputs import inputs_of
from agents.learning.learner import in_minibatches
from agents.learning.networks import Architecture
from agents.learning.practice import Practice
from agents.pqn import Batch, Pqn, Settings
from crush_gym import functional

SMALL = Settings(boards=16, length=8, minibatch=64, updates=2)


@pytest.fixture(scope="module")
def practice() -> Practice:
    env = functional.make("Crush/Combo-v0", shape=(5, 5), colours=4, moves=6)
    return Practice(env, inputs_of(env.game, preview=False))


@pytest.fixture(scope="module")
def learner(practice: Practice) -> Pqn:
    return Pqn(practice, Architecture.parse("edge:layers=1,filters=8,hidden=4,norm=True"), SMALL, 10_000)


def test_the_same_seed_gives_the_same_weights_and_only_legal_moves_are_made(learner: Pqn) -> None:
    def learned(seed: int) -> tuple[list[Any], Any]:
        state, metrics = learner.learn(learner.start(jax.random.key(seed)))
        return jax.tree.leaves(learner.weights(state)), metrics

    (one, metrics), (again, _), (other, _) = learned(0), learned(0), learned(1)
    assert all(np.array_equal(a, b) for a, b in zip(one, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    assert np.isfinite([v for k, v in metrics.items() if k.startswith("loss/")]).all()
    assert metrics["play/moves"] == 6  # one that changed nothing would have left the attempt its moves


def test_the_network_is_normalised_where_no_other_is_asked_for(practice: Practice) -> None:
    assert Pqn(practice).architecture == Architecture.parse("edge:norm=True")


def test_a_step_moves_the_values_of_the_moves_that_were_made_to_their_targets(learner: Pqn) -> None:
    state = learner.start(jax.random.key(0))
    view, legal = learner.practice.view(state.situation), learner.practice.legal(state.situation)
    action = jnp.argmax(legal, axis=1).astype(jnp.int32)
    batch = Batch(view, legal, action, jnp.arange(16.0))

    def error(weights: Any) -> float:
        logits, value = map(np.asarray, learner.network.apply(weights, learner.inputs.cells(view)))
        q = value + logits[np.arange(16), action] - np.mean(logits, axis=1, where=np.asarray(legal))
        return float(np.mean((q - np.arange(16)) ** 2) / 2)

    carry: Any = state.weights, state.optimiser
    step = jax.jit(learner._minibatch)
    told = step(carry, batch)[1]["loss/error"]
    np.testing.assert_allclose(told, error(state.weights), rtol=1e-5)
    for _ in range(20):
        carry, _ = step(carry, batch)
    assert error(carry[0]) < told


def test_every_epoch_has_each_move_once_in_an_order_of_its_own() -> None:
    def step(carry: Any, part: jax.Array) -> Any:
        number, orders = carry
        return (number + 1, orders.at[number].set(part)), {"sum": part.sum()}

    (count, orders), metrics = in_minibatches(
        step, (0, jnp.zeros((9, 4))), jnp.arange(12.0).reshape(4, 3), jax.random.key(0), epochs=3, size=4
    )
    epochs = np.asarray(orders).reshape(3, 12)
    assert count == 9 and metrics["sum"] == 22  # 66 in three parts
    assert (np.sort(epochs, axis=1) == np.arange(12)).all() and len({tuple(e) for e in epochs}) == 3


@pytest.mark.slow
def test_learns_to_score_more_than_at_random(practice: Practice) -> None:
    settings = dataclasses.replace(SMALL, boards=64, length=8, minibatch=128, rate=3e-3, updates=40)
    learner = Pqn(practice, Architecture.parse("edge:layers=2,filters=16,norm=True"), settings, 160_000)
    state = learner.start(jax.random.key(0))
    _, stats = practice.game.rollout(jax.random.key(1), attempts=1000)
    for _ in range(8):
        state, metrics = learner.learn(state)
    assert metrics["play/greedy"] > np.mean(stats.score) + 4 * np.std(stats.score) / 1000**0.5


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"minibatch": 60}, "must be a multiple of minibatch, 60"),
        ({"trace": 1.5}, "trace must be from 0 to 1"),
        ({"greedy": -0.5}, "greedy must be from 0 to 1"),
    ],
)
def test_settings_that_cannot_work_are_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        dataclasses.replace(SMALL, **wrong)
