"""Recordings of players: whole attempts, those of `evaluate`, resumed as if never broken off."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agents.learning.pairs import Pairs, cells, joined, mask, read, shards
from agents.registry import make
from crush_gym import Game
from crush_gym.cli import main
from crush_gym.keys import move_key
from experiments import evaluate, recording
from experiments.recording import Attempt, next_attempts, record, within
from experiments.results.assignment import attempt_key, tasks_of

LEVELS = "combo:5x5:colours=4,moves=6"
PAIRS = 100


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording in pieces of 8 attempts."""
    folder = tmp_path_factory.mktemp("whole") / "moves"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recording, "PIECE", 8)
        assert record(make("clouded"), tasks_of(LEVELS), PAIRS, folder, seed=5) == 102
    return folder


def all_of(folder: Path) -> Pairs:
    return joined(list(shards(folder)), read(folder))


def test_moves_are_those_of_the_attempts_that_evaluate_plays(whole: Path) -> None:
    (task,) = tasks_of(LEVELS)
    rows = evaluate("clouded", task, 17, seed=5, progress=False).rows
    pairs, about = all_of(whole), read(whole)
    assert np.bincount(pairs.attempt).tolist() == [row.moves for row in rows]
    game = Game(task.level, rules="combo")
    for attempt in (0, 16):
        mine = pairs.some(pairs.attempt == attempt)
        key = attempt_key(5, task.identity, attempt)
        state = game.reset(key)
        for move, action in zip(mine.move, mine.action, strict=True):
            seen = np.asarray(game.observe(state))
            names = [name for name in about.planes if name.startswith("colour")]
            for name in names:
                board = cells(mine.planes[mine.move == move], 5)[0, about.planes.index(name)]
                assert (board == (seen[list(game.channels).index(name)] > 0)).all()
            assert (mask(mine.legal, about.actions)[move] == np.asarray(game.legal(state))).all()
            state, _ = game.step(move_key(key, int(move)), state, int(action))
        assert int(game.stats(state).score) == rows[attempt].score


def test_a_resumed_recording_equals_one_that_was_never_broken_off(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "PIECE", 8)
    written = []

    def stop(pairs: int) -> None:
        written.append(pairs)
        if len(written) == 2:
            raise KeyboardInterrupt

    folder = tmp_path / "moves"
    with pytest.raises(KeyboardInterrupt):
        record(make("clouded"), tasks_of(LEVELS), PAIRS, folder, 5, stop)
    assert 0 < len(list(folder.iterdir())) < len(list(whole.iterdir()))
    assert record(make("clouded"), tasks_of(LEVELS), PAIRS, folder, 5) == 102
    for path in whole.iterdir():
        assert (folder / path.name).read_bytes() == path.read_bytes()


def test_attempts_are_shared_out_by_what_levels_lack() -> None:
    have, begun = np.array([100, 40, 0]), np.array([10, 4, 0])
    found = next_attempts(have, begun, [9, 9, 20], pairs=100, size=12)
    assert found[:2] == [Attempt(1, 4, 0, 4), Attempt(2, 0, 0, 0)] and {each.task for each in found} == {1, 2}
    assert sum(each.task == 1 for each in found[:11]) == 6  # 60 moves of 10 an attempt
    assert sum(each.task == 2 for each in found[:11]) == 5  # 100 of 20
    kept = within([Attempt(0, n, 0, n) for n in (2, 0, 1)], [10, 10, 10], np.array([0]), 15)
    assert kept.tolist() == [False, True, True]


def test_the_command_records_and_refuses_in_a_sentence(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--levels", LEVELS, "--pairs", "50", "--seed", "5"]
    assert main(["record", "clouded", *given, "--out", str(whole)]) == 0  # all there
    assert "102 moves of clouded on 1 levels" in capsys.readouterr().out
    assert main(["record", "first", *given, "--out", str(whole)]) == 1
    assert "holds pairs of something else" in capsys.readouterr().err
    assert main(["record", "cloudy", *given, "--out", str(tmp_path / "new")]) == 2
    assert "did you mean 'clouded'" in capsys.readouterr().err
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["record", "clouded", *given, "--out", str(tmp_path)]) == 1
    assert "is not empty" in capsys.readouterr().err
    both = ["--levels", "points:5x5", "--levels", "combo:5x5", "--out", str(tmp_path / "new")]
    assert main(["record", "clouded", *both]) == 1
    assert "levels of other rules by themselves" in capsys.readouterr().err
