"""Reference scores: they are of the levels that ship, complete, and what two players really do."""

from __future__ import annotations

import json
import math
from pathlib import Path

import jax.numpy as jnp
import pytest

from crush_gym import load_pack, references
from crush_gym.envs import IDS
from experiments.results.assignment import attempt_key, tasks_of
from experiments.results.row import Row
from scripts.make_references import FOLDER, lasts, references_of, written


@pytest.mark.parametrize("name", references.names())
def test_references_are_complete_and_of_the_levels_that_ship(name: str) -> None:
    known = references.load(name)
    assert [known.tasks[level] for level in known] == [task.identity for task in tasks_of(name)]
    assert known.environment in IDS
    if known.pack_hash:
        assert known.pack_hash == load_pack(name).content_hash(), "the pack has changed: `make references`"
        assert tuple(known) == load_pack(name).names
    else:
        assert list(known) == [task.name for task in tasks_of(name)]
    pack = load_pack(name) if known.pack_hash else None
    for level, players in known.items():
        unplayed = pack is not None and lasts(pack[level])
        lacks = {references.LOOKAHEAD} if unplayed else set()
        assert set(players) == {*references.PLAYERS} - lacks, level
        for player, one in players.items():
            assert 0 <= one.won <= one.attempts and one.score >= 0 and one.attempts >= 20, (level, player)
            assert references.of_task(known.tasks[level])[player].attempts == one.attempts


def test_every_environment_and_every_shipped_pack_has_some() -> None:
    assert set(references.names()) == {"basics", "tour", "thesis", "ladder", "points", "combo"}
    assert {references.load(name).environment for name in references.names()} == set(IDS)


def test_scores_are_normalised_between_the_two_players() -> None:
    known = references.load("points")
    (level,) = known
    low, high = known[level]["random"].score, known[level][references.LOOKAHEAD].score
    assert low < known[level]["greedy"].score < high
    assert known.normalised(level, low) == 0 and known.normalised(level, high) == 1
    assert known.normalised(level, (low + high) / 2) == pytest.approx(0.5)
    tour = references.load("tour")
    rates = [tour["First Steps"][player].success for player in references.SCALE]
    assert [tour.normalised("First Steps", success=rate) for rate in rates] == [0, 1] and rates[0] < rates[1]
    with pytest.raises(TypeError, match="one of them"):
        known.normalised(level)
    equal = {"only": {player: references.Reference(10, 0, 5.0, 1.0) for player in references.PLAYERS}}
    same = references.References("x", "", "", 0, {}, equal, {"only": "y"})
    assert references.of_task("y") is None
    assert math.isnan(same.normalised("only", 5.0))


def test_a_random_players_entry_can_be_made_again() -> None:
    from agents.attempts import play
    from agents.registry import make
    from crush_gym import Game

    known, (task,) = references.load("points"), tasks_of("points")
    attempts = known[task.name]["random"].attempts
    keys = [attempt_key(known.seed, task.identity, n) for n in range(attempts)]
    game = Game(task.level, rules="points")
    stats = play(make("random").bind(game), game, jnp.stack(keys), task.level)
    assert round(float(stats.score.mean()), 1) == known[task.name]["random"].score


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    def row(agent: str, attempt: int, won: bool, score: int) -> Row:
        return Row(agent, task.identity, task.name, 3, attempt, won, "won", "goals", score, 1, 0, 1, 0, 0.0)

    (task,) = tasks_of("points")
    rows = [
        row("random", 0, False, 10),
        row("random", 1, True, 15),
        row("greedy", 0, True, 20),
        row("greedy", 1, True, 31),
        row(references.LOOKAHEAD, 0, True, 40),
    ]
    by = {(task.identity, player): [row for row in rows if row.agent == player] for player in references.PLAYERS}
    text = written(references_of("points", (task,), by, 3))
    read = references.of_dict(json.loads(text))
    assert (read.name, read.environment, read.pack_hash, read.seed) == ("points", "Crush/Points-v0", "", 3)
    assert read["points 9x9"]["random"] == references.Reference(2, 1, 12.5, 2.5)
    assert read["points 9x9"][references.LOOKAHEAD].attempts == 1 and read.tasks == {"points 9x9": task.identity}
    assert read["points 9x9"]["greedy"].success == 1 and len(text.splitlines()) > 10


def test_levels_that_last_as_long_as_there_is_time_have_no_scale() -> None:
    assert [task.name for task in tasks_of("basics") if lasts(task.level)] == ["timed"]
    assert math.isnan(references.load("basics").normalised("timed", success=0.5))


def test_unknown_names_and_newer_formats_are_refused() -> None:
    with pytest.raises(ValueError, match="no references for 'towr': there are some for"):
        references.load("towr")
    value = json.loads((FOLDER / "points.json").read_text(encoding="utf-8")) | {"format": 3}
    with pytest.raises(ValueError, match="of format 3, but this version reads 2"):
        references.of_dict(value)
