"""What a section of a page is made of: prose, tables, figures, commands, facts. Texts may mark `code` and **bold**."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from experiments.report.canvas import SHAPES, Drawing, colour
from experiments.report.html import Content, Html, inline, join, tag

WIDE, HALF, PHONE = 960, 460, 330
"""Widths that figures are drawn for, in pixels: the whole page, half of it, a phone."""


class Compared(NamedTuple):
    """One line of "the paper's figure beside ours"."""

    what: str
    paper: Content
    ours: Content
    differs: Content = ""


def prose(*paragraphs: Content) -> Html:
    """Paragraphs."""
    return join(*(tag("p", inline(paragraph)) for paragraph in paragraphs))


def note(text: Content) -> Html:
    """A paragraph that stands out: a warning, a caveat."""
    return tag("div", inline(text), class_="note")


def subheading(text: Content) -> Html:
    """A heading within a section."""
    return tag("h3", inline(text))


def table(
    head: Sequence[Content], rows: Sequence[Sequence[Content]], *, left: Sequence[int] = (0,), stacked: bool = False
) -> Html:
    """A table; columns in `left` to the left, the others to the right.

    stacked: on phones each row becomes a card with the columns' names in it.
    """
    side = ["left" if i in left else None for i in range(len(head))]
    heading = tag("tr", *(tag("th", inline(cell), class_=at) for cell, at in zip(head, side, strict=True)))
    names = [plain_text(cell) if stacked else None for cell in head]
    body = (
        tag("tr", *(_cell(cell, at, name) for cell, at, name in zip(row, side, names, strict=True))) for row in rows
    )
    whole = tag("table", tag("thead", heading), tag("tbody", *body), class_="stack" if stacked else None)
    return tag("div", whole, class_="scroll", tabindex=0)


def _cell(content: Content, side: str | None, name: str | None) -> Html:
    """A cell, its content as one element, so that a card can lay it out."""
    return tag("td", tag("span", inline(content)), class_=side, data_label=None if content == "" else name)


def plain_text(cell: Content) -> str:
    """A cell without its markup."""
    return re.sub(r"<[^>]*>", "", cell) if isinstance(cell, Html) else str(cell)


def against_paper(rows: Sequence[Compared]) -> Html:
    """What a paper reports beside what was measured here."""
    return table(("what", "paper", "here", "what differs"), rows, left=(0, 3), stacked=True)


def figure(drawing: Drawing, caption: Content = "", *, width: int = WIDE) -> Html:
    """A figure, drawn for desks and for phones; the window's width chooses."""
    drawn = [tag("div", drawing(size), class_=kind) for size, kind in ((width, "wide"), (PHONE, "narrow"))]
    return _figure(join(*drawn), caption)


def beside(*figures: Html) -> Html:
    """Figures side by side where there is room; draw them at `width=HALF`."""
    return tag("div", *figures, class_="beside")


def picture(svg: str, caption: Content = "") -> Html:
    """A figure of a finished SVG document, such as a board or a tree; what it shows must not need the page's style."""
    return _figure(Html(svg[svg.index("<svg") :]), caption)


def _figure(drawn: Html, caption: Content) -> Html:
    return tag("figure", drawn, *((tag("figcaption", inline(caption)),) if caption else ()))


def commands(*lines: str) -> Html:
    """Commands as they are typed."""
    return tag("pre", "\n".join(lines), class_="wrap")


def facts(values: Mapping[str, Content]) -> Html:
    """Names and values: versions, hardware, seeds."""
    return tag("dl", *(join(tag("dt", name), tag("dd", inline(value))) for name, value in values.items()))


def bullets(*items: Content) -> Html:
    """A list."""
    return tag("ul", *(tag("li", inline(item)) for item in items))


def folded(summary: Content, *blocks: Html) -> Html:
    """Blocks that open when their summary is touched."""
    return tag("details", tag("summary", inline(summary)), *blocks)


def sign(number: int) -> Html:
    """The n-th series' colour and shape, for tables."""
    shape = tag("path", d=SHAPES[number % len(SHAPES)], class_=f"mark {colour(number)}")
    return tag("svg", shape, viewBox="0 0 64 64", class_="sign", aria_hidden="true")
