"""Runs of imitation: resumed as if never interrupted, judged by moves kept back and by playing, in files that play."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from agents.learning.files import read
from agents.protocol import bound
from agents.registry import AgentError, make
from agents.trained import units_of
from crush_gym import Game
from crush_gym.cli import main
from crush_gym.keys import player_key
from experiments.training import PlanError, train
from tests.agents.learning.demonstrators import COLOURS, SIDE, written
from tests.experiments.training.test_training_run import StopAfter, lines_of, same_weights

LEVEL = "combo:5x5:colours=3,moves=4"
RUN: dict[str, Any] = {
    "algorithm": "imitation", "network": "edge:layers=1,filters=8,hidden=8", "steps": 15_360, "every": 5_120,
    "attempts": 8, "settings": {"batch": 128, "rate": 0.01, "traits": True},
}  # fmt: skip


@pytest.fixture(scope="module")
def moves(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("pairs") / "moves", 3000, traits=True)


@pytest.fixture(scope="module")
def whole(moves: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "run"
    done = train(LEVEL, folder, pairs=str(moves), **RUN)
    assert (done.steps, done.why, done.metric) == (15_360, "steps", "top1")
    return folder


def test_a_run_is_judged_by_moves_kept_back_and_by_playing(whole: Path, moves: Path) -> None:
    judged = [line for line in lines_of(whole) if "judged/top1" in line]
    assert len(judged) == 3 and all(line["judged/score"] > 0 for line in judged)
    assert judged[-1]["judged/share"] > 0.85 > judged[0]["judged/share"]
    about = read(whole / "best.safetensors").about
    assert about["judged"]["top1"] == max(line["judged/top1"] for line in judged)
    assert about["test"]["nll"] > about["test"]["demonstrator"] - 0.2 and about["reward"] == ""
    assert about["test"]["top1"] != about["judged"]["top1"] and units_of(about) is None
    card = (whole / "best.md").read_text()
    assert "of moves of `who likes` in attempts that it never saw" in card and "is told liking" in card
    assert f"train imitation --pairs {moves} --levels {LEVEL}" in card


def test_a_resumed_run_ends_as_one_that_was_never_interrupted(whole: Path, moves: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert train(LEVEL, folder, pairs=str(moves), stop=StopAfter(7), **RUN).why == "stopped"
    assert train(resume=folder).why == "steps"
    assert lines_of(folder) == lines_of(whole)
    for name in ("best.safetensors", "last.safetensors", "state.safetensors"):
        assert same_weights(folder / name, whole / name)


def test_other_pairs_are_not_gone_on_with(moves: Path, tmp_path: Path) -> None:
    config, others = RUN | {"steps": 2048, "every": 10**6}, tmp_path / "moves"
    written(others, 3000, traits=True)
    assert train([], tmp_path / "run", pairs=str(others), stop=StopAfter(1), **config).why == "stopped"
    (others / "pairs.json").unlink()
    for path in others.iterdir():
        path.unlink()
    written(others, 3000, traits=True, seed=1)
    with pytest.raises(PlanError, match="are not those that the run in"):
        train(resume=tmp_path / "run")


def test_the_file_plays_as_who_it_is_told_to_be(whole: Path) -> None:
    game, path = Game(rules="combo", shape=(SIDE, SIDE), colours=COLOURS, moves=4), whole / "best.safetensors"
    with pytest.raises(Exception, match="never saw what this game has"):
        make(f"policy:{path}").bind(game)
    state = game.reset(jax.random.split(jax.random.key(1), 64))
    legal = np.asarray(game.legal(state))
    chances = {}
    for liking in (-1.0, 1.0):
        agent = make(f"policy:{path}:traits=(liking={liking:g}),blind=True")
        assert make(agent.name) == agent and f"traits=liking={liking:g}" in agent.name
        policy = bound(agent, game)
        memory = policy.start(policy.params, player_key(jax.random.split(jax.random.key(2), 64)), state, game.level)
        assert policy.logits is not None and memory.shape == (1, 64)
        chances[liking] = np.asarray(policy.logits(policy.params, memory, state, game.level))
    policy = bound(make(f"policy:{path}:blind=True"), game)
    given = {"liking": jnp.where(jnp.arange(64) % 2, 1.0, -1.0)}
    memory = policy.start(policy.params, player_key(jax.random.split(jax.random.key(2), 64)), state, game.level, given)
    mixed = np.asarray(policy.logits(policy.params, memory, state, game.level))
    expected = np.where(np.arange(64) % 2, chances[1.0], chances[-1.0])
    np.testing.assert_allclose(mixed[legal], expected[legal], rtol=1e-4, atol=1e-4)
    assert np.abs(chances[1.0] - chances[-1.0])[legal].mean() > 0.01


@pytest.mark.parametrize(
    ("parameters", "said"),
    [("traits=skill=1", "no trait 'skill' of who plays; there are liking"), ("traits=liking=much", "must be a number")],
)
def test_traits_that_it_is_not_told_are_refused(parameters: str, said: str, whole: Path) -> None:
    with pytest.raises(AgentError, match=said):
        make(f"policy:{whole / 'best.safetensors'}:{parameters}")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("train imitation --levels combo:5x5", "imitation learns from recorded moves: say where they are"),
        ("train imitation --pairs nothing", "'nothing' holds no pairs"),
        ("train ppo --pairs {moves}", "ppo learns by playing, not from recorded moves"),
        ("train imitation --pairs {moves} --set levels=3", "holds pairs of 2 levels, not of 3"),
        ("train imitation --pairs {moves} --network king:layers=2 --levels combo:7x7", "plays boards of 5x5 only"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    command: str, said: str, moves: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert main(command.format(moves=moves).split()) in (1, 2)
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_the_command_tells_what_came_of_it(
    moves: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    given = "--steps 1024 --network edge:layers=1,filters=8,hidden=8 --set batch=128 --set rate=0.01 --set traits=True"
    assert main(["train", "imitation", "--pairs", str(moves), *given.split()]) == 0
    said = capsys.readouterr()
    assert "runs/imitation-moves: 1,024 moves, best top-1 " in said.out and "judged" in said.err
    config = json.loads((tmp_path / "runs/imitation-moves/config.json").read_text())
    assert config["levels"] == [] and config["pairs"] == str(moves)
