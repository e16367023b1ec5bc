"""Results of others in CSV: read as rows, or refused with the line and what was expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.results.assignment import tasks_of
from experiments.results.export import export
from experiments.results.row import Row
from experiments.results.scores import ScoresError, read_scores
from experiments.results.task import Task

TASKS = tasks_of(["points:6x6", "basics/plain", "basics/jelly"])
POINTS, PLAIN, JELLY = TASKS


def read(tmp_path: Path, text: str | bytes, tasks: tuple[Task, ...] = TASKS) -> list[Row]:
    path = tmp_path / "scores.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_scores(path, tasks)


def test_few_columns_are_enough(tmp_path: Path) -> None:
    found = read(
        tmp_path, "\ufeffagent, level ,score,won\r\npaper,jelly,10,1\npaper,jelly,20,false\npaper,points 6x6,5,\n"
    )
    assert found == [
        Row("paper", JELLY.identity, "jelly", 0, 0, True, "won", "none", 10, 0, -1, 0, 0, 0.0, -1),
        Row("paper", JELLY.identity, "jelly", 0, 1, False, "lost", "none", 20, 0, -1, 0, 0, 0.0, -1),
        Row("paper", POINTS.identity, "points 6x6", 0, 0, False, "ended", "none", 5, 0, -1, 0, 0, 0.0, -1),
    ]


def test_what_was_exported_is_read_again(tmp_path: Path) -> None:
    rows = [
        Row("a, b", JELLY.identity, "jelly", 2**32 - 1, 7, True, "won", "goals", 10, 9, 8, 7, 0, 0.125, 3),
        Row('"', JELLY.identity, "jelly", 0, 0, False, "lost", "bomb", -1, 9, 8, 7, 2, 0.1, -1),
        Row("c", POINTS.identity, "points 6x6", 0, 0, False, "lost", "stuck", 10, 9, 8, 7, 0, 1e-9, 0),
        Row("c", POINTS.identity, "points 6x6", 0, 1, False, "ended", "moves", 10, 9, 0, 7, 0, 0.0, 0),
    ]
    export(rows, tmp_path / "rows.csv")
    assert read_scores(tmp_path / "rows.csv", TASKS) == rows


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "needs the columns `agent`, `level` (or `task`), and `score`, `won` or `outcome`"),
        ("agent,level\na,jelly\n", "needs the columns"),
        ("agent,level,skore\na,jelly,1\n", "the column 'skore': expected some of agent, task"),
        ("agent,level,won,won\na,jelly,1,1\n", "twice the column 'won'"),
        ("agent,level,score\na,jelly,1\n", "line 2: the level has goals: `won` (0 or 1) must say"),
        ("agent,level,won\na,jelly\n", "line 2: expected 3 columns"),
        ("agent,level,won\na,jelly,1,2\n", "line 2: expected 3 columns"),
        ("agent,level,won\na,jelly,1\n,jelly,1\n", "line 3: it names no agent"),
        ("agent,level,won\na,jely,1\n", "line 2: no level is called 'jely': name the pack"),
        ("agent,task,won\na,0123,1\n", "line 2: no level has the identity '0123'"),
        ("agent,level,won\na,jelly,2\n", "won is '2', expected 0 or 1"),
        ("agent,level,score,won\na,jelly,1.5,1\n", "score is '1.5', expected a whole number"),
        ("agent,level,won,seconds\na,jelly,1,nan\n", "seconds is 'nan', expected a number"),
        ("agent,level,won,seconds\na,jelly,1,1e13\n", "seconds is '1e13', expected a number"),
        ("agent,level,won,seed\na,jelly,1,-1\n", "seed is '-1', expected a whole number from 0 to 4294967295"),
        ("agent,level,won,score\na,jelly,1,99999999999999999999\n", "expected a whole number"),
        ("agent,level,outcome\na,jelly,playing\n", "outcome 'playing', won None: on a level with goals, attempts end"),
        ("agent,level,won,outcome\na,jelly,1,lost\n", "outcome 'lost', won True"),
        ("agent,level,won\na,points 6x6,1\n", "on a level without goals, attempts end as ended or lost"),
        ("agent,level,won,reason\na,jelly,1,luck\n", "reason is 'luck', expected one of none, goals"),
        (b"\xff\xfe", "is no CSV file in UTF-8"),
        ('agent,level,won\n"a,jelly,1\n', "is no CSV file"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str | bytes, said: str, tmp_path: Path) -> None:
    with pytest.raises(ScoresError) as error:
        read(tmp_path, text)
    assert said in str(error.value) and "scores.csv" in str(error.value)


def test_names_that_several_levels_have_are_not_enough(tmp_path: Path) -> None:
    other = Task(JELLY.level, adjacency="runs")
    with pytest.raises(ScoresError, match="2 levels are called 'jelly'"):
        read(tmp_path, "agent,level,won\na,jelly,1\n", (*TASKS, other))
    (row,) = read(tmp_path, f"agent,level,task,won\na,jelly,{other.identity},1\n", (*TASKS, other))
    assert row.task == other.identity


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ScoresError, match="cannot be read: No such file"):
        read_scores(tmp_path / "nowhere.csv", TASKS)
