"""Runs of learners: resumed as if never interrupted, judged by the harness, refused early, contained when broken."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from agents.learning.files import read
from agents.registry import make
from experiments import evaluate
from experiments.results.assignment import tasks_of
from experiments.training import Plan, PlanError, train
from experiments.training import run as runs
from experiments.training.judging import ending
from experiments.training.many import plans_of, read_sweep

GAME = "combo:5x5"
SMALL: dict[str, Any] = {
    "network": "edge:layers=1,filters=4,hidden=4", "preview": False, "steps": 1024, "every": 512, "attempts": 16,
    "settings": {"boards": 16, "length": 8, "minibatch": 64, "updates": 2},
}  # fmt: skip


class StopAfter:
    """Set after so many calls."""

    def __init__(self, calls: int) -> None:
        self.left = calls

    def is_set(self) -> bool:
        self.left -= 1
        return self.left < 0


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "run"
    done = train(GAME, folder, **SMALL)
    assert (done.steps, done.why, done.metric) == (1024, "steps", "score")
    return folder


def lines_of(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "progress.jsonl").read_text().splitlines()]


def same_weights(one: Path, other: Path) -> bool:
    a, b = load_file(one), load_file(other)
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def test_a_resumed_run_ends_as_one_that_was_never_interrupted(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert train(GAME, folder, stop=StopAfter(1), **SMALL).why == "stopped"
    assert train(resume=folder, stop=StopAfter(2)).steps == 768
    assert train(resume=folder).why == "steps"
    assert lines_of(folder) == lines_of(whole)
    for name in ("best.safetensors", "last.safetensors", "state.safetensors"):
        assert same_weights(folder / name, whole / name)


def test_a_run_that_ends_before_its_first_judgement_leaves_weights_and_can_be_resumed(
    whole: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    done = train(GAME, folder, minutes=1e-6, **SMALL)
    assert (done.steps, done.why) == (256, "minutes")
    assert done.best == read(folder / "best.safetensors").about["judged"]["score"]
    train(resume=folder)
    assert lines_of(folder) == lines_of(whole)
    assert same_weights(folder / "best.safetensors", whole / "best.safetensors")


def test_what_was_done_after_the_last_checkpoint_is_done_again(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    train(GAME, folder, stop=StopAfter(2), **SMALL)
    kept = (folder / "state.safetensors").read_bytes()
    train(resume=folder, stop=StopAfter(1))
    (folder / "state.safetensors").write_bytes(kept)  # killed before the next checkpoint
    with open(folder / "progress.jsonl", "a") as file:
        file.write('{"steps": 9')
    train(resume=folder)
    assert lines_of(folder) == lines_of(whole)
    assert same_weights(folder / "last.safetensors", whole / "last.safetensors")


def test_the_harness_judges_and_the_file_plays_the_same(whole: Path) -> None:
    about = read(whole / "last.safetensors").about
    (judged,) = [line for line in lines_of(whole) if line["steps"] == 1024 and "judged/score" in line]
    rows = evaluate(
        make(f"policy:{whole / 'last.safetensors'}"), GAME, 16, about["judged"]["seed"], progress=False
    ).rows
    assert judged["judged/score"] == np.mean([row.score for row in rows]) == about["judged"]["score"]
    assert (
        "mean score" in (whole / "best.md").read_text()
        and "crush-gym train ppo --levels combo:5x5" in (whole / "best.md").read_text()
    )


def test_tensorboard_reads_what_was_written(whole: Path) -> None:
    events = EventAccumulator(str(whole))
    events.Reload()
    tags = events.Tags()
    assert {"judged/score", "loss/policy", "play/return", "params/conv0/kernel"} <= set(tags["tensors"])
    assert tags["images"] == ["board"]
    steps = [event.step for event in events.Tensors("loss/policy")]
    assert steps == [256, 512, 768, 1024]


def test_levels_where_good_players_never_end_are_judged_by_moves() -> None:
    judged = {task.name: ending(task).level for name in ("basics/timed", "basics/jelly") for task in tasks_of(name)}
    (jelly,) = tasks_of("basics/jelly")
    assert (int(judged["timed"].seconds), int(judged["timed"].moves)) == (-1, 60)
    assert judged["jelly"].to_dict() == jelly.level.to_dict()


def test_a_run_that_diverges_keeps_the_last_good_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        """The learner, until its third call."""

        def __init__(self, real: Any) -> None:
            self.real, self.calls = real, 0

        def __getattr__(self, name: str) -> Any:
            return getattr(self.real, name)

        def learn(self, state: Any) -> Any:
            self.calls += 1
            state, metrics = self.real.learn(state)
            return state, metrics | ({"loss/policy": np.float32("nan")} if self.calls == 3 else {})

    monkeypatch.setattr(runs.Plan, "learner", lambda self, real=runs.Plan.learner: Broken(real(self)))
    done = train(GAME, tmp_path / "run", **SMALL)
    assert (done.why, done.steps) == ("diverged", 512)
    assert np.isfinite(load_file(tmp_path / "run" / "last.safetensors")["params/conv0/kernel"]).all()
    assert lines_of(tmp_path / "run")[-1]["steps"] == 512


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ({"levels": "jelly"}, "jelly"),
        ({"levels": ["combo", "points"]}, "different rules"),
        ({"levels": "combo", "algorithm": "pppo"}, "did you mean 'ppo'"),
        ({"levels": "combo", "network": "edge:layer=3"}, "no argument 'layer'"),
        ({"levels": "combo", "network": "edge:foresight=4", "preview": False}, "needs what moves bring by themselves"),
        ({"levels": "combo", "settings": {"rate": "fast"}}, "rate must be float, not 'fast'"),
        ({"levels": "combo", "settings": {"clib": 0.1}}, "did you mean 'clip'"),
        ({"levels": "combo", "steps": 0}, "steps must be from 1"),
        ({"levels": "combo", "reward": "fun"}, "reward must be one of auto, score"),
        ({"levels": "combo", "reward": "progress"}, "goals"),
        ({"levels": []}, "no levels"),
    ],
)
def test_a_plan_that_cannot_work_is_refused_before_anything_is_written(plan: dict, said: str, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=said):
        train(out=tmp_path / "run", **plan)
    assert not (tmp_path / "run").exists()


def test_a_folder_with_another_run_is_left_alone(whole: Path, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="holds a run already"):
        train(GAME, whole, **SMALL)
    with pytest.raises(PlanError, match="holds no run to go on with"):
        train(resume=tmp_path)
    (tmp_path / "config.json").write_text('{"format": 1, "levels": 3}')
    with pytest.raises(PlanError, match="no config of a run"):
        train(resume=tmp_path)


def test_a_network_is_the_algorithms_own_unless_one_is_asked_for() -> None:
    def network(**plan: Any) -> str:
        return str(Plan((GAME,), **plan).learner().architecture)

    assert network(algorithm="ppo") == "edge:foresight=4.0"
    assert network(algorithm="pqn") == "edge:norm=True,foresight=4.0"
    assert (network(algorithm="ppo", preview=False), network(algorithm="expert")) == ("edge", "edge")
    assert network(algorithm="pqn", network="edge:layers=1") == "edge:layers=1"


def test_settings_go_by_the_reward_where_the_algorithm_has_them() -> None:
    usual = {name: Plan((GAME,), algorithm=name).learner().settings for name in ("ppo", "dqn", "pqn")}
    assert {settings.discount for settings in usual.values()} == {0.9}
    assert (usual["ppo"].trace, hasattr(usual["dqn"], "trace")) == (0.8, False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "settings"),
    [
        ("dqn", {"boards": 16, "memory": 512, "minibatch": 32, "updates": 16}),
        ("pqn", {"boards": 16, "length": 8, "minibatch": 64, "updates": 2}),
    ],
)
def test_other_learners_go_on_too_and_their_files_play(
    algorithm: str, settings: dict[str, Any], tmp_path: Path
) -> None:
    plan = SMALL | {"algorithm": algorithm, "settings": settings}
    whole, folder = tmp_path / "whole", tmp_path / "run"
    train(GAME, whole, **plan)
    assert train(GAME, folder, stop=StopAfter(1), **plan).why == "stopped"
    assert train(resume=folder).why == "steps"
    assert lines_of(folder) == lines_of(whole)
    for name in ("best.safetensors", "last.safetensors", "state.safetensors"):
        assert same_weights(folder / name, whole / name)
    about = read(whole / "last.safetensors").about
    rows = evaluate(make(f"policy:{whole / 'last.safetensors'}"), GAME, 16, about["judged"]["seed"]).rows
    assert about["judged"]["score"] == np.mean([row.score for row in rows])


@pytest.mark.slow
def test_killed_at_any_moment_it_goes_on_as_if_nothing_had_happened(whole: Path, tmp_path: Path) -> None:
    folder, chance = tmp_path / "run", random.Random(0)
    words = f"from experiments.training import train; train({GAME!r}, {str(folder)!r}, **{SMALL!r})"
    again = f"from experiments.training import train; train(resume={str(folder)!r})"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    for _ in range(6):
        started = (folder / "config.json").exists()
        child = subprocess.Popen([sys.executable, "-c", again if started else words], env=environment)
        time.sleep(chance.uniform(4, 14))
        child.send_signal(signal.SIGKILL)
        child.wait()
    subprocess.run([sys.executable, "-c", again], env=environment, check=True)
    assert lines_of(folder) == lines_of(whole)
    assert same_weights(folder / "last.safetensors", whole / "last.safetensors")


def test_several_runs_are_one_plan_with_seeds_and_variants(tmp_path: Path) -> None:
    path = tmp_path / "sweep.json"
    path.write_text('[{"name": "slow", "settings": {"rate": 0.0001}}, {"network": "edge:layers=2"}]')
    base = {"levels": ["combo:5x5"], "steps": 500, "settings": {"clip": 0.1}}
    wanted = plans_of(base, tmp_path, 2, read_sweep(path))
    assert [str(run.folder.relative_to(tmp_path)) for run in wanted] == [
        "slow/seed-0", "slow/seed-1", "run-1/seed-0", "run-1/seed-1",
    ]  # fmt: skip
    assert [run.plan.seed for run in wanted] == [0, 1, 0, 1]
    assert wanted[0].plan.settings == {"clip": 0.1, "rate": 0.0001} and wanted[2].plan.settings == {"clip": 0.1}
    assert wanted[2].plan.network == "edge:layers=2" and wanted[0].plan.network == "auto"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{}", "must be a list"),
        ("[", "cannot be read as a list of runs"),
        ('[{"rate": 1}]', "run 'run-0' has no 'rate'"),
        ('[{"name": "../x"}, {}]', "cannot be a folder's"),
        ('[{"name": "a"}, {"name": "a"}]', "have one name"),
        ('[{"settings": {"rate": 9.0}}]', "rate must be from"),
        ('[{"steps": "many"}]', "run 'run-0'"),
    ],
)
def test_a_list_of_runs_that_cannot_work_is_refused(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "sweep.json"
    path.write_text(content)
    with pytest.raises(PlanError, match=said):
        plans_of({"levels": ["combo:5x5"]}, tmp_path, 1, read_sweep(path))
