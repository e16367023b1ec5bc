"""The terminal for a program that takes it over: one key at a time, one screen at a time."""

from __future__ import annotations

import os
import select
import shutil
import sys
import time
from types import TracebackType
from typing import Any

from crush_gym.cli.common import CommandError

try:
    import termios
    import tty
except ImportError:  # Windows
    HAS_TERMIOS = False
else:
    HAS_TERMIOS = True

ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}
LETTERS = {
    "k": "up", "j": "down", "h": "left", "l": "right", " ": "pick", "\r": "pick", "\n": "pick",
    "?": "hint", "u": "undo", "q": "quit", "\x04": "quit", "\x0c": "redraw",
}  # fmt: skip
ESCAPE = "\x1b"
ESCAPE_SECONDS = 0.05
"""How long the rest of an arrow key's sequence may take; longer, and it was the escape key itself."""

ENTER, LEAVE = "\x1b[?1049h\x1b[?25l\x1b[?7l", "\x1b[?7h\x1b[?25h\x1b[?1049l"
"""The other screen, without a cursor and with long lines cut off; and back."""


class Terminal:
    """Standard input and output as a terminal: keys by name, screens that replace each other."""

    def __init__(self) -> None:
        if not HAS_TERMIOS:
            raise CommandError("keys are read in a way that Windows lacks: use WSL, or give the moves with --actions")
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise CommandError("this needs a terminal: run it in one, or give the moves with --actions")
        self._keys = sys.stdin.fileno()
        self._modes: list[Any] = []

    def __enter__(self) -> Terminal:
        self._modes = termios.tcgetattr(self._keys)
        tty.setcbreak(self._keys)
        modes = termios.tcgetattr(self._keys)
        modes[6][termios.VSUSP] = b"\0"  # suspended, it would leave the shell on the other screen
        termios.tcsetattr(self._keys, termios.TCSANOW, modes)
        self._write(ENTER)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        termios.tcsetattr(self._keys, termios.TCSADRAIN, self._modes)
        self._write(LEAVE)

    def key(self) -> str:
        """Wait for a key: its name, "" for one that means nothing, "quit" at the end of input."""
        first = self._read()
        if first != ESCAPE:
            return LETTERS.get(first, "") if first else "quit"
        if not self._more():
            return "cancel"
        if self._read() not in ("[", "O"):
            return ""
        final = self._read()
        while final and not "@" <= final <= "~":
            final = self._read()
        return ARROWS.get(final, "")

    def _read(self) -> str:
        try:
            return os.read(self._keys, 1).decode("latin-1")
        except OSError:  # the terminal is gone
            return ""

    def _more(self) -> bool:
        return bool(select.select([self._keys], [], [], ESCAPE_SECONDS)[0])

    def show(self, lines: list[str]) -> None:
        """Replace what is on the screen; lines below its end are left out."""
        height = shutil.get_terminal_size().lines
        self._write("\x1b[H" + "\x1b[K\n".join(lines[:height]) + "\x1b[K\x1b[J")

    def pause(self, seconds: float) -> None:
        """Leave what is on the screen for a while."""
        time.sleep(seconds)

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()
