"""Records: an attempt comes back from its file, plays as recorded, and says so when it does not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from crush_gym import Game, Level
from crush_gym.attempt_log import FORMAT, Final, Record, RecordError

LEVEL = Level.from_dict(
    {"name": "small", "colours": 4, "moves": 6, "goals": {"score": 500}, "board": ["? ? ? ? ?"] * 5}
)
SEED = 11


@pytest.fixture(scope="module")
def record() -> Record:
    """The first legal moves of a small level, played by a plain loop as the format says."""
    game, key = Game(LEVEL, rules="points"), jax.random.key(SEED)
    state, actions = game.reset(key), []
    for move in range(4):
        actions.append(int(np.argmax(game.legal(state))))
        state, _ = game.step(jax.random.fold_in(key, move), state, actions[-1])
    final = Final(int(state.books.score), "playing", tuple(game.text(state)))
    return Record(LEVEL, SEED, tuple(actions), final, rules="points")


def test_a_record_is_played_with_the_documented_keys(record: Record) -> None:
    assert record.play() == record.final
    assert record.differences() == []
    assert record.final.score > 0


def test_recording_plays_to_the_end(record: Record) -> None:
    assert Record.of(LEVEL, SEED, record.actions, rules="points") == record


def test_a_record_comes_back_from_its_file(record: Record, tmp_path: Path) -> None:
    record.save(tmp_path / "log.json")
    back = Record.load(tmp_path / "log.json")
    assert back == record
    assert back.versions == record.versions
    assert json.loads((tmp_path / "log.json").read_text()) == record.to_dict()


def test_adjacency_is_kept(record: Record) -> None:
    strict = replace(record, adjacency="runs")
    assert "adjacency" not in record.to_dict()
    assert Record.from_dict(strict.to_dict()) == strict


def test_keys_that_others_add_are_ignored(record: Record) -> None:
    assert Record.from_dict({**record.to_dict(), "player": "somebody"}) == record


def test_what_does_not_reproduce_is_said(record: Record) -> None:
    final = replace(record.final, score=record.final.score + 1, outcome="won", board=("x", *record.final.board[1:]))
    score, outcome, board = replace(record, final=final).differences()
    assert score == f"score: {final.score} was recorded, {record.final.score} was played"
    assert outcome == "outcome: won was recorded, playing was played"
    assert board.startswith("board: row 0 was recorded as 'x', not ")
    short = replace(record, final=replace(record.final, board=record.final.board[1:]))
    assert short.differences() == ["board: 4 rows were recorded, 5 were played"]


def test_a_move_that_is_not_legal_does_not_reproduce(record: Record) -> None:
    start = next(record.states())
    wrong = int(np.argmin(record.game().legal(start)))
    (said,) = replace(record, actions=(wrong,)).differences()
    assert said == f"move 0 of the attempt, action {wrong}, is not legal where it is made"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": FORMAT + 1}, "written by a newer crush_gym: its format is 2, and 1 is read here"),
        ({"format": "1"}, "not the log of an attempt: its format is '1'"),
        ({"format": True}, "not the log of an attempt: its format is true"),
        ({"seed": -1}, "-1 as seed, expected a whole number from 0 to 4294967295"),
        ({"seed": 2**32}, "as seed"),
        ({"seed": 1.0}, "1.0 as seed"),
        ({"actions": "12"}, "'12' as actions, expected a list"),
        ({"actions": [0, 40]}, "40 as action 1, expected a whole number from 0 to 39"),
        ({"actions": [True]}, "true as action 0"),
        ({"rules": "chess"}, "'chess' as rules, expected one of saga, points, combo"),
        ({"adjacency": "all"}, "'all' as adjacency"),
        ({"level": {}}, "a level that is refused: "),
        ({"level": {**LEVEL.to_dict(), "moves": 0}}, "refused: level 'small': moves must be"),
        ({"final": []}, "a list of 0 as final, expected an object with score, outcome and board"),
        ({"final": {"score": 0, "outcome": "lucky", "board": []}}, "'lucky' as outcome"),
        ({"final": {"score": 0, "outcome": "won", "board": [1]}}, "a final board that is no list of strings"),
    ],
)
def test_a_wrong_record_is_refused_in_one_sentence(record: Record, change: dict[str, Any], said: str) -> None:
    with pytest.raises(RecordError) as error:
        Record.from_dict({**record.to_dict(), **change})
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("key", ["level", "rules", "seed", "actions", "final"])
def test_what_is_missing_is_named(record: Record, key: str) -> None:
    content = record.to_dict()
    del content[key]
    with pytest.raises(RecordError, match=f"lacks the key '{key}'"):
        Record.from_dict(content)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is not JSON"),
        (b"\xff", "is not UTF-8"),
        (b"[]", 'expected an object with the key "format"'),
        (b'{"levels": []}', 'expected an object with the key "format"'),
    ],
)
def test_a_file_that_is_no_log_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "log.json"
    path.write_bytes(content)
    with pytest.raises(RecordError) as error:
        Record.load(path)
    assert str(path) in str(error.value) and said in str(error.value)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="is a directory"):
        Record.load(tmp_path)
    with pytest.raises(RecordError, match="cannot be read: No such file"):
        Record.load(tmp_path / "none.json")


@pytest.mark.parametrize("name", ["attempt-log-1", pytest.param("attempt-log-1-everything", marks=pytest.mark.slow)])
def test_logs_of_the_first_version_replay_to_where_they_ended(name: str) -> None:
    record = Record.load(Path(__file__).parents[1] / "fixtures" / f"{name}.json")
    assert record.differences() == [] and len(record.actions) >= 12
