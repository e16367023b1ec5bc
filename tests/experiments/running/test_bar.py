"""The bar: a line on a terminal that tells compiling from playing, lines now and then elsewhere."""

from __future__ import annotations

import io
import re
import time as wall
from pathlib import Path

import pytest

from experiments.running import bar as module
from experiments.running.bar import Bar, clock
from experiments.running.events import (
    Advanced,
    Compiling,
    Event,
    Failed,
    Finished,
    Planned,
    Program,
    ShardError,
    Started,
    Wanted,
)

GREEDY, MCTS, RANDOM = (Program(agent, "0123", "jelly", 3) for agent in ("greedy", "mcts", "random"))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which only the test moves."""
    time = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: time[0])
    monkeypatch.setenv("COLUMNS", "100")
    return time


def said(bar: Bar, *events: Event) -> str:
    """What a bar's line says after these events, without its picture, share and count."""
    for event in events:
        bar(event)
    return re.sub(r".*%  ([\d,]+ of [\d,]+ attempts)?", "", bar.line()).strip()


def test_a_terminal_shows_a_bar_with_rate_and_time_left_and_then_nothing(now: list[float]) -> None:
    stream = Terminal()
    with Bar(stream) as bar:
        bar(Wanted(1000))
        bar(Planned("greedy", 700, 1))
        bar(Advanced("greedy", 300, played=False))
        bar(Started(GREEDY, 700))
        now[0] += 10
        bar(Advanced("greedy", 100))
        now[0] += 10
        bar(Advanced("greedy", 200))
        shown = stream.getvalue().split("\r")[-1]
        assert shown.rstrip() == "[==============          ]  60%  600 of 1,000 attempts  15/s  0:27 left"
    assert stream.getvalue().split("\r")[-2].strip() == "" and "\n" not in stream.getvalue()


def test_compiling_is_a_phase_of_its_own_that_no_rate_knows_of(now: list[float]) -> None:
    bar = Bar(Terminal())
    assert said(bar, Wanted(300)) == "getting ready"
    plans = (Planned(p.agent, 100, 1) for p in (GREEDY, MCTS, RANDOM))
    assert said(bar, *plans, Started(GREEDY, 100), Compiling(GREEDY)) == (
        "compiling 0:00, then 2 more: greedy for jelly and 2 more"
    )
    now[0] += 40
    assert said(bar) == "compiling 0:40, then 2 more: greedy for jelly and 2 more"
    assert said(bar, Compiling(GREEDY, 40.0)) == ""
    now[0] += 10
    assert said(bar, Advanced("greedy", 50)) == "5/s  0:50 left"
    assert said(bar, Compiling(GREEDY)) == "compiling 0:40, then 2 more: greedy for jelly and 2 more"
    now[0] += 1000
    assert said(bar, Compiling(GREEDY, 41.0), Advanced("greedy", 50), Finished(GREEDY, ())) == "10/s  0:20 left"
    now[0] += 500
    assert said(bar, Started(MCTS, 100), Compiling(MCTS)) == (
        "compiling 0:00 of about 0:41, then 1 more: mcts for jelly and 2 more"
    )
    now[0] += 100
    error = ShardError("mcts", ("jelly",), 100, "no")
    assert said(bar, Advanced("mcts", 100, played=False), Failed(error, MCTS)) == "10/s  0:10 left"
    assert said(bar, Planned("nobody", 0, 0), Failed(error, None)) == "10/s  0:10 left"


def test_the_picture_gives_way_to_words(monkeypatch: pytest.MonkeyPatch) -> None:
    bar = Bar(Terminal())
    for event in (Wanted(9), Planned("greedy", 9, 1), Started(GREEDY, 9), Compiling(GREEDY)):
        bar(event)
    words = "  0%  compiling 0:00: greedy for jelly and 2 more"
    for columns, shown in (("80", f"[{' ' * 24}] {words}"), ("60", words)):
        monkeypatch.setenv("COLUMNS", columns)
        assert bar.line() == shown


def test_names_cannot_steer_the_terminal() -> None:
    hostile = Program("a\x1b[31m", "0123", "b\x07\n", 1)
    assert said(Bar(Terminal()), Wanted(9), Planned(hostile.agent, 9, 1), Started(hostile, 9), Compiling(hostile)) == (
        r"compiling 0:00: a\x1b[31m for b\x07\n"
    )


def test_while_one_worker_plays_another_may_compile(now: list[float]) -> None:
    bar = Bar(Terminal())
    events = Wanted(300), Planned("greedy", 200, 1), Planned("mcts", 100, 1), Started(GREEDY, 100), Started(MCTS, 100)
    assert said(bar, *events, Compiling(MCTS), Compiling(GREEDY)).startswith("compiling")
    now[0] += 60
    assert said(bar, Compiling(GREEDY, 60.0)) == ""
    now[0] += 10
    assert said(bar, Advanced("greedy", 100)) == "10/s  0:20 left, compiling 1"
    assert said(bar, Finished(GREEDY, ())) == "compiling 1:10 of about 1:00: mcts for jelly and 2 more"


def test_without_a_terminal_there_is_a_line_now_and_then(now: list[float]) -> None:
    stream = io.StringIO()
    bar = Bar(stream)
    bar(Wanted(1000))
    bar(Started(GREEDY, 1000))
    for _ in range(70):
        now[0] += 1
        bar(Advanced("greedy", 10))
    assert stream.getvalue().splitlines() == [
        " 30%  300 of 1,000 attempts  10/s  1:10 left",
        " 60%  600 of 1,000 attempts  10/s  0:40 left",
    ]


def test_it_moves_while_nothing_is_said() -> None:
    stream = Terminal()
    with Bar(stream) as bar:
        bar(Wanted(10))
        before = stream.getvalue()
        deadline = wall.monotonic() + 60
        while stream.getvalue() == before and wall.monotonic() < deadline:
            wall.sleep(0.05)
    assert "getting ready" in stream.getvalue()


def test_times_read_as_clocks() -> None:
    assert [clock(seconds) for seconds in (7.4, 59.6, 754, 10800)] == ["0:07", "1:00", "12:34", "3:00:00"]


def test_the_old_name_leads_here() -> None:
    with pytest.warns(DeprecationWarning, match=r"experiments\.progress has moved to experiments\.running\.bar"):
        import experiments.progress as old
    assert Path(old.__file__) == Path(module.__file__)
