"""The functional environments: pure, mapped, and reset by themselves."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crush_gym import functional

OPTIONS = {"shape": (5, 5), "colours": 4, "moves": 4}


def env(**options: Any) -> functional.Env:
    return functional.make("Crush/Combo-v0", **OPTIONS | options)


def test_a_scan_of_mapped_steps_is_one_program() -> None:
    game = env()

    @jax.jit
    def play(key: jax.Array) -> jax.Array:
        _, start = jax.vmap(game.reset)(jax.random.split(key, 32))

        def move(state: Any, key: jax.Array) -> Any:
            keys = jax.random.split(key, 32)
            actions = jax.vmap(game.game.random_action)(keys, state.game)
            _, state, reward, *_ = jax.vmap(game.step)(keys, state, actions)
            return state, reward

        return jax.lax.scan(move, start, jax.random.split(key, 12))[1]

    rewards = play(jax.random.key(0))
    assert rewards.shape == (12, 32) and (np.asarray(rewards) > 0).all()


def test_steps_are_those_of_the_game() -> None:
    game, keys = env(auto_reset=False), jax.random.split(jax.random.key(1), 6)
    obs, state = game.reset(keys)
    expected = game.game.reset(keys)
    for number in range(6):
        action = jnp.asarray(np.asarray(game.action_mask(state)).argmax(0))
        before = np.asarray(expected.books.outcome)
        obs, state, reward, terminated, _, info = game.step(keys, state, action)
        expected, turn = game.game.step(keys, expected, action)
        assert np.array_equal(np.asarray(obs), np.asarray(game.game.observe(expected)))
        assert np.array_equal(np.asarray(reward), np.asarray(turn.score))
        assert np.array_equal(np.asarray(terminated), np.asarray(expected.books.outcome) != 0)
        assert np.array_equal(np.asarray(info["action_mask"]), np.asarray(game.game.legal(expected)))
        assert "final_obs" not in info and (number < 4 or (before != 0).all())


def test_an_episode_that_ends_is_followed_by_another_and_its_last_observation_kept() -> None:
    game, plain = env(), env(auto_reset=False)
    key = jax.random.key(3)
    _, state = game.reset(key)
    _, other = plain.reset(key)
    for number in range(4):
        move = jax.random.fold_in(key, number)
        action = int(np.asarray(game.action_mask(state)).argmax())
        obs, state, _, terminated, _, info = game.step(move, state, action)
        last, other, _, ended, *_ = plain.step(move, other, action)
        assert bool(terminated) == bool(ended) == (number == 3)
        assert np.array_equal(np.asarray(info["final_obs"]), np.asarray(last))
    fresh, _ = plain.reset(jax.random.fold_in(move, functional.RESET_KEY))
    assert np.array_equal(np.asarray(obs), np.asarray(fresh))
    assert int(state.game.books.made) == 0 and not np.array_equal(np.asarray(obs), np.asarray(last))


@pytest.mark.parametrize("obs", functional.OBSERVATIONS)
def test_one_board_mapped_boards_and_boards_last_see_the_same(obs: str) -> None:
    game, keys = env(obs=obs), jax.random.split(jax.random.key(0), 3)
    last, _ = game.reset(keys)
    mapped, _ = jax.vmap(game.reset)(keys)
    alone, _ = game.reset(keys[1])
    for x, y, z in zip(*map(jax.tree.leaves, (last, mapped, alone)), strict=True):
        assert np.array_equal(np.asarray(x)[..., 1], np.asarray(z)) and np.array_equal(np.asarray(y)[1], np.asarray(z))
    space = game.observation_space
    assert space.contains(jax.tree.map(np.asarray, alone))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"obs": "rgb"}, "obs must be one of"),
        ({"illegal": "raise"}, "cannot raise"),
        ({"id": "Crush/Sago-v0"}, "did you mean 'Crush/Saga-v0'"),
        ({"colors": 6}, "there is no option 'colors'; did you mean 'colours'"),
    ],
)
def test_what_cannot_be_compiled_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        functional.make(**{"id": "Crush/Combo-v0"} | OPTIONS | options)


def test_an_id_may_name_its_module() -> None:
    assert functional.make("crush_gym:Crush/Combo-v0", **OPTIONS).game.spec == env().game.spec
