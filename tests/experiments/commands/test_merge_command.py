"""`crush-gym merge` and `export`, and the commands that take several stores."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from crush_gym.cli import main
from experiments.results.assignment import tasks_of
from experiments.results.row import Row
from experiments.results.store import Store

Output = pytest.CaptureFixture[str]
POINTS, JELLY = tasks_of(["points:6x6", "basics/jelly"])


def make(path: Path, agent: str, attempts: range, every: int = 2) -> None:
    """A store of a player that wins every so many attempts."""
    rows = [
        Row(
            agent,
            JELLY.identity,
            "jelly",
            0,
            n,
            n % every == 0,
            "lost" if n % every else "won",
            "moves",
            n,
            9,
            0,
            5,
            0,
            0.1,
        )
        for n in attempts
    ]
    with Store(path) as store:
        store.know([JELLY])
        store.add(store.begin({"agent": {"name": agent}, "versions": {"jax": "1"}}), rows)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three stores of two players, and a paper's scores."""
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "a1.sqlite", "a", range(0, 20))
    make(tmp_path / "a2.sqlite", "a", range(10, 40))
    make(tmp_path / "b.sqlite", "b", range(40), every=8)
    lines = "".join(f"paper,jelly,{int(n % 4 > 0)}\n" for n in range(40))
    (tmp_path / "paper.csv").write_text("agent,level,won\n" + lines)
    return tmp_path


def test_stores_and_scores_become_one_store(folder: Path, capsys: Output) -> None:
    assert main(["merge", "all.sqlite", "paper.csv", "a1.sqlite", "a2.sqlite", "b.sqlite"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[2:6]] == [
        ["paper.csv", "40"], ["a1.sqlite", "20"], ["a2.sqlite", "20"], ["b.sqlite", "40"]
    ]  # fmt: skip
    assert lines[-1] == "120 results in all.sqlite"
    assert main(["merge", "all.sqlite", "paper.csv", "a1.sqlite", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "store": "all.sqlite", "new": {"paper.csv": 0, "a1.sqlite": 0}, "results": 120
    }  # fmt: skip
    assert main(["leaderboard", "all.sqlite", "--json"]) == 0
    standings = json.loads(capsys.readouterr().out)["standings"]
    assert [(s["agent"], s["success"]["value"], s["attempts"]) for s in standings] == [
        ("paper", 0.75, 40), ("a", 0.5, 40), ("b", 0.125, 40)
    ]  # fmt: skip
    assert standings[0]["commands"] == [] and standings[1]["commands"][0].startswith("crush-gym evaluate a ")


def test_several_stores_are_ranked_and_compared_as_one(folder: Path, capsys: Output) -> None:
    assert main(["merge", "all.sqlite", "a1.sqlite", "a2.sqlite", "b.sqlite"]) == 0
    reports = {}
    for command in (["leaderboard"], ["compare", "a", "b"]):
        for stores in (["all.sqlite"], ["b.sqlite", "a1.sqlite", "a2.sqlite", "a1.sqlite"]):
            capsys.readouterr()
            assert main([*command, *stores, "--json"]) == 0
            reports[command[0], len(stores)] = capsys.readouterr().out.replace(" ".join(stores), "")
    assert reports["compare", 1] == reports["compare", 4]
    known = [json.loads(reports["leaderboard", n])["standings"] for n in (1, 4)]
    assert [(s["agent"], s["iqm"], s["attempts"]) for s in known[0]] == [
        (s["agent"], s["iqm"], s["attempts"]) for s in known[1]
    ]
    assert main(["leaderboard", "a1.sqlite", "b.sqlite", "--out", "page.html"]) == 0
    assert "a1.sqlite, b.sqlite" in Path("page.html").read_text(encoding="utf-8")


def test_exports_hold_the_rows_of_all_stores(folder: Path, capsys: Output) -> None:
    assert main(["export", "a2.sqlite", "a1.sqlite", "b.sqlite", "rows.csv", "--agents", "a"]) == 0
    assert capsys.readouterr().out == "40 results in rows.csv\n"
    with open("rows.csv", newline="") as file:
        found = list(csv.DictReader(file))
    assert [row["attempt"] for row in found] == [str(n) for n in range(40)] and found[0].keys() == set(Row._fields)
    assert main(["merge", "again.sqlite", "rows.csv", "--levels", "basics/jelly"]) == 0
    with Store("again.sqlite") as again, Store("a1.sqlite") as first:
        assert set(first.rows()) <= set(again.rows()) and len(again) == 40


def test_names_of_players_cannot_steer_the_terminal(folder: Path, capsys: Output) -> None:
    hostile = "c\x1b]0;title\x07\n"
    make(folder / "c.sqlite", hostile, range(40), every=3)
    assert main(["leaderboard", "a1.sqlite", "c.sqlite", "b.sqlite"]) == 0
    assert main(["compare", hostile, "b", "c.sqlite", "b.sqlite"]) == 0
    said = capsys.readouterr().out
    assert "\x1b" not in said and "\x07" not in said and said.count(r"c\x1b]0;title\x07\n") >= 4


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["merge", "new.sqlite", "nowhere.sqlite"], 2, "there is no store 'nowhere.sqlite'"),
        (["merge", "new.sqlite", "paper.csv"], 1, "line 2: no level is called 'jelly'"),
        (["merge", "new.sqlite", "a1.sqlite", "odd.csv"], 1, "'odd.csv' needs the columns"),
        (["merge", "new.sqlite", "nowhere.csv"], 1, "cannot be read"),
        (["merge", "paper.csv", "a1.sqlite"], 2, "'paper.csv' comes first and so takes the results"),
        (["merge", "a1.sqlite", "a1.sqlite"], 2, "'a1.sqlite' is the store that takes the results"),
        (["merge", "new.sqlite", "a1.sqlite", "other.sqlite"], 1, "attempt 0 of 'a' at 'jelly' (seed 0) is there"),
        (["merge", "new.sqlite", "a1.sqlite", "text.sqlite"], 1, "'text.sqlite' cannot be used as a store"),
        (["merge", "no/new.sqlite", "a1.sqlite"], 1, "the folder 'no' is not there"),
        (["leaderboard", "a1.sqlite", "other.sqlite"], 1, "with different results (won True and False)"),
        (["leaderboard", "a1.sqlite", "b.sqlite", "--out", "no/page.html"], 1, "the folder 'no' is not there"),
        (["leaderboard", "a1.sqlite", "nowhere.sqlite"], 2, "there is no store 'nowhere.sqlite'"),
        (["leaderboard", "paper.csv"], 2, "`crush-gym merge STORE paper.csv` makes one of scores in CSV"),
        (["export", "a1.sqlite", "b.sqlite"], 2, "'b.sqlite' must end in .csv or .parquet: name the file"),
        (["export", "nowhere.sqlite", "b.csv"], 2, "there is no store"),
        (["export", "a1.sqlite", "b.csv", "--agents", "c"], 2, "there are no results of 'c': there are those of a"),
        (["export", "a1.sqlite", "no/b.csv"], 1, "cannot be written"),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_one_sentence_and_changes_nothing(
    folder: Path, arguments: list[str], status: int, words: str, capsys: Output
) -> None:
    make(folder / "other.sqlite", "a", range(1))
    with Store(folder / "other.sqlite") as store:
        store.connection.execute("UPDATE attempts SET won = 0, outcome = 'lost'")
    (folder / "text.sqlite").write_text("text" * 100)
    (folder / "odd.csv").write_text("agent\na\n")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert main(arguments) == status
    said = capsys.readouterr()
    assert words in said.err and said.err.count("\n") == 1 and said.out == ""
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
