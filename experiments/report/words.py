"""How results are written in tables, in the terminal and on pages."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from experiments.report import Html, join, percent, plain, tag
from experiments.report.scales import MINUS
from experiments.statistics import Interval

if TYPE_CHECKING:
    from experiments.ranking.field import PlayedTask

NDASH = "\N{EN DASH}"

NARROW = 0.02
"""Intervals less wide than this get a digit more."""


def value_of(task: PlayedTask, value: float) -> str:
    """What counts on a level: a success rate or a score."""
    return percent(value) if task.goal else plain(value)


def with_limits(value: str, limits: str) -> Html:
    """A value and its limits in small letters."""
    return join(value, " ", tag("small", limits))


def decimal(interval: Interval) -> tuple[str, str]:
    """A normalised result and both limits, with a third digit where two would hide the interval."""
    digits = 2 if interval.high - interval.low >= NARROW else 3
    value, low, high = (_rounded(each, digits) for each in interval)
    return value, f"{low} to {high}"


def _rounded(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text.replace("-", "" if float(text) == 0 else MINUS)


def rate_of(interval: Interval) -> tuple[str, str]:
    """A success rate and both limits in percent, with a digit more where whole ones would hide the interval."""
    digits = 0 if interval.high - interval.low >= NARROW else 1
    value, low, high = (f"{100 * each:.{digits}f}" for each in interval)
    return f"{value}\N{NO-BREAK SPACE}%", f"{low} to {high}\N{NO-BREAK SPACE}%"


def difference_of(task: PlayedTask, difference: Interval) -> tuple[str, str]:
    """A difference on a level and its limits."""
    return in_points(task.goal, difference)


def in_points(goal: bool, difference: Interval) -> tuple[str, str]:
    """A difference and its limits: of success rates in percentage points, or of scores."""
    if goal:
        value, low, high = (signed(f"{100 * each:+.1f}") for each in difference)
        return f"{value} pp", f"{low} to {high}"
    value, low, high = (signed(f"{each:+,.0f}" if abs(each) >= 100 else f"{each:+.3g}") for each in difference)
    return value, f"{low} to {high}"


def signed(text: str) -> str:
    """A number as text, with a minus sign as long as its plus."""
    return text.replace("-", MINUS)


def ranks(best: int, worst: int) -> str:
    """The ranks that chance leaves open."""
    return str(best) if best == worst else f"{best}{NDASH}{worst}"


def t_value(t: float) -> str:
    """Welch's t; without an end where neither sample varies."""
    return signed(f"{t:.2f}" if math.isfinite(t) else f"{'-' if t < 0 else ''}\N{INFINITY}")


def p_value(p: float) -> str:
    """A p value, not more exact than it means something."""
    return "< 0.0001" if p < 1e-4 else f"= {p:.2g}" if p < 0.1 else f"= {p:.2f}"
