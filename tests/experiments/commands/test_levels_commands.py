"""`crush-gym levels rate` and `compare`, `evaluate --by-level`; and levels of one name wherever results are shown."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binomtest

from crush_gym import Level
from crush_gym.cli import main
from experiments.commands.rate import print_ratings, report
from experiments.ranking import RankingError, compare, field_of, rank
from experiments.ranking.origins import Origins
from experiments.ranking.ratings import ratings
from experiments.ranking.two_levels import comparable, compare_levels
from experiments.report.comparison import comparison_page
from experiments.report.leaderboard import leaderboard_page
from experiments.results.assignment import tasks_of
from experiments.results.labels import labels
from experiments.results.row import Row
from experiments.results.store import Store
from experiments.results.task import Task

PLAYER = "tests.experiments.players:Player"
SHORT, LONG = "combo:5x5:goal=1000,moves=5", "combo:5x5:goal=1000,moves=9"
BRIDGES = tuple(
    Task(
        Level.from_dict({"name": "Bridge", "colours": 4, "moves": moves, "goals": {"score": 9}, "board": ["? ? ?"] * 3})
    )
    for moves in (5, 6)
)


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a command in a folder of its own: exit code, what it printed and what it complained about."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("experiments.running.bar.PAUSE", math.inf)

    def go(*arguments: str) -> tuple[int, str, str]:
        status = main([*arguments])
        said = capsys.readouterr()
        return status, said.out, said.err

    return go


def rows(agent: str, task: Task, wins: int, of: int = 20, left: int = 2) -> list[Row]:
    """Attempts of which the first are won."""
    return [
        Row(agent, task.identity, task.name, 0, n, n < wins, "won" if n < wins else "lost", "goals", 100 + n, 5,
            left if n < wins else 0, 3, 0, 0.1)
        for n in range(of)
    ]  # fmt: skip


def both(first: int, second: int, agent: str = "a") -> list[Row]:
    return rows(agent, BRIDGES[0], first) + rows(agent, BRIDGES[1], second)


# --------------------------------------------------------------------------------------- the numbers


def test_ratings_are_of_each_player_on_each_level(capsys: pytest.CaptureFixture[str]) -> None:
    names = {task.identity: task.name for task in BRIDGES}
    found = ratings(both(5, 0) + both(20, 1, "b"), labels(names))
    assert [(r.agent, r.won, r.attempts, r.moves_left) for r in found] == [
        ("a", 5, 20, 2.0), ("b", 20, 20, 2.0), ("a", 0, 20, None), ("b", 1, 20, 2.0),
    ]  # fmt: skip
    assert found[0].score == 109.5 and found[0].success is not None
    known = binomtest(5, 20).proportion_ci(method="wilson")
    assert tuple(found[0].success) == pytest.approx((0.25, known.low, known.high))
    print_ratings(found)
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"Bridge #[0-9a-f]{6} +a +20 +25\.0 % +11\.2 to 46\.9 % +110 +2\.0", lines[2])
    levels = report(found)
    assert [level["identity"] for level in levels] == [task.identity for task in BRIDGES]
    assert levels[1]["players"][0]["success"]["value"] == 0 and levels[1]["players"][0]["moves_left"] is None


def test_two_levels_are_compared_by_pairs_and_by_a_sentence_for_each_player() -> None:
    called = ("old", "new")
    clear, unclear = compare_levels(both(15, 5) + both(10, 9, "b"), BRIDGES, called)
    assert clear.verdict == (
        "For a, 'old' is easier than 'new': it wins 75.0 % against 25.0 % of 20 attempts each, a difference of +50.0 "
        "percentage points (95 % interval +21.1 to +69.8)."
    )  # by hand: 11/22 and 1/22 of the pairs differ, a standard error of 12.4 points
    assert unclear.verdict.startswith("For b, these attempts do not tell 'old' and 'new' apart: it wins 50.0 % against")
    (never,) = compare_levels(both(0, 0), BRIDGES, called)
    assert never.verdict.endswith("; a stronger player may tell them apart.")
    (less,) = compare_levels(both(2, 18), BRIDGES, called)
    assert "'old' is harder than 'new'" in less.verdict
    with pytest.raises(RankingError, match="'a' has 0 attempts at both levels, at least 5"):
        compare_levels(rows("a", BRIDGES[0], 3), BRIDGES, called)


def test_levels_that_cannot_be_compared_are_refused() -> None:
    (points,) = tasks_of("points:5x5")
    with pytest.raises(RankingError, match="are the same level"):
        comparable(BRIDGES[0], BRIDGES[0])
    with pytest.raises(RankingError, match="'Bridge' has goals and 'points 5x5' has none"):
        comparable(points, BRIDGES[0])


# ----------------------------------------------------------------------------- levels of one name


def test_levels_of_one_name_are_told_apart_wherever_results_are_shown() -> None:
    field = field_of(both(3, 2) + both(15, 9, "b"))
    called = [task.label for task in field.tasks]
    assert sorted(called) == sorted(f"Bridge #{task.identity[:6]}" for task in BRIDGES)
    assert [task.level for task in field.tasks] == ["Bridge"] * 2
    pages = (
        leaderboard_page(rank(field), Origins()).html(),
        comparison_page(compare(field, "a", "b"), Origins()).html(),
    )
    for page in pages:
        assert all(label in page for label in called)
    assert [task.label for task in field_of(both(3, 2), levels=[called[0]]).tasks] == called[:1]
    assert len(field_of(both(3, 2), levels=["Bridge"]).tasks) == 2


# --------------------------------------------------------------------------------------- the commands


def test_compare_plays_both_levels_with_the_same_keys(run: Any, tmp_path: Path) -> None:
    arguments = ("levels", "compare", SHORT, LONG, "--agents", PLAYER, "--attempts", "12", "--out", "kept.sqlite")
    status, out, err = run(*arguments)
    assert (status, err) == (0, "")
    assert out.splitlines()[0].split("  ")[0] == "player" and f"For {PLAYER}, " in out.splitlines()[-1]
    with Store(tmp_path / "kept.sqlite") as store:
        known = {(row.level, row.attempt): row for row in store.rows()}
    short, long = (
        [known[level, n] for n in range(12)] for level in ("combo 5x5 moves=5,goal=1000", "combo 5x5 moves=9,goal=1000")
    )
    # With the same keys the longer attempt begins with the moves of the shorter one.
    assert all(a.score <= b.score and (b.won or not a.won) for a, b in zip(short, long, strict=True))
    assert any(a.won for a in short) and not all(a.won for a in short)
    status, out, _ = run(*arguments, "--json")
    (found,) = json.loads(out)["players"]
    assert (found["attempts"], found["counts"]) == (12, "success")
    assert found["first"] == sum(row.won for row in short) / 12 and found["difference"]["low"] <= 0


def test_rate_and_by_level_say_the_same(run: Any) -> None:
    status, out, err = run("levels", "rate", SHORT, LONG, "--agents", PLAYER, "--attempts", "12", "--json")
    assert (status, err) == (0, "")
    rated = json.loads(out)
    assert rated["errors"] == [] and [level["level"] for level in rated["levels"]] == [
        "combo 5x5 moves=5,goal=1000", "combo 5x5 moves=9,goal=1000",
    ]  # fmt: skip
    played = ("evaluate", PLAYER, "--levels", SHORT, "--levels", LONG, "--attempts", "12", "--by-level")
    status, out, _ = run(*played, "--json")
    assert json.loads(out)["levels"] == rated["levels"]
    status, out, _ = run(*played)
    assert sum(line.startswith("combo 5x5 moves=") for line in out.splitlines()) == 2
    assert out.splitlines()[-1] == "24 results in runs.sqlite"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["rate", "basics/jely"], "did you mean 'jelly'"),
        (["rate", "basics/jelly", "--agents", "randon"], "did you mean 'random'"),
        (["compare", "basics/jelly", "basics"], "'basics' names 17 levels: say which one, as in 'basics/plain'"),
        (["compare", "basics/jelly", "basics/jelly"], "are the same level"),
        (["compare", "basics/jelly", "points"], "has goals and 'points 9x9' has none"),
        (["rate", "points", "--time-limit", "3"], "--time-limit needs --processes"),
    ],
)
def test_what_is_asked_wrongly_is_one_sentence_before_anything_is_played(
    run: Any, arguments: list[str], sentence: str
) -> None:
    status, out, err = run("levels", *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1) and sentence in err


def test_parts_of_levels_that_are_added_have_help_without_jax() -> None:
    code = (
        "import sys\nfrom crush_gym.cli import main\n"
        "assert main(['levels', 'rate', '--help']) == 0 and main(['levels', 'compare', '--help']) == 0\n"
        "assert main(['levels', '--help']) == 0 and 'jax' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")
    assert "  crush-gym levels rate my-levels.json" in done.stdout and "{" not in done.stdout.split("examples:")[0]
