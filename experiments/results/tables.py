"""The store's tables in SQL, derived from `Row`; and what older stores lack of them."""

from __future__ import annotations

import sqlite3
from typing import Any, get_type_hints

from experiments.results.row import KEY, Row

APPLICATION, FORMAT = 0x43727368, 2
"""What marks a file as a store, in its header, and the version of the tables. Format 1 had no `player`."""

TYPES: dict[str, type] = get_type_hints(Row)
"""What each column of a row holds."""

SQL_TYPES = {str: "TEXT", int: "INTEGER", bool: "INTEGER", float: "REAL"}

LONGEST = 1e12
"""Seconds, of any time that can be meant."""

OF_TASKS = "level"
"""The column of a row that stands with its task, which all its attempts share."""

OF_ATTEMPTS = tuple(name for name in Row._fields if name != OF_TASKS)

VIEW = f"CREATE VIEW results AS SELECT {', '.join(Row._fields)} FROM attempts JOIN tasks USING (task)"
"""Rows as they are, for whoever looks into a store with other programs."""


def _declared(name: str) -> str:
    """A column of the table of attempts; one that came later has its default."""
    default = Row._field_defaults.get(name)
    later = "" if default is None else f" DEFAULT {_literal(default)}"
    return f"{name} {SQL_TYPES[TYPES[name]]} NOT NULL{later}{' REFERENCES tasks' if name == 'task' else ''}"


def _literal(value: str | float) -> str:
    """A value in SQL; bool and int are float to the type checker."""
    return "'{}'".format(value.replace("'", "''")) if isinstance(value, str) else repr(+value)


TABLES = (
    "CREATE TABLE runs (id INTEGER PRIMARY KEY, about TEXT NOT NULL)",
    "CREATE TABLE tasks (task TEXT PRIMARY KEY, level TEXT NOT NULL, content TEXT NOT NULL) WITHOUT ROWID",
    f"CREATE TABLE attempts ({', '.join(map(_declared, OF_ATTEMPTS))}, run INTEGER NOT NULL REFERENCES runs, "
    f"PRIMARY KEY ({', '.join(KEY)})) WITHOUT ROWID",
    VIEW,
)

INSERT = (
    f"INSERT OR IGNORE INTO attempts ({', '.join(OF_ATTEMPTS)}, run) "
    f"VALUES ({', '.join(f':{name}' for name in OF_ATTEMPTS)}, :run)"
)
"""Enters an attempt from the dictionary of its row and its run; one that is there already stays as it is."""


def create(connection: sqlite3.Connection) -> None:
    """Make all tables, within a transaction."""
    for statement in TABLES:
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def upgrade(connection: sqlite3.Connection) -> None:
    """Give a store of an older format what it lacks, within a transaction."""
    if format_of(connection) >= FORMAT:
        return
    known = _columns(connection)
    for name in OF_ATTEMPTS:
        if name not in known:
            connection.execute(f"ALTER TABLE attempts ADD COLUMN {_declared(name)}")
    connection.execute("DROP VIEW IF EXISTS results")
    connection.execute(VIEW)
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def selection(connection: sqlite3.Connection, *more: str) -> str:
    """`SELECT` with the columns of a row, and more, whatever the store's format: what it lacks has its default."""
    known = _columns(connection) | {OF_TASKS}
    if lacking := [name for name in Row._fields if name not in known and name not in Row._field_defaults]:
        raise ValueError(f"its table of attempts has no column {lacking[0]!r}")
    named = (name if name in known else f"{_literal(Row._field_defaults[name])} AS {name}" for name in Row._fields)
    return f"SELECT {', '.join((*named, *more))} FROM attempts JOIN tasks USING (task)"


def format_of(connection: sqlite3.Connection) -> int:
    """The version of a store's tables."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _columns(connection: sqlite3.Connection) -> set[str]:
    return {str(column[1]) for column in connection.execute("PRAGMA table_info(attempts)")}


def row_of(values: Any) -> Row:
    """A row from what `selection` gives; a `ValueError` in words where a column holds something else."""
    for name, value in zip(Row._fields, values, strict=True):
        if type(value) is not (int if TYPES[name] is bool else TYPES[name]):
            raise ValueError(f"{name} is {value!r:.60}, expected {TYPES[name].__name__}")
        if isinstance(value, float) and not abs(value) < LONGEST:
            raise ValueError(f"{name} is {value!r}, expected a time")
    row = Row._make(values)
    return row._replace(won=bool(row.won))
