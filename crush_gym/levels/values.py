"""Readers of the small things in a level file; each reports what is wrong and returns None then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

import numpy as np

from crush_gym.levels.errors import Report, show

MOST = 1_000_000_000
"""The largest number of anything in a level; sums of two still fit an int32."""

_MANY = 10
"""How many unknown keys of one object are reported: each guess at what was meant takes time."""

Object = dict[str, object]
Cells = list[tuple[int, int]]


class RepeatedKeys(dict[str, object]):
    """A JSON object in which a key comes twice: Python's reader would silently keep the last."""

    def __init__(self, pairs: Sequence[tuple[str, object]]) -> None:
        super().__init__(pairs)
        times = Counter(name for name, _ in pairs)
        self.repeated = [name for name in self if times[name] > 1]


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return "; did you mean 'x'?" for the known word that is nearest, or "" where none is near."""
    near = get_close_matches(word[:40], list(known), 1, 0.6) if isinstance(word, str) else []
    return f"; did you mean {show(near[0])}?" if near else ""


def read_object(
    report: Report, what: str, value: object, known: Sequence[str], required: Sequence[str] = ()
) -> Object | None:
    """Check an object's keys; the unknown ones are reported and left out of what is returned."""
    if not isinstance(value, dict):
        report.add(f"{what} must be an object with keys such as {known[0]!r}, not {show(value)}")
        return None
    if isinstance(value, RepeatedKeys):
        for key in value.repeated[:_MANY]:
            report.add(f"{what} has the key {show(key)} more than once")
    unknown = [key for key in value if key not in known]
    for key in unknown[:_MANY]:
        guess = did_you_mean(key, known) or f"; expected {', '.join(known)}"
        report.add(f"{what} has the unknown key {show(key)}{guess}")
    if len(unknown) > _MANY:
        report.add(f"{what} has {len(unknown) - _MANY} more unknown keys")
    for key in required:
        if key not in value:
            report.add(f"{what} lacks the key {key!r}")
    return {key: value[key] for key in known if key in value}


def read_number(report: Report, what: str, value: object, least: int, most: int = MOST) -> int | None:
    """Check a whole number: true, 20.0 and "20" are none."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and least <= value <= most:
        return int(value)
    bounds = f"of at least {least}" if most == MOST else f"from {least} to {most}"
    if isinstance(value, int) and not isinstance(value, bool) and value > most == MOST:
        bounds = f"of at most {MOST}"
    report.add(f"{what} must be a whole number {bounds}, not {show(value)}")
    return None


def read_flag(report: Report, what: str, value: object) -> bool | None:
    """Check true or false: 0 and 1 are neither."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    report.add(f"{what} must be true or false, not {show(value)}")
    return None


def read_text(report: Report, what: str, value: object) -> str | None:
    """Check a string that can be written to a file."""
    if not isinstance(value, str):
        report.add(f"{what} must be a string, not {show(value)}")
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        report.add(f"{what} must be writable text; {show(value)} holds half a character")
        return None
    return str(value)


def read_list(report: Report, what: str, value: object, of: str, most: int) -> Sequence[object] | None:
    """Check a list of at most so many things."""
    if not isinstance(value, (list, tuple)):
        report.add(f"{what} must be a list of {of}, not {show(value)}")
        return None
    if len(value) > most:
        report.add(f"{what} must hold at most {most} {of}, not {len(value)}")
        return None
    return value


def read_cell(report: Report, what: str, value: object, height: int, width: int) -> tuple[int, int] | None:
    """Check a cell [row, column] of the board."""
    numbers = value if isinstance(value, (list, tuple)) and len(value) == 2 else ()
    whole = [int(n) for n in numbers if isinstance(n, (int, np.integer)) and not isinstance(n, bool)]
    if len(whole) != 2:
        report.add(f"{what} must be a cell [row, column], not {show(value)}")
        return None
    row, column = whole
    if not (0 <= row < height and 0 <= column < width):
        report.add(
            f"{what} is outside the board: expected rows 0 to {height - 1}, columns 0 to {width - 1},"
            f" not [{show(row)}, {show(column)}]"
        )
        return None
    return row, column
