"""Agents' attempts as features: lifted limits, a cache that survives any end, players told apart by their weights."""

from __future__ import annotations

import functools
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from agents.attempts import play
from agents.inattentive import Inattentive
from agents.registry import make
from crush_gym import Game, Level, LevelPack, State, policies
from crush_gym.policies import Policy
from experiments.features import Cache, FeatureError, Gathered, gather
from experiments.features.among import Among
from experiments.features.jobs import arranged, weights_of
from experiments.features.recorder import recorded
from experiments.features.records import lifted, packed, unpacked
from experiments.results.task import Task
from experiments.running.events import Event, Planned
from experiments.running.jobs import attempt_keys

ATTEMPTS = 200


def task(name: str, moves: int, goal: int) -> Task:
    content = {"name": name, "colours": 3, "moves": moves, "goals": {"score": goal}, "board": ["? ? ? ? ?"] * 4}
    return Task(Level.from_dict(content), "combo")


TASKS = (task("short", 5, 2000), task("middle", 12, 3000), task("long", 14, 6000))
PLAYERS = (Inattentive(), Inattentive(1.0))


@pytest.fixture(scope="module")
def found() -> Gathered:
    return gather(PLAYERS, TASKS, ATTEMPTS, seed=3, progress=False)


def test_success_is_that_of_the_same_attempts_under_the_levels_own_limit(found: Gathered) -> None:
    """Attempts with the same keys at the levels as they are, in the same program."""
    game = Game([t.level for t in TASKS], rules="combo")
    pack = LevelPack([t.level for t in TASKS])
    where = np.repeat(np.arange(3), ATTEMPTS)
    words = np.array([int(t.identity[:8], 16) for t in found.played], np.uint32)[where]
    keys = attempt_keys(jax.random.key(3), words, np.tile(np.arange(ATTEMPTS), 3).astype(np.uint32))
    filled = keys[np.arange(4000) % keys.shape[0]]  # as many as a job has, so that nothing is compiled
    stats, _ = play(
        recorded(PLAYERS[0].bind(game), game), game, filled, pack.stack(np.resize(where, 4000)), memories=True
    )
    won = np.asarray(stats.won)[: keys.shape[0]].reshape(3, ATTEMPTS)
    records = found.records[PLAYERS[0].name]
    for one, played, direct in zip(TASKS, found.played, won, strict=True):
        record, limit = records[played.identity], int(one.level.moves)
        assert record.successes(limit) == direct.sum()
        assert ((record.won > 0) & (record.won <= limit)).tolist() == direct.tolist()
    assert 0.05 < won.mean() < 0.95 and int(found.played[0].level.moves) == 20
    score = np.asarray(stats.score)[: keys.shape[0]].reshape(3, ATTEMPTS)
    path = records[found.played[1].identity].path(12, 20)
    best = np.sort(score[1].reshape(2, 100), axis=1)[:, ::-1]
    assert path[:3] == pytest.approx([score[1].mean(), best[:, :15].mean(), best[:, :5].mean()], rel=1e-6)


def test_more_moves_never_hurt_and_attention_helps(found: Gathered) -> None:
    for name, records in found.records.items():
        for played in found.played:
            curve = [records[played.identity].successes(limit) for limit in range(1, 21)]
            assert curve == sorted(curve), name
    weak, strong = ([r.successes(14) for r in found.records[p.name].values()] for p in PLAYERS)
    assert sum(weak) < sum(strong)


class Listener:
    """Counts the attempts that are missing and the jobs."""

    def __init__(self) -> None:
        self.missing: list[int] = []

    def __call__(self, event: Event) -> None:
        if isinstance(event, Planned):
            self.missing.append(event.attempts)


def again(cache: Any, attempts: int = ATTEMPTS, players: Any = PLAYERS) -> tuple[Gathered, list[int]]:
    heard = Listener()
    return gather(players, TASKS, attempts, 3, cache, listen=heard, progress=False), heard.missing


def same(one: Gathered, other: Gathered) -> bool:
    """Whether both hold the same records, but for the time that playing took."""
    for name, records in one.records.items():
        for level, record in records.items():
            twin = other.records[name][level]
            if not all(np.array_equal(a, b) for a, b in zip(record[:-1], twin[:-1], strict=True)):
                return False
    return one.records.keys() == other.records.keys()


def test_what_the_cache_holds_is_not_played_again(found: Gathered, tmp_path: Path) -> None:
    path = tmp_path / "features.sqlite"
    first, missing = again(path, 100)
    assert missing == [300, 300] and len(Cache(path)) == 6
    more, missing = again(path)
    assert missing == [300, 300] and same(more, found)
    _, missing = again(path)
    assert missing == [0, 0]
    less, missing = again(path, 100)
    assert missing == [0, 0] and same(less, first)  # as if no more had ever been played
    _, missing = again(path, players=[Inattentive(0.5)])
    assert missing == [600]


def test_damaged_records_are_played_again(found: Gathered, tmp_path: Path) -> None:
    path = tmp_path / "features.sqlite"
    again(path)
    with sqlite3.connect(path) as connection:
        connection.execute(
            "UPDATE records SET content = substr(content, 1, 90) WHERE level = ?", [found.played[1].identity]
        )
    mended, missing = again(path)
    assert missing == [200, 200] and same(mended, found)
    record = found.records[PLAYERS[0].name][found.played[0].identity]
    assert unpacked(packed(record)) is not None and unpacked(b"") is None and unpacked(packed(record)[:-1]) is None


KILLED = """
import os, signal, sys
from tests.experiments.features.test_gathering import ATTEMPTS, PLAYERS, TASKS
from experiments.features import Cache, gather

class Killing(Cache):
    def add(self, *args):
        super().add(*args)
        os.kill(os.getpid(), signal.SIGKILL)

gather(PLAYERS, TASKS, ATTEMPTS, 3, Killing(sys.argv[1]), progress=False)
"""


def test_killed_at_any_moment_it_goes_on_from_there_with_the_same_records(found: Gathered, tmp_path: Path) -> None:
    path = tmp_path / "features.sqlite"
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], env={**os.environ, "PYTHONPATH": "."}, check=False)
    assert done.returncode == -signal.SIGKILL and len(Cache(path)) == 3
    resumed, missing = again(path)
    assert missing == [0, 600] and same(resumed, found)


class Alternating:
    """Plays the legal move with the smallest number, then at random, in turn: by what it remembers."""

    name = "alternating"

    def bind(self, game: Game) -> Policy:
        return alternating(game.spec)


@functools.lru_cache
def alternating(spec: Any) -> Policy:
    def start(params: Any, key: jax.Array, state: State, level: Level) -> jax.Array:
        return jnp.full_like(state.books.score, 5)

    def act(params: Any, key: jax.Array, memory: jax.Array, state: State, level: Level) -> tuple[jax.Array, jax.Array]:
        smallest = jnp.argmax(policies.legal(spec, state), axis=0).astype(jnp.int32)
        chosen = jnp.where(memory % 2 == 0, smallest, policies.random_action(spec, key, state))
        return chosen, memory + 1

    return Policy(act, start)


def test_players_in_one_program_play_and_remember_as_they_do_alone() -> None:
    game = Game(TASKS[0].level, rules="combo")
    players = (Inattentive(0.5), "first", Alternating(), Inattentive(0.9))
    keys = jax.random.split(jax.random.key(1), 8)
    together = [Among(f"{place}", place, players).bind(game) for place in range(4)]
    assert len({(policy.act, policy.start) for policy in together}) == 1
    remembered = []
    for player, policy in zip(players, together, strict=True):
        alone = (make(player) if isinstance(player, str) else player).bind(game)
        stats, memories = play(policy, game, keys, TASKS[0].level, move_by_move=True, memories=True)
        expected, own = play(alone, game, keys, TASKS[0].level, move_by_move=True, memories=True)
        assert all(np.array_equal(a, b) for a, b in zip(stats, expected, strict=True))
        remembered.append(jax.tree.leaves(memories)[0].tolist())
        assert not jax.tree.leaves(own) or remembered[-1] == jax.tree.leaves(own)[0].tolist()
    assert remembered == [[0] * 8, [0] * 8, [10] * 8, [0] * 8]
    assert Among("a", 1, (Inattentive(0.5), Inattentive(0.9))).bind(game).act is players[0].bind(game).act


def test_players_are_told_apart_by_what_they_know() -> None:
    game = Game(TASKS[0].level, rules="combo")
    weights = [weights_of(Inattentive(share).bind(game), "") for share in (0.25, 0.25, 0.5)]
    assert (
        weights[0] == weights[1] != weights[2] and weights_of(recorded(PLAYERS[0].bind(game), game), "") == weights[0]
    )
    here = Path(__file__).stem
    assert weights_of(PLAYERS[0].bind(game), f"tests.experiments.features.{here}") != weights[0]  # a stranger's module


def test_usual_levels_share_two_games_and_others_have_their_own() -> None:
    def saga(name: str, goals: dict[str, Any], row: str, rows: int = 3) -> Task:
        return Task(Level.from_dict({"name": name, "colours": 5, "moves": 9, "goals": goals, "board": [row] * rows}))

    plain = saga("plain", {"jelly": "all"}, "?' ? ?")
    others = [saga("icing", {"score": 9}, "I1 ? ?"), saga("tall", {"score": 9}, "? ? ?", 12)]
    groups = arranged([plain, *others, *TASKS], 1000, quick=True)
    names = [[t.name for t in group.tasks] for group in groups]
    assert names == [["plain"], ["icing"], ["tall"], ["short", "middle", "long"]]
    assert groups[0].game().spec == arranged([plain], 100, quick=True)[0].game().spec != groups[1].game().spec
    assert len({group.identity for group in groups}) == 4


def test_limits_are_lifted_in_steps() -> None:
    limits = [int(lifted(task("x", moves, 100).level).moves) for moves in (1, 13, 14, 26, 27, 60)]
    assert limits == [20, 20, 40, 40, 60, 100]
    assert int(lifted(TASKS[0].level, 30).moves) == 60
    timed = Level.from_dict({"name": "t", "colours": 4, "seconds": 30, "goals": {"score": 9}, "board": ["? ? ?"] * 3})
    assert lifted(timed) is timed


def test_agents_that_cannot_be_used_are_left_out_where_somebody_wants_to_be_told(found: Gathered) -> None:
    refused: list[tuple[str, str]] = []
    agents = [PLAYERS[0], "nobody", PLAYERS[1]]
    rest = gather(agents, TASKS, ATTEMPTS, 3, refused=lambda *told: refused.append(told), progress=False)
    assert same(rest, found) and [name for name, _ in refused] == ["nobody"]
    assert refused[0][1].startswith("the agent 'nobody' cannot be used: there is no agent 'nobody'")


def test_what_cannot_be_had_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FeatureError, match="a multiple of 100, not 250"):
        gather(PLAYERS, TASKS, 250)
    endless = Task(Level.from_dict({"name": "endless", "colours": 3, "moves": 5, "goals": {}, "board": ["? ? ?"] * 3}))
    with pytest.raises(FeatureError, match="nobody can win 'endless'"):
        gather(PLAYERS, [endless], 100)
    with pytest.raises(FeatureError, match="'nobody' cannot be used: there is no agent 'nobody'"):
        gather(["nobody"], TASKS, 100, progress=False)
    with pytest.raises(FeatureError, match="two of the agents are called 'inattentive'"):
        gather([Inattentive(), Inattentive(0.25)], TASKS, 100, progress=False)
    (tmp_path / "other.sqlite").write_text("something else")
    with pytest.raises(RuntimeError, match=r"other.sqlite' cannot be used as a cache of features.*name another file"):
        gather(PLAYERS, TASKS, 100, cache=tmp_path / "other.sqlite", progress=False)
