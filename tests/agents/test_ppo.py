"""PPO: advantages against a plain sum, legal moves only, the same from the same seed, and that it learns."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from agents.learning.inputs import inputs_of
from agents.learning.networks import Architecture
from agents.learning.practice import Practice
from agents.ppo import Ppo, Settings, advantages
from crush_gym import functional

SMALL = Settings(boards=16, length=8, minibatch=64, updates=2)


@pytest.fixture(scope="module")
def practice() -> Practice:
    env = functional.make("Crush/Combo-v0", shape=(5, 5), colours=4, moves=6)
    return Practice(env, inputs_of(env.game, preview=False))


@pytest.fixture(scope="module")
def learner(practice: Practice) -> Ppo:
    return Ppo(practice, Architecture.parse("edge:layers=1,filters=8,hidden=4"), SMALL, 10_000)


def test_advantages_are_the_discounted_sums_of_errors() -> None:
    rng = np.random.default_rng(0)
    reward, value = rng.normal(size=(2, 7, 3))
    over, following = rng.random((7, 3)) < 0.3, rng.normal(size=3)
    found = advantages(*map(jnp.asarray, (reward, over, value, following)), discount=0.9, trace=0.7)
    after = np.concatenate([value[1:], following[None]])
    error = reward + 0.9 * np.where(over, 0, after) - value
    expected = np.zeros((7, 3))
    for start in range(7):
        weight = np.ones(3)
        for move in range(start, 7):
            expected[start] += weight * error[move]
            weight = weight * 0.9 * 0.7 * ~over[move]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_only_legal_moves_are_made(learner: Ppo) -> None:
    state = learner.start(jax.random.key(0))
    _, batch, _ = jax.jit(learner._played)(state, jax.random.key(1))
    assert np.take_along_axis(np.asarray(batch.legal), np.asarray(batch.action)[..., None], -1).all()
    assert np.isfinite(np.asarray(batch.logp)).all()


def test_the_same_seed_gives_the_same_weights(learner: Ppo) -> None:
    def learned(seed: int):
        state, metrics = learner.learn(learner.start(jax.random.key(seed)))
        return jax.tree.leaves(learner.weights(state)), metrics

    (one, metrics), (again, _), (other, _) = learned(0), learned(0), learned(1)
    assert all(np.array_equal(a, b) for a, b in zip(one, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    assert np.isfinite([v for k, v in metrics.items() if k.startswith("loss/")]).all()
    assert metrics["play/moves"] == 6


@pytest.mark.slow
def test_learns_to_score_more_than_at_random(practice: Practice) -> None:
    settings = dataclasses.replace(SMALL, boards=64, length=16, minibatch=256, updates=20, rate=3e-3)
    learner = Ppo(practice, Architecture.parse("edge:layers=2,filters=16"), settings, 160_000)
    state = learner.start(jax.random.key(0))
    _, stats = practice.game.rollout(jax.random.key(1), attempts=1000)
    for _ in range(8):
        state, metrics = learner.learn(state)
    assert metrics["play/return"] > np.mean(stats.score) + 4 * np.std(stats.score) / 1000**0.5


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"minibatch": 60}, "must be a multiple of minibatch, 60"),
        ({"rate": 0.0}, "rate must be from 1e-08 to 1, not 0.0"),
        ({"discount": 1.5}, "discount must be from 0 to 1"),
        ({"minibatch": 4096}, "minibatch must be from 1 to 128"),
    ],
)
def test_settings_that_cannot_work_are_refused(wrong: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        dataclasses.replace(SMALL, **wrong)
