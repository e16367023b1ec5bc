"""`crush-gym population`: what it writes, `crush-gym people` reads and a learner of moves too."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from agents.learning.pairs import cells, mask, read, shards
from crush_gym import LevelPack
from crush_gym.cli import main
from experiments import people
from experiments.population import draw
from experiments.population.playing import PlayingError, check
from experiments.results.store import Store
from experiments.results.task import Task
from experiments.running.series import FIRST, MOST
from tests.experiments.population.small import JELLY, small

PLAYERS = 40


@pytest.fixture(scope="module")
def levels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("levels") / "small.json"
    LevelPack([small(n, moves) for n, moves in enumerate((4, 5, 7))], "small").save(path)
    return path


@pytest.fixture(scope="module")
def played(levels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which a command has played."""
    folder = tmp_path_factory.mktemp("played")
    given = ["--players", str(PLAYERS), "--family", "B", "--seed", "4", "--as-moves", str(folder / "moves")]
    assert main(["population", "play", str(levels), *given, "--pairs", "100", "--out", str(folder / "people.csv")]) == 0
    return folder


def test_people_reads_back_what_was_played(played: Path, levels: Path) -> None:
    names = LevelPack.load(levels).names
    reading = people.read(played / "people.csv", names, strict=True)
    log, patience = reading.people, draw("B", PLAYERS, 4).patience
    assert isinstance(log, people.Log) and reading.problems == () and log.player_count == PLAYERS
    assert log.attempts.size == PLAYERS * len(names) and set(log.successes.tolist()) == {0, 1}
    with Store(played / "people.sqlite") as store:
        rows = list(store.rows())
    assert log.attempts.sum() == len(rows) and log.successes.sum() == sum(row.won for row in rows)
    given_up = ~log.cleared
    assert given_up.any() and (log.attempts[given_up] == patience[log.player[given_up]]).all()
    assert (log.attempts <= patience[log.player]).all()


def test_the_same_command_goes_on_from_its_store(
    played: Path, levels: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, csv = (played / "people.sqlite").read_bytes(), (played / "people.csv").read_text()
    (played / "people.csv").unlink()
    again = ["population", "play", str(levels), "--players", str(PLAYERS), "--family", "B", "--seed", "4", "--json"]
    assert main([*again, "--out", str(played / "people.csv")]) == 0
    assert (played / "people.csv").read_text() == csv and (played / "people.sqlite").read_bytes() == before
    told = json.loads(capsys.readouterr().out)
    assert told["players"] == PLAYERS and told["levels"] == 3 and "synthetic" in told["population"]
    assert main([*again[:4], "41", *again[5:], "--out", str(played / "people.csv")]) == 1
    assert "other traits" in capsys.readouterr().err


def test_moves_are_those_of_the_attempts_in_the_store(played: Path) -> None:
    about = read(played / "moves")
    with Store(played / "people.sqlite") as store:
        rows = {(row.level, row.player, (row.attempt - FIRST) % MOST): row for row in store.rows()}
    assert about.probabilities and about.traits[0] == "skill" and "synthetic" in about.origin["population"]
    number, made = 0, dict.fromkeys(rows, 0)
    for pairs in shards(played / "moves"):
        number += pairs.number
        for level, player, attempt in zip(pairs.level, pairs.player, pairs.attempt, strict=True):
            made[about.levels[level][0], int(player), int(attempt)] += 1
        jelly = cells(pairs.planes, 5)[:, about.planes.index("jelly1")].sum(axis=(1, 2))
        first = pairs.move == 0
        assert (jelly[first] == JELLY).all() and (jelly[~first] <= JELLY).all()
        legal, chances = mask(pairs.legal, about.actions), np.asarray(pairs.probabilities, np.float32)
        assert (chances[~legal] == 0).all() and np.allclose(chances.sum(axis=1), 1, atol=0.01)
        assert chances[np.arange(pairs.number), pairs.action].mean() > 1.2 * (1 / legal.sum(axis=1)).mean()
        skill = draw("B", PLAYERS, 4).traits.skill
        assert np.allclose(pairs.traits[:, 0], skill[pairs.player])
    whole = {key: moves for key, moves in made.items() if moves}
    assert all(rows[key].moves == moves for key, moves in whole.items())
    assert number == sum(whole.values()) and all(
        100 <= sum(moves for key, moves in whole.items() if key[0] == name) < 107 for name, _ in about.levels
    )


def test_personas_are_listed_with_their_traits(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["population", "personas", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["personas"]
    assert [each["persona"] for each in listed][1:] == [
        "beginner", "hurried", "careful", "collector", "combo lover", "expert",
    ]  # fmt: skip
    assert listed[1]["traits"]["skill"] < 0 < listed[-1]["traits"]["skill"] and listed[0]["success"] is None


def test_what_nobody_can_clear_or_tell_apart_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["population", "play", "combo", "--out", str(tmp_path / "a.csv")]) == 2
    assert "has no goals" in capsys.readouterr().err
    assert main(["population", "play", "basics/jelly", "--out", str(tmp_path / "a.txt")]) == 2
    assert "must end in .csv" in capsys.readouterr().err
    with pytest.raises(PlayingError, match="two levels are called 'small 1'"):
        check([Task(small(1, 4)), Task(small(1, 5))])
    (tmp_path / "moves").mkdir()
    (tmp_path / "moves" / "mine.txt").write_text("mine")
    given = ["--out", str(tmp_path / "a.csv"), "--as-moves", str(tmp_path / "moves")]
    assert main(["population", "play", "basics/jelly", *given]) == 2
    assert "is not empty" in capsys.readouterr().err
