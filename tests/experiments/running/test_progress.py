"""Progress: a bar on a terminal, lines elsewhere, nothing where it is not wanted."""

from __future__ import annotations

import io

import pytest

from experiments.running import progress
from experiments.running.progress import Progress, clock


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which only the test moves."""
    time = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: time[0])
    monkeypatch.setenv("COLUMNS", "100")
    return time


def test_a_terminal_shows_a_bar_with_rate_and_time_left_and_then_nothing(now: list[float]) -> None:
    stream = Terminal()
    bar = Progress(1000, stream)
    bar.advance(300, played=False)
    bar.advance(0)
    assert "compiling" in stream.getvalue()
    now[0] += 60
    bar.advance(100)
    now[0] += 10
    bar.advance(200)
    shown = stream.getvalue().split("\r")[-1]
    assert shown.rstrip() == "[==============          ]  60%  600 of 1,000 attempts  20/s  0:20 left"
    bar.close()
    assert stream.getvalue().split("\r")[-2].strip() == "" and "\n" not in stream.getvalue()


def test_without_a_terminal_there_is_a_line_now_and_then(now: list[float]) -> None:
    stream = io.StringIO()
    bar = Progress(1000, stream)
    for _ in range(70):
        now[0] += 1
        bar.advance(10)
    bar.close()
    assert stream.getvalue().splitlines() == [
        " 30%  300 of 1,000 attempts  10/s  1:10 left",
        " 60%  600 of 1,000 attempts  10/s  0:40 left",
    ]


def test_who_does_not_want_it_sees_nothing(now: list[float]) -> None:
    stream = Terminal()
    bar = Progress(10, stream, shown=False)
    now[0] += 1000
    bar.advance(5)
    bar.close()
    assert stream.getvalue() == ""


def test_times_read_as_clocks() -> None:
    assert [clock(seconds) for seconds in (7.4, 59.6, 754, 10800)] == ["0:07", "1:00", "12:34", "3:00:00"]
