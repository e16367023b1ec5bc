"""Which level an episode plays: at random, by weights, in turn; alike in every form of the environment."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crush_gym import Level, LevelPack, functional
from crush_gym.engine import randomness
from crush_gym.envs import task as tasks
from crush_gym.envs.batch import key_words
from crush_gym.envs.options import read_options

COUNT = 3
PACK = LevelPack(
    Level.from_dict({"name": f"level {i}", "colours": 4, "moves": 1 + i % 2, "board": ["? ? ? ?"] * 4})
    for i in range(COUNT)
)
ID = "Crush/Combo-v0"
WEIGHTS = (3, 0, 1)
DRAWS: list[dict[str, Any]] = [{}, {"weights": (1, 2, 3)}]


def numbers(seeds: int, episode: int, **options: Any) -> np.ndarray:
    """The levels of this episode of the first seeds."""
    read = read_options("combo", pack=PACK, **options)
    keys, episodes = jnp.asarray(key_words(np.arange(seeds))), jnp.full(seeds, episode, jnp.int32)
    return np.asarray(tasks.next_level(keys, episodes, read.pool, read.order))


# ------------------------------------------------------------------------------- the numbers themselves


def test_uniform_draws_are_those_of_the_first_version() -> None:
    assert numbers(8, 0).tolist() == [0, 1, 1, 1, 2, 0, 0, 0]
    assert numbers(8, 1).tolist() == [0, 2, 0, 2, 2, 2, 0, 0]
    assert numbers(8, 5).tolist() == [0, 2, 0, 2, 1, 0, 1, 0]


def test_levels_come_in_turn() -> None:
    assert numbers(7, 2, order="cycle").tolist() == [2, 0, 1, 2, 0, 1, 2]


@pytest.mark.parametrize("weights", [(3, 0, 1), (0, 0.5, 0.25), (1e-3, 1e3, 0), (0, 0, 7)])
def test_weighted_draws_fall_where_exact_fractions_say(weights: tuple[float, ...]) -> None:
    found = numbers(4000, 1, weights=weights)
    words = randomness.fold(jnp.asarray(key_words(np.arange(4000))), jnp.full(4000, 1))
    draws = [int(value) >> 1 for value in np.asarray(randomness.draw(words, randomness.PASS, 0, 0))]
    exact = [Fraction(weight) / sum(map(Fraction, weights)) for weight in weights]
    sums = [sum(exact[: i + 1], Fraction(0)) for i in range(COUNT)]
    expected = [next(i for i in range(COUNT) if Fraction(draw, 2**31) < sums[i]) for draw in draws]
    assert found.tolist() == expected
    shares = np.bincount(found, minlength=COUNT) / 4000
    assert shares == pytest.approx([float(share) for share in exact], abs=0.03)
    assert all(share == 0 for share, weight in zip(shares, weights, strict=True) if weight == 0)


def test_equal_weights_draw_what_no_weights_draw() -> None:
    assert np.array_equal(numbers(500, 3, weights=np.full(COUNT, 0.3)), numbers(500, 3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": [1, 2]}, "weights must be 3 numbers, one for each level, not 2"),
        ({"weights": 5}, "weights must be 3 numbers, one for each level, not 5"),
        ({"weights": ["a", 1, 1]}, "weights must be 3 numbers"),
        ({"weights": [1, -1, 1]}, "but the one of level 'level 1' is -1.0"),
        ({"weights": [1, 1, float("nan")]}, "but the one of level 'level 2' is nan"),
        ({"weights": [0, 0, 0]}, "must come to more than 0"),
        ({"weights": [1, 1, 2], "order": "cycle"}, 'weights are for order="sample"'),
        ({"order": "random"}, "order must be one of 'sample', 'cycle'"),
    ],
)
def test_what_cannot_be_drawn_by_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        functional.make(ID, pack=PACK, **options)


# ------------------------------------------------------------------------------- the environments


def test_episodes_of_a_batch_play_the_levels_that_single_environments_and_keys_draw() -> None:
    options: dict[str, Any] = {"weights": WEIGHTS}
    lanes, seed, steps = 3, 20, 8
    envs = gym.make_vec(ID, num_envs=lanes, pack=PACK, autoreset_mode="SameStep", **options)
    obs, info = envs.reset(seed=seed)
    shown: list[list[Any]] = [[(int(info["level"][i]), obs[i])] for i in range(lanes)]
    for _ in range(steps):
        obs, _, over, _, info = envs.step(info["action_mask"].argmax(axis=1))
        for i in np.flatnonzero(over):
            shown[i].append((int(info["level"][i]), obs[i]))
    env, pure = gym.make(ID, pack=PACK, **options).unwrapped, functional.make(ID, pack=PACK, **options)
    for i in range(lanes):
        assert len(shown[i]) > 4
        for episode, (level, seen) in enumerate(shown[i]):
            first, info = env.reset(seed=seed + i if episode == 0 else None)
            assert info["level"] == level and np.array_equal(first, seen)
            also, state = pure.reset(jax.random.fold_in(jax.random.key(seed + i), episode))
            assert int(state.level) == level and np.array_equal(np.asarray(also), seen)


def played(env: functional.Env, key: jax.Array, steps: int, params: Level | None = None) -> list[Any]:
    """Each step's key, states and info."""
    _, state = env.reset(key, params)
    trail = []
    for number in range(steps):
        action = env.action_mask(state).argmax(axis=0)
        move = jax.random.fold_in(key, number)
        obs, after, _, over, _, info = env.step(move, state, action, params)
        trail.append((move, state, bool(over), after, info, obs))
        state = after
    return trail


def test_a_level_that_follows_by_itself_is_drawn_from_the_key_of_its_episode() -> None:
    env = functional.make(ID, pack=PACK, weights=WEIGHTS)
    levels = set()
    for move, before, over, after, info, obs in played(env, jax.random.key(5), 12):
        assert int(info["level"]) == int(before.level)
        if over:
            expected, fresh = env.reset(jax.random.fold_in(move, functional.RESET_KEY))
            assert int(after.level) == int(fresh.level) and np.array_equal(np.asarray(obs), np.asarray(expected))
            assert int(after.game.books.moves) == 1 + int(after.level) % 2
        else:
            assert int(after.level) == int(before.level)
        levels.add(int(after.level))
    assert levels == {0, 2}


def test_levels_follow_by_themselves_in_turn() -> None:
    env = functional.make(ID, pack=PACK, order="cycle")
    trail = played(env, jax.random.key(4), 9)
    assert int(trail[0][1].level) == 4 % COUNT
    ended = [(int(before.level), int(after.level)) for _, before, over, after, *_ in trail if over]
    assert ended == [(1, 2), (2, 0), (0, 1), (1, 2), (2, 0), (0, 1)]


@pytest.mark.slow
@pytest.mark.parametrize("options", DRAWS, ids=str)
def test_mapped_boards_draw_what_boards_in_an_array_draw(options: dict[str, Any]) -> None:
    env, keys = functional.make(ID, pack=PACK, **options), jax.random.split(jax.random.key(0), 6).reshape(2, 3)

    def play(key: jax.Array) -> Any:
        _, state = env.reset(key)
        for _ in range(3):
            _, state, reward, _, _, info = env.step(key, state, env.action_mask(state).argmax(axis=0))
        return state.level, reward, info["level"]

    apart = jax.vmap(jax.vmap(play))(keys)
    assert len(set(np.asarray(apart[0]).ravel().tolist())) > 1
    for one, other in zip(apart, play(keys), strict=True):
        assert np.array_equal(np.asarray(one), np.asarray(other))


def test_boards_stay_on_the_levels_that_the_caller_gives() -> None:
    env, stack = functional.make(ID, pack=PACK), PACK.stack([1, 0])
    keys = jax.random.split(jax.random.key(1), 2)
    _, state = env.reset(keys, stack)
    assert state.level is None and np.asarray(state.game.books.moves).tolist() == [2, 1]
    for _ in range(3):
        _, state, _, over, _, info = env.step(keys, state, env.action_mask(state).argmax(axis=0), stack)
        moves = np.asarray(state.game.books.moves)
        assert "level" not in info and (moves[np.asarray(over)] == np.array([2, 1])[np.asarray(over)]).all()
    with pytest.raises(ValueError, match="the params that `reset` was given"):
        env.step(keys, state, jnp.zeros(2, jnp.int32))
    _, drawn = env.reset(keys)
    with pytest.raises(ValueError, match="the params that `reset` was given"):
        env.step(keys, drawn, jnp.zeros(2, jnp.int32), stack)


def test_params_of_another_kind_are_refused_and_of_a_pack_there_is_no_default() -> None:
    env = functional.make(ID, pack=PACK)
    assert env.default_params is None
    wide = Level.from_dict({"name": "wide", "colours": 4, "moves": 5, "board": ["? ? ? ? ?"] * 4})
    with pytest.raises(ValueError, match="level 'wide' is not of this game's kind"):
        env.reset(jax.random.key(0), wide)
    with pytest.raises(TypeError, match=r"level must be one Level, such as pack\[0\], or a stack"):
        env.reset(jax.random.key(0), PACK)


def test_one_level_is_looked_up_nowhere() -> None:
    one, many = (functional.make(ID, auto_reset=False, pack=pack) for pack in ([PACK[0]], PACK))
    key = jax.random.key(0)

    def lookups(env: functional.Env, params: Level | None = None) -> int:
        def play(key: jax.Array) -> Any:
            return env.step(key, env.reset(key, params)[1], 0, params)

        return str(jax.make_jaxpr(play)(key)).count("gather[")

    assert lookups(one) == lookups(one, PACK[0]) == lookups(many, PACK[0]) < lookups(many)


def test_old_style_keys_are_one_board_each() -> None:
    env = functional.make(ID, pack=PACK)
    with_old, state = env.reset(jax.random.PRNGKey(7))
    with_new, _ = env.reset(jax.random.key(7))
    assert state.level.shape == () and np.array_equal(np.asarray(with_old), np.asarray(with_new))
