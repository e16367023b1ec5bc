"""Stores that are brought together hold each attempt once, and refuse what contradicts itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.results.assignment import tasks_of
from experiments.results.merging import MergeError, merge, united
from experiments.results.row import Row
from experiments.results.store import Store, StoreError

TASKS = tasks_of(["combo:5x5", "points:6x6", "basics/plain"])


def rows(agent: str, attempts: range, task: int = 0) -> list[Row]:
    known = TASKS[task]
    return [
        Row(agent, known.identity, known.name, 4, n, False, "ended", "moves", n, n, 3, 5, 0, 0.25, 2) for n in attempts
    ]


def store(*runs: list[Row], path: Path | None = None) -> Store:
    """A store with these rows, run by run."""
    made = Store(path)
    made.know(TASKS[:2])
    for number, each in enumerate(runs):
        made.add(made.begin({"n": number, "by": each[0].agent}), each)
    return made


def test_what_is_lacking_is_entered_with_its_run_and_its_level() -> None:
    into = store(rows("a", range(4)))
    other = store(rows("a", range(2)), rows("a", range(2, 6)), rows("b", range(3), task=1))
    assert merge(into, other) == 5
    assert sorted(into.rows()) == sorted(rows("a", range(6)) + rows("b", range(3), task=1))
    abouts = {row: into.runs()[into.run_of(row)] for row in into.rows()}
    assert [abouts[row]["n"] for row in rows("a", range(6))] == [0, 0, 0, 0, 1, 1]
    assert {abouts[row]["by"] for row in rows("b", range(3), task=1)} == {"b"}
    assert len(into.runs()) == 3 and set(into.tasks()) == set(other.tasks())
    assert merge(into, other) == 0 and len(into.runs()) == 3


def test_a_store_merged_into_an_empty_one_is_the_same() -> None:
    other, empty = store(rows("a", range(5)), rows("b", range(5))), Store()
    assert merge(empty, other) == 10
    assert list(empty.rows()) == list(other.rows()) and empty.runs() == other.runs() and empty.tasks() == other.tasks()


def test_contradictions_are_refused_and_nothing_is_entered() -> None:
    into = store(rows("a", range(3)))
    other = store(rows("0", range(3)), [rows("a", range(2, 3))[0]._replace(score=99)])
    with pytest.raises(MergeError, match=r"attempt 2 of 'a' at 'combo 5x5' \(seed 4\) .* \(score 2 and 99\)"):
        merge(into, other)
    assert list(into.rows()) == rows("a", range(3)) and len(into.runs()) == 1
    with pytest.raises(MergeError, match="score 2 and 99"):
        united([into.rows(), other.rows()])


def test_times_and_names_of_levels_contradict_nothing() -> None:
    into, other = store(rows("a", range(3))), store([row._replace(seconds=9.0) for row in rows("a", range(5))])
    assert united([into.rows(), [row._replace(level="x") for row in other.rows()]])[:3] == rows("a", range(3))
    assert merge(into, other) == 2
    assert [row.seconds for row in into.rows()] == [0.25, 0.25, 0.25, 9.0, 9.0]


def test_a_level_that_is_not_what_was_played_is_refused() -> None:
    other = store(rows("a", range(3)))
    other.connection.execute("UPDATE tasks SET content = replace(content, '\"moves\": 50', '\"moves\": 49')")
    with pytest.raises(MergeError, match="a level in it is not the one that was played"):
        merge(Store(), other)


def test_entries_together_are_all_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    with store(rows("a", range(3)), path=path) as into:
        with pytest.raises(ZeroDivisionError), into.writing():
            into.add(into.begin({}), rows("b", range(3)))
            assert len(into) == 6
            raise ZeroDivisionError
        assert len(into) == 3
        with pytest.raises(StoreError), into.writing():
            into.add(into.begin({}), rows("b", range(3)))
            into.connection.execute("INSERT INTO nowhere VALUES (1)")
        assert len(into) == 3
