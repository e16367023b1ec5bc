"""The command that runs studies, and the page of CandyCrush.ai's."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from crush_gym.cli import main
from experiments.report import Page, prose, section
from experiments.studies import candycrush_ai, command
from experiments.studies.candycrush_ai import PLAYERS, Result
from experiments.studies.command import STUDIES, Study
from experiments.studies.setting import Setting, StudyError


def example(setting: Setting) -> Page:
    return Page("Example", "A lead.", (section("Seed", prose(f"seed {setting.seed}, quick {setting.quick}")),))


def broken(setting: Setting) -> Page:
    raise StudyError(f"the study needs what could not be played: seed {setting.seed}")


@pytest.fixture(autouse=True)
def examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STUDIES, "example", Study("an example", f"{__name__}:example"))
    monkeypatch.setitem(STUDIES, "broken", Study("a broken one", f"{__name__}:broken"))


def test_a_study_writes_its_page_and_tells_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "example", "--quick", "--seed", "7", "--out", str(tmp_path / "new")]) == 0
    page = tmp_path / "new" / "example-quick.html"
    assert capsys.readouterr().out == f"page: {page}\n"
    assert "seed 7, quick True" in page.read_text(encoding="utf-8")


def test_quick_and_full_pages_lie_side_by_side(tmp_path: Path) -> None:
    for options in ([], ["--quick"]):
        assert main(["study", "example", "--out", str(tmp_path), *options]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["example-quick.html", "example.html"]


def test_a_study_that_cannot_be_finished_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "broken", "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "crush-gym: the study needs what could not be played: seed 0\n"


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["study", "example", "--out", str(tmp_path / "file" / "in")]) == 1
    assert "cannot be made" in capsys.readouterr().err


def test_an_unknown_study_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "nothing"]) == 2
    assert "mcadams" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["mcadams", "candycrush-ai"])
def test_every_study_can_be_loaded(name: str) -> None:
    assert callable(command.STUDIES[name].load())


def test_candycrush_ais_order_is_judged_by_the_scores(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    means = {"random": 110, "first": 100, "greedy": 140, "montecarlo": 100, "montecarlo:epsilon=0.5": 160}
    found = [Result(player, rng.normal(means[player.agent], 10, 200), 0.002) for player in PLAYERS]
    html = candycrush_ai.page(found, Setting(False, tmp_path)).html()
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))
    assert re.search(r"greedy is better than the first legal move yes 1[\d.]+ against [\d.]+ holds", text)
    assert re.search(
        r"values on the fly are better than the first legal move yes [\d.]+ against [\d.]+ is not decided", text
    )
    assert "2 ms" in text.replace("\N{NO-BREAK SPACE}", " ") and "200 games" in text
