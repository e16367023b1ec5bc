"""How far long work is, on stderr: a bar on a terminal, else a line now and then."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TextIO

BAR, BLINK = 24, 0.2
"""Characters of the bar; seconds between two pictures of it."""

PAUSE = 30.0
"""Seconds between two lines where there is no terminal; what takes less says nothing."""


class Progress:
    """Counts attempts that are over, of a total that may change."""

    def __init__(self, total: int, stream: TextIO | None = None, shown: bool = True) -> None:
        self.total, self.over, self.skipped = total, 0, 0
        self.stream = stream or sys.stderr
        self.shown, self.terminal = shown, shown and self.stream.isatty()
        self.begun: float | None = None
        self.last = time.monotonic()
        if self.terminal:
            self._draw()

    def advance(self, number: int, played: bool = True) -> None:
        """So many more are over; those that were not played now do not count for the rate."""
        self.over += number
        if played and number and self.begun is None:
            self.begun = time.monotonic()  # until then it was compiling
            played = False
        self.skipped += 0 if played else number
        if self.shown and time.monotonic() - self.last >= (BLINK if self.terminal else PAUSE):
            self._draw()

    def _draw(self) -> None:
        self.last = time.monotonic()
        if self.terminal:
            width = shutil.get_terminal_size().columns - 1
            self.stream.write(f"\r{self.line()[:width]:<{width}}")
        else:
            self.stream.write(self.line() + "\n")
        self.stream.flush()

    def line(self) -> str:
        """The state in words, after a picture of it on a terminal."""
        share = self.over / self.total if self.total else 1.0
        full = int(share * BAR)
        picture = f"[{'=' * full}{' ' * (BAR - full)}] " if self.terminal else ""
        return f"{picture}{share:4.0%}  {self.over:,} of {self.total:,} attempts{self._pace()}"

    def _pace(self) -> str:
        """The rate, and the time left if it stays as it was."""
        if self.begun is None:
            return "  compiling" if self.over < self.total else ""
        played, seconds = self.over - self.skipped, time.monotonic() - self.begun
        if played <= 0 or seconds <= 0:
            return ""
        rate = played / seconds
        shown = f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"
        return f"  {shown}/s  {clock((self.total - self.over) / rate)} left"

    def close(self) -> None:
        """Leave the terminal's line as it was."""
        if self.terminal:
            self.stream.write("\r" + " " * (shutil.get_terminal_size().columns - 1) + "\r")
            self.stream.flush()


def clock(seconds: float) -> str:
    """A time as 0:07, 12:30 or 3:00:00."""
    minutes, rest = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
