"""`crush-gym predict` from people's results to predictions: two commands, pages, JSON, and what goes wrong."""

from __future__ import annotations

import html
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

from crush_gym.cli import main
from experiments.features import gather
from experiments.statistics import Array
from tests.experiments.prediction.small import AGENTS, ATTEMPTS, TASKS, TEXTS, truth, write_people

ROOT = Path(__file__).absolute().parents[3]

LEVELS = [word for text in TEXTS for word in ("--levels", text)]
RECIPE = ["--agents", *AGENTS, "--attempts", ATTEMPTS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("predict")


@pytest.fixture(scope="module")
def rates(folder: Path) -> Array:
    return truth(gather(AGENTS, TASKS, ATTEMPTS, 0, folder / "cache.sqlite", progress=False))


@pytest.fixture(scope="module")
def people(folder: Path, rates: Array) -> Path:
    return write_people(folder / "people.csv", [task.name for task in TASKS], rates)


@pytest.fixture(scope="module")
def model(folder: Path, people: Path) -> Path:
    """Fitted without the second of four parts."""
    out = folder / "model.json"
    arguments = ["fit", people, *LEVELS, "--without", "2/4", *RECIPE, "--start", "nothing", "--out", out]
    assert main(["predict", *map(str, arguments), "--cache", str(folder / "cache.sqlite")]) == 0
    return out


def run(capsys: Any, folder: Path, *arguments: object) -> tuple[int, str, str]:
    status = main(["predict", *map(str, arguments), "--cache", str(folder / "cache.sqlite")])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_a_fit_and_predictions_of_what_it_did_not_see_take_two_commands(
    folder: Path, people: Path, model: Path, rates: Array, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("--only", "2/4", "--model", model, "--attempts", 200, "--players", 80, "--json")
    status, out, _ = run(capsys, folder, "pack", *TEXTS, *asked)
    found = json.loads(out)
    names = [task.name for task in TASKS]
    fitted = set(json.loads(model.read_text())["fitted"]["names"])
    assert status == 0 and len(found) == 5 and len(fitted) == 15
    for row in found:
        truth_of = rates[names.index(row["level"])]
        assert row["low"] < row["success"] < row["high"] and abs(row["success"] - truth_of) < 0.2
        attempt = 1 / 200  # in whole ones observed rates are counted
        assert row["observed"]["low"] <= row["low"] + attempt and row["high"] <= row["observed"]["high"] + attempt
        assert row["model"]["source"] == "the people of people.csv" and row["model"]["synthetic"] is False
    order = np.argsort([row["success"] for row in found])
    known = [rates[names.index(found[n]["level"])] for n in order]
    assert np.corrcoef(known, np.arange(5))[0, 1] > 0.8


def test_a_fit_says_what_it_is_made_of(
    folder: Path, people: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = folder / "again.json"
    words = ("fit", people, *LEVELS, *RECIPE, "--start", model, "--source", "testers", "--out", out)
    status, said, _ = run(capsys, folder, *words)
    assert status == 0 and said.startswith("20 levels with people, ") and said.endswith(f"model: {out}\n")
    assert "start: a model of the people of people.csv; predictions moved by " in said
    assert "inattentive:share=1 " in said and "intercept" in said
    _, said, _ = run(capsys, folder, *words, "--json")
    found = json.loads(said)
    assert found["source"] == "testers" and 0 <= found["moved"] < 0.1 and found["attempts_of_agents"] == ATTEMPTS


def test_a_level_is_told_with_its_band_what_moves_it_and_other_limits(
    folder: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = folder / "level.html"
    status, out, _ = run(capsys, folder, "level", TEXTS[5], "--model", model, "--out", page)
    lines = out.splitlines()
    assert status == 0 and lines[0].startswith("combo 4x5") and "people win" in lines[0] and "95 % band" in lines[0]
    assert lines[1].startswith("It is ") and "of the 15 levels that the model was fitted on" in lines[1]
    assert "how inattentive does" in out and "*7 " in out and "By a model of the people of people.csv" in out
    curve = [int(line.split()[1].rstrip("%").split("\N{NO-BREAK SPACE}")[0].split(".")[0]) for line in _curve(lines)]
    assert curve == sorted(curve) and curve[-1] - curve[0] > 20
    assert "Under other limits of moves" in page.read_text(encoding="utf-8")
    _, out, _ = run(capsys, folder, "level", TEXTS[5], TEXTS[6], "--model", model, "--json")
    first, second = json.loads(out)
    assert first["success"] > second["success"] and first["unusual"] == "" and first["movers"]


def _curve(lines: list[str]) -> list[str]:
    start = next(n for n, line in enumerate(lines) if line.split()[:2] == ["moves", "success"])
    return [line for line in lines[start + 2 :] if line and line.lstrip("* ")[0].isdigit()]


def test_a_level_unlike_the_others_is_told(folder: Path, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(
        capsys, folder, "level", "combo:4x5:moves=30,colours=6,goal=100", TEXTS[5], "--model", model, "--json"
    )
    strange, usual = json.loads(out)
    assert "Unlike the 15 levels of the fit" in strange["unusual"] and "score goal, moves" in strange["unusual"]
    assert usual["unusual"] == ""


def test_a_test_reports_on_levels_that_it_held_out(
    folder: Path, people: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = folder / "test.html"
    words = ("test", people, *LEVELS, *RECIPE, "--covariates", "file", "--split", "random:4")
    status, out, _ = run(capsys, folder, *words, "--out", page)
    rows = [line.split("  ")[0] for line in out.splitlines()[2:7]]
    assert status == 0 and rows == [
        "the model",
        "constant",
        "inattentive alone",
        "inattentive:share=1 alone",
        "file alone",
    ]
    assert "20 levels; noise floor" in out
    text = page.read_text(encoding="utf-8")
    for heading in ("Predicted against observed", "Residuals", "Coverage", "By difficulty", "The paper's table II"):
        assert f">{html.escape(heading)}</h2>" in text
    status, out, _ = run(capsys, folder, *words, "--on", people, "--alone", "--json")
    found = json.loads(out)
    (whole,) = found["models"]
    errors = [abs(row["predicted"] - row["observed"]) for row in found["levels"]]
    assert whole["mae"]["value"] == pytest.approx(np.mean(errors)) and whole["levels"] == len(errors) == 20
    inside = np.mean([row["low"] <= row["observed"] <= row["high"] for row in found["levels"]])
    assert whole["coverage"]["0.95"] == pytest.approx(inside)


def test_agents_are_ranked_and_one_that_fails_costs_itself(
    folder: Path, people: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = folder / "agents.html"
    words = ("agents", people, *LEVELS, "--agents", *AGENTS, "nobody", "--split", "random:4", "--out", page)
    status, out, _ = run(capsys, folder, *words)
    lines = out.splitlines()
    assert status == 1 and "there is no agent 'nobody'" in lines[-2]
    assert {line.split()[0] for line in lines[2:4]} == set(AGENTS)
    assert float(lines[2].split()[1]) <= float(lines[3].split()[1])
    assert "Agents as predictors of people" in page.read_text(encoding="utf-8")


def test_a_pack_page_marks_what_stands_out(folder: Path, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = folder / "pack.html"
    status, out, _ = run(capsys, folder, "pack", *TEXTS, "--model", model, "--out", page)
    assert status == 0 and "much harder than those around" in out
    text = page.read_text(encoding="utf-8")
    assert ">Difficulty</h2>" in text and ">Levels that stand out</h2>" in text


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        (("pack", TEXTS[0], "--only", "7/9"), 2, "1 levels cannot be dealt out to 9 folds"),
        (("pack", TEXTS[0], "--only", "nothing like it"), 2, "no level is called 'nothing like it'"),
        (("pack", TEXTS[0], "--players", 9), 2, "--players needs --attempts"),
        (("level", TEXTS[0], "--model", "nowhere.json"), 1, "'nowhere.json' cannot be read"),
        (("level", "combo:4x5"), 1, "nobody can win 'combo 4x5'"),
        (("test", "nowhere.csv", "--levels", TEXTS[0]), 2, "there is no file 'nowhere.csv'"),
    ],
)
def test_what_goes_wrong_is_told_in_a_sentence(
    words: tuple[object, ...], status: int, sentence: str, folder: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = words if "--model" in words or words[0] == "test" else (*words, "--model", model)
    found, _, err = run(capsys, folder, *given)
    assert (found, sentence in err, err.count("\n")) == (status, True, 1)


@pytest.mark.slow
def test_a_fit_that_is_killed_at_any_moment_goes_on_to_the_same_numbers(people: Path, tmp_path: Path) -> None:
    def fit(name: str) -> subprocess.Popen[bytes]:
        words = ["predict", "fit", people, *LEVELS, "--agents", *AGENTS, "--attempts", 2000, "--start", "nothing"]
        own = ["--out", tmp_path / f"{name}.json", "--cache", tmp_path / f"{name}.sqlite"]
        return subprocess.Popen(
            [sys.executable, "-m", "crush_gym", *map(str, [*words, *own])], cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    start = time.monotonic()
    assert fit("whole").wait() == 0
    whole, rng, killed = time.monotonic() - start, random.Random(2), []
    for _ in range(12):  # each time what is left takes shorter
        run = fit("killed")
        time.sleep(rng.uniform(0.0, whole))
        run.send_signal(signal.SIGKILL)
        killed.append(run.wait() == -signal.SIGKILL)
    assert any(killed)
    assert fit("killed").wait() == 0
    assert (tmp_path / "killed.json").read_bytes() == (tmp_path / "whole.json").read_bytes()
