"""How results are written in tables, in the terminal and on pages."""

from __future__ import annotations

from experiments.pages import Html, join, percent, plain, tag
from experiments.ranking.field import PlayedTask
from experiments.statistics import Interval

NDASH = "\N{EN DASH}"


def value_of(task: PlayedTask, value: float) -> str:
    """What counts on a level: a success rate or a score."""
    return percent(value) if task.goal else plain(value)


def with_limits(value: str, limits: str) -> Html:
    """A value and its limits in small letters."""
    return join(value, " ", tag("small", limits))


def between(interval: Interval, form: str = ".2f") -> str:
    """Both limits."""
    return f"{interval.low:{form}} to {interval.high:{form}}"


def between_percents(interval: Interval) -> str:
    """Both limits of a rate."""
    low, high = percent(interval.low).split("\N{NO-BREAK SPACE}")[0], percent(interval.high)
    return f"{low} to {high}"


def difference_of(task: PlayedTask, difference: Interval) -> tuple[str, str]:
    """A difference and its limits: in percentage points, or in points of score."""
    if task.goal:
        value, low, high = (f"{100 * each:+.1f}" for each in difference)
        return f"{value} pp", f"{low} to {high}"
    value, low, high = (f"{each:+,.0f}" if abs(each) >= 100 else f"{each:+.3g}" for each in difference)
    return value, f"{low} to {high}"


def ranks(best: int, worst: int) -> str:
    """The ranks that chance leaves open."""
    return str(best) if best == worst else f"{best}{NDASH}{worst}"


def p_value(p: float) -> str:
    """A p value, not more exact than it means something."""
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}" if p < 0.1 else f"{p:.2f}"
