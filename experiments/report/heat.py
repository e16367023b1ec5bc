"""Heat maps that hold three columns or a thousand: rows of cells, folded where they are wider than the page."""

from __future__ import annotations

import math
from collections.abc import Sequence

from experiments.report.canvas import NARROW, Drawing, label, shortened, svg, text_width
from experiments.report.html import Html, join, number, tag

SHADES = (
    (0x1B, 0x1A, 0x5E), (0x5B, 0x1A, 0x8F), (0x9A, 0x1F, 0x95), (0xCB, 0x46, 0x78), (0xEB, 0x78, 0x52),
    (0xFB, 0xB3, 0x2F), (0xF6, 0xF0, 0x4E),
)  # fmt: skip
"""From 0 to 1: their lightness rises all the way, so that they can be told apart without seeing hues."""

BINS = 24
SMALLEST, SMALLEST_ON_PHONES, WITH_TEXT, LARGEST = 7, 4, 30, 120
"""Widths of a cell in pixels: at least, from where on it holds its text, and at most."""


def shade(share: float) -> str:
    """The colour of a share from 0 to 1 as #rrggbb."""
    place = min(max(share, 0.0), 1.0) * (len(SHADES) - 1)
    below = min(int(place), len(SHADES) - 2)
    mixed = (round(a + (b - a) * (place - below)) for a, b in zip(SHADES[below], SHADES[below + 1], strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def heat_map(
    rows: Sequence[str],
    columns: Sequence[str],
    shares: Sequence[Sequence[float]],
    texts: Sequence[Sequence[str]] | None = None,
    *,
    ends: tuple[str, str] = ("0", "1"),
    title: str = "",
) -> Drawing:
    """Cells coloured by shares[row][column] from 0 to 1 (NaN: nothing known), with texts where they fit.

    ends: what the colours of 0 and 1 mean.
    """

    def draw(width: int) -> Html:
        margin = min(max(map(text_width, rows), default=0) + 10, width * (0.3 if width < NARROW else 0.35))
        room = width - margin - 2
        fitting = max(1, min(len(columns), int(room / (SMALLEST_ON_PHONES if width < NARROW else SMALLEST))))
        bands = math.ceil(len(columns) / fitting)
        across = math.ceil(len(columns) / bands)
        cell = min(room / across, LARGEST)
        tall = min(max(cell, 14), 34)
        named = cell >= WITH_TEXT
        head = _head(columns, cell) if named else 16.0
        parts: list[Html] = []
        top = 0.0
        for band in range(bands):
            part = range(band * across, min((band + 1) * across, len(columns)))
            top += head
            parts.append(_names(columns, part, margin, cell, top - 6) if named else _ends(part, margin, cell, top - 4))
            parts += [
                label(margin - 8, top + tall * (r + 0.5) + 4, shortened(name, margin - 8), "end", hint=name)
                for r, name in enumerate(rows)
            ]
            parts.append(_cells(shares, part, (margin, top, cell, tall)))
            if named:
                parts.append(_texts(rows, columns, shares, texts, part, (margin, top, cell, tall)))
            top += tall * len(rows) + (10 if bands > 1 else 0)
        parts.append(_key(ends, margin, top + 12, min(room, 320)))
        return svg(width, top + 48, title or "heat map", *parts)

    return draw


Grid = tuple[float, float, float, float]
"""Left, top, width and height of a cell."""


def _cells(shares: Sequence[Sequence[float]], part: range, grid: Grid) -> Html:
    """Coloured cells, one path for each colour: a thousand levels stay a small file."""
    left, top, wide, tall = grid
    gap = 1.5 if wide > 14 else 0.0
    outlines: dict[int, list[str]] = {}
    for r, row in enumerate(shares):
        for place, column in enumerate(part):
            value = row[column]
            step = -1 if math.isnan(value) else round(min(max(value, 0), 1) * BINS)
            x, y = number(left + place * wide), number(top + r * tall)
            outlines.setdefault(step, []).append(
                f"M{x} {y}h{number(wide - gap)}v{number(tall - gap)}h-{number(wide - gap)}z"
            )
    return join(
        *(
            tag(
                "path", d="".join(d), fill=None if step < 0 else shade(step / BINS), class_="none" if step < 0 else None
            )
            for step, d in sorted(outlines.items())
        )
    )


def _texts(
    rows: Sequence[str],
    columns: Sequence[str],
    shares: Sequence[Sequence[float]],
    texts: Sequence[Sequence[str]] | None,
    part: range,
    grid: Grid,
) -> Html:
    left, top, wide, tall = grid
    found = []
    for r, row in enumerate(shares):
        for place, column in enumerate(part):
            text = texts[r][column] if texts else "\N{EN DASH}" if math.isnan(row[column]) else f"{row[column]:.2f}"
            light = not math.isnan(row[column]) and row[column] > 0.55
            size = min(12.0, wide * 1.6 / max(len(text), 1), tall * 0.6)
            found.append(
                tag(
                    "text", text, tag("title", f"{rows[r]} on {columns[column]}: {text}"),
                    x=left + (place + 0.5) * wide - 0.7, y=top + (r + 0.5) * tall + size * 0.35 - 0.7,
                    text_anchor="middle", style=f"font-size:{number(size)}px", class_="dark" if light else "light",
                )
            )  # fmt: skip
    return join(*found)


def _head(columns: Sequence[str], cell: float) -> float:
    """How high the columns' names are: flat where they fit into their cells, else aslant."""
    longest = max(map(text_width, columns))
    return 22.0 if longest <= cell else min(longest, 150) * 0.72 + 14


def _names(columns: Sequence[str], part: range, left: float, cell: float, base: float) -> Html:
    flat = _head(columns, cell) == 22.0
    found = []
    for place, column in enumerate(part):
        x = left + (place + 0.5) * cell
        turned = None if flat else f"rotate(45 {number(x)} {number(base)})"
        shown = columns[column] if flat else shortened(columns[column], 150)
        found.append(
            tag("text", shown, x=x, y=base, text_anchor="middle" if flat else "end", transform=turned, class_="faint")
        )
    return join(*found)


def _ends(part: range, left: float, cell: float, base: float) -> Html:
    """Which columns these are, by number from 1, where their names have no room."""
    right = left + cell * len(part)
    first, last = f"{part.start + 1:,}", f"{part.stop:,}"
    if right - left < text_width(first + last) + 12:
        return label(left, base, first, class_="faint")
    return join(label(left, base, first, class_="faint"), label(right, base, last, "end", "faint"))


def _key(ends: tuple[str, str], left: float, top: float, wide: float) -> Html:
    steps = 32
    bars = [
        tag("rect", x=left + i * wide / steps, y=top, width=wide / steps + 0.5, height=8, fill=shade(i / (steps - 1)))
        for i in range(steps)
    ]
    low, high = label(left, top + 24, ends[0], class_="faint"), label(left + wide, top + 24, ends[1], "end", "faint")
    return join(*bars, low, high)
