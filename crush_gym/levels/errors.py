"""What is wrong with a level, said to the person who wrote it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from numbers import Integral

SHOWN = 20
"""How many problems an error prints; `LevelError.problems` holds all of them."""

_QUOTED = 60
_QUOTED_PATH = 500
_DIGITS = 10**20


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, and where: rows and columns count from 0 at the top left."""

    level: str
    row: int | None
    column: int | None
    message: str

    def __str__(self) -> str:
        where = [f"level {show(self.level)}"] if self.level else []
        where += [f"row {self.row}"] if self.row is not None else []
        where += [f"column {self.column}"] if self.column is not None else []
        return f"{', '.join(where)}: {self.message}" if where else self.message


class LevelError(ValueError):
    """A level, a pack or a file that is refused; `problems` says everything that is wrong with it."""

    def __init__(self, problems: Iterable[Problem] | str, source: str = "") -> None:
        """Take the problems, or one message; `source` is the file that they were found in."""
        listed = (Problem("", None, None, problems),) if isinstance(problems, str) else tuple(problems)
        super().__init__(listed, source)  # the arguments again, so that pickling works
        self.problems = listed
        self.source = source

    def __str__(self) -> str:
        prefix = f"{self.source}: " if self.source else ""
        if len(self.problems) == 1:
            return f"{prefix}{self.problems[0]}"
        lines = [f"{prefix}{len(self.problems)} problems", *map(str, self.problems[:SHOWN])]
        if len(self.problems) > SHOWN:
            lines.append(f"... and {len(self.problems) - SHOWN} more")
        return "\n  ".join(lines)


class UnknownLevelError(LevelError, KeyError):
    """A pack has no level of this name."""


@dataclass(frozen=True)
class Report:
    """Gathers the problems of one level; the reports of a pack's levels share one list."""

    level: str
    found: list[Problem] = field(default_factory=list)

    def add(self, message: str, row: int | None = None, column: int | None = None) -> None:
        """Note one problem, with its place on the board where it has one."""
        self.found.append(Problem(self.level, row, column, message))


def show(value: object, most: int = _QUOTED) -> str:
    """Quote a value in a message: short, and safe for whatever the value is."""
    if isinstance(value, str):
        return repr(str(value) if len(value) <= most else value[: most - 3] + "...")
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Integral):
        return str(int(value)) if abs(int(value)) < _DIGITS else "a number of more than 20 digits"
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    return "an object" if isinstance(value, dict) else f"a {type(value).__name__}"


def show_path(path: str | os.PathLike[str]) -> str:
    """Quote a path in a message: whole, unless it is absurdly long."""
    return show(os.fsdecode(path), _QUOTED_PATH)
