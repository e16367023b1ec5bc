"""The command that runs studies, and the page of CandyCrush.ai's."""

from __future__ import annotations

import dataclasses
import html
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from crush_gym import Game
from crush_gym.cli import main
from crush_gym.session import Session
from experiments.report import Page, prose, section
from experiments.results.assignment import Task, tasks_of
from experiments.statistics import Interval
from experiments.studies import candycrush_ai, command, lookahead
from experiments.studies.candycrush_ai import PLAYERS, Result, people
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


@pytest.mark.parametrize("name", ["mcadams", "candycrush-ai", "lookahead"])
def test_every_study_can_be_loaded(name: str) -> None:
    assert callable(command.STUDIES[name].load())


def candycrush(means: dict[str, float]) -> list[Result]:
    rng = np.random.default_rng(2)
    return [Result(player, rng.normal(means.get(player.agent, 150), 10, 200), 0.002) for player in PLAYERS]


def text_of(page: Page) -> str:
    text = html.unescape(re.sub(r"<[^>]+>", " ", page.html()))
    return re.sub(r"\s+", " ", text).replace("\N{NO-BREAK SPACE}", " ")


def test_candycrush_ais_order_is_judged_by_the_scores(tmp_path: Path) -> None:
    means = {"random": 110, "first": 100, "greedy": 140, "montecarlo": 100, "linear-q": 200, "network-q": 201,
             "linear-q:weights=blind": 130}  # fmt: skip
    text = text_of(candycrush_ai.page(candycrush(means), Setting(False, tmp_path)))
    assert re.search(r"greedy is better than the first legal move yes 1[\d.]+ against [\d.]+ holds", text)
    assert re.search(r"values on the fly are better than the first legal move yes [\d. against]+ is not decided", text)
    assert re.search(r"the network is better than values on the fly yes 2[\d.]+ against [\d.]+ holds", text)
    assert re.search(r"both functions are about equal yes .* above the linear function's holds", text)
    assert "2 ms" in text and " 200 " in text and "people" not in text
    apart = candycrush(means | {"network-q": 300})
    assert re.search(r"about equal yes .*? above the linear function's does not hold",
                     text_of(candycrush_ai.page(apart, Setting(False, tmp_path))))  # fmt: skip


def log_of(game: Game, path: Path, seed: int, moves: int) -> Path:
    """The log of a game in which the first legal move is made."""
    assert game.level is not None
    session = Session(game, game.level, seed)
    for _ in range(moves):
        session.step(int(np.asarray(game.legal(session.state)).argmax()))
    session.record().save(path)
    return path


def test_peoples_games_are_read_from_logs_and_checked(tmp_path: Path) -> None:
    game = Game(rules="combo", shape=(5, 5), colours=4, moves=3)
    task = Task(game.level, "combo")
    logs = [log_of(game, tmp_path / f"{seed}.json", seed, 3) for seed in (1, 2)]
    (result,) = people(logs, task)
    assert result.scores.tolist() == [json.loads(log.read_text("utf-8"))["final"]["score"] for log in logs]
    assert people([], task) == [] and math.isnan(result.seconds)
    page = candycrush_ai.page([*candycrush({}), result], Setting(False, tmp_path, people=tuple(logs)))
    assert "greedy is better than people" in text_of(page) and "--people 1.json 2.json" in text_of(page)
    wrong = json.loads(logs[0].read_text("utf-8"))
    wrong["final"]["score"] += 1
    (tmp_path / "wrong.json").write_text(json.dumps(wrong), "utf-8")
    for log, said in (
        (log_of(game, tmp_path / "short.json", 3, 2), "breaks off after 2"),
        (tmp_path / "wrong.json", "does not end as it says: score"),
        (tmp_path / "none.json", "cannot be read"),
    ):
        with pytest.raises(StudyError, match=said):
            people([logs[0], log], task)
    with pytest.raises(StudyError, match="not of this study's game"):
        people(logs, *tasks_of("combo"))
    with pytest.raises(StudyError, match="at least two logs"):
        people(logs[:1], task)


def test_a_population_that_is_too_small_to_be_measured_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["study", "population", "--size", "players=3", "--out", str(tmp_path)]) == 1
    assert "players must be at least 20" in capsys.readouterr().err


def test_people_are_for_studies_that_compare_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "example", "--out", str(tmp_path), "--people", "log.json"]) == 2
    assert "compares no people's games" in capsys.readouterr().err


def test_ways_to_look_ahead_simulate_equally_much() -> None:
    for time in lookahead.TIMES:
        for game in lookahead.GAMES:
            for way in lookahead.WAYS:
                player = way.at(time * game.speed)
                spent = player.samples * player.considered * (player.depth + 1)
                assert player.samples == 1 or 0.7 < spent / (time * game.speed) < 1.4
                assert dataclasses.replace(player, samples=way.player.samples) == way.player


def test_the_page_of_looking_ahead_names_the_best_and_what_may_be_as_good(tmp_path: Path) -> None:
    game, goals = lookahead.GAMES[0], lookahead.GAMES[1]
    one, two, three = lookahead.WAYS[:3]
    found = {
        game: [
            lookahead.Result(one, 0.5, 12, 0.0004, Interval(100, 90, 110)),
            lookahead.Result(two, 0.5, 6, 0.0005, Interval(105, 95, 115)),
            lookahead.Result(three, 0.5, 3, 0.0006, Interval(50, 40, 60)),
        ],
        goals: [lookahead.Result(one, 5.0, 9, 0.004, Interval(0.5, 0.4, 0.6))],
    }
    text = text_of(lookahead.page(found, Setting(True, tmp_path)))
    assert "Combo 9x9 0.5 ms 16 moves, 6 futures each 105 (95 to 115) 8 moves" in text
    assert "of basics 5 ms 8 moves, 9 futures each 50 % (40 % to 60 %)" in text and "study lookahead --quick" in text
