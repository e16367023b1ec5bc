"""Stores of earlier formats are read as they are, ranked and gone on with, and what they say is still what is played.

`runs-format1.sqlite` was written before rows had a `player`: agents of every kind on three levels, six attempts each.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from experiments import Row, Store, StoreError, evaluate
from experiments.ranking import field_of, rank
from experiments.results import tables

FIXTURE = Path(__file__).absolute().parents[2] / "fixtures" / "runs-format1.sqlite"
SEED, ATTEMPTS = 7, 6
LEVELS = ["points:5x5", "basics/plain", "basics/orders"]
CHEAP = [
    "random", "first", "greedy", "heuristic", "clouded",
    "agents.template:Lowest:chance=0.5", "agents.template:BatchedLowest:chance=0.25",
]  # fmt: skip


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A copy of the old store."""
    return Path(shutil.copy(FIXTURE, tmp_path / "runs.sqlite"))


@pytest.fixture(scope="module")
def known() -> list[Row]:
    """The old store's rows, read without our code."""
    connection = sqlite3.connect(f"file:{FIXTURE}?mode=ro", uri=True)
    found = connection.execute("SELECT * FROM results ORDER BY agent, task, seed, attempt").fetchall()
    connection.close()
    return [Row(*values)._replace(won=bool(values[5]), player=-1) for values in found]


def timeless(rows: Any) -> set[Row]:
    return {row._replace(seconds=0.0) for row in rows}


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def columns(path: Path) -> tuple[int, set[tuple[Any, ...]], list[str]]:
    """A store's format, the columns of its attempts, and those of its view in order."""
    connection = sqlite3.connect(path)
    (number,) = connection.execute("PRAGMA user_version").fetchone()
    attempts = {tuple(c[1:4]) for c in connection.execute("PRAGMA table_info(attempts)")}
    view = [c[1] for c in connection.execute("PRAGMA table_info(results)")]
    connection.close()
    return number, attempts, view


def test_an_old_store_is_read_and_stays_as_it_is(old: Path, known: list[Row]) -> None:
    before = digest(old)
    with Store(old) as store:
        assert list(store.rows()) == known and len(known) == 14 * 3 * ATTEMPTS
        assert {row.player for row in store.rows()} == {-1}
        assert store.run_of(known[0]) in store.runs()
        assert {task.name for task in store.tasks().values()} == {"points 5x5", "plain", "orders"}
        assert set(store.tasks()) == {task.identity for task in store.tasks().values()}
    assert digest(old) == before and columns(old)[0] == 1


def test_an_old_store_is_read_where_nothing_can_be_written(
    old: Path, known: list[Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = sqlite3.connect

    def reading(path: Path, **options: Any) -> sqlite3.Connection:
        return connect(f"file:{path}?mode=ro&immutable=1", uri=True, **options)

    monkeypatch.setattr("experiments.results.store.sqlite3.connect", reading)
    with Store(old) as store:
        assert list(store.rows()) == known
        with pytest.raises(StoreError, match=r"readonly database; the 252 results in it are safe"):
            store.begin({})
        assert list(store.rows()) == known


def test_the_first_word_that_is_written_brings_it_up_to_date(old: Path, known: list[Row], tmp_path: Path) -> None:
    with Store(old) as store, Store(old) as other:
        first = next(iter(store.tasks()))
        store.add(store.begin({"seed": 1}), [known[0]._replace(task=first, seed=1, player=3)])
        assert set(store.rows()) - set(known) == set(other.rows()) - set(known) != set()
        assert [row.player for row in other.rows(seed=1)] == [3]
    with Store(tmp_path / "new.sqlite"):
        pass
    assert columns(old) == columns(tmp_path / "new.sqlite")
    assert columns(old)[0] == tables.FORMAT and columns(old)[2] == list(Row._fields)


def test_an_upgrade_that_fails_leaves_the_old_store(
    old: Path, known: list[Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(old) as store:
        monkeypatch.setattr(tables, "VIEW", "CREATE VIEW results AS SELECT nothing FROM nowhere WHERE")
        with pytest.raises(StoreError, match=r"cannot be written: .* the 252 results in it are safe"):
            store.begin({})
    assert columns(old)[0] == 1 and "player" not in {name for name, *_ in columns(old)[1]}
    with Store(old) as store:
        assert list(store.rows()) == known


def test_an_old_store_is_ranked(old: Path, known: list[Row]) -> None:
    with Store(old) as store:
        board = rank(field_of(store.rows()))
    assert len(board.standings) == 14
    for standing in board.standings:
        wins = [row.won for row in known if row.agent == standing.agent and row.outcome != "ended"]
        assert standing.success is not None and standing.success.value == sum(wins) / len(wins)


def test_an_old_store_that_was_broken_off_goes_on(old: Path, known: list[Row]) -> None:
    connection = sqlite3.connect(old)
    connection.execute("DELETE FROM attempts WHERE agent = 'first' AND attempt > 3")
    connection.commit()
    connection.close()
    evaluate("first", "points:5x5", ATTEMPTS, SEED, store=old, progress=False)
    with Store(old) as store:
        assert timeless(store.rows("first")) == timeless(expected(known, ["first"], {"points 5x5"})) | timeless(
            row for row in known if row.agent == "first" and row.attempt <= 3
        )
    assert columns(old)[0] == tables.FORMAT


def expected(known: list[Row], agents: list[str], levels: set[str]) -> Iterator[Row]:
    return (row for row in known if row.agent in agents and row.level in levels)


def test_cheap_agents_still_play_what_they_played(known: list[Row]) -> None:
    agents = ["random", "heuristic"]
    results = evaluate(agents, "points:5x5", ATTEMPTS, SEED, progress=False)
    assert results.errors == ()
    assert timeless(results.rows) == timeless(expected(known, agents, {"points 5x5"}))


@pytest.mark.slow
def test_all_agents_still_play_what_they_played(known: list[Row]) -> None:
    agents = sorted({row.agent for row in known})
    results = evaluate(agents, LEVELS, ATTEMPTS, SEED, progress=False)
    assert results.errors == ()
    assert timeless(results.rows) == timeless(known)
