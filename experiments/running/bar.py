"""How far an evaluation is, on stderr: a bar on a terminal, else a line now and then. A listener of its events."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections import Counter
from types import TracebackType
from typing import TextIO

from crush_gym.cli.common import plain
from experiments.running.events import (
    Advanced,
    Compiling,
    Event,
    Failed,
    Finished,
    Planned,
    Program,
    Started,
    Wanted,
)

BAR, BLINK = 24, 0.2
"""Characters of the bar; seconds between two pictures of it."""

PAUSE = 30.0
"""Seconds between two lines where there is no terminal; what takes less says nothing."""


class Bar:
    """Shows what the events say; within `with`, also while there are none."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.terminal = self.stream.isatty()
        self.total = self.over = self.played = self.programs = 0
        self.playing, self.compiling = Counter[Program](), Counter[Program]()
        self.since: dict[Program, float] = {}
        self.took: dict[Program, float] = {}
        self.watch = _Stopwatch()
        self.last = time.monotonic()
        self.lock, self.closed = threading.Lock(), threading.Event()
        self.thread = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> Bar:
        self.thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closed.set()
        self.thread.join()
        self.close()

    def _tick(self) -> None:
        while not self.closed.wait(BLINK):
            self.show()

    def __call__(self, event: Event) -> None:
        """Take note of an event."""
        with self.lock:
            if isinstance(event, Wanted):
                self.total = event.attempts
            elif isinstance(event, Planned):
                self.programs += event.programs
            elif isinstance(event, Advanced):
                self.over += event.attempts
                self.played += event.attempts if event.played else 0
            elif event.program is not None:
                self._of_shard(event, event.program)
        self.show()

    def _of_shard(self, event: Started | Compiling | Finished | Failed, program: Program) -> None:
        """Count the shards that are being played, and those of them for which something is compiled."""
        if isinstance(event, Started):
            self.playing[program] += 1
            self.took.setdefault(program, 0.0)
        elif isinstance(event, Compiling):
            self.compiling[program] += 1 if event.seconds is None else -1
            self.since[program] = time.monotonic()
            self.took[program] = max(self.took[program], event.seconds or 0.0)
        else:
            self.playing[program] -= 1
            self.compiling[program] = min(self.compiling[program], self.playing[program])
        self.watch.run(self.playing.total() > self.compiling.total())

    def show(self) -> None:
        """Draw it, unless that was just done."""
        with self.lock:
            if time.monotonic() - self.last >= (BLINK if self.terminal else PAUSE):
                self._draw()

    def _draw(self) -> None:
        self.last = time.monotonic()
        if self.terminal:
            width = _width()
            self.stream.write(f"\r{self.line()[:width]:<{width}}")
        else:
            self.stream.write(self.line() + "\n")
        self.stream.flush()

    def line(self) -> str:
        """The state in words, after a picture of it on a terminal that has room for both."""
        share = self.over / self.total if self.total else 0.0
        if self.compiling.total() >= self.playing.total() > 0:
            words = plain(f"{share:4.0%}  {self._compiling()}")
        else:
            words = f"{share:4.0%}  {self.over:,} of {self.total:,} attempts{self._pace()}"
        full = int(share * BAR)
        picture = f"[{'=' * full}{' ' * (BAR - full)}] "
        return picture + words if self.terminal and len(picture) + len(words) <= _width() else words

    def _compiling(self) -> str:
        """For how long something is compiled and how long such a thing took, what is left of that, and what it is."""
        program = max(+self.compiling, key=lambda program: self.since[program])
        spent = self.took[program] + time.monotonic() - self.since[program]
        ready = {p: took for p, took in self.took.items() if took and not self.compiling[p]}
        alike = [took for p, took in ready.items() if p.agent == program.agent] or list(ready.values())
        expected = f" of about {clock(sum(alike) / len(alike))}" if alike else ""
        left = self.programs - len(self.took)
        return f"compiling {clock(spent)}{expected}{f', then {left:,} more' if left > 0 else ''}: {program}"

    def _pace(self) -> str:
        """The rate of playing, and the time left if it stays as it was."""
        seconds = self.watch.seconds
        if not self.took and self.over < self.total:
            return "  getting ready"
        if self.played <= 0 or seconds <= 0:
            return ""
        rate = self.played / seconds
        shown = f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"
        beside = f", compiling {self.compiling.total()}" if self.compiling.total() else ""
        return f"  {shown}/s  {clock((self.total - self.over) / rate)} left{beside}"

    def close(self) -> None:
        """Leave the terminal's line as it was."""
        if self.terminal:
            self.stream.write("\r" + " " * _width() + "\r")
            self.stream.flush()


def _width() -> int:
    """Characters of a line that the terminal does not break."""
    return shutil.get_terminal_size().columns - 1


class _Stopwatch:
    """Counts the seconds in which it runs."""

    def __init__(self) -> None:
        self.past = 0.0
        self.since: float | None = None

    @property
    def seconds(self) -> float:
        return self.past + (0.0 if self.since is None else time.monotonic() - self.since)

    def run(self, on: bool) -> None:
        """Let it run, or not."""
        self.past, self.since = self.seconds, time.monotonic() if on else None


def clock(seconds: float) -> str:
    """A time as 0:07, 12:30 or 3:00:00."""
    minutes, rest = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
