"""Tables in files: CSV in the encodings and with the separators that there are, Parquet, SQLite."""

from __future__ import annotations

import codecs
import contextlib
import csv
import importlib
import itertools
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from experiments.people.errors import PeopleError, Problems

CHUNK = 1 << 12
"""Rows that are read at once: few enough to stay in the processor's cache."""

SEPARATORS = ",;\t|"
MARKS = {
    codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16",
}  # fmt: skip
"""What a file begins with that says its encoding; the longer marks first."""

Chunk = tuple[Sequence[int], list[Sequence[Any]]]
"""The rows' numbers, and the columns."""


class Layout(NamedTuple):
    """The columns of a table: those that must be there, those that may; counts: which are attempts and successes."""

    needed: tuple[str, ...]
    optional: tuple[str, ...]
    counts: tuple[str, str]

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.needed, *self.optional)

    def fits(self, columns: Iterable[str]) -> bool:
        """Whether all that is needed is there."""
        return {*self.needed} <= {tidy(name) for name in columns}


LOG = Layout(("player_id", "level", "num_attempts", "num_success"), ("dt",), ("num_attempts", "num_success"))
TOTALS = Layout(("level", "attempts", "successes"), ("players",), ("attempts", "successes"))
LAYOUTS = (LOG, TOTALS)


class Table(NamedTuple):
    """A table that is read piece by piece. columns: names as in the file; chunks: what is in them."""

    columns: tuple[str, ...]
    chunks: Iterator[Chunk]


@contextlib.contextmanager
def open_table(path: Path, table: str | None, problems: Problems) -> Iterator[Table]:
    """Open a file by what it holds, whatever its name is. table: of a database, where several have the columns."""
    try:
        with path.open("rb") as file:
            start = file.read(16)
        kind = _sqlite if start.startswith(b"SQLite format 3\0") else _parquet if start[:4] == b"PAR1" else _csv
        if table is not None and kind is not _sqlite:
            raise PeopleError(f"{str(path)!r} is no database, so it has no table {table!r}")
        with kind(path, table, problems) as found:
            yield found
    except OSError as error:
        raise PeopleError(f"{str(path)!r} cannot be read: {error.strerror or error}") from None


def tidy(name: str) -> str:
    """A column's name as it is looked for: in small letters, without blanks around it."""
    return str(name).strip().lower()


@contextlib.contextmanager
def _csv(path: Path, table: str | None, problems: Problems) -> Iterator[Table]:
    encoding, guessed = _encoding(path)
    if guessed:
        problems.note("encoding")
    with path.open(encoding=encoding, errors="replace", newline="") as file:
        row, heading = next(((n, line) for n, line in enumerate(file, 1) if line.strip()), (0, ""))
        if "\0" in heading:
            raise PeopleError(f"{str(path)!r} is neither text nor a Parquet file nor an SQLite database")
        if not heading:
            raise PeopleError(f"{str(path)!r} is empty")
        separator = max(SEPARATORS, key=heading.count)
        names = tuple(next(csv.reader([heading], delimiter=separator)))
        yield Table(names, _csv_chunks(csv.reader(file, delimiter=separator), len(names), row + 1, path, problems))


def _encoding(path: Path) -> tuple[str, bool]:
    """A text's encoding, and whether it had to be guessed."""
    with path.open("rb") as file:
        start = file.read(4)
        for mark in sorted(MARKS, key=len, reverse=True):
            if start.startswith(mark):
                return MARKS[mark], False
        decoder = codecs.getincrementaldecoder("utf-8")()
        file.seek(0)
        try:
            while piece := file.read(1 << 20):
                decoder.decode(piece)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "cp1252", True
    return "utf-8", False


def _csv_chunks(reader: Any, width: int, row: int, path: Path, problems: Problems) -> Iterator[Chunk]:
    """Columns of the rows with as many fields as the heading; others are told."""
    try:
        while rows := list(itertools.islice(reader, CHUNK)):
            numbers: Sequence[int] = range(row, row + len(rows))
            row += len(rows)
            if set(map(len, rows)) != {width}:
                problems.add("empty", [n for n, fields in zip(numbers, rows, strict=True) if not fields])
                problems.add(
                    "fields", [n for n, fields in zip(numbers, rows, strict=True) if len(fields) not in (0, width)]
                )
                numbers = [n for n, fields in zip(numbers, rows, strict=True) if len(fields) == width]
                rows = [fields for fields in rows if len(fields) == width]
            if rows:
                yield numbers, list(zip(*rows, strict=True))
    except csv.Error as error:
        raise PeopleError(f"{str(path)!r} is no CSV file: {error} in line {reader.line_num + 1:,}") from None


@contextlib.contextmanager
def _parquet(path: Path, table: str | None, problems: Problems) -> Iterator[Table]:
    try:
        parquet: Any = importlib.import_module("pyarrow.parquet")
        arrow: Any = importlib.import_module("pyarrow")
    except ImportError:
        raise PeopleError("Parquet needs pyarrow: `pip install pyarrow`, or give a CSV file") from None
    try:
        with parquet.ParquetFile(path) as file:
            names = tuple(file.schema_arrow.names)
            known = {column for layout in LAYOUTS for column in layout.columns}
            used = [name for name in names if tidy(name) in known]
            yield Table(tuple(used), _parquet_chunks(file, used))
    except arrow.ArrowException as error:
        raise PeopleError(f"{str(path)!r} is no whole Parquet file: {str(error).splitlines()[0]}") from None


def _parquet_chunks(file: Any, names: Sequence[str]) -> Iterator[Chunk]:
    row = 1
    for batch in file.iter_batches(CHUNK, columns=list(names)):
        yield range(row, row + batch.num_rows), [batch.column(name).to_pylist() for name in names]
        row += batch.num_rows


@contextlib.contextmanager
def _sqlite(path: Path, table: str | None, problems: Problems) -> Iterator[Table]:
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    try:
        name = _table_of(connection, path, table)
        cursor = connection.execute(f"SELECT * FROM {_quoted(name)}")
        yield Table(tuple(column[0] for column in cursor.description), _sqlite_chunks(cursor))
    except sqlite3.Error as error:
        raise PeopleError(f"{str(path)!r} cannot be read as an SQLite database: {error}") from None
    finally:
        connection.close()


def _table_of(connection: Any, path: Path, table: str | None) -> str:
    """The one table, or view, that has the columns."""
    found = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]
    if table is not None:
        if table not in found:
            raise PeopleError(f"{str(path)!r} has no table {table!r}, but {', '.join(sorted(found)) or 'none'}")
        return table

    def fits(name: str) -> bool:
        cursor = connection.execute(f"SELECT * FROM {_quoted(name)} LIMIT 0")
        return any(layout.fits(column[0] for column in cursor.description) for layout in LAYOUTS)

    fitting = [name for name in found if fits(name)]
    if len(fitting) != 1:
        has = (
            f"several tables with the columns: {', '.join(sorted(fitting))}" if fitting else "no table with the columns"
        )
        raise PeopleError(f"{str(path)!r} has {has}: name the table that is meant")
    return fitting[0]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _sqlite_chunks(cursor: Any) -> Iterator[Chunk]:
    row = 1
    while rows := cursor.fetchmany(CHUNK):
        yield range(row, row + len(rows)), list(zip(*rows, strict=True))
        row += len(rows)
