"""Stable-Baselines3: the batched VecEnv, and learning on it."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("stable_baselines3")
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

TINY = {"shape": (4, 4), "colours": 3, "moves": 5}
PUZZLE = {
    "name": "puzzle",
    "colours": 4,
    "moves": 4,
    "spawn_candies": False,
    "board": ["a b a c d", "b a c d a", "a b d a c", "c a b c b", "d c a b a"],
}
"""Nothing comes after what is there: what is best can be learned in a few thousand steps."""


def make(lanes: int, rules: str = "combo", **options: Any) -> Any:
    from crush_gym.sb3 import CrushVecEnv

    return CrushVecEnv(lanes, rules, **options or TINY)


def puzzles(lanes: int, **options: Any) -> Any:
    """Boards of the puzzle, monitored."""
    from stable_baselines3.common.vec_env import VecMonitor

    return VecMonitor(make(lanes, "saga", level=PUZZLE, **options))


def pick(mask: np.ndarray) -> int:
    return int(np.flatnonzero(mask)[len(np.flatnonzero(mask)) // 2])


def test_lanes_play_what_single_environments_play_and_tell_their_last_observation() -> None:
    lanes = 3
    batch = make(lanes)
    batch.seed(11)
    shown = batch.reset()
    singles = [gym.make("crush_gym:Crush/Combo-v0", **TINY) for _ in range(lanes)]
    states = [env.reset(seed=11 + i) for i, env in enumerate(singles)]
    ended = 0
    for _ in range(14):
        masks = batch.env_method("action_masks")
        actions = np.array([pick(mask) for mask in masks])
        shown, rewards, dones, infos = batch.step(actions)
        for i, env in enumerate(singles):
            assert (masks[i] == (states[i][1]["action_mask"] != 0)).all()
            obs, reward, terminated, truncated, info = env.step(actions[i])
            assert reward == rewards[i] and dones[i] == (terminated or truncated)
            if dones[i]:
                ended += 1
                assert (infos[i]["terminal_observation"] == obs).all() and not infos[i]["TimeLimit.truncated"]
                obs, info = env.reset()
            assert (shown[i] == obs).all()
            states[i] = (obs, info)
    assert ended >= 2 * lanes and shown.flags.writeable and rewards.flags.writeable


def test_boards_go_on_from_a_state() -> None:
    from crush_gym.envs.saved import SavedStateError

    batch = make(3)
    with pytest.raises(RuntimeError, match="no episodes yet: call reset"):
        batch.get_state()
    batch.seed(5)
    shown = batch.reset()

    def move() -> tuple[Any, Any, Any]:
        return batch.step(np.array([pick(mask) for mask in batch.env_method("action_masks")]))[:3]

    for _ in range(3):
        shown, _, _ = move()
    state = batch.get_state()
    expected = [move() for _ in range(4)]
    assert np.array_equal(batch.set_state(state), shown) and any(dones.any() for _, _, dones in expected)
    for then in expected:
        for a, b in zip(move(), then, strict=True):
            assert np.array_equal(a, b)
    with pytest.raises(SavedStateError, match="another number of boards"):
        make(2).set_state(state)


def test_a_hundred_illegal_actions_are_a_truncation() -> None:
    batch = make(2)
    batch.seed(0)
    batch.reset()
    wrong = np.array([int(np.flatnonzero(~mask)[0]) for mask in batch.env_method("action_masks")])
    for _ in range(100):
        _, _, dones, infos = batch.step(wrong)
    assert dones.all() and all(info["TimeLimit.truncated"] for info in infos)


@pytest.mark.parametrize(
    ("obs", "policy", "shape"), [("planes", "MlpPolicy", (12, 4, 4)), ("king", "MlpPolicy", (11, 4, 4))]
)
def test_networks_see_what_is_shown_between_0_and_1_and_no_axes_are_swapped(obs: str, policy: str, shape: Any) -> None:
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import VecMonitor

    model = MaskablePPO(policy, VecMonitor(make(3, obs=obs, **TINY)), n_steps=2, batch_size=6, n_epochs=1, seed=0)
    batch = model.get_env()
    batch.seed(5)
    shown = batch.reset()
    assert shown.shape[1:] == model.observation_space.shape == shape
    single, _ = gym.make("crush_gym:Crush/Combo-v0", obs=obs, **TINY).reset(seed=6)
    assert (shown[1] == single).all()
    seen = model.policy.extract_features(model.policy.obs_to_tensor(single)[0])
    assert np.allclose(seen.numpy(force=True), single.reshape(1, -1) / single.max())
    model.learn(6)


def test_off_policy_learners_keep_normalised_planes() -> None:
    from stable_baselines3 import DQN
    from stable_baselines3.common.vec_env import VecNormalize

    env = VecNormalize(make(2, illegal="random", **TINY), norm_obs=False)
    model = DQN("MlpPolicy", env, learning_starts=4, train_freq=2, buffer_size=20, batch_size=4, seed=0)
    model.learn(8)
    assert model.replay_buffer.observations.shape[2:] == env.observation_space.shape == (12, 4, 4)


def test_pictures_come_with_their_colours_first() -> None:
    pytest.importorskip("resvg_py")
    batch = make(2, obs="rgb", **TINY)
    batch.seed(3)
    picture, _ = gym.make("crush_gym:Crush/Combo-v0", obs="rgb", **TINY).reset(seed=4)
    shown = batch.reset()
    assert batch.observation_space.shape == shown.shape[1:] == (3, *picture.shape[:2])
    assert (shown[1] == picture.transpose(2, 0, 1)).all()


def random_score() -> float:
    """Mean score of random play."""
    import jax

    from crush_gym import Game, Level

    stats = Game(Level.from_dict(PUZZLE)).rollout(jax.random.key(0), attempts=2000)[1]
    return float(np.asarray(stats.score).mean())


@pytest.mark.slow
def test_maskable_ppo_learns_saves_loads_and_beats_random(tmp_path: Any) -> None:
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.evaluation import evaluate_policy
    from stable_baselines3.common.vec_env import VecNormalize

    env = VecNormalize(puzzles(16), norm_obs=False)
    model = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=128, n_epochs=4, learning_rate=1e-3, seed=0)
    model.learn(6_000)
    model.save(tmp_path / "model.zip")
    again = MaskablePPO.load(tmp_path / "model.zip")
    mean, _ = evaluate_policy(again, puzzles(4), n_eval_episodes=64, deterministic=True)
    assert mean > 1.2 * random_score()


@pytest.mark.slow
def test_dqn_learns_saves_loads_and_beats_random(tmp_path: Any) -> None:
    from stable_baselines3 import DQN
    from stable_baselines3.common.evaluation import evaluate_policy
    from stable_baselines3.common.vec_env import VecNormalize

    env = VecNormalize(puzzles(8, illegal="random"), norm_obs=False)
    model = DQN(
        "MlpPolicy", env, learning_starts=200, train_freq=4, gradient_steps=4, learning_rate=1e-3, seed=0,
        target_update_interval=200, exploration_fraction=0.6, exploration_final_eps=0.1,
    )  # fmt: skip
    model.learn(8_000)
    model.save(tmp_path / "model.zip")
    again = DQN.load(tmp_path / "model.zip")
    mean, _ = evaluate_policy(again, puzzles(4, illegal="random"), n_eval_episodes=64)
    assert mean > 1.2 * random_score()
