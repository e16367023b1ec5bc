"""DQN: its memory, its targets by hand, legal moves only, the same from the same seed or a file, and that it learns."""

import dataclasses
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from agents.dqn import Dqn, Memory, Move, Settings, drawn, remembering
from agents.learning import checkpoints
from agents.learning.inputs import View, inputs_of
from agents.learning.networks import Architecture
from agents.learning.practice import Practice
from crush_gym import functional

SMALL = Settings(boards=16, memory=128, first=4, minibatch=32, copy=8, ahead=2, updates=16)


@pytest.fixture(scope="module")
def practice() -> Practice:
    env = functional.make("Crush/Combo-v0", shape=(5, 5), colours=4, moves=6)
    return Practice(env, inputs_of(env.game, preview=False))


@pytest.fixture(scope="module")
def learner(practice: Practice) -> Dqn:
    return Dqn(practice, Architecture.parse("edge:layers=1,filters=8,hidden=4"), SMALL, 10_000)


@pytest.fixture(scope="module")
def learned(learner: Dqn) -> tuple[Any, Any]:
    """The state after one call, which has filled the memory twice over, and its metrics."""
    return learner.learn(learner.start(jax.random.key(0)))


# ------------------------------------------------------------------ the memory


def remembered(moves: int, slots: int = 5, boards: int = 3) -> Memory:
    """A memory to which so many moves were told; the reward of a move says which it is, on which board."""
    nothing = View(jnp.zeros((slots, boards, 1, 1, 1), jnp.uint8), jnp.zeros((slots, boards, 1, 0), jnp.float16))
    empty = jnp.zeros((slots, boards))
    memory = Memory(Move(nothing, empty[..., None] > 1, empty.astype(jnp.int32), empty - 1, empty > 1), jnp.int32(0))
    for number in range(moves):
        reward = 10.0 * number + jnp.arange(boards)
        move = jax.tree.map(lambda x: x[0], memory.moves)._replace(reward=reward)
        memory = remembering(memory, move)
    return memory


def test_the_newest_move_takes_the_place_of_the_oldest() -> None:
    assert remembered(3).moves.reward[:, 0].tolist() == [0, 10, 20, -1, -1]
    assert remembered(7).moves.reward[:, 1].tolist() == [51, 61, 21, 31, 41]


@pytest.mark.parametrize(("moves", "known"), [(4, {0, 10}), (7, {20, 30, 40}), (10, {50, 60, 70})])
def test_what_is_drawn_is_followed_by_what_followed_it(moves: int, known: set[int]) -> None:
    now, then = drawn(remembered(moves), jax.random.key(0), 200, ahead=2)
    first, second = np.asarray(now.reward)
    assert (second == first + 10).all() and (then.reward == first + 20).all()
    assert set(first - first % 10) == known and set(first % 10) == {0, 1, 2}


def test_a_move_takes_as_many_bytes_as_the_settings_say() -> None:
    env = functional.make("Crush/Combo-v0")
    for preview, expected in ((True, 2727), (False, 1287)):
        game, inputs = env.game, inputs_of(env.game, preview)
        gains = 2 * 5 * game.actions if preview else 0
        assert game.shape[0] * game.shape[1] * len(inputs.channels) + gains + game.actions + 9 == expected


def test_the_memory_holds_what_is_seen_in_its_compact_form(learned: tuple[Any, Any]) -> None:
    moves = learned[0].memory.moves
    assert moves.view.planes.dtype == jnp.uint8 and moves.view.gains.dtype == jnp.float16
    kinds = {x.dtype.itemsize for x in (moves.legal, moves.over)}, {moves.action.dtype, moves.reward.dtype}
    assert kinds == ({1}, {jnp.dtype("int32"), jnp.dtype("float32")})


# ------------------------------------------------------------------ learning


def test_targets_are_those_of_double_q_learning(learner: Dqn, learned: tuple[Any, Any]) -> None:
    weights, copy = (learner.new_weights(jax.random.key(n), learned[0].situation) for n in range(2))
    moves, then = drawn(learned[0].memory, jax.random.key(2), 40, ahead=2)
    reward, over = np.asarray(moves.reward) / 100, np.asarray(moves.over)
    assert over[0].any() and over[1].any() and not over.any(axis=0).all()
    legal, board = np.asarray(then.legal), np.arange(40)
    chooses, tells = (learner.network.apply(w, learner.inputs.cells(then.view)) for w in (weights, copy))
    best = np.argmax(np.where(legal, chooses[0], -np.inf), axis=1)
    better = np.asarray(tells[0])[board, best] - np.mean(tells[0], axis=1, where=legal)
    worth = np.asarray(tells[1]) + better
    second = reward[1] + 0.9 * np.where(over[1], 0, worth)
    expected = reward[0] + 0.9 * np.where(over[0], 0, second)
    found = learner._targets(weights, copy, jnp.asarray(reward), moves.over, then)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_only_legal_moves_are_made(learned: tuple[Any, Any]) -> None:
    state, metrics = learned
    moves = state.memory.moves
    assert np.take_along_axis(np.asarray(moves.legal), np.asarray(moves.action)[..., None], -1).all()
    assert metrics["play/moves"] == 6  # one that changed nothing would have left the attempt its moves


def test_boards_are_out_of_step(learned: tuple[Any, Any]) -> None:
    assert set(np.asarray(learned[0].situation.made)) == set(range(6))


def test_the_copy_is_of_the_last_lesson_that_was_due(learner: Dqn, learned: tuple[Any, Any]) -> None:
    state = learned[0]
    assert state.taught == 16
    same = jax.tree.map(lambda a, b: bool((a == b).all()), state.weights, state.copy)
    assert all(jax.tree.leaves(same))


def test_the_same_seed_gives_the_same_weights(learner: Dqn, learned: tuple[Any, Any]) -> None:
    def leaves(seed: int) -> list[Any]:
        return jax.tree.leaves(learner.weights(learner.learn(learner.start(jax.random.key(seed)))[0]))

    expected = jax.tree.leaves(learned[0].weights)
    assert all(np.array_equal(a, b) for a, b in zip(leaves(0), expected, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(leaves(1), expected, strict=True))
    assert np.isfinite([v for k, v in learned[1].items() if k.startswith("loss/")]).all()


def test_a_state_from_a_file_goes_on_as_if_it_had_never_been_one(
    learner: Dqn, learned: tuple[Any, Any], tmp_path: Path
) -> None:
    path = tmp_path / "state"
    checkpoints.store(path, learned[0], {})
    found = checkpoints.restore(path, jax.eval_shape(learner.start, jax.random.key(0)))[0]
    again, never = (learner.learn(jax.tree.map(jnp.copy, state))[0] for state in (found, learned[0]))
    plain = [jax.tree.leaves(state._replace(key=jax.random.key_data(state.key))) for state in (again, never)]
    assert all(np.array_equal(a, b) for a, b in zip(*plain, strict=True))


@pytest.mark.slow
def test_learns_to_score_more_than_at_random(practice: Practice) -> None:
    settings = dataclasses.replace(SMALL, boards=64, memory=16384, minibatch=128, ahead=1, rate=3e-3, updates=300)
    learner = Dqn(practice, Architecture.parse("edge:layers=2,filters=16"), settings, 160_000)
    state = learner.start(jax.random.key(0))
    _, stats = practice.game.rollout(jax.random.key(1), attempts=1000)
    for _ in range(8):
        state, metrics = learner.learn(state)
    assert metrics["play/greedy"] > np.mean(stats.score) + 4 * np.std(stats.score) / 1000**0.5


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"memory": 120}, "memory, 120 moves, must be a multiple of boards, 16"),
        ({"memory": 16}, "memory must be from 32"),
        ({"first": 2}, "first must be greater than ahead, 2, and at most memory / boards, 8, not 2"),
        ({"first": 9}, "at most memory / boards, 8, not 9"),
        ({"rate": 0.0}, "rate must be from 1e-08 to 1, not 0.0"),
        ({"epsilon": 1.5}, "epsilon must be from 0 to 1"),
    ],
)
def test_settings_that_cannot_work_are_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        dataclasses.replace(SMALL, **wrong)
