"""Where records of agents' attempts lie from one command to the next: a database under the user's cache folder."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import crush_gym
from crush_gym.runtime.store import folder_of_user
from experiments.features.records import Record, joined, packed, unpacked

APPLICATION, FORMAT = 0x43724665, 1
"""What marks a file as such a cache, and the version of what it holds."""

VERSION = f"{crush_gym.__version__}/{FORMAT}"
"""Of what was played: another version's attempts may be others."""

PATIENCE = 60.0
"""Seconds to wait for another process that is writing."""

AT_ONCE = 500
"""Levels that are asked for at a time."""

TABLE = (
    "CREATE TABLE records (agent TEXT NOT NULL, weights TEXT NOT NULL, version TEXT NOT NULL, seed INTEGER NOT NULL, "
    "level TEXT NOT NULL, first INTEGER NOT NULL, attempts INTEGER NOT NULL, content BLOB NOT NULL, "
    "PRIMARY KEY (agent, weights, version, seed, level, first)) WITHOUT ROWID"
)


class CacheError(RuntimeError):
    """A cache that cannot be used, with the sentence that says why and what to do."""


class Player(NamedTuple):
    """Whose attempts these are. weights: sixteen hexadecimal digits of the numbers that it plays by, "" without any."""

    name: str
    weights: str


def usual_place() -> Path:
    """Where the cache is unless said."""
    return folder_of_user() / "features.sqlite"


class Cache:
    """Records of attempts 0, 1, 2, ... by player, seed and level; in memory where there is no path."""

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = None if path is None else Path(path)
        self.name = "the features in memory" if self.path is None else repr(str(self.path))
        try:
            if self.path is not None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.path or ":memory:", timeout=PATIENCE, isolation_level=None)
            self._open()
        except (sqlite3.Error, OSError) as error:
            raise self._error(error) from None

    def _open(self) -> None:
        run = self._connection.execute
        marks = [run(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version", "schema_version")]
        if marks == [0, 0, 0]:
            with self._transaction():
                run(TABLE)
                run(f"PRAGMA application_id = {APPLICATION}")
                run(f"PRAGMA user_version = {FORMAT}")
        elif marks[:2] != [APPLICATION, FORMAT]:
            raise CacheError(f"{self.name} is no cache of features of this version: name another file by --cache")

    def _error(self, error: Exception) -> CacheError:
        said = " ".join(str(error).split())[:300]
        return CacheError(f"{self.name} cannot be used as a cache of features: {said}; name another file by --cache")

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise

    def add(self, player: Player, seed: int, records: Iterable[tuple[str, int, Record]]) -> None:
        """Enter records, all or none of them: (level, number of its first attempt, record)."""
        rows = [
            (*player, VERSION, seed, level, first, record.attempts, packed(record)) for level, first, record in records
        ]
        try:
            with self._transaction():
                self._connection.executemany("INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        except sqlite3.Error as error:
            raise self._error(error) from None

    def records(self, player: Player, seed: int, levels: Sequence[str]) -> dict[str, Record]:
        """The attempts of a player at levels, from number 0 without a gap, as far as they are there."""
        found: dict[str, list[Record]] = defaultdict(list)
        for level, first, content in self._rows(player, seed, levels):
            if first == sum(record.attempts for record in found[level]):
                record = unpacked(content)
                if record is not None:
                    found[level].append(record)
        return {level: joined(records) for level, records in found.items() if records}

    def _rows(self, player: Player, seed: int, levels: Sequence[str]) -> Iterator[tuple[str, int, bytes]]:
        try:
            for start in range(0, len(levels), AT_ONCE):
                some = levels[start : start + AT_ONCE]
                marks = ", ".join("?" * len(some))
                yield from self._connection.execute(
                    "SELECT level, first, content FROM records WHERE agent = ? AND weights = ? AND version = ? AND "
                    f"seed = ? AND level IN ({marks}) ORDER BY level, first", (*player, VERSION, seed, *some),
                )  # fmt: skip
        except sqlite3.Error as error:
            raise self._error(error) from None

    def __len__(self) -> int:
        """Records in it."""
        return int(self._connection.execute("SELECT count(*) FROM records").fetchone()[0])

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()
