"""`crush-gym levels generate`: the levels of `crush_gym.generate`, as a pack in a new file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from crush_gym import LevelPack, generate
from crush_gym.cli import main
from crush_gym.generator import FEATURES, KINDS

Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def made(*arguments: str) -> int:
    return main(["levels", "generate", *arguments])


def test_levels_of_seeds_are_written_as_a_pack(capsys: Output) -> None:
    options = ("--kind", "mixed", "--size", "7x6", "--features", "locks", "icing", "--colours", "5", "--shape", "full",
               "--symmetry", "both", "--success", "0.3")  # fmt: skip
    assert made(*options, "--count", "2", "--seed", "40", "--out", "hard.json") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split()[:5] == ["0", "mixed", "40", "mixed", "7x6"] and lines[-1].startswith("hard.json: ")
    given: dict[str, Any] = {"colours": 5, "shape": "full", "symmetry": "both", "success": 0.3}
    wanted = [generate(seed, "mixed", ("locks", "icing"), (7, 6), **given) for seed in (40, 41)]
    assert LevelPack.load("hard.json") == LevelPack(wanted, "hard")
    assert made("--out", "one.json", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["file"] == "one.json" and [level["name"] for level in report["levels"]] == ["jelly 0"]


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        (["--kind", "jely"], 2, "did you mean 'jelly'?"),
        (["--features", "lock"], 2, "did you mean 'locks'?"),
        (["--size", "3x3"], 2, "the height must be from 5 to 16, not 3"),
        (["--size", "seven"], 2, "expected HEIGHTxWIDTH, such as 7x7, not 'seven'"),
        (["--colours", "9"], 2, "colours must be from 3 to 7, not 9"),
        (["--success", "2"], 2, "success must be a number from 0.02 to 0.98"),
        (["--count", "0"], 2, "--count must be from 1 to 10,000, not 0"),
        (["--out", "old.json"], 1, "'old.json' is there already: name another file, or remove that one"),
        (["--out", "nowhere/new.json"], 1, "'nowhere/new.json' cannot be written: No such file or directory"),
    ],
)
def test_what_is_asked_wrongly_is_one_sentence_and_writes_nothing(
    arguments: list[str], status: int, sentence: str, capsys: Output
) -> None:
    Path("old.json").write_text("mine")
    assert made("--out", "new.json", *arguments) == status
    assert sentence in capsys.readouterr().err.splitlines()[-1]
    assert [path.name for path in Path().iterdir()] == ["old.json"] and Path("old.json").read_text() == "mine"


def test_the_help_names_all_kinds_and_features(capsys: Output) -> None:
    assert made("--help") == 0
    words = capsys.readouterr().out.replace(",", " ").split()
    assert {*KINDS, *FEATURES} <= set(words)
