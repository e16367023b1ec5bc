"""The store keeps what was committed, refuses what is no store, and says what is safe when it cannot be written."""

from __future__ import annotations

import csv
import itertools
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from experiments.results.assignment import tasks_of
from experiments.results.export import ExportError, export
from experiments.results.row import Row
from experiments.results.store import FORMAT, Store, StoreError

TASKS = tasks_of(["combo:5x5", "points:6x6"])


def rows(number: int, start: int = 0, agent: str = "random") -> list[Row]:
    task = TASKS[0]
    return [
        Row(agent, task.identity, task.name, 4, n, n % 2 == 0, "won", "goals", 10 * n, n, 3, 5, 0, 0.25)
        for n in range(start, start + number)
    ]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "runs.sqlite") as store:
        store.know(TASKS)
        yield store


def test_rows_come_back_as_they_were(store: Store) -> None:
    store.add(store.begin({"seed": 4}), rows(5))
    assert list(store.rows()) == rows(5)
    assert [type(value) for value in next(store.rows())] == [type(value) for value in rows(1)[0]]
    assert store.done("random", 4) == {(TASKS[0].identity, n) for n in range(5)}
    assert store.done("random", 5) == store.done("first", 4) == set()


def test_what_is_there_stays_as_it_is(store: Store) -> None:
    store.add(store.begin({"n": 1}), rows(3))
    store.add(store.begin({"n": 2}), [row._replace(score=-1) for row in rows(5)])
    assert [row.score for row in store.rows()] == [0, 10, 20, -1, -1]
    assert [store.runs()[store.run_of(row)]["n"] for row in store.rows()] == [1, 1, 1, 2, 2]


def test_tasks_come_back_so_that_they_can_be_played_again(store: Store) -> None:
    again = store.tasks()
    assert [again[task.identity] for task in TASKS] == list(TASKS)
    assert {task.identity for task in again.values()} == set(again)


def test_a_shard_is_entered_whole_or_not_at_all(store: Store) -> None:
    def broken() -> Iterator[Row]:
        yield from rows(3)
        raise ZeroDivisionError

    run = store.begin({})
    with pytest.raises(ZeroDivisionError):
        store.add(run, broken())
    assert len(store) == 0
    store.add(run, rows(3))
    assert len(store) == 3


KILLED_WHILE_WRITING = """
import sys, time
from experiments.results.store import Store
from tests.experiments.results.test_store import TASKS, rows

def slowly(table):
    for n, row in enumerate(table):
        if n == 40_000:
            print("half", flush=True)
            time.sleep(60)
        yield row

with Store(sys.argv[1]) as store:
    store.connection.execute("PRAGMA cache_size = 10")  # so that pages reach the file before the commit
    store.know(TASKS)
    run = store.begin({})
    store.add(run, rows(1000))
    store.add(run, slowly(rows(50_000, start=1000)))
"""


def test_a_kill_in_the_middle_of_a_shard_costs_that_shard_only(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    command = [sys.executable, "-c", KILLED_WHILE_WRITING, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root()) as process:
        assert process.stdout is not None and process.stdout.readline() == "half\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert (tmp_path / "runs.sqlite-journal").exists()
    assert path.stat().st_size > 2_000_000  # of the half shard
    with Store(path) as store:
        assert list(store.rows()) == rows(1000)
        store.add(1, rows(100, start=1000))
        assert len(store) == 1100
        assert store.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_what_is_no_store_is_refused_in_one_sentence(tmp_path: Path) -> None:
    other, text, newer = (tmp_path / name for name in ("other.sqlite", "text.sqlite", "newer.sqlite"))
    text.write_text("agent,level\n" * 100)
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE candies (name)")
    connection.close()
    with Store(newer) as store:
        store.connection.execute(f"PRAGMA user_version = {FORMAT + 1}")
    cases = {
        text: "a file of another kind", other: "a database of something else", newer: f"a store of format {FORMAT + 1}",
        tmp_path: "it is a folder", tmp_path / "nowhere" / "runs.sqlite": "the folder .* is not there",
    }  # fmt: skip
    for path, said in cases.items():
        with pytest.raises(StoreError, match=said):
            Store(path)
    assert text.read_text() == "agent,level\n" * 100


def test_a_full_disk_leaves_what_is_there_and_says_so(store: Store) -> None:
    run = store.begin({})
    store.add(run, rows(100))
    pages = store.connection.execute("PRAGMA page_count").fetchone()[0]
    store.connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(StoreError, match="database or disk is full; the 100 results in it are safe: remove"):
        store.add(run, rows(10_000, start=100))
    assert list(store.rows()) == rows(100)
    store.connection.execute("PRAGMA max_page_count = 1000000")
    store.add(run, rows(10_000, start=100))
    assert len(store) == 10_100


def test_a_store_that_may_only_be_read_is_read(store: Store) -> None:
    store.add(store.begin({}), rows(2))
    store.connection.execute("PRAGMA query_only = ON")
    with pytest.raises(StoreError, match="readonly database; the 2 results in it are safe"):
        store.know(TASKS)
    assert len(list(store.rows())) == 2


def test_csv_holds_every_row(tmp_path: Path) -> None:
    export(rows(3), tmp_path / "runs.csv")
    with (tmp_path / "runs.csv").open(newline="") as file:
        table = list(csv.reader(file))
    assert table == [list(Row._fields), *([str(value) for value in row] for row in rows(3))]
    assert [path.name for path in tmp_path.iterdir()] == ["runs.csv"]


def test_an_export_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "runs.csv"
    export(rows(1), path)
    before = path.read_bytes()
    with pytest.raises(ZeroDivisionError):
        export(itertools.chain(rows(2), (1 // 0 for _ in range(1))), path)  # type: ignore[misc]
    assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 1
    with pytest.raises(ExportError, match=r"must end in \.csv or \.parquet"):
        export(rows(1), tmp_path / "runs.xlsx")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ExportError, match="pip install pyarrow"):
        export(rows(1), tmp_path / "runs.parquet")


def test_parquet_holds_every_row(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    export(rows(3), tmp_path / "runs.parquet")
    assert [Row(**row) for row in parquet.read_table(tmp_path / "runs.parquet").to_pylist()] == rows(3)


def root() -> Path:
    return Path(__file__).absolute().parents[3]
