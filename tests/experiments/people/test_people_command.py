"""`crush-gym people`: a table, a page, JSON, and one sentence for what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from crush_gym.cli import main
from tests.experiments.people.crowds import crowd


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A file with two odd rows."""
    log = crowd(6, 80, 5, 4)
    rows = zip(log.player, log.level, log.attempts, log.successes, strict=True)
    lines = [f"{p},2014-01-01,{log.levels[level]},{a},{s}" for p, level, a, s in rows]
    lines += ["9,2014-01-02,level 0,2,x", "9,2014-01-02,elsewhere,2,1"]
    path = tmp_path / "people.csv"
    path.write_text("player_id,dt,level,num_attempts,num_success\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def run(capsys: Any, *arguments: object) -> tuple[int, str, str]:
    status = main(["people", *map(str, arguments)])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_a_table_and_what_was_odd(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, people)
    lines = out.splitlines()
    assert (status, err) == (0, "")
    assert lines[0].split()[:4] == ["level", "players", "attempts", "success"]
    assert [line.split("  ")[0] for line in lines[2:9]] == ["elsewhere", *(f"level {n}" for n in range(6))]
    assert lines[10].startswith("standard deviations of logits: levels 1.") and "players 0." in lines[10]
    assert lines[11].endswith("left out (row 402)") and len(lines) == 12


def test_json_has_all_of_it(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, people, "--json", "--without-replays")
    found = json.loads(out)
    assert (status, found["rows"], found["players"], found["replays"]) == (0, 402, 80, False)
    first = found["levels"][0]
    assert (first["level"], first["players"], first["design_effect"]) == ("elsewhere", 1, None)
    assert set(first["success"]) == {"value", "low", "high"}
    assert set(found["differences"]) == {"mean", "level", "player", "player_level", "players"}
    assert [problem["rows"] for problem in found["problems"]] == [[402]]


def test_a_page_shows_levels_players_and_the_file(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = people.with_name("people.html")
    status, out, _ = run(capsys, people, "--out", page, "--players", 50)
    text = page.read_text(encoding="utf-8")
    assert status == 0 and out.splitlines()[-1] == f"page: {page}"
    for heading in ("Levels", "By difficulty", "How much players differ", "The file", "Again"):
        assert f">{heading}</h2>" in text
    assert "(row 402)" in text and "with 50 players a level" in text and "--players 50" in text


def test_a_packs_levels_are_what_is_meant(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, people, "--levels", "basics")
    assert status == 1 and "no row that can be used" in err and "a level that the pack does not have" in err
    path = people.with_name("basics.csv")
    path.write_text("level,attempts,successes\njelly,9,3\nmoon,1,1\n", encoding="utf-8")
    status, out, _ = run(capsys, path, "--levels", "basics", "--json")
    found = json.loads(out)
    assert status == 0 and [each["level"] for each in found["levels"]] == ["jelly"]
    assert found["differences"] is None and "jelly" not in found["without_people"] and found["without_people"]


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        (["nowhere.csv"], 2, "there is no file 'nowhere.csv'"),
        (["{}", "--strict"], 1, "1 × attempts"),  # noqa: RUF001
        (["{}", "--levels", "nowhere"], 2, "nowhere"),
        (["{}", "--players", "1"], 2, "expected a whole number from 2 upwards, not '1'"),
        (["{}", "--table", "plays"], 1, "is no database"),
        (["{}", "--out", "/dev/null/x.html"], 1, "cannot be written"),
    ],
)
def test_what_is_asked_wrongly_is_one_sentence(
    arguments: list[str], status: int, sentence: str, people: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, *(each.format(people) for each in arguments))
    assert code == status and sentence in err.splitlines()[-1] and "Traceback" not in err


def test_totals_have_no_replays_to_leave_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "totals.csv"
    path.write_text("level,attempts,successes\nx,9,3\n", encoding="utf-8")
    assert run(capsys, path, "--without-replays")[0] == 2
    status, out, _ = run(capsys, path, "--out", tmp_path / "page.html")
    assert status == 0 and "totals of levels do not tell players apart" in out
