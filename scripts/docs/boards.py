"""Boards in the text: blocks of tokens that become pictures, and that say how one position follows from another.

    ```example
    swap: [[0, 2], [1, 2]]
    d e a f
    a a b a
    => first wave
    d e b f
    _ _ a| _
    ```

Lines `key: JSON` come first: `swap`, the two cells that change places; `legal`, whether they may; `fired`, cells
that are hit; anything else is a key of level files. An arrow says by what the board above becomes the one below:
"first wave" of the swap, before anything falls; "turn", the whole of it; "fired"; "wave", of the runs that are there;
"settled". Whoever changes an example need not believe it: the tests play them all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Any

from crush_gym import Level
from crush_gym.render import svg
from crush_gym.render.scene import Plan, cell_of, needed, parts_of, under
from crush_gym.render.svg import document, uses

CAPTIONS = {
    "first wave": "after the first wave",
    "turn": "at the end of the turn",
    "fired": "after the blast",
    "wave": "after the wave",
    "settled": "settled",
}
"""By what a position follows, and what is said under its picture."""

Keep = Callable[[str], str]

PIXELS = 0.66
"""Of a picture for each unit of its drawing."""


@dataclass(frozen=True)
class Example:
    """A position and what becomes of it. follows: (by what, rows) of each position after the first."""

    rows: list[str]
    follows: list[tuple[str, list[str]]]
    swap: list[list[int]] = field(default_factory=list)
    legal: bool | None = None
    fired: list[list[int]] = field(default_factory=list)
    level: dict[str, Any] = field(default_factory=dict)

    def content(self) -> dict[str, Any]:
        """The level, as in level files: of 7 colours and 9 moves, on which nothing new appears, unless said."""
        limit = {} if "seconds" in self.level else {"moves": 9}
        return {"name": "example", "colours": 7, **limit, "spawn_candies": False, "board": self.rows} | self.level

    def positions(self) -> Iterator[tuple[str, list[str]]]:
        """What is said under each picture, and its rows."""
        verdict = {None: "", True: "legal", False: "not legal"}[self.legal]
        yield verdict or ("the swap" if self.swap else ""), self.rows
        for reason, rows in self.follows:
            yield CAPTIONS[reason], rows


def read_example(text: str) -> Example:
    """An example from the text of its block."""
    header: dict[str, Any] = {}
    boards: list[tuple[str, list[str]]] = [("", [])]
    for line in filter(str.strip, text.splitlines()):
        key, colon, value = line.partition(": ")
        if line.startswith("=> "):
            boards.append((line.removeprefix("=> ").strip(), []))
        elif colon and key.isidentifier():
            header[key] = json.loads(value)
        else:
            boards[-1][1].append(" ".join(line.split()))
    unknown = [reason for reason, _ in boards[1:] if reason not in CAPTIONS]
    if unknown:
        raise ValueError(f"an example becomes another by one of {', '.join(CAPTIONS)}, not by {unknown[0]!r}")
    known = {name: header.pop(name) for name in ("swap", "legal", "fired") if name in header}
    return Example(boards[0][1], boards[1:], **known, level=header)


def example_html(text: str, keep: Keep) -> str:
    """An example as pictures in a row. keep: takes a drawing and gives its address."""
    example = read_example(text)
    shown = []
    for i, (caption, rows) in enumerate(example.positions()):
        level = Level.from_dict(example.content() | {"board": [_at_rest(row) for row in rows], "goals": {}})
        cells = [] if i else [(r, c) for r, c in example.swap or example.fired]
        picture = _image(svg(rows, level, highlight=cells), " / ".join(rows), keep)
        arrow = "<span>→</span>" if i else ""
        shown.append(f"<div>{arrow}<figure>{picture}<figcaption>{escape(caption)}</figcaption></figure></div>")
    return f'<div class="boards">{"".join(shown)}</div>\n'


def tokens_html(text: str, keep: Keep) -> str:
    """Lines "token  what it is" as a list of drawn cells. keep: as in `example_html`."""
    entries = []
    for line in filter(str.strip, text.splitlines()):
        token, meaning = line.split(maxsplit=1)
        cell = cell_of(token)
        floor = under(Plan(((cell.floor,),), (), (), ())) if cell.floor else ""
        drawn = f'<g transform="translate(16 16)">{floor}{uses(parts_of(cell), 0, 0)}</g>'
        drawing = document((96, 96), drawn, needed(frozenset(parts_of(cell))), token)
        label = f"<code>{escape(token)}</code> {escape(meaning)}"
        entries.append(f"<li>{_image(drawing, token, keep)}<span>{label}</span></li>")
    return f'<ul class="tokens">{"".join(entries)}</ul>\n'


def _at_rest(row: str) -> str:
    """A row as a level may hold it: what a blast left for its second one stands only within a turn."""
    return row.replace("F3", "_").replace("F5", "_")


def _image(drawing: str, label: str, keep: Keep) -> str:
    """A drawing in a page, of a size that fits the text."""
    width, height = (float(units) * PIXELS for units in drawing.split('viewBox="0 0 ')[1].split('"')[0].split())
    size = f'width="{width:.0f}" height="{height:.0f}"'
    return f'<img src="{keep(drawing)}" {size} alt="{escape(label)}" loading="lazy">'
