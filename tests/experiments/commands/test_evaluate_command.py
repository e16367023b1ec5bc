"""`crush-gym evaluate`: a table, an exit code, and one sentence for what was asked wrongly."""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from crush_gym.cli import main
from experiments import Results, Row, ShardError
from experiments.commands.evaluate import _report
from experiments.commands.playing import DASH, in_short
from experiments.ranking import compare, field_of, rank
from experiments.results.store import Store

PLAYER = "tests.experiments.players:Player"
SMALL = ["--levels", "combo:5x5", "--attempts", "7", "--seed", "11"]
"""Of the same shapes as other tests play, so that nothing is compiled for it."""


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a command in a folder of its own: exit code, what it printed and what it complained about."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("experiments.running.bar.PAUSE", math.inf)  # how far it is, a slow machine says as well

    def go(*arguments: str) -> tuple[int, str, str]:
        status = main(["evaluate", *arguments])
        said = capsys.readouterr()
        return status, said.out, said.err

    return go


def test_a_table_says_how_each_agent_did_and_where_the_results_are(run: Any, tmp_path: Path) -> None:
    status, out, err = run(PLAYER, f"{PLAYER}:does=raises", *SMALL, "--export", "runs.csv")
    lines = out.splitlines()
    assert (status, err) == (1, "")
    assert lines[0].split() == ["agent", "won", "success", "mean", "score", "moves/s"]
    assert re.fullmatch(rf"{PLAYER} +{DASH} +{DASH} +[\d,]+ +[\d,]+", lines[2])
    assert lines[3:] == [
        "",
        "7 results in runs.sqlite",
        f"error: {PLAYER}:does=raises on combo 5x5, 7 attempts: ZeroDivisionError: a stranger's mistake",
        "The same command plays what is missing.",
    ]
    with Store(tmp_path / "runs.sqlite") as store:
        known = list(store.rows())
    assert len(known) == 7 and len((tmp_path / "runs.csv").read_text().splitlines()) == 8
    status, out, _ = run(PLAYER, *SMALL, "--json")
    report = json.loads(out)
    assert (status, report["store"], report["errors"]) == (0, "runs.sqlite", [])
    assert (report["agents"][PLAYER]["success"], report["agents"][PLAYER]["winnable"]) == (None, 0)
    assert report["agents"][PLAYER]["mean_score"] == sum(row.score for row in known) / 7
    assert report["agents"][PLAYER]["moves_per_second"] == pytest.approx(
        sum(row.moves for row in known) / sum(row.seconds for row in known)
    )


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        (["randon", *SMALL], 2, "there is no agent 'randon' (did you mean 'random'?)"),
        (["mcts:sims=3", "first", *SMALL], 2, "there is no parameter 'sims' (did you mean 'simulations'?)"),
        (["mcts:playout=gredy", *SMALL], 2, "there is no agent 'gredy' (did you mean 'greedy'?)"),
        (["tests.experiments.players:Playr", *SMALL], 2, "has no 'Playr'; did you mean 'Player'?"),
        (["first", "--levels", "nowhere"], 2, "nowhere"),
        (["first", "--levels", "combo:5"], 2, "expected combo:HEIGHTxWIDTH"),
        (["first", "--levels", "thesis/no such level"], 2, "has no level 'no such level'"),
        (["first", *SMALL, "--time-limit", "5"], 2, "--time-limit needs --processes N or --ray N"),
        (["first", *SMALL, "--export", "runs.xls"], 2, "must end in .csv or .parquet"),
        (["first", *SMALL, "--out", "nowhere/runs.sqlite"], 1, "the folder 'nowhere' is not there"),
        (["first", *SMALL, "--attempts", "0"], 2, "expected a whole number from 1 upwards, not '0'"),
        (["first", *SMALL, "--time-limit", "soon"], 2, "expected seconds, more than 0, not 'soon'"),
    ],
)
def test_what_is_asked_wrongly_is_one_sentence(run: Any, arguments: list[str], status: int, sentence: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (status, "")
    assert sentence in err.splitlines()[-1] and "Traceback" not in err


def test_levels_without_goals_have_no_success_rate_anywhere(capsys: pytest.CaptureFixture[str]) -> None:
    def row(agent: str, task: str, attempt: int, outcome: str) -> Row:
        score = attempt + (100 if agent == "a" else 10)
        return Row(agent, task, task, 0, attempt, outcome == "won", outcome, "goals", score, 5, 5, 1, 0, 0.1)

    ends = {"a": ("lost", "won", "won"), "b": ("lost", "lost", "won")}
    goal = [row(agent, "goal", n, end) for agent, each in ends.items() for n, end in enumerate(each * 2)]
    endless = [row(agent, "endless", n, "lost" if n == 3 else "ended") for agent in ends for n in range(6)]
    for rows, rates in (goal + endless, (4 / 6, 2 / 6)), (endless, None):
        _report(argparse.Namespace(json=True, out="x", seed=0, by_level=False), Results(tuple(rows), ()), {})
        said = json.loads(capsys.readouterr().out)["agents"]
        ranked = [standing.success for standing in rank(field_of(rows)).standings]
        compared = compare(field_of(rows), "a", "b").success
        if rates is None:
            assert ranked == [None, None] and compared is None
            assert [said[agent]["success"] for agent in "ab"] == [None, None]
        else:
            assert [said[agent]["success"] for agent in "ab"] == [s.value for s in ranked if s] == list(rates)
            assert compared is not None and compared.value == pytest.approx(rates[0] - rates[1])
    _report(argparse.Namespace(json=False, out="x", seed=0, by_level=False), Results(tuple(goal + endless), ()), {})
    assert capsys.readouterr().out.splitlines()[2].split()[:5] == ["a", "4", "of", "6", "66.7%"]


def test_shards_that_fail_alike_are_one_line() -> None:
    errors = [ShardError("a", (f"level {n}", "level 9"), 10, "no") for n in range(3)] + [
        ShardError("b", ("x",), 1, "no")
    ]
    assert in_short(Results((), tuple(errors)).errors) == [
        "a on 4 levels, 30 attempts: no", "b on x, 1 attempts: no"
    ]  # fmt: skip
    assert in_short([ShardError("a", ("\x1b]0;x\x07",), 1, "\x1b[31m")]) == [r"a on \x1b]0;x\x07, 1 attempts: \x1b[31m"]


def test_help_shows_an_example_and_does_not_wait_for_jax() -> None:
    code = (
        "import sys\nfrom crush_gym.cli import main\nstatus = main(['evaluate', '--help'])\n"
        "assert status == 0 and 'jax' not in sys.modules\nimport experiments\nassert 'jax' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")
    assert "crush-gym evaluate random first --levels thesis" in done.stdout


def test_alarms_of_xla_are_silenced_before_it_is_loaded_unless_the_user_wants_them() -> None:
    code = (
        "import os\nfrom experiments.commands.terminal import quiet_xla\nquiet_xla()\nimport jax\n"
        "print(os.environ['TF_CPP_MIN_LOG_LEVEL'])"
    )
    kept = {name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"}
    for environment, level in ((kept, "3"), (kept | {"TF_CPP_MIN_LOG_LEVEL": "0"}, "0")):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
        assert done.stdout.strip() == level
