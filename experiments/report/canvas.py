"""The pieces that figures are drawn of: SVG elements, axes, legends, markers. Colours are classes of the style."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from crush_gym.render.candies import OUTLINES
from experiments.report.html import Content, Html, join, number, tag
from experiments.report.scales import Scale

Drawing = Callable[[int], Html]
"""A figure for a width in pixels; pages draw it for phones and for desks."""

COLOURS = 8
SHAPES = tuple(OUTLINES[letter] for letter in "bcfeagd")
"""Ball, square, diamond, triangle, heart, hexagon, star, each in a cell of 64 x 64."""

SIZE = 12
"""Of letters, in pixels."""

LETTER = 0.59
"""About how wide a letter is, in sizes."""

NARROW = 500
"""Figures less wide than this are drawn for a phone."""


def colour(number: int) -> str:
    """The class of the n-th series."""
    return f"c{number % COLOURS}"


def text_width(text: str, size: float = SIZE) -> float:
    """About how wide a text is, in pixels."""
    return LETTER * size * len(text)


def shortened(text: str, room: float, size: float = SIZE) -> str:
    """The text, its middle left out where it would be wider than the room."""
    letters = max(int(room / (LETTER * size)), 4)
    if len(text) <= letters:
        return text
    return f"{text[: (letters + 1) // 2 - 1]}…{text[len(text) - letters // 2 :]}"


def svg(width: float, height: float, title: str, *parts: Content) -> Html:
    """A picture of this size, which shrinks with its surroundings."""
    box = f"0 0 {number(width)} {number(height)}"
    return tag("svg", tag("title", title), *parts, viewBox=box, width=width, height=height, role="img")


def label(x: float, y: float, text: str, anchor: str = "start", class_: str = "ink", hint: str = "") -> Html:
    """A line of text; what is left out of it can be its hint."""
    inside = (text, tag("title", hint)) if hint and hint != text else (text,)
    return tag("text", *inside, x=x, y=y, text_anchor=None if anchor == "start" else anchor, class_=class_)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Html:
    """A straight line."""
    return tag("path", d=f"M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}", class_=class_)


def path(points: Sequence[tuple[float, float]], class_: str, closed: bool = False) -> Html:
    """A line through points."""
    corners = "L".join(f"{number(float(x))} {number(float(y))}" for x, y in points)
    return tag("path", d=f"M{corners}{'Z' if closed else ''}", class_=class_)


def marker(x: float, y: float, number_: int, size: float = 13, hint: str = "") -> Html:
    """The n-th series' sign: both its colour and its candy's shape tell it apart."""
    place = f"translate({number(x - size / 2)} {number(y - size / 2)})scale({number(size / 64)})"
    title = (tag("title", hint),) if hint else ()
    shape = SHAPES[number_ % len(SHAPES)]
    return tag("path", *title, d=shape, transform=place, class_=f"mark {colour(number_)}")


@dataclass(frozen=True)
class Area:
    """The part of a picture that data is drawn in, in pixels, with its two scales."""

    left: float
    top: float
    right: float
    bottom: float
    x: Scale
    y: Scale

    def px(self, value: float) -> float:
        """Where a value lies from the left."""
        return self.left + (self.right - self.left) * self.x.at(value)

    def py(self, value: float) -> float:
        """Where a value lies from the top."""
        return self.bottom - (self.bottom - self.top) * self.y.at(value)


def area_of(width: int, top: float, height: float, x: Scale, y: Scale) -> Area:
    """An area below `top` with room for the marks of its scales."""
    marks = max((text_width(y.form(v)) for v in y.ticks(6)), default=0)
    over = max(10.0, text_width(x.form(x.high)) / 2)
    return Area(marks + 12, top + (20 if y.name else 6), width - over, top + height - (40 if x.name else 24), x, y)


def axes(area: Area) -> Html:
    """The grid, the marked values and the names of both axes."""
    return join(x_axis(area), _y_axis(area))


def x_axis(area: Area) -> Html:
    """The grid's upright lines, their values and the axis' name below."""
    parts: list[Html] = []
    most = max(2, int((area.right - area.left) / 64))
    for value in area.x.ticks(most):
        x = area.px(value)
        parts.append(line(x, area.top, x, area.bottom, "grid"))
        parts.append(label(x, area.bottom + 16, area.x.form(value), "middle", "faint"))
    if area.x.name:
        middle = (area.left + area.right) / 2
        shown = shortened(area.x.name, 2 * min(middle, area.right - middle + 8))
        parts.append(label(middle, area.bottom + 34, shown, "middle", "name", area.x.name))
    return join(*parts)


def _y_axis(area: Area) -> Html:
    parts: list[Html] = []
    for value in area.y.ticks(max(2, int((area.bottom - area.top) / 42))):
        y = area.py(value)
        parts.append(line(area.left, y, area.right, y, "grid"))
        parts.append(label(area.left - 6, y + 4, area.y.form(value), "end", "faint"))
    if area.y.name:
        parts.append(label(0, area.top - 9, area.y.name, class_="name"))
    return join(*parts)


def legend(names: Sequence[str], width: int, first: int = 0) -> tuple[Html, float]:
    """Signs and names in as many rows as the width asks for, and how high they are."""
    parts: list[Html] = []
    x, y = 0.0, 14.0
    for place, name in enumerate(names):
        shown = shortened(name, width - 20)
        step = text_width(shown) + 34
        if x and x + step - 16 > width:
            x, y = 0.0, y + 20
        parts += [marker(x + 7, y - 4, first + place), label(x + 18, y, shown, hint=name)]
        x += step
    return join(*parts), y + 12 if names else 0.0
