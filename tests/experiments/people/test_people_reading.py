"""Reading people's results: every kind of file says the same, and whatever is odd is told with its rows."""

from __future__ import annotations

import datetime
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from experiments.people import Log, PeopleError, Reading, Totals, read

HEAD = ("player_id", "dt", "level", "num_attempts", "num_success")
DAYS = [
    ("ann", "2014-01-01", "lake", 3, 0), ("bob", "2014-01-01", "lake", 2, 1), ("ann", "2014-01-02", "lake", 4, 1),
    ("ann", "2014-01-02", "hill 10", 1, 1), ("zoë", "2014-01-05", "hill 2", 5, 0),
]  # fmt: skip


def text(rows: list[tuple[object, ...]], separator: str = ",", head: tuple[str, ...] = HEAD) -> str:
    return "\n".join(separator.join(map(str, row)) for row in [head, *rows]) + "\n"


def comma(path: Path) -> None:
    path.write_text(text(DAYS), encoding="utf-8")


def marked_semicolons(path: Path) -> None:
    path.write_text(text(DAYS, ";").replace("\n", "\r\n"), encoding="utf-8-sig")


def wide_tabs(path: Path) -> None:
    path.write_text(text(DAYS, "\t"), encoding="utf-16")


def quoted(path: Path) -> None:
    head = tuple(f" {name.upper()} " for name in (*HEAD, "country"))
    path.write_text(text([(f'"{p}"', d, f'"{n}"', f"{a}.0", s, "x") for p, d, n, a, s in DAYS], head=head), "utf-8")


def database(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE other (x)")
        connection.execute(f"CREATE TABLE plays ({', '.join(HEAD)})")
        connection.executemany("INSERT INTO plays VALUES (?, ?, ?, ?, ?)", DAYS)
    connection.close()


def parquet(path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    columns = dict(zip(HEAD, map(list, zip(*DAYS, strict=True)), strict=True))
    columns["dt"] = [datetime.date.fromisoformat(day) for day in columns["dt"]]
    pytest.importorskip("pyarrow.parquet").write_table(arrow.table(columns), path)


def pairs(log: Log | Totals) -> dict[tuple[str, int], tuple[int, int, int]]:
    assert isinstance(log, Log)
    return {
        (log.levels[level], player): tuple(map(int, numbers))
        for level, player, *numbers in zip(
            log.level, log.player.tolist(), log.attempts, log.successes, log.to_clear, strict=True
        )
    }  # type: ignore[misc]


@pytest.mark.parametrize("write", [comma, marked_semicolons, wide_tabs, quoted, database, parquet])
def test_all_files_say_the_same(write: Callable[[Path], None], tmp_path: Path) -> None:
    write(tmp_path / "people")
    found = read(tmp_path / "people", strict=True)
    assert (found.rows, found.problems, found.people.levels) == (5, (), ("hill 2", "hill 10", "lake"))
    assert pairs(found.people) == {
        ("lake", 0): (7, 1, 7), ("lake", 1): (2, 1, 2), ("hill 10", 0): (1, 1, 1), ("hill 2", 2): (5, 0, 5)
    }  # fmt: skip
    assert [each.tolist() for each in found.people.counts()[1:]] == [[5, 1, 9], [0, 1, 2], [1, 1, 2]]


def given(tmp_path: Path, *rows: str, head: str = ",".join(HEAD), **options: object) -> Reading:
    path = tmp_path / "people.csv"
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return read(path, **options)  # type: ignore[arg-type]


ODD = {
    "fields": "a,2014-01-01,x,1", "empty": "", "no player": ",2014-01-01,x,1,1", "no level": "a,2014-01-01, ,1,1",
    "counts": "a,2014-01-01,x,-1,0", "unknown level": "a,2014-01-01,moon,1,1", "day": "c,01/02/2014,x,2,1",
    "twice": "a,2014-01-09,x,2,0", "no attempts": "b,2014-01-01,x,0,0", "wins above attempts": "d,2014-01-01,x,0,1",
    "replays": "a,2014-01-10,x,4,3",
}  # fmt: skip


@pytest.mark.parametrize("kind", list(ODD))
def test_each_problem_is_told_with_its_row(kind: str, tmp_path: Path) -> None:
    rows = ["a,2014-01-09,x,1,0", ODD[kind], "e,2014-01-01,y,7,1"]
    found = given(tmp_path, *rows, levels=["x", "y"])
    assert [(problem.kind, problem.times, problem.rows) for problem in found.problems] == [(kind, 1, (3,))]
    assert found.problems[0].sentence.endswith("(row 3)")
    with pytest.raises(PeopleError, match=r"row 3"):
        given(tmp_path, *rows, levels=["x", "y"], strict=True)


def test_many_rows_name_the_first_ones(tmp_path: Path) -> None:
    found = given(tmp_path, "a,,x,1,0", *["a,,x,one,0"] * 9)
    assert found.problems[0][1:] == (9, (3, 4, 5, 6, 7))
    assert found.problems[0].sentence.startswith("9 \N{MULTIPLICATION SIGN} attempts or successes")
    assert found.problems[0].sentence.endswith("(rows 3, 4, 5, 6, 7, ...)")


def test_nothing_is_dropped_in_silence(tmp_path: Path) -> None:
    """Whatever is not counted is in a row that a problem with "left out" counts."""
    rng = np.random.default_rng(0)
    fields = (["a", "b", ""], ["2014-01-01", "2014-01-02", "", "soon"], ["x", "y", "moon", ""], ["0", "1", "3", "no"])
    rows = [",".join(rng.choice(each) for each in (*fields, ["0", "1", "2", "-1"])) for _ in range(300)]
    found = given(tmp_path, *rows, levels=["x", "y"])
    left_out = sum(
        problem.times for problem in found.problems if problem.sentence.split(" (")[0].endswith(": left out")
    )
    whole = [row.split(",") for row in rows]
    kept = [r for r in whole if r[0] and r[2] in "xy" and r[2] and r[3] != "no" and r[4] != "-1"]
    assert len(kept) == found.rows - left_out and len(rows) == found.rows
    counts = found.people.counts()
    assert counts.successes.sum() == sum(int(row[4]) for row in kept)
    pairs_of = {(r[0], r[2]) for r in kept}
    expected = [[sum(int(r[c]) for r in kept if (r[0], r[2]) == pair) for c in (3, 4)] for pair in pairs_of]
    assert counts.attempts.sum() == sum(max(a, s) for a, s in expected)


def test_a_success_after_midnight_needs_no_attempt_of_its_own_day(tmp_path: Path) -> None:
    people = given(tmp_path, "a,2014-01-02,x,0,1", "a,2014-01-01,x,3,0").people
    assert pairs(people) == {("x", 0): (3, 1, 3)}
    assert pairs(given(tmp_path, "a,2014-01-02,x,1,4").people) == {("x", 0): (4, 4, 1)}


def test_attempts_to_clear_end_at_the_first_success_whatever_the_rows_order(tmp_path: Path) -> None:
    rows = ["a,2014-01-03,x,5,2", "a,2014-01-01,x,2,0", "a,2014-01-02,x,4,2", "b,2014-01-01,x,6,0"]
    people = given(tmp_path, *rows).people
    assert pairs(people) == {("x", 0): (11, 4, 5), ("x", 1): (6, 0, 6)}
    assert isinstance(people, Log)
    assert pairs(people.without_replays()) == {("x", 0): (5, 1, 5), ("x", 1): (6, 0, 6)}


def test_without_days_rows_add_up(tmp_path: Path) -> None:
    found = given(tmp_path, "7,3,2,1", "7,3,4,0", "8,12,1,1", head="player_id,level,num_attempts,num_success")
    assert found.people.levels == ("3", "12") and pairs(found.people)[("3", 0)] == (6, 1, 2)
    assert [problem.kind for problem in found.problems] == ["replays"]


def test_totals_of_levels(tmp_path: Path) -> None:
    rows = ["3,5,20,4", "1,9,9,2", "3,1,2,1", "2,5,4,0"]
    found = given(tmp_path, *rows, head="level,successes,attempts,players", levels=["1", "2", "3", "4"])
    assert isinstance(found.people, Totals) and found.without_people == ("4",)
    assert [each.tolist() for each in found.people.counts()[1:]] == [[9, 5, 22, 0], [9, 5, 6, 0], [2, 0, 5, 0]]
    assert [problem[:3] for problem in found.problems] == [("twice", 1, (4,)), ("wins above attempts", 1, (5,))]
    assert given(tmp_path, "x,4,1", head="level,attempts,successes").people.counts().players.tolist() == [0]


def test_levels_come_as_the_pack_has_them(tmp_path: Path) -> None:
    found = given(tmp_path, "a,,y,1,1", "a,,x,2,0", "b,,y,3,1", levels=["x", "none", "y"])
    assert found.people.levels == ("x", "none", "y") and found.without_people == ("none",)
    assert found.people.counts().attempts.tolist() == [2, 0, 4]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"a,b\n1,2\n", "has the columns 'a', 'b'; expected are player_id, level, num_attempts, num_success or level"),
        (b"level,Level,attempts,successes\n1,1,2,1\n", "two columns 'level'"),
        (b"level,attempts,successes\n", "has no row that can be used"),
        (b"level,attempts,successes\nx,0,0\n", "no row that can be used: 1 .* no attempts"),
        (b"\x7fELF\0\0\0,", "neither text nor"),
        (b"level,attempts,successes\nx,\0,0\n", "no CSV file|can be used"),
        (b"SQLite format 3\0" + b"\0" * 100, "SQLite"),
        (b"PAR1nonsense", "Parquet"),
    ],
)
def test_what_is_no_such_file_is_refused_in_a_sentence(content: bytes, sentence: str, tmp_path: Path) -> None:
    if content.startswith(b"PAR1"):
        pytest.importorskip("pyarrow")
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    with pytest.raises(PeopleError, match=sentence) as told:
        read(path)
    assert "\n" not in str(told.value)
    with pytest.raises(PeopleError, match="cannot be read: No such file"):
        read(tmp_path / "nowhere.csv")


def test_letters_of_other_encodings_are_guessed_and_told(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(text([("a", "", "Höhle", 2, 1)]).encode("cp1252"))
    found = read(path)
    assert found.people.levels == ("Höhle",) and "Windows-1252" in found.problems[0].sentence
    with pytest.raises(PeopleError, match="Windows-1252"):
        read(path, strict=True)


def test_a_database_with_several_tables_asks_which(tmp_path: Path) -> None:
    path = tmp_path / "people.sqlite"
    database(path)
    with sqlite3.connect(path) as connection:
        connection.execute('CREATE VIEW "old ""plays""" AS SELECT * FROM plays WHERE num_success > 0')
    connection.close()
    with pytest.raises(PeopleError, match='several tables with the columns: old "plays", plays'):
        read(path)
    assert read(path, table='old "plays"').rows == 3
    for table, sentence in (("other", "has the columns 'x'"), ("none", "has no table 'none'")):
        with pytest.raises(PeopleError, match=sentence):
            read(path, table=table)
    comma(tmp_path / "people.csv")
    with pytest.raises(PeopleError, match="is no database"):
        read(tmp_path / "people.csv", table="plays")


def test_parquet_without_pyarrow_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "people").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(PeopleError, match=r"needs pyarrow: `pip install pyarrow`"):
        read(tmp_path / "people")


@pytest.mark.slow
def test_two_million_rows_take_less_than_ten_seconds(tmp_path: Path) -> None:
    size, rng = 2_000_000, np.random.default_rng(0)
    columns = [rng.integers(0, n, size).tolist() for n in (60_000, 28, 1000, 9)]
    path = tmp_path / "people.csv"
    with path.open("w", encoding="utf-8") as file:
        file.write(",".join(HEAD) + "\n")
        file.writelines(
            f"{p:032x},2014-01-{d + 1:02d},{n},{a + 1},{int(a < 3)}\n" for p, d, n, a in zip(*columns, strict=True)
        )
    start = time.process_time()
    found = read(path)
    assert time.process_time() - start < 10
    assert (found.rows, found.people.counts().attempts.sum()) == (size, sum(columns[3]) + size)
