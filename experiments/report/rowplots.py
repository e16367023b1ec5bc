"""Figures with one named row for each thing: intervals and boxes. Names stand above their rows on phones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from experiments.report.canvas import (
    NARROW,
    Area,
    Drawing,
    colour,
    label,
    line,
    marker,
    shortened,
    svg,
    text_width,
    x_axis,
)
from experiments.report.html import Html, join, tag
from experiments.report.scales import Scale, scale_of
from experiments.statistics import quartiles


@dataclass(frozen=True)
class Span:
    """A named value with its limits; place: which series' colour and sign it has."""

    name: str
    value: float
    low: float
    high: float
    place: int = 0


@dataclass(frozen=True)
class Box:
    """A named distribution: whiskers' ends, quartiles, and what lies outside."""

    name: str
    low: float
    first: float
    median: float
    third: float
    high: float
    outside: Sequence[float] = ()
    place: int = 0

    @classmethod
    def of(cls, name: str, values: Sequence[float], place: int = 0) -> Box:
        """The box of these values; whiskers reach as far as values lie within 1.5 interquartile ranges."""
        numbers = quartiles(values)
        outside = sorted({float(v) for v in values if not numbers[0] <= v <= numbers[-1]})
        return cls(name, *numbers, outside, place)


def interval_plot(
    spans: Sequence[Span], x_name: str, *, x: Scale | None = None, zero: float | None = None, title: str = ""
) -> Drawing:
    """Values with their limits; zero: where a line stands for "no difference"."""
    values = [v for span in spans for v in (span.value, span.low, span.high)]
    across = x or scale_of(values, x_name, include=() if zero is None else (zero,), margin=0.08)

    def row(span: Span, y: float, area: Area) -> Html:
        form = across.form
        hint = f"{span.name}: {form(span.value)} ({form(span.low)} to {form(span.high)})"
        bar = line(area.px(span.low), y, area.px(span.high), y, f"span {colour(span.place)}")
        return join(bar, marker(area.px(span.value), y, span.place, 14, hint))

    rows = [(span.name, lambda y, area, span=span: row(span, y, area)) for span in spans]
    return _rows(rows, across, zero, title or x_name)


def box_plot(
    boxes: Sequence[Box], x_name: str, *, x: Scale | None = None, zero: float | None = None, title: str = ""
) -> Drawing:
    """Distributions as boxes from the first to the third quartile, with whiskers and what lies outside them."""
    values = [v for box in boxes for v in (box.low, box.high, *box.outside)]
    across = x or scale_of(values, x_name, include=() if zero is None else (zero,))
    rows = [(box.name, lambda y, area, box=box: _box(box, y, area)) for box in boxes]
    return _rows(rows, across, zero, title or x_name)


def _box(box: Box, y: float, area: Area) -> Html:
    low, first, median, third, high = map(area.px, (box.low, box.first, box.median, box.third, box.high))
    form, hue = area.x.form, colour(box.place)
    hint = f"{box.name}: median {form(box.median)}, quartiles {form(box.first)} and {form(box.third)}"
    body = tag(
        "rect", tag("title", hint), x=first, y=y - 9, width=max(third - first, 1.0), height=18, rx=4,
        class_=f"box {hue}",
    )  # fmt: skip
    whiskers = join(line(low, y, first, y, f"bar {hue}"), line(third, y, high, y, f"bar {hue}"))
    dots = [tag("circle", cx=area.px(v), cy=y, r=2.2, class_=f"mark {hue}") for v in box.outside]
    return join(whiskers, body, line(median, y - 9, median, y + 9, f"median {hue}"), *dots)


Row = tuple[str, Callable[[float, Area], Html]]


def _rows(rows: Sequence[Row], across: Scale, zero: float | None, title: str) -> Drawing:
    def draw(width: int) -> Html:
        narrow = width < NARROW
        room = 8.0 if narrow else min(max((text_width(name) for name, _ in rows), default=0) + 16, width * 0.38)
        pitch = 44 if narrow else 34
        over = max(12.0, text_width(across.form(across.high)) / 2)
        area = Area(room, 4, width - over, 4 + pitch * len(rows), across, Scale(0, 1))
        parts = [x_axis(area)]
        if zero is not None and not narrow:
            parts.append(line(area.px(zero), area.top, area.px(zero), area.bottom, "zero"))
        for place, (name, row) in enumerate(rows):
            y = area.top + pitch * place + (30 if narrow else pitch / 2)
            shown = shortened(name, width - 8 if narrow else room - 8)
            if zero is not None and narrow:  # between the names
                parts.append(line(area.px(zero), y - 9, area.px(zero), y + 15, "zero"))
            at = (2.0, y - 13) if narrow else (room - 10, y + 4)
            parts += [label(*at, shown, "start" if narrow else "end", "ink halo", name), row(y, area)]
        return svg(width, area.bottom + (42 if across.name else 24), title, *parts)

    return draw
