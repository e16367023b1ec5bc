"""Expert iteration: what the teacher makes of its futures, that they are fresh, and that the network learns it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from agents.expert import Expert, Settings, improved
from agents.learning.inputs import inputs_of
from agents.learning.learner import ILLEGAL
from agents.learning.networks import Architecture
from agents.learning.practice import Practice
from crush_gym import functional

SMALL = Settings(boards=16, length=8, minibatch=64, updates=2, considered=4, samples=2, rate=0.01)


@pytest.fixture(scope="module")
def learner() -> Expert:
    env = functional.make("Crush/Combo-v0", shape=(5, 5), colours=4, moves=6)
    practice = Practice(env, inputs_of(env.game, preview=False))
    return Expert(practice, Architecture.parse("edge:layers=1,filters=8,hidden=4"), SMALL, 10_000)


def test_the_best_of_the_moves_that_were_tried_gains_most() -> None:
    logits = jnp.log(jnp.array([[0.5, 0.25, 0.25, 0.0]])).at[0, 3].set(ILLEGAL)
    found = improved(logits, jnp.array([[1, 0, -1]]), jnp.array([[300.0, 100.0, 9.0]]), sharpness=2.0)
    mean = (0.5 * 0.0 + 0.25 * 1.0) / 0.75  # of the shares of the tried moves, for the one that was not
    weights = np.array([0.5 * np.exp(0.0), 0.25 * np.exp(2.0), 0.25 * np.exp(2.0 * mean), 0.0])
    np.testing.assert_allclose(found[0], weights / weights.sum(), rtol=1e-5)


def test_moves_that_bring_the_same_leave_the_probabilities_as_they_are() -> None:
    logits = jnp.log(jnp.array([[0.6, 0.3, 0.1]]))
    found = improved(logits, jnp.array([[2, 0, 1]]), jnp.full((1, 3), 7.0), sharpness=5.0)
    np.testing.assert_allclose(found[0], [0.6, 0.3, 0.1], rtol=1e-5)


def test_the_teacher_names_legal_moves_and_what_it_says_is_learned(learner: Expert) -> None:
    state = learner.start(jax.random.key(0))
    _, batch, _ = jax.jit(learner._played)(state, jax.random.key(1))
    taught, legal = np.asarray(batch.taught), np.asarray(batch.legal)
    assert (taught[~legal] == 0).all()
    np.testing.assert_allclose(taught.sum(-1), 1.0, rtol=1e-4)
    flat = jax.tree.map(lambda x: x.reshape(x.shape[0] * x.shape[1], *x.shape[2:]), batch)
    step, carry = jax.jit(learner._minibatch), (state.weights, state.optimiser)
    carry, first = step(carry, flat)
    for _ in range(200):
        carry, last = step(carry, flat)
    assert last["loss/above_least"] < 0.9 * first["loss/above_least"]
    assert last["loss/value"] < first["loss/value"]


def test_futures_bring_on_the_mean_what_moves_bring(learner: Expert) -> None:
    """The mean of a move's many futures against turns of `Game.step` with other keys."""
    game, state = learner.practice.game, learner.start(jax.random.key(0))
    many = Expert(learner.practice, learner.architecture, Settings(boards=16, minibatch=256, considered=2, samples=400))
    position = state.situation.env.game
    actions = game.legal(position).argmax(axis=0).astype(jnp.int32)
    words = jax.random.bits(jax.random.key(5), (2, 16))
    brought = jax.jit(many._brought)(state, words, state.situation, actions[None])[0]
    keys = jax.random.split(jax.random.key(6), (400, 16))
    scores = np.stack([game.step(key, position, actions)[1].score for key in keys])
    error = scores.std(axis=0) * np.sqrt(2 / 400)
    assert (np.abs(brought - scores.mean(axis=0)) < 4 * error + 1e-3).all()


def test_settings_that_cannot_work_are_refused() -> None:
    with pytest.raises(ValueError, match="considered must be from 2"):
        Settings(considered=1)
    with pytest.raises(ValueError, match="multiple of minibatch"):
        Settings(minibatch=1000)
