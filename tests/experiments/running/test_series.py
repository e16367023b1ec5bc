"""Players who try a level until it is won or given up."""

from __future__ import annotations

import functools
from collections import defaultdict
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from agents.protocol import Memory, Policy
from crush_gym import Game, Level, State
from crush_gym.policies import chance, legal, random_action
from experiments import Task, evaluate
from experiments.results.assignment import attempt_key
from experiments.results.row import Row
from experiments.running import series
from experiments.running.series import FIRST, MOST

ROWS = ["? ? ? ?"] * 4
TASKS = [
    Task(Level.from_dict({"name": f"{n}", "colours": 3, "moves": 3, "goals": {"score": n}, "board": ROWS}), "combo")
    for n in (260, 420)
]
CARE = np.linspace(0, 1, 12).astype(np.float32)
PATIENCE = 4


class Careful:
    """The first legal move with a probability of each player's own, else any."""

    name = "careful"

    def bind(self, game: Game) -> Policy:
        return Policy(_careful(game.spec), _given)


def _given(params: Any, key: jax.Array, state: State, level: Level, traits: Any) -> Memory:
    return traits


@functools.lru_cache
def _careful(spec: Any) -> Any:
    def act(params: Any, key: jax.Array, memory: Memory, state: State, level: Level) -> Any:
        first = jnp.argmax(legal(spec, state), axis=0).astype(jnp.int32)
        return jnp.where(chance(key) < memory, first, random_action(spec, key, state)), memory

    return act


def tried(store: Path | None = None, patience: Any = PATIENCE, care: Any = CARE) -> tuple[Row, ...]:
    found = evaluate(Careful(), TASKS, seed=5, store=store, until_cleared=patience, traits=care, progress=False)
    assert found.errors == ()
    return found.rows


@pytest.fixture(scope="module")
def rows() -> tuple[Row, ...]:
    return tried()


def test_every_player_tries_until_won_or_given_up(rows: tuple[Row, ...]) -> None:
    series: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in rows:
        series[row.level, row.player].append(row)
    assert set(series) == {(task.name, player) for task in TASKS for player in range(len(CARE))}
    lengths = set()
    for (_, player), tries in series.items():
        assert [row.attempt for row in tries] == [FIRST + MOST * player + n for n in range(len(tries))]
        assert not any(row.won for row in tries[:-1]) and (tries[-1].won or len(tries) == PATIENCE)
        lengths.add(len(tries))
    assert len(lengths) > 2


def test_a_row_is_the_attempt_of_its_key_and_its_players_traits(rows: tuple[Row, ...]) -> None:
    game = Game([task.level for task in TASKS], rules="combo")
    policy = Careful().bind(game)
    for row in (*rows[:3], rows[-1]):
        task = next(task for task in TASKS if task.name == row.level)
        key = attempt_key(row.seed, row.task, row.attempt)[None]
        _, stats = game.rollout(
            key, level=task.level, policy=policy, attempts=1, traits=CARE[row.player : row.player + 1]
        )
        assert (int(stats.score[0]), int(stats.moves[0]), bool(stats.won[0])) == (row.score, row.moves, row.won)


@pytest.mark.slow
def test_rows_do_not_depend_on_how_many_attempts_are_played_together(
    rows: tuple[Row, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(series, "SERIES", 5)
    assert [row[:13] for row in tried()] == [row[:13] for row in rows]


@pytest.mark.slow
def test_more_patience_goes_on_where_players_had_given_up(rows: tuple[Row, ...], tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"

    def told(found: tuple[Row, ...]) -> list[tuple[Any, ...]]:
        return [row[:13] for row in found]

    short = tried(store, 1)
    assert len(short) == len(TASKS) * len(CARE)
    assert told(tried(store)) == told(rows)
    assert told(tried(store, [PATIENCE] * len(CARE))) == told(rows)


def test_players_of_other_traits_are_not_mixed_up(tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"
    tried(store, 1)
    others = evaluate(Careful(), TASKS, seed=5, store=store, until_cleared=1, traits=CARE[::-1], progress=False)
    assert others.rows == () and "other traits" in others.errors[0].sentence


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="one number of players, not for"):
        tried(patience=[1, 2])
    with pytest.raises(ValueError, match="from 1 to 4,096"):
        tried(patience=0)
    with pytest.raises(ValueError, match="are for `until_cleared`"):
        evaluate("random", TASKS, traits=CARE, progress=False)
