"""Figures over two axes: lines with error bars or bands, profiles, points with names."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from experiments.report.canvas import (
    NARROW,
    Area,
    Drawing,
    area_of,
    axes,
    colour,
    label,
    legend,
    line,
    marker,
    path,
    shortened,
    svg,
    text_width,
)
from experiments.report.html import Html, join
from experiments.report.scales import Scale, scale_of

ANCHORS = {"start": 0.0, "middle": 0.5, "end": 1.0}
"""Which share of a text lies left of where it is put."""


@dataclass(frozen=True)
class Series:
    """A named row of points. low, high: limits of each y, or none. dashed: for what others measured."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    dashed: bool = False

    @property
    def extent(self) -> list[float]:
        """All y that must be seen."""
        return [*self.y, *_known(self.low), *_known(self.high)]


@dataclass(frozen=True)
class Point:
    """A named point, with limits of its y."""

    name: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None


def line_plot(
    series: Sequence[Series],
    x_name: str,
    y_name: str,
    *,
    x: Scale | None = None,
    y: Scale | None = None,
    bands: bool = False,
    steps: bool = False,
    title: str = "",
) -> Drawing:
    """Lines; their limits as error bars with a sign at every point, or as bands without signs.

    x, y: the scales, where they shall not be chosen by the points. steps: each value holds up to the next x.
    """
    across = x or scale_of([v for one in series for v in one.x], x_name)
    up = y or scale_of([v for one in series for v in one.extent], y_name)

    def draw(width: int) -> Html:
        names, top = legend([one.name for one in series], width) if len(series) > 1 else (Html(), 0.0)
        height = 270 if width < NARROW else 330
        area = area_of(width, top, height, across, up)
        drawn = [_line(one, place, area, bands, steps) for place, one in enumerate(series)]
        return svg(width, top + height, title or f"{y_name} by {x_name}", names, axes(area), *drawn)

    return draw


def _line(one: Series, place: int, area: Area, bands: bool, steps: bool) -> Html:
    points = [(area.px(a), area.py(b)) for a, b in zip(one.x, one.y, strict=True) if math.isfinite(b)]
    parts: list[Html] = []
    limited = one.low is not None and one.high is not None
    if limited:
        parts = _band(one, place, area, steps) if bands else _bars(one, place, area)
    dashes = " dashed" if one.dashed else ""
    parts.append(path(_stepped(points) if steps else points, f"line {colour(place)}{dashes}"))
    if not bands:
        shown = zip(points, (p for p in zip(one.x, one.y, strict=True) if math.isfinite(p[1])), strict=True)
        parts += [
            marker(px, py, place, 11, f"{one.name}: {area.y.form(b)} at {area.x.form(a)}") for (px, py), (a, b) in shown
        ]
    return join(*parts)


def _known(values: Sequence[float] | None) -> Sequence[float]:
    return () if values is None else values


def _limits(one: Series) -> list[tuple[float, float, float]]:
    return list(zip(one.x, _known(one.low), _known(one.high), strict=True))


def _bars(one: Series, place: int, area: Area) -> list[Html]:
    return [
        line(area.px(a), area.py(low), area.px(a), area.py(high), f"bar {colour(place)}")
        for a, low, high in _limits(one)
    ]


def _band(one: Series, place: int, area: Area, steps: bool) -> list[Html]:
    upper = [(area.px(a), area.py(high)) for a, _, high in _limits(one)]
    lower = [(area.px(a), area.py(low)) for a, low, _ in _limits(one)]
    if steps:
        upper, lower = _stepped(upper), _stepped(lower)
    return [path([*upper, *reversed(lower)], f"band {colour(place)}", closed=True)]


def _stepped(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Each height holds until the next point; points of one height on the way are left out."""
    found = list(points[:1])
    for (_, before), (x, y) in itertools.pairwise(points):
        if y != before:
            found += [(x, before), (x, y)]
    return [*found, *points[-1:]]


def scatter_plot(
    points: Sequence[Point],
    x_name: str,
    y_name: str,
    *,
    x: Scale | None = None,
    y: Scale | None = None,
    first: int = 0,
    title: str = "",
) -> Drawing:
    """Points with their names beside them, where there is room the right of them."""
    across = x or scale_of([p.x for p in points], x_name, margin=0.12)
    heights = [v for p in points for v in (p.y, p.low, p.high) if v is not None]
    up = y or scale_of(heights, y_name, margin=0.08)

    def draw(width: int) -> Html:
        height = 300 if width < NARROW else 360
        area = area_of(width, 0, height, across, up)
        places = [(area.px(p.x), area.py(p.y)) for p in points]
        bars = [
            line(at[0], area.py(p.low), at[0], area.py(p.high), f"bar {colour(first + i)}")
            for i, (p, at) in enumerate(zip(points, places, strict=True))
            if p.low is not None and p.high is not None
        ]
        signs = [
            marker(*at, first + i, 15, f"{p.name}: {area.y.form(p.y)} at {area.x.form(p.x)}")
            for i, (p, at) in enumerate(zip(points, places, strict=True))
        ]
        names = _names([p.name for p in points], places, area)
        return svg(width, height, title or f"{y_name} by {x_name}", axes(area), *bars, *signs, *names)

    return draw


def _names(names: Sequence[str], places: Sequence[tuple[float, float]], area: Area) -> list[Html]:
    """Names at the first place round their points where they hide nothing, else nowhere: the signs tell them."""
    taken = [(x - 8, y - 8, x + 8, y + 8) for x, y in places]
    parts: list[Html] = []
    for name, (x, y) in zip(names, places, strict=True):
        shown = shortened(name, (area.right - area.left) * 0.45)
        wide = text_width(shown)
        for at, base, anchor in ((x + 11, y + 4, "start"), (x - 11, y + 4, "end"), (x, y - 13, "middle")):
            left = at - wide * ANCHORS[anchor]
            box = (left, base - 11, left + wide, base + 3)
            inside = area.left <= box[0] and box[2] <= area.right and area.top <= box[1] and box[3] <= area.bottom
            if inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                parts.append(label(at, base, shown, anchor, class_="ink halo", hint=name))
                break
    return parts


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
