"""Damaged stores are refused in one sentence, or read as far as they make sense: nothing else comes out of them."""

from __future__ import annotations

import contextlib
import random
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from crush_gym.cli import main
from experiments.ranking import RankingError, field_of, rank
from experiments.ranking.origins import origins
from experiments.report.leaderboard import leaderboard_page
from experiments.results.assignment import tasks_of
from experiments.results.merging import MergeError, merge
from experiments.results.row import Row
from experiments.results.store import Store, StoreError

TASKS = tasks_of(["basics/jelly", "points:5x5"])
ABOUT = {
    "started": "2030-01-01T00:00:00+00:00", "agent": {"name": "a"}, "seed": 1, "versions": {"jax": "1.2"},
    "hardware": {"cpu": "x", "cores": 2, "devices": ["cpu"], "system": "y"},
}  # fmt: skip


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A store that nothing is wrong with."""
    path = tmp_path_factory.mktemp("sound") / "runs.sqlite"
    with Store(path) as store:
        store.know(TASKS)
        run = store.begin(ABOUT)
        for agent, good in (("random", 2), ("a", 5)):
            for task in TASKS:
                ends = ("ended",) * 6 if task is TASKS[1] else ("won",) * good + ("lost",) * (6 - good)
                store.add(run, [
                    Row(agent, task.identity, task.name, 1, n, end == "won", end, "moves", good + n, 9, 0, 5, 0, 0.1)
                    for n, end in enumerate(ends)
                ])  # fmt: skip
    return path.read_bytes()


def read_all(path: Path, ranked: bool) -> str:
    """Read a store as the commands do; how that ended. Whatever is no sentence of ours is raised."""
    try:
        with Store(path) as store, Store() as empty:
            rows, runs, tasks = list(store.rows()), store.runs(), store.tasks()
            merge(empty, store)
            len(store)
            for row in rows[:3]:
                with contextlib.suppress(KeyError):  # it is looked up by an order that may be broken
                    store.run_of(row)
            field = field_of(rows)
            if ranked:
                known = origins(field, runs.values(), str(path))
                leaderboard_page(rank(field), known).html().encode()
            return "read" if tasks else "nothing"
    except (StoreError, RankingError, MergeError) as error:
        sentence = str(error)
        assert sentence and "\n" not in sentence and len(sentence) < 1000, sentence
        sentence.encode()
        return type(error).__name__


# ------------------------------------------------------------------------------------------ by hand


def change(statement: str, *values: object) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        connection = sqlite3.connect(path)
        connection.execute(statement, values)
        connection.commit()
        connection.close()

    return damage


DAMAGE = {
    "a run that is no JSON": (change("UPDATE runs SET about = 'x'"), "what it says about a run is no JSON object"),
    "a run that is a list": (change("UPDATE runs SET about = '[1, 2]'"), "what it says about a run is no JSON object"),
    "a run nested deeply": (change("UPDATE runs SET about = ?", "[" * 10**5), "is no JSON object"),
    "a run with half a letter": (change("UPDATE runs SET about = ?", '{"a": "\\ud800"}'), "is no JSON object"),
    "versions that are a list": (change("UPDATE runs SET about = ?", '{"versions": [1]}'), "the versions of a run"),
    "a score of letters": (change("UPDATE attempts SET score = 'abc'"), "score is 'abc', expected int"),
    "a time of letters": (change("UPDATE attempts SET seconds = 'abc'"), "seconds is 'abc', expected float"),
    "a time without an end": (change("UPDATE attempts SET seconds = 1e308"), "seconds is 1e+308, expected a time"),
    "a name of bytes": (change("UPDATE attempts SET reason = x'00ff'"), r"reason is b'\x00\xff', expected str"),
    "text that is none": (change("UPDATE attempts SET reason = CAST(x'ff' AS TEXT)"), "Could not decode to UTF-8"),
    "no table of attempts": (change("DROP TABLE attempts"), "its table of attempts has no column 'agent'"),
    "no table of levels": (change("DROP TABLE tasks"), "no such table: tasks"),
    "a later format": (change("PRAGMA user_version = 99"), "is a store of format 99"),
    "format 0": (change("PRAGMA user_version = 0"), "is a store of format 0"),
    "half a file": (lambda path: path.write_bytes(path.read_bytes()[:9000]), "malformed"),
    "no header": (lambda path: path.write_bytes(b"SQLite format 3\0"), "file of another kind"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_by_hand_is_one_sentence_of_the_command(
    name: str, sound: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "runs.sqlite"
    path.write_bytes(sound)
    damage, said = DAMAGE[name]
    damage(path)
    assert main(["leaderboard", str(path)]) == 1
    printed = capsys.readouterr()
    assert said in printed.err and "runs.sqlite" in printed.err and printed.err.count("\n") == 1 and printed.out == ""


CONTENTS = {
    "{}": "a level in it has no `level`, `rules` and `adjacency`",
    "[]": "a level in it has no `level`",
    "x": "a level in it: is not JSON",
    '{"level": {}, "rules": "saga", "adjacency": "any"}': "cannot be read: a level lacks the key 'colours'",
    '{"level": {}, "rules": "chess", "adjacency": "any"}': "played by the rules 'chess', 'any', expected one of saga",
    '{"level": {}, "rules": [], "adjacency": "any"}': "played by the rules a list of 0, 'any'",
}


@pytest.mark.parametrize("content", CONTENTS)
def test_a_level_that_cannot_be_played_again_is_one_sentence(
    content: str, sound: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "runs.sqlite"
    path.write_bytes(sound)
    change("UPDATE tasks SET content = ?", content)(path)
    assert main(["evaluate", "first", "--levels", str(path), "--out", str(tmp_path / "new.sqlite")]) == 2
    printed = capsys.readouterr()
    assert CONTENTS[content] in printed.err and printed.err.count("\n") == 1 and printed.out == ""
    assert not (tmp_path / "new.sqlite").exists()


# ---------------------------------------------------------------------------------------- by chance


def flipped(rng: random.Random, path: Path) -> None:
    """Some bytes are others."""
    content = bytearray(path.read_bytes())
    for _ in range(rng.choice([1, 2, 5, 50])):
        content[rng.randrange(len(content))] = rng.randrange(256)
    path.write_bytes(content)


def cut(rng: random.Random, path: Path) -> None:
    """Some bytes are missing, or there twice."""
    content = path.read_bytes()
    start, length = rng.randrange(len(content)), rng.choice([1, 100, 4096, len(content)])
    again = content[start : start + length] * rng.choice([0, 2])
    path.write_bytes(content[:start] + again + content[start + length :])


ODD = (
    "",
    "x",
    "{}",
    "[]",
    "null",
    '"\\ud800"',
    "\x00\x1b[31m",
    "9" * 5000,
    -1,
    2**63 - 1,
    1e308,
    float("inf"),
    b"\xff",
)


def unsafe(path: Path) -> sqlite3.Connection:
    """A connection that does not wait for the disk."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA journal_mode = MEMORY")
    return connection


def replaced(rng: random.Random, path: Path) -> None:
    """A value is another one, odd or a piece of what it was."""
    connection = unsafe(path)
    table = rng.choice(["runs", "tasks", "attempts", "attempts"])
    column = rng.choice([c[1] for c in connection.execute(f"PRAGMA table_info({table})")])
    (old,) = connection.execute(f"SELECT {column} FROM {table} ORDER BY random() LIMIT 1").fetchone()
    new: object = rng.choice(ODD)
    if isinstance(old, str) and old and rng.random() < 0.5:
        place = rng.randrange(len(old))
        new = old[:place] + rng.choice(["", "0", '"', "}", "-", "\ufffd", "?"]) + old[place + rng.choice([0, 1, 5]) :]
    with contextlib.suppress(sqlite3.IntegrityError):
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (new, old))
    connection.close()


def renamed(rng: random.Random, path: Path) -> None:
    """A table or a column is not what it was."""
    statements = [
        "DROP TABLE runs", "DROP TABLE tasks", "DROP VIEW results", "ALTER TABLE attempts DROP COLUMN player",
        "ALTER TABLE attempts RENAME COLUMN won TO lost", "DELETE FROM tasks", "DELETE FROM runs",
        "DELETE FROM attempts", "PRAGMA user_version = 1", "PRAGMA application_id = 7", "DROP VIEW results; --",
        "ALTER TABLE tasks RENAME TO attempts2", "UPDATE attempts SET run = 77", "UPDATE runs SET about = '{}'",
    ]  # fmt: skip
    connection = unsafe(path)
    for statement in rng.sample(statements, rng.choice([1, 2])):
        with contextlib.suppress(sqlite3.OperationalError):  # it may not fit what the first one left
            connection.executescript(statement)
    connection.close()


def fuzz(number: int, sound: bytes, folder: Path) -> Counter[str]:
    """How so many damaged stores are read."""
    rng = random.Random(number)
    ends: Counter[str] = Counter()
    path = folder / "runs.sqlite"
    for trial in range(number):
        path.write_bytes(sound)
        damage = rng.choice([flipped, cut, replaced, replaced, renamed])
        damage(rng, path)
        try:
            ends[read_all(path, ranked=trial % 10 == 0)] += 1
        except BaseException:
            kept = folder / f"trial{trial}.sqlite"
            kept.write_bytes(path.read_bytes())
            print(f"trial {trial} ({damage.__name__}): {kept}")
            raise
    return ends


def test_any_name_of_a_level_has_its_place() -> None:
    names = ["", "100", "13", "2", "3\n", "9" * 5000, "a\u00b2", "a10", "a9", "\u0663"]
    rows = [Row("a", f"id {name}", name, 0, n, True, "won", "", 1, 1, 1, 1, 0, 0.1) for name in names for n in range(5)]
    ordered = [task.level for task in field_of(rows).tasks]
    assert ordered == ["", "a\u00b2", "a9", "a10", "\u0663", "2", "3\n", "13", "100", "9" * 5000]


def test_three_hundred_damaged_stores(sound: bytes, tmp_path: Path) -> None:
    ends = fuzz(300, sound, tmp_path)
    assert ends["StoreError"] > 50 and ends["read"] > 50


@pytest.mark.slow
def test_twenty_thousand_damaged_stores(sound: bytes, tmp_path: Path) -> None:
    ends = fuzz(20_000, sound, tmp_path)
    assert ends["StoreError"] > 4000 and ends["read"] > 4000 and ends["MergeError"] > 100
