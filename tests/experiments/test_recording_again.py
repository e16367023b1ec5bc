"""Recordings with moves that are known: people's logs as pairs, checks by replay, and previews beside the planes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from agents.learning.inputs import GAINS, UNITS
from agents.learning.pairs import Writer, cells, joined, mask, read, shards
from agents.registry import make
from crush_gym import Game
from crush_gym.attempt_log import Record
from crush_gym.cli import main
from crush_gym.keys import move_key
from experiments.recording import record
from experiments.results.assignment import attempt_key, tasks_of

LEVELS = "combo:5x5:colours=4,moves=6"


@pytest.fixture(scope="module")
def moves(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("moves") / "moves"
    record(make("clouded"), tasks_of(LEVELS), 48, folder, seed=5, previews=True)
    return folder


def test_previews_are_those_of_the_positions(moves: Path) -> None:
    (task,) = tasks_of(LEVELS)
    game, pairs = Game(task.level, rules="combo"), joined(list(shards(moves)), read(moves))
    assert read(moves).gains == GAINS and pairs.gains is not None
    mine, key = pairs.some(pairs.attempt == 2), attempt_key(5, task.identity, 2)
    state = game.reset(key)
    for move, action in enumerate(mine.action):
        score = np.asarray(game.preview(state).score)
        np.testing.assert_allclose(mine.gains[move, :, GAINS.index("score")] * UNITS["score"], score, rtol=1e-3)
        state, _ = game.step(move_key(key, move), state, int(action))


def test_a_check_plays_every_move_again(moves: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["record", "clouded", "--levels", LEVELS, "--pairs", "48", "--seed", "5", "--check", "--out"]
    assert main([*given, str(moves)]) == 0
    assert "all of them were played again, as they are written" in capsys.readouterr().out
    pairs = joined(list(shards(moves)), read(moves))
    legal = mask(pairs.legal, read(moves).actions)[7]
    pairs.action[7] = next(a for a in np.flatnonzero(legal) if a != pairs.action[7])
    with Writer(tmp_path / "changed", read(moves)) as writer:
        writer.add(pairs)
    assert main([*given, str(tmp_path / "changed")]) == 1
    assert "played" in capsys.readouterr().err


def test_logs_of_people_become_pairs_as_far_as_they_go(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (task,) = tasks_of(LEVELS)
    game, files, actions = Game(task.level, rules="combo"), [], []
    for seed, length in ((3, 6), (4, 2)):
        record_of = Record.of(task.level, seed, (), rules="combo")
        state, made = game.reset(record_of.key()), []
        for move in range(length):
            made.append(int(np.flatnonzero(np.asarray(game.legal(state)))[-1]))
            state, _ = game.step(move_key(record_of.key(), move), state, made[-1])
        files.append(tmp_path / f"{seed}.json")
        Record.of(task.level, seed, made, rules="combo").save(files[-1])
        actions += made
    folder = tmp_path / "moves"
    assert main(["record", "--logs", *map(str, files), "--out", str(folder)]) == 0
    assert "8 moves of people" in capsys.readouterr().out
    pairs, about = joined(list(shards(folder)), read(folder)), read(folder)
    assert pairs.action.tolist() == actions and pairs.attempt.tolist() == [0] * 6 + [1] * 2
    seen = np.asarray(game.observe(game.reset(Record.load(files[1]).key())))
    for name in (name for name in about.planes if name.startswith("colour")):
        board = cells(pairs.planes[6], 5)[about.planes.index(name)]
        assert (board == (seen[list(game.channels).index(name)] > 0)).all()

    wrong = json.loads(files[0].read_text())
    wrong["final"]["score"] += 1
    files[0].write_text(json.dumps(wrong))
    assert main(["record", "--logs", str(files[0]), "--out", str(tmp_path / "other")]) == 1
    assert "does not end as it says: score" in capsys.readouterr().err
    assert main(["record", "--logs", str(files[1]), "--levels", LEVELS, "--out", str(tmp_path / "other")]) == 2
