"""Learners of Stable-Baselines3: the same network, legal moves only, resumed bit for bit, and models from zip files."""

from __future__ import annotations

import dataclasses
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from agents.attempts import PolicyError  # noqa: E402
from agents.foreign.zips import CLASSES, ZippedAgent, algorithm_of  # noqa: E402
from agents.learning import checkpoints  # noqa: E402
from agents.learning.algorithms import AlgorithmError, algorithm  # noqa: E402
from agents.learning.files import Trained, write  # noqa: E402
from agents.learning.inputs import Inputs, View, inputs_of  # noqa: E402
from agents.learning.learner import ILLEGAL  # noqa: E402
from agents.learning.networks import Architecture  # noqa: E402
from agents.learning.practice import Practice  # noqa: E402
from agents.learning.torch_edge import Edge, put, weights_of  # noqa: E402
from agents.registry import AgentError, make  # noqa: E402
from agents.sb3_dqn import MASK, Sb3Dqn, WithMasks  # noqa: E402
from agents.sb3_dqn import Settings as DqnSettings  # noqa: E402
from agents.sb3_ppo import Sb3Ppo  # noqa: E402
from agents.sb3_ppo import Settings as PpoSettings  # noqa: E402
from agents.trained import policy_of  # noqa: E402
from crush_gym import Game, Level, LevelPack, functional  # noqa: E402
from crush_gym.sb3 import CrushVecEnv  # noqa: E402
from experiments import evaluate  # noqa: E402
from experiments.training import PlanError, train  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

GAME = {"shape": (5, 5), "colours": 4, "moves": 6}
TASK = "combo:5x5:colours=4,moves=6"
ARCHITECTURE = Architecture.parse("edge:layers=1,filters=8,hidden=4")
PPO = PpoSettings(boards=16, length=8, minibatch=64)
DQN = DqnSettings(boards=16, length=8, memory=200, first=64, minibatch=32, target=64)


@pytest.fixture(scope="module")
def practice() -> Practice:
    env = functional.make("Crush/Combo-v0", **GAME)
    return Practice(env, inputs_of(env.game))


def learner_of(name: str, practice: Practice, **settings: Any) -> Any:
    kind, usual = {"ppo": (Sb3Ppo, PPO), "dqn": (Sb3Dqn, DQN)}[name]
    return kind(practice, ARCHITECTURE, dataclasses.replace(usual, **settings), 2000)


@pytest.fixture(scope="module", params=["ppo", "dqn"])
def learned(request: pytest.FixtureRequest, practice: Practice) -> Iterator[tuple[Any, list[Any]]]:
    """A learner, and its states before and after three calls."""
    learner = learner_of(request.param, practice)
    state = learner.start(jax.random.key(3))
    states = [jax.tree.map(np.array, state)]
    for _ in range(3):
        state, _ = learner.learn(state)
        states.append(jax.tree.map(np.array, state))
    yield learner, states


def same(one: Any, other: Any) -> bool:
    a, b = jax.tree.leaves(one), jax.tree.leaves(other)
    return len(a) == len(b) and all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


# ---------------------------------------------------------------------------------- the network


@pytest.mark.parametrize("text", ["edge", "edge:layers=0,hidden=3", "edge:layers=2,filters=5"])
def test_the_network_in_torch_gives_what_the_one_in_flax_gives(text: str) -> None:
    """On boards that are not square, with weights of any size."""
    architecture, (channels, height, width) = Architecture.parse(text), (7, 4, 6)
    made, inputs = architecture.made(), Inputs(tuple("abcdefg"), preview=False)
    empty = jax.eval_shape(made.init, jax.random.key(0), jnp.zeros((1, height, width, channels)))
    rng = np.random.default_rng(1)
    weights = jax.tree.map(lambda x: rng.normal(size=x.shape, scale=0.3).astype(np.float32), empty)
    network = Edge(gym.spaces.Box(0, 255, (channels, height, width), np.uint8), **dict(architecture.arguments))
    put(weights, network)
    assert same(weights_of(network), weights) and jax.tree.structure(weights) == jax.tree.structure(weights_of(network))
    planes = rng.integers(0, 256, (9, channels, height, width), np.uint8)
    view = View(jnp.asarray(planes.transpose(0, 2, 3, 1)), jnp.zeros((9, 38, 0), jnp.float16))
    logits, value = jax.jit(lambda w, v: made.apply(w, inputs.cells(v)))(weights, view)
    with torch.no_grad():
        theirs = network(torch.from_numpy(planes).float()).numpy()
    assert float(np.std(logits)) > 0.05
    np.testing.assert_allclose(theirs[:, :-1], logits, atol=1e-4)
    np.testing.assert_allclose(theirs[:, -1], value, atol=1e-4)


def test_all_of_the_network_learns(learned: tuple[Any, list[Any]]) -> None:
    """The heads too: a policy whose optimiser was made before them would leave them as they are."""
    learner, states = learned
    before, after = (jax.tree_util.tree_leaves_with_path(learner.weights(states[n])) for n in (0, 3))
    assert [path for (path, a), (_, b) in zip(before, after, strict=True) if np.array_equal(a, b)] == []
    assert learner.inputs == Inputs(tuple(learner.practice.game.channels), preview=False)


# ---------------------------------------------------------------------------------- learning


def test_a_learner_goes_on_from_a_file_as_if_it_had_never_stopped(
    learned: tuple[Any, list[Any]], practice: Practice, tmp_path: Path
) -> None:
    learner, states = learned
    checkpoints.store(tmp_path / "state", states[1], {})
    other = learner_of(learner.name.removeprefix("sb3-"), practice)
    state, _ = checkpoints.restore(tmp_path / "state", other.shapes(jax.random.key(9)))
    for expected in states[2:]:
        state, metrics = other.learn(state)
        assert same(state, expected)
    assert np.isfinite([v for k, v in metrics.items() if k.startswith("loss/")]).all() and metrics["play/moves"] == 6
    assert not same(states[1].weights, states[2].weights)


def test_a_key_decides_all_and_generators_and_threads_of_the_process_are_left_alone(
    learned: tuple[Any, list[Any]],
) -> None:
    learner, states = learned

    def known() -> Any:
        return np.random.get_state()[1].copy(), torch.get_rng_state().numpy(), torch.get_num_threads()

    before = known()
    learner.learn(states[2])
    assert same(known(), before)
    assert same(learner.start(jax.random.key(3)), states[0])


def test_rewards_are_divided_by_what_a_random_move_brings_and_told_undivided(practice: Practice) -> None:
    learner = learner_of("ppo", practice)
    state = learner.start(jax.random.key(0))
    assert 20 < learner.scale(state) < 2000
    boards = learner.boards
    masks = boards.env_method("action_masks")
    inner: list[Any] = []
    plain = boards.boards.step_wait

    def watched() -> Any:
        inner.append(plain())
        return inner[-1]

    boards.boards.step_wait = watched
    boards.forget()
    boards.step(np.array([np.flatnonzero(mask)[0] for mask in masks]))
    rewards = inner[0][1]
    assert rewards.any() and boards.told()["play/reward"] == pytest.approx(rewards.mean())
    rows, level = learner.shown(state)
    assert len(rows) == 5 and level.moves == 6


def test_numbers_that_broke_down_are_told_and_not_raised(practice: Practice) -> None:
    learner = learner_of("ppo", practice)
    state = learner.start(jax.random.key(0))
    broken = jax.tree.map(lambda x: np.full_like(x, np.nan), state.weights)
    _, metrics = learner.learn(state._replace(weights=broken))
    assert not np.isfinite(metrics["loss/diverged"])


# ---------------------------------------------------------------------------------- legal moves


@pytest.mark.parametrize("when", ["warm-up", "exploring", "greedy"])
def test_masked_dqn_makes_legal_moves_alone(practice: Practice, when: str) -> None:
    learner = learner_of("dqn", practice, first=10_000 if when == "warm-up" else 1, least=float(when == "exploring"))
    state = learner.start(jax.random.key(0))
    made, model = [], learner.model
    step = learner.boards.boards.step_async

    def watched(actions: Any) -> None:
        made.append(learner.boards.boards.action_masks()[np.arange(16), actions])
        step(actions)

    learner.boards.boards.step_async = watched
    if when == "greedy":
        learner._plan = lambda progress: setattr(model, "exploration_rate", 0.0)
        model.exploration_schedule = lambda _: 0.0
    learner.learn(state)
    assert len(made) == 8 and np.all(made)


def test_each_board_flips_a_coin_of_its_own(practice: Practice) -> None:
    learner = learner_of("dqn", practice)
    learner.start(jax.random.key(0))
    model, seen = learner.model, learner.model._last_obs
    best, _ = model.predict(seen, deterministic=True)
    model.exploration_rate = 0.5
    np.random.seed(0)
    strays = np.mean([model.predict(seen)[0] != best for _ in range(40)], axis=0)
    assert (strays > 0.1).all() and (strays < 0.6).all()
    one = {name: part[0] for name, part in seen.items()}
    assert model.predict(one, deterministic=True)[0] == best[0]
    assert (model.predict(seen["planes"], deterministic=True, action_masks=seen[MASK] > 0)[0] == best).all()


def test_no_target_is_promised_by_a_move_that_is_not_legal(practice: Practice) -> None:
    learner = learner_of("dqn", practice)
    learner.start(jax.random.key(0))
    seen, network = learner.model._last_obs, learner.model.q_net_target
    with torch.no_grad():
        worth = network({name: torch.from_numpy(part) for name, part in seen.items()}).numpy()
    legal = seen[MASK] > 0
    assert (worth[~legal] == ILLEGAL).all() and (np.abs(worth[legal]) < 1e3).all()
    cells = jnp.asarray(seen["planes"].transpose(0, 2, 3, 1) / 255.0, jnp.float32)
    logits, value = jax.jit(ARCHITECTURE.made().apply)(weights_of(learner._network()), cells)
    for board in range(16):  # they duel: the legal moves are worth the value on average
        assert worth[board][legal[board]].mean() == pytest.approx(float(value[board]), abs=1e-4)
        order = np.argsort(np.asarray(logits)[board][legal[board]])
        assert (order == np.argsort(worth[board][legal[board]])).all()


def test_what_is_remembered_of_a_last_move_is_the_board_that_ended(practice: Practice) -> None:
    learner = learner_of("dqn", practice)
    state, _ = learner.learn(learner.start(jax.random.key(0)))
    memory = state.more["memory"]
    ended = memory["dones"] > 0
    assert ended.any() and not ended.all()
    left = practice.game.channels.index("left")
    assert (memory["after planes"][ended][:, left] == 0).all()
    assert (memory["after planes"][~ended & (np.arange(len(ended))[:, None] < 8)][:, left] > 0).all()


# ---------------------------------------------------------------------------------- files


def test_an_exported_file_plays_as_the_model_does(learned: tuple[Any, list[Any]], tmp_path: Path) -> None:
    """The network in Flax by its file, and the model in torch by its own, in the harness, on the same attempts."""
    learner, states = learned
    learner._put(states[3])
    learner._held = None
    model, game = learner.model, learner.practice.game
    write(tmp_path / "x.safetensors", Trained(ARCHITECTURE, learner.inputs, game.shape, learner.weights(states[3])))
    model.save(tmp_path / "model.zip")
    names = [f"policy:{tmp_path / 'x.safetensors'}", f"sb3:{tmp_path / 'model.zip'}", "random"]
    agents = [make(name) for name in names]
    found = evaluate(agents, TASK, 20, 5, progress=False)
    assert not found.errors
    scores = {a.name: [row.score for row in sorted(found.rows, key=lambda r: r.attempt) if row.agent == a.name]
              for a in agents}  # fmt: skip
    mine, theirs, random = scores.values()
    assert len(mine) == 20 and mine == theirs and mine != random


SMALL: dict[str, Any] = {
    "algorithm": "sb3-ppo", "network": str(ARCHITECTURE), "steps": 384, "every": 256, "attempts": 16,
    "settings": {"boards": 16, "length": 8, "minibatch": 64},
}  # fmt: skip


class StopAfter:
    """Set after so many calls."""

    def __init__(self, calls: int) -> None:
        self.left = calls

    def is_set(self) -> bool:
        self.left -= 1
        return self.left < 0


def test_a_run_can_be_resumed_and_its_file_tells_what_it_is(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert train(TASK, whole, **SMALL).why == "steps"
    assert train(TASK, parts, stop=StopAfter(1), **SMALL).why == "stopped"
    assert train(resume=parts).steps == 384
    for name in ("best", "last"):
        one, other = (make(f"policy:{folder / name}.safetensors") for folder in (whole, parts))
        assert one.weights == other.weights
    trained = one.trained
    assert not trained.inputs.preview and {"torch", "sb3_contrib", "flax"} <= set(trained.about["versions"])
    assert (whole / "progress.jsonl").read_text() == (parts / "progress.jsonl").read_text()


def test_what_cannot_work_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"^sb3-ppo learns the network 'edge' only, .* not 'resnet': leave the network"):
        train(TASK, tmp_path / "a", **SMALL | {"network": "resnet"})
    with pytest.raises(PlanError, match=r"boards x length, 128 moves, must be a multiple of minibatch, 100"):
        train(TASK, tmp_path / "a", **SMALL | {"settings": SMALL["settings"] | {"minibatch": 100}})
    with pytest.raises(PlanError, match=r"sb3-dqn: memory must be from 64 to"):
        train(TASK, tmp_path / "a", **SMALL | {"algorithm": "sb3-dqn", "settings": {"memory": 3}})
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("missing", ["torch", "sb3_contrib", "stable_baselines3"])
def test_what_is_not_installed_is_told_with_the_extra_that_brings_it(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("agents.sb3_ppo", "agents.learning.sb3", "agents.learning.torch_edge"):
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.partition(".")[0] == missing]:
        monkeypatch.setitem(sys.modules, name, None)  # type: ignore[arg-type]
    with pytest.raises(AlgorithmError, match=rf"^sb3-ppo needs {missing}, .*: pip install 'crush-gym\[sb3\]'$"):
        algorithm("sb3-ppo")


# ---------------------------------------------------------------------------------- models in zip files


@pytest.fixture(scope="module")
def zips(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A model of each algorithm that has learned nothing."""
    import sb3_contrib
    import stable_baselines3

    folder, boards = tmp_path_factory.mktemp("zips"), CrushVecEnv(2, "combo", **GAME)
    found = {}
    for name in CLASSES:
        if name == "MaskedDQN":
            continue
        kind = getattr(sb3_contrib, name, None) or getattr(stable_baselines3, name)
        sizes = {"buffer_size": 10} if name.endswith("DQN") else {"n_steps": 4}
        policy = "MlpLstmPolicy" if name == "RecurrentPPO" else "MlpPolicy"
        found[name] = folder / f"{name}.zip"
        kind(policy, boards, seed=0, **sizes).save(found[name])
    return found


def test_the_algorithm_is_found_in_the_file(zips: dict[str, Path]) -> None:
    assert {name: algorithm_of(path) for name, path in zips.items()} == {name: name for name in zips}


def test_models_play_in_the_harness_with_masks_or_by_replacing_illegal_moves(zips: dict[str, Path]) -> None:
    names = [f"sb3:{zips['MaskablePPO']}", f"sb3:{zips['DQN']}:illegal=random"]
    found = evaluate(names, TASK, 20, 0, progress=False)
    assert not found.errors and len(found.rows) == 40 and all(row.moves == 6 for row in found.rows)
    assert {row.agent.partition(":weights=")[0] for row in found.rows} == {
        f"sb3:{zips['MaskablePPO']}", f"sb3:{zips['DQN']}"
    }  # fmt: skip
    assert all(make(name).name == name for name in {row.agent for row in found.rows})
    refused = evaluate(f"sb3:{zips['DQN']}", TASK, 20, 0, progress=False).errors
    assert "which is not legal" in str(refused[0]) and "illegal='random'" in str(refused[0])


def test_a_model_that_learned_several_levels_plays_in_the_game_of_all_of_them(tmp_path: Path) -> None:
    from sb3_contrib import MaskablePPO

    level = {"name": "plain", "colours": 4, "moves": 5, "goals": {"score": 900}, "board": ["? ? ? ? ?"] * 5}
    icing = level | {"name": "icing", "board": ["I1 ? ? ? ?"] + ["? ? ? ? ?"] * 4}
    levels = [Level.from_dict(level), Level.from_dict(icing)]
    LevelPack(levels).save(tmp_path / "two.json")
    MaskablePPO("MlpPolicy", CrushVecEnv(2, pack=levels), n_steps=4).save(tmp_path / "m.zip")
    agent = make(f"sb3:{tmp_path / 'm.zip'}:pack={tmp_path / 'two.json'}")
    assert isinstance(agent, ZippedAgent) and agent.game is not None
    assert agent.game.channels == Game(levels).channels and agent.bind(agent.game).act
    alone = make(f"sb3:{tmp_path / 'm.zip'}")
    with pytest.raises(PolicyError, match="which is no view of this game"):
        alone.bind(Game(levels[0]))


def test_files_that_are_no_models_are_refused_in_a_sentence(zips: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "text.zip").write_text("nothing")
    with zipfile.ZipFile(tmp_path / "empty.zip", "w"):
        pass
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as file:
        file.writestr("data", "{}")
    model = zips["MaskablePPO"]
    for text, said in (
        (f"sb3:{tmp_path / 'none'}", "there is no file"),
        (f"sb3:{tmp_path / 'text'}", "no saved model of Stable-Baselines3"),
        (f"sb3:{tmp_path / 'empty.zip'}", "no saved model of Stable-Baselines3"),
        (
            f"sb3:{tmp_path / 'other.zip'}",
            "does not show which algorithm made it: say algorithm=NAME, one of",
        ),
        (f"sb3:{model}:algorithm=Maskable", "there is no algorithm 'Maskable'; there are MaskedDQN, DQN"),
        (f"sb3:{model}:algorithm=nowhere.Ppo", "there is no module 'nowhere'"),
        (f"sb3:{model}:algorithm=sb3_contrib.Ppo", "'sb3_contrib' has no algorithm 'Ppo'"),
        (f"sb3:{model}:algorithm=DQN", "cannot be loaded as DQN"),
        (f"sb3:{model}:weights=00000000", "was trained again since then"),
        (f"sb3:{model}:obs=queen", "obs must be one of"),
    ):
        with pytest.raises(AgentError, match=said) as error:
            make(text)
        assert "\n" not in str(error.value)


def test_reading_which_algorithm_it_is_runs_nothing_of_a_file(tmp_path: Path) -> None:
    """Pickles of strangers are opened by loading alone."""
    import base64
    import json

    trap = base64.b64encode(b"cbuiltins\nexit\n(tR.").decode()
    entry = {":type:": "<class 'x'>", ":serialized:": trap, "__module__": "x"}
    with zipfile.ZipFile(tmp_path / "trap.zip", "w") as file:
        file.writestr("data", json.dumps({"policy_class": entry, "clip_range": entry}))
    assert algorithm_of(tmp_path / "trap.zip") == "PPO"


def test_boards_with_masks_show_them_beside_the_planes() -> None:
    boards = WithMasks(CrushVecEnv(16, "combo", **GAME))
    boards.seed(1)
    seen = boards.reset()
    assert boards.observation_space.contains({name: part[0] for name, part in seen.items()})
    assert (seen[MASK] == np.stack(boards.env_method("action_masks"))).all() and 0 < seen[MASK].mean() < 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ppo", "dqn"])
def test_learns_to_score_more_than_at_random(practice: Practice, name: str) -> None:
    settings: dict[str, Any] = {"boards": 64, "length": 16, "rate": 3e-3}
    settings |= {"minibatch": 256} if name == "ppo" else {"memory": 10_000, "first": 2000, "target": 1000}
    kind, usual = {"ppo": (Sb3Ppo, PPO), "dqn": (Sb3Dqn, DQN)}[name]
    learner = kind(
        practice, Architecture.parse("edge:layers=2,filters=16"), dataclasses.replace(usual, **settings), 40_000
    )
    state, game = learner.start(jax.random.key(0)), practice.game
    for _ in range(39):
        state, _ = learner.learn(state)
    policy = policy_of(game, learner.architecture, learner.inputs, learner.weights(state))
    _, stats = game.rollout(jax.random.key(1), attempts=1000, policy=policy)
    _, chance = game.rollout(jax.random.key(1), attempts=1000)
    margin = 3 * float(np.asarray(chance.score).std()) * (2 / 1000) ** 0.5  # of the difference of two means
    assert float(stats.score.mean()) > float(chance.score.mean()) + margin
