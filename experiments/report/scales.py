"""Axes: where a value lies, which values are marked, and how they are written."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

Form = Callable[[float], str]

STEPS = (1, 2, 2.5, 5, 10)
MINUS = "\N{MINUS SIGN}"


def plain(value: float) -> str:
    """A number in at most four digits, thousands separated."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "\N{EN DASH}"
    if abs(value) >= 1000:
        return f"{value:,.0f}".replace("-", MINUS)
    text = f"{value:.3g}"
    return (text if "e" not in text else f"{value:.1e}").replace("-", MINUS)


def percent(value: float) -> str:
    """A share in percent: whole ones, or one decimal below 10 %."""
    shown = f"{100 * value:.1f}" if 0 < abs(value) < 0.0995 else f"{100 * value:.0f}"
    return f"{shown.removesuffix('.0').replace('-', MINUS)}\N{NO-BREAK SPACE}%"


def duration(seconds: float) -> str:
    """A time in the unit that suits it."""
    for unit, size in (("h", 3600.0), ("min", 60.0), ("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size * 0.9995:
            return f"{seconds / size:.3g}\N{NO-BREAK SPACE}{unit}"
    return "0\N{NO-BREAK SPACE}s" if seconds <= 0 else f"{seconds * 1e9:.3g}\N{NO-BREAK SPACE}ns"


def counted(count: int, word: str) -> str:
    """A number with its noun."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


@dataclass(frozen=True)
class Scale:
    """Values from `low` to `high`, evenly or by their logarithms; `name` is written beside the axis."""

    low: float
    high: float
    name: str = ""
    log: bool = False
    form: Form = plain

    def at(self, value: float) -> float:
        """Where a value lies, 0 at `low` and 1 at `high`; what is outside stays at the border."""
        low, high, v = (math.log(max(x, 1e-300)) if self.log else x for x in (self.low, self.high, value))
        return min(max((v - low) / (high - low), -0.02), 1.02) if high > low else 0.5

    def ticks(self, most: int) -> list[float]:
        """Round values to mark, at most about so many."""
        return self._decades(most) if self.log else self._even(most)

    def _even(self, most: int) -> list[float]:
        span = self.high - self.low
        if span <= 0:
            return [self.low]
        magnitude = 10.0 ** math.floor(math.log10(span / most))
        step = next((s * magnitude for s in STEPS if s * magnitude * most >= span * 0.999), 10 * magnitude)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(i * step, 12) for i in range(first, last + 1)]

    def _decades(self, most: int) -> list[float]:
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        for digits in ((1, 2, 5), (1, 3), (1,)):
            found = [d * 10.0**e for e in range(first, last + 1) for d in digits]
            inside = [v for v in found if self.low * 0.999 <= v <= self.high * 1.001]
            if len(inside) <= most:
                return inside
        return inside[:: math.ceil(len(inside) / most)]


def scale_of(
    values: Iterable[float],
    name: str = "",
    *,
    log: bool = False,
    include: Iterable[float] = (),
    form: Form = plain,
    margin: float = 0.05,
) -> Scale:
    """A scale that holds all finite values, and some room at both ends; a logarithmic one all positive ones."""
    known = [v for v in (*values, *include) if math.isfinite(v) and (v > 0 or not log)]
    low, high = (min(known), max(known)) if known else (1.0, 10.0) if log else (0.0, 1.0)
    if log:
        factor = max((high / low) ** margin, 1.15)
        return Scale(low / factor, high * factor, name, True, form)
    room = (high - low) * margin or abs(high) * 0.1 or 1.0
    fixed = set(include)
    return Scale(low if low in fixed else low - room, high if high in fixed else high + room, name, False, form)
