"""Gymnasium environments: one board and many."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import gymnasium as gym
import jax
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

import crush_gym.envs.single
from crush_gym import LevelPack, load_pack
from crush_gym.envs import IDS
from crush_gym.envs.options import find_levels
from crush_gym.envs.saved import SavedStateError
from crush_gym.envs.views import VIEWS

FIXTURES = Path(__file__).parents[2] / "fixtures"
SMALL = {"shape": (5, 5), "colours": 4, "moves": 6}
SIZES: dict[str, dict[str, Any]] = {"Crush/Points-v0": SMALL, "Crush/Combo-v0": SMALL}
LEVELS = [
    {"name": "first", "colours": 4, "moves": 5, "goals": {"jelly": "all"}, "board": ["? ?' ?", "? ? ?", "? ?'' ?"]},
    {"name": "second", "colours": 4, "moves": 4, "goals": {"score": 900}, "board": ["? ? ? ?"] * 4},
]


def make(name: str, **options: Any) -> gym.Env[Any, Any]:
    return gym.make(name, **options_for(name) | options)


def make_vec(name: str, lanes: int, **options: Any) -> Any:
    return gym.make_vec(name, num_envs=lanes, **options_for(name) | options)


def options_for(name: str) -> dict[str, Any]:
    return SIZES.get(name, {"pack": {"name": "two", "levels": LEVELS}})


def legal(mask: np.ndarray, seed: int) -> int:
    """A legal action."""
    return int(np.random.default_rng(seed).choice(np.flatnonzero(mask)))


# ---------------------------------------------------------------------------------- one board


@pytest.mark.parametrize("reward", ["score", "win", "progress"])
@pytest.mark.parametrize("obs", VIEWS)
@pytest.mark.parametrize("name", IDS)
def test_gymnasiums_checker_is_content(name: str, obs: str, reward: str) -> None:
    goal = {"goal": 300} if name != "Crush/Saga-v0" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(name, obs=obs, reward=reward, **goal).unwrapped, skip_render_check=True)


@pytest.mark.parametrize("name", IDS)
def test_fresh_runs_are_equal(name: str) -> None:
    assert data_equivalence(*(run(make(name), 30) for _ in range(2)), exact=True)


def run(env: Any, steps: int, seed: int = 3) -> list[Any]:
    """All that an environment gives along some legal moves, episode after episode."""
    obs, info = env.reset(seed=seed)
    trail: list[Any] = [(obs, info)]
    for i in range(steps):
        result = env.step(legal(info["action_mask"], i))
        trail.append(result)
        obs, info = env.reset() if result[2] or result[3] else (result[0], result[4])
        trail.append((obs, info))
    return trail


def test_observations_and_masks_are_fresh_copies_that_can_be_written_to() -> None:
    env = make("Crush/Points-v0")
    obs, info = env.reset(seed=0)
    kept = obs.copy()
    obs[:] = 7
    info["action_mask"][:] = 0
    again, info2 = env.reset(seed=0)
    assert (again == kept).all() and info2["action_mask"].any()
    env.reset(seed=0)
    step = env.step(legal(info2["action_mask"], 0))
    assert step[0].flags.writeable


def test_masks_always_allow_something_and_legal_actions_are_never_flagged() -> None:
    env = make("Crush/Saga-v0")
    _, info = env.reset(seed=1)
    for i in range(60):
        assert info["action_mask"].any() and info["action_mask"].dtype == np.int8
        masks = env.get_wrapper_attr("action_masks")()
        assert masks.dtype == bool and (masks == (info["action_mask"] != 0)).all()
        _, _, terminated, truncated, info = env.step(legal(info["action_mask"], i))
        assert not info["illegal"]
        if terminated or truncated:
            assert info["action_mask"].all()
            _, info = env.reset()


def test_illegal_actions_pass_then_truncate() -> None:
    env = make("Crush/Points-v0")
    obs, info = env.reset(seed=0)
    wrong = int(np.flatnonzero(info["action_mask"] == 0)[0])
    for i in range(100):
        again, reward, terminated, truncated, info = env.step(wrong)
        assert (again == obs).all() and reward == 0 and info["illegal"] and not terminated
        assert truncated == (i == 99)


def test_illegal_actions_are_replaced_or_refused_on_demand() -> None:
    env = make("Crush/Points-v0", illegal="random")
    _, info = env.reset(seed=0)
    wrong = int(np.flatnonzero(info["action_mask"] == 0)[0])
    _, reward, _, _, info = env.step(wrong)
    assert reward > 0 and info["illegal"] and info["moves"] == 1
    env = make("Crush/Points-v0", illegal="raise")
    env.reset(seed=0)
    with pytest.raises(ValueError, match=f"action {wrong} is not legal here"):
        env.step(wrong)


def test_rewards_are_the_score_the_win_and_the_share_of_the_goals() -> None:
    totals = {reward: 0.0 for reward in ("score", "win", "progress")}
    for reward in totals:
        env = make("Crush/Combo-v0", goal=240, reward=reward)
        _, info = env.reset(seed=2)
        over = False
        while not over:
            _, gained, over, _, info = env.step(legal(info["action_mask"], int(info["moves"])))
            totals[reward] += gained
    score, won = int(info["score"]), bool(info["outcome"] == 1)
    assert totals["score"] == score and totals["win"] == won
    assert totals["progress"] == pytest.approx(min(score / 240, 1) + won, abs=1e-5)


def test_a_state_can_be_set_saved_and_loaded_and_play_goes_on_alike(tmp_path: Any) -> None:
    env, other = make("Crush/Saga-v0").unwrapped, make("Crush/Saga-v0").unwrapped
    _, info = env.reset(seed=5)
    env.step(legal(info["action_mask"], 0))
    state = env.get_state()
    env.save_state(tmp_path / "state.npz")
    _, info = other.load_state(tmp_path / "state.npz")
    action = legal(info["action_mask"], 1)
    expected = env.step(action)
    assert data_equivalence(other.step(action), expected, exact=True)
    env.set_state(state)
    assert data_equivalence(env.step(action), expected, exact=True)
    (tmp_path / "no.npz").write_text("nothing")
    with pytest.raises(SavedStateError, match="holds no saved state"):
        env.load_state(tmp_path / "no.npz")
    with pytest.raises(SavedStateError, match="other rules"):
        strange = make("Crush/Points-v0").unwrapped
        strange.load_state(tmp_path / "state.npz")


def test_a_level_can_be_chosen_at_reset() -> None:
    env = make("Crush/Saga-v0").unwrapped
    for name in ("second", "first"):
        env.reset(seed=0, options={"level": name})
        assert env.level.name == name
    with pytest.raises(ValueError, match="is none of the 2"):
        env.reset(options={"level": "third"})
    with pytest.raises(ValueError, match="no option 'levle'"):
        env.reset(options={"levle": "first"})


def test_packs_are_sampled_or_cycled() -> None:
    cycled, sampled = make("Crush/Saga-v0", order="cycle").unwrapped, make("Crush/Saga-v0").unwrapped
    names = {"cycle": [], "sample": []}
    for env, order in ((cycled, "cycle"), (sampled, "sample")):
        for episode in range(12):
            env.reset(seed=4 if episode == 0 else None)
            names[order].append(env.level.name)
    assert names["cycle"] == ["first", "second"] * 6
    assert set(names["sample"]) == {"first", "second"} and names["sample"] != names["cycle"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"obs": "plane"}, "obs must be one of 'planes', 'king'.* not 'plane'; did you mean 'planes'"),
        ({"reward": "scores"}, "reward must be one of"),
        ({"illegal": "no"}, "illegal must be one of"),
        ({"render_mode": "x"}, "render_mode"),
        ({"level": "no such level"}, "no pack that ships has a level"),
        ({"pack": "tuor"}, "tuor"),
        ({"level": "jely"}, "did you mean 'jelly' of basics"),
        ({"level": "basics/jely"}, "the pack 'basics' has no level 'jely'; did you mean 'jelly'"),
        ({"rewards": "win"}, "there is no option 'rewards'; did you mean 'reward'"),
        ({"colours": 5}, "leave it out"),
    ],
)
def test_wrong_options_are_refused_in_a_sentence(options: dict[str, Any], message: str) -> None:
    given = {"level": LEVELS[0]} | options if "pack" not in options and "level" not in options else options
    with pytest.raises((ValueError, gym.error.Error), match=message):
        crush_gym.envs.single.CrushEnv(**given)


def test_a_level_is_named_with_its_pack_or_its_file(tmp_path: Path) -> None:
    pack = load_pack("basics")
    pack.save(tmp_path / "own.json")
    for text in ("jelly", "basics/jelly", f"{tmp_path}/own.json/jelly"):
        assert find_levels(text) == (pack["jelly"],)


def test_progress_needs_goals() -> None:
    with pytest.raises(ValueError, match="set goal="):
        make("Crush/Points-v0", reward="progress")


@pytest.mark.parametrize("action", [-1, 40, 1.5, [1, 2], "a"])
def test_wrong_actions_are_refused(action: Any) -> None:
    env = make("Crush/Points-v0").unwrapped
    env.reset(seed=0)
    with pytest.raises(ValueError, match="action"):
        env.step(action)


def test_order_of_calls_is_enforced() -> None:
    env = make("Crush/Points-v0").unwrapped
    with pytest.raises(gym.error.ResetNeeded, match=r"call env\.reset"):
        env.step(0)
    env.reset(seed=0)
    env.close()
    with pytest.raises(gym.error.ClosedEnvironmentError, match="closed"):
        env.step(0)


def test_environments_pickle_before_and_after_a_reset() -> None:
    env = make("Crush/Points-v0").unwrapped
    fresh = pickle.loads(pickle.dumps(env))
    env.reset(seed=1), fresh.reset(seed=1)
    assert data_equivalence(env.step(3), fresh.step(3), exact=True)
    copied = pickle.loads(pickle.dumps(env))
    assert data_equivalence(env.step(5), copied.step(5), exact=True)


CONSTRUCTS = """
import gymnasium as gym
for make in (gym.make("crush_gym:Crush/Saga-v0"), gym.make_vec("crush_gym:Crush/Points-v0", num_envs=3)):
    make.action_space.sample()
from jax._src import xla_bridge
assert not xla_bridge._backends, xla_bridge._backends
import sys
assert not {"torch", "flax", "matplotlib"} & set(sys.modules)
"""


def test_constructors_start_no_backend_and_import_nothing_heavy() -> None:
    done = subprocess.run([sys.executable, "-c", CONSTRUCTS], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


# -------------------------------------------------------------------------------- many boards


def singles(name: str, seed: int, lanes: int, steps: int, **options: Any) -> list[list[Any]]:
    """What single environments give along the actions that `lane_action` chooses."""
    return [run_lane(make(name, **options), seed + i, i, steps) for i in range(lanes)]


def lane_action(mask: np.ndarray, lane: int, number: int) -> int:
    """A legal action, and sometimes, in some lanes, an illegal one."""
    if lane == 1 and number % 3 == 0 and (mask == 0).any():
        return int(np.flatnonzero(mask == 0)[0])
    return legal(mask, 100 * lane + number)


def run_lane(env: Any, seed: int, lane: int, steps: int) -> list[Any]:
    obs, info = env.reset(seed=seed)
    trail: list[Any] = [("reset", obs, info)]
    for number in range(steps):
        obs, reward, terminated, truncated, info = env.step(lane_action(info["action_mask"], lane, number))
        trail.append(("step", obs, reward, terminated, truncated, info))
        if terminated or truncated:
            obs, info = env.reset()
            trail.append(("reset", obs, info))
    return trail


def lane_of(info: dict[str, Any], i: int) -> dict[str, Any]:
    return {k: v[i] for k, v in info.items() if not k.startswith("_") and not k.startswith("final")}


@pytest.mark.parametrize("mode", list(AutoresetMode), ids=str)
@pytest.mark.parametrize("name", ["Crush/Saga-v0", "Crush/Combo-v0"])
def test_a_lane_plays_what_a_single_environment_plays(name: str, mode: AutoresetMode) -> None:
    lanes, steps, seed = 3, 14, 21
    expected = singles(name, seed, lanes, steps)
    envs = make_vec(name, lanes, autoreset_mode=mode)
    obs, info = envs.reset(seed=seed)
    found: list[list[Any]] = [[("reset", obs[i], lane_of(info, i))] for i in range(lanes)]
    numbers, due = [0] * lanes, np.zeros(lanes, bool)
    while min(numbers) < steps:
        masks = [lane_of(info, i)["action_mask"] for i in range(lanes)]
        actions = [0 if due[i] else lane_action(masks[i], i, numbers[i]) for i in range(lanes)]
        obs, reward, terminated, truncated, info = envs.step(np.array(actions))
        over = terminated | truncated
        for i in range(lanes):
            if due[i]:
                assert reward[i] == 0 and not over[i]
                found[i].append(("reset", obs[i], lane_of(info, i)))
                continue
            numbers[i] += 1
            if mode == AutoresetMode.SAME_STEP and over[i]:
                ended = lane_of(info["final_info"], i)
                found[i].append(("step", info["final_obs"][i], reward[i], terminated[i], truncated[i], ended))
                shown = lane_of(info, i) | {"illegal": np.bool_(False), "cleared": np.int32(0), "waves": np.int32(0)}
                found[i].append(("reset", obs[i], shown))
            else:
                found[i].append(("step", obs[i], reward[i], terminated[i], truncated[i], lane_of(info, i)))
        due = over if mode == AutoresetMode.NEXT_STEP else np.zeros(lanes, bool)
        if mode == AutoresetMode.DISABLED and over.any():
            obs, info = envs.reset(options={"reset_mask": over})
            for i in np.flatnonzero(over):
                found[i].append(("reset", obs[i], lane_of(info, i)))
    for mine, theirs in zip(found, expected, strict=True):
        assert len(mine) >= len(theirs) - 1
        for one, other in zip(mine, theirs, strict=False):
            assert one[0] == other[0]
            assert_same(one[1:], other[1:])


def assert_same(one: Any, other: Any) -> None:
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_same(one[key], other[key])
    elif isinstance(one, tuple):
        for x, y in zip(one, other, strict=True):
            assert_same(x, y)
    else:
        assert np.array_equal(one, other), (one, other)


def test_the_jax_output_holds_the_same_numbers() -> None:
    numpy_envs, jax_envs = (make_vec("Crush/Saga-v0", 5, output=output) for output in ("numpy", "jax"))
    (obs, info), (obs2, info2) = numpy_envs.reset(seed=1), jax_envs.reset(seed=1)
    for number in range(12):
        assert np.array_equal(obs, np.asarray(obs2))
        assert np.array_equal(info["action_mask"], np.asarray(info2["action_mask"]))
        actions = np.array([legal(mask, number) for mask in info["action_mask"]])
        obs, reward, terminated, truncated, info = numpy_envs.step(actions)
        obs2, reward2, terminated2, truncated2, info2 = jax_envs.step(actions)
        for x, y in ((reward, reward2), (terminated, terminated2), (truncated, truncated2)):
            assert np.array_equal(x, np.asarray(y))


def test_large_batches_play_in_blocks_what_small_ones_play(monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for most in (2112, 40):
        monkeypatch.setattr("crush_gym.sizes.LOCKSTEP", most)
        envs = make_vec("Crush/Combo-v0", 101)
        _, info = envs.reset(seed=9)
        trail = []
        for number in range(8):
            actions = np.array([legal(mask, number) for mask in info["action_mask"]])
            *seen, info = envs.step(actions)
            trail.append((*seen, info["score"]))
        results.append(trail)
    assert data_equivalence(results[0], results[1], exact=True)


def test_vector_states_are_set_and_saved(tmp_path: Any) -> None:
    envs = make_vec("Crush/Saga-v0", 4)
    _, info = envs.reset(seed=0)
    envs.unwrapped.save_state(tmp_path / "lanes.npz")
    actions = np.array([legal(mask, 0) for mask in info["action_mask"]])
    expected = envs.step(actions)
    envs.unwrapped.load_state(tmp_path / "lanes.npz")
    again = envs.step(actions)
    assert data_equivalence(again[:4], expected[:4], exact=True)


def test_a_state_saved_in_format_1_plays_on_as_it_did(tmp_path: Any) -> None:
    """The file and what came after it were written by the version that wrote this format."""
    envs = make_vec("Crush/Saga-v0", 4)
    _, info = envs.unwrapped.load_state(FIXTURES / "saved-state-1.npz")
    assert not envs.unwrapped.get_state().state.books.shuffles.any()
    for expected in json.loads((FIXTURES / "saved-state-1.json").read_text("utf-8")):
        obs, reward, terminated, _, info = envs.step(np.array(expected["actions"]))
        seen = {"rewards": reward.tolist(), "scores": info["score"].tolist(), "over": terminated.tolist()}
        assert expected == {"actions": expected["actions"], **seen, "observation": int(obs.sum(dtype=np.int64))}
    state = envs.unwrapped.get_state()
    envs.unwrapped.save_state(tmp_path / "again.npz")
    envs.unwrapped.load_state(tmp_path / "again.npz")
    assert data_equivalence(list(jax.tree.leaves(envs.unwrapped.get_state())), list(jax.tree.leaves(state)), exact=True)


def test_a_state_of_a_format_to_come_is_refused(tmp_path: Any) -> None:
    with np.load(FIXTURES / "saved-state-1.npz") as file:
        arrays = dict(file)
    arrays["about"] = np.array(json.dumps(json.loads(str(arrays["about"])) | {"format": 99}))
    np.savez(tmp_path / "new.npz", **arrays)
    with pytest.raises(SavedStateError, match=r"other format version than these \(99, not 2\)"):
        make_vec("Crush/Saga-v0", 4).unwrapped.load_state(tmp_path / "new.npz")


@pytest.mark.parametrize(
    ("actions", "message"), [([0, 1], "3 whole numbers"), ([0, 1, 99], "no action 99"), ([0.0, 1, 2], "whole numbers")]
)
def test_wrong_actions_of_a_batch_are_refused(actions: list[Any], message: str) -> None:
    envs = make_vec("Crush/Combo-v0", 3)
    with pytest.raises(gym.error.ResetNeeded, match=r"call envs\.reset"):
        envs.step(np.zeros(3, int))
    envs.reset(seed=0)
    with pytest.raises(ValueError, match=message):
        envs.step(np.array(actions))


def test_wrappers_of_gymnasium_work_around_them(tmp_path: Any) -> None:
    env = gym.wrappers.RecordEpisodeStatistics(gym.wrappers.TimeLimit(make("Crush/Points-v0"), 4))
    _, info = env.reset(seed=0)
    for i in range(4):
        *_, truncated, info = env.step(legal(info["action_mask"], i))
    assert truncated and info["episode"]["l"] == 4
    gym.wrappers.NormalizeObservation(make("Crush/Points-v0")).reset(seed=0)
    envs = gym.wrappers.vector.RecordEpisodeStatistics(make_vec("Crush/Points-v0", 2))
    _, info = envs.reset(seed=0)
    while "episode" not in info:
        *_, info = envs.step(np.array([legal(mask, 0) for mask in info["action_mask"]]))
    assert info["episode"]["l"].max() == SMALL["moves"]
    sync = SyncVectorEnv([lambda: make("Crush/Points-v0")] * 2)
    single, _ = sync.reset(seed=3)
    batched, _ = make_vec("Crush/Points-v0", 2).reset(seed=3)
    assert np.array_equal(single, batched)


def worker() -> gym.Env[Any, Any]:
    return gym.make("crush_gym:Crush/Points-v0", **SMALL)


def test_asynchronous_workers_play_alike() -> None:
    envs = AsyncVectorEnv([worker] * 2, context="spawn")
    try:
        found, _ = envs.reset(seed=3)
    finally:
        envs.close()
    assert np.array_equal(found, make_vec("Crush/Points-v0", 2).reset(seed=3)[0])


def test_shipped_levels_are_found_by_name_and_packs_by_name() -> None:
    level = load_pack("basics")["jelly"]
    for given in ("jelly", level, level.to_dict()):
        assert make("Crush/Saga-v0", level=given, pack=None).unwrapped.options.levels[0] == level
    pack = LevelPack([load_pack("basics")[0], load_pack("basics")[1]])
    assert len(make("Crush/Saga-v0", pack=pack).unwrapped.options.levels) == 2
