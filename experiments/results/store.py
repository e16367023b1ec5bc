"""Results in one SQLite file. It keeps what was committed, whatever ends the process, and what a row needs to be rerun.

The journal is SQLite's usual one, rolled back, with its full sync: after every commit all of a store is in its one
file, which can be copied, or read from a folder that cannot be written.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from experiments.results import tables
from experiments.results.row import KEY, Row
from experiments.results.tables import APPLICATION, FORMAT
from experiments.results.task import Task, task_from

SAME = " AND ".join(f"{name} = ?" for name in KEY)

PARTS = {"started": str, "agent": dict, "versions": dict, "hardware": dict}
"""What is known of a run, where it is known."""

BROKEN = (sqlite3.Error, UnicodeDecodeError)
"""What Python's SQLite raises; the latter where it cannot even read SQLite's words about a broken file."""

PATIENCE = 30.0
"""Seconds to wait for another process that is writing to the same store."""


class StoreError(RuntimeError):
    """A store that cannot be opened, read or written, with the sentence that says why and what to do."""


class Store:
    """The results in a file, or in memory where there is no path."""

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = None if path is None else Path(path)
        self.name = "the store in memory" if self.path is None else repr(str(self.path))
        try:
            self.connection = sqlite3.connect(self.path or ":memory:", timeout=PATIENCE, isolation_level=None)
            self._open()
        except BROKEN as error:
            raise StoreError(f"{self.name} cannot be used as a store: {_said(error, self.path)}") from None

    def _open(self) -> None:
        """Make the tables in a new file, and refuse what is no store of this format."""
        run = self.connection.execute
        run("PRAGMA synchronous = FULL")
        marks = [run(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version", "schema_version")]
        if marks == [0, 0, 0]:
            with self._transaction():
                tables.create(self.connection)
        elif marks[0] != APPLICATION:
            raise StoreError(f"{self.name} is a database of something else, not a store of results: name another file")
        elif not 1 <= marks[1] <= FORMAT:
            raise StoreError(
                f"{self.name} is a store of format {marks[1]}, but this version of crush_gym reads formats up to "
                f"{FORMAT}: name another file, or use the version that wrote it (its table `runs` says which)"
            )

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """All of it or nothing, together with a transaction that it lies within."""
        if self.connection.in_transaction:
            yield
            return
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                self.connection.execute("ROLLBACK")
            raise

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Within, what is entered is entered together, all of it or, where something fails, nothing."""
        try:
            with self._transaction():
                tables.upgrade(self.connection)
                yield
        except BROKEN as error:
            raise StoreError(
                f"{self.name} cannot be written: {_said(error, self.path)}; the {len(self):,} results in it are safe: "
                "remove the cause and start the same again, it goes on where it stopped"
            ) from None

    def know(self, tasks: Iterable[Task]) -> None:
        """Enter tasks, with all that it takes to play them again."""
        with self.writing():
            known = ((task.identity, task.name, json.dumps(task.content())) for task in tasks)
            self.connection.executemany("INSERT OR IGNORE INTO tasks VALUES (?, ?, ?)", known)

    def begin(self, about: Mapping[str, Any]) -> int:
        """Enter what belongs to all rows of a run; the run's number. about: whatever JSON can say."""
        with self.writing():
            entered = self.connection.execute("INSERT INTO runs (about) VALUES (?)", [json.dumps(about)])
            return int(entered.lastrowid or 0)

    def add(self, run: int, rows: Iterable[Row]) -> None:
        """Enter the rows of a shard, all or none; those that are there already stay as they are."""
        values = ({**row._asdict(), "run": run} for row in rows)
        with self.writing():
            self.connection.executemany(tables.INSERT, values)

    def done(self, agent: str, seed: int) -> set[tuple[str, int]]:
        """What is there of an agent under a seed: (task, attempt)."""
        return set(self._all("SELECT task, attempt FROM attempts WHERE agent = ? AND seed = ?", agent, seed))

    def rows(self, agent: str | None = None, seed: int | None = None) -> Iterator[Row]:
        """The results, of one agent or all, under one seed or all, in the order of their keys."""
        same: dict[str, str] = {}
        with self._reading():
            found = self.connection.execute(
                f"{tables.selection(self.connection)} WHERE agent = coalesce(?, agent) AND seed = coalesce(?, seed) "
                f"ORDER BY {', '.join(KEY)}", (agent, seed),
            )  # fmt: skip
            for values in found:
                yield tables.row_of([same.setdefault(v, v) if isinstance(v, str) else v for v in values])

    def rows_by_run(self) -> Iterator[tuple[Row, int]]:
        """All results with the numbers of their runs, run by run."""
        with self._reading():
            question = tables.selection(self.connection, "run")
            for *values, run in self.connection.execute(f"{question} ORDER BY run, {', '.join(KEY)}"):
                yield tables.row_of(values), _number(run)

    def row(self, *key: Any) -> Row | None:
        """The result with this key, if there is one."""
        with self._reading():
            found = self.connection.execute(f"{tables.selection(self.connection)} WHERE {SAME}", key).fetchone()
            return None if found is None else tables.row_of(found)

    def runs(self) -> dict[int, dict[str, Any]]:
        """What is known about each run: when, where, with which versions, agents and seed."""
        with self._reading():
            found = self._all("SELECT id, about FROM runs ORDER BY id")
            return {_number(number): _about(text) for number, text in found}

    def run_of(self, row: Row) -> int:
        """The number of the run that a row is from."""
        with self._reading():
            key = (getattr(row, name) for name in KEY)
            for (number,) in self._all(f"SELECT run FROM attempts WHERE {SAME}", *key):
                return _number(number)
        raise KeyError(f"{self.name} has no attempt {row.attempt} of {row.agent!r} on {row.level!r}, seed {row.seed}")

    def tasks(self) -> dict[str, Task]:
        """The tasks by their identities, made from what is stored: all that it takes to play them again."""
        with self._reading():
            return {task: task_from(content) for task, content in self._all("SELECT task, content FROM tasks")}

    def __len__(self) -> int:
        return int(self._all("SELECT count(*) FROM attempts")[0][0])

    def _all(self, question: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._reading():
            return self.connection.execute(question, values).fetchall()

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """Say in a sentence what SQLite, or what stands in the tables, keeps from being read."""
        try:
            yield
        except BROKEN as error:
            raise StoreError(f"{self.name} cannot be read: {_said(error, self.path)}") from None
        except ValueError as error:
            raise StoreError(f"{self.name} is damaged: {' '.join(str(error).split())}") from None

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()


def _number(value: Any) -> int:
    """The number of a run."""
    if type(value) is not int:
        raise ValueError(f"a run has the number {value!r:.60}")
    return value


def _about(text: Any) -> dict[str, Any]:
    """What is known of a run, from JSON."""
    try:
        known = json.loads(text)
        json.dumps(known, ensure_ascii=False).encode()  # halves of surrogate pairs are JSON, but no text
    except (ValueError, TypeError, RecursionError):
        known = None
    if not isinstance(known, dict):
        raise ValueError("what it says about a run is no JSON object")
    for name, kind in PARTS.items():
        if not isinstance(known.get(name, kind()), kind):
            raise ValueError(f"what it says about the {name} of a run is {known[name]!r:.60}")
    return known


def _said(error: Exception, path: Path | None) -> str:
    """SQLite's words, and what is seen of the reason where it says little."""
    said = str(error)
    if path is not None and said == "unable to open database file":
        if path.is_dir():
            return "it is a folder"
        if not path.parent.is_dir():
            return f"the folder {str(path.parent)!r} is not there"
        return "there is no permission to write it"
    return {"file is not a database": "it is a file of another kind"}.get(said, said)
