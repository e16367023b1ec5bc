"""Boards as SVG documents."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from xml.sax.saxutils import escape

from crush_gym.levels.level import Level
from crush_gym.render.glyphs import number
from crush_gym.render.palette import FAINT, HINT, PAGE, PAPER
from crush_gym.render.scene import (
    PAD,
    SIDE,
    Place,
    Plan,
    cell_of,
    needed,
    over,
    parts_of,
    plan_of,
    ring_around,
    tokens_of,
    under,
)

FONTS = "ui-rounded, 'Segoe UI', system-ui, sans-serif"
TITLE_HEIGHT = 40
CARD_WIDTH = 172
CARD_HEIGHT = 50
GAP = 8


def svg(
    rows: Sequence[str],
    level: Level | None = None,
    *,
    highlight: Iterable[Place] = (),
    title: str | None = None,
    goals: Mapping[str, object] | None = None,
) -> str:
    """A board as a standalone SVG document, the same bytes for the same arguments.

    rows: as `Game.text` gives them; level: adds portals, exits and entries; highlight: cells (row, column)
    to frame; goals: what to list beside the board, such as {"moves left": 12}.
    """
    table = tokens_of(rows)
    plan = plan_of(table, level)
    items = "".join(
        uses(parts_of(cell_of(token)), SIDE * c, SIDE * r) for r, row in enumerate(table) for c, token in enumerate(row)
    )
    names = frozenset(name for row in table for token in row for name in parts_of(cell_of(token)))
    frames = "".join(ring_around(place, HINT) for place in highlight)
    return framed(plan, under(plan) + items + over(plan) + frames, needed(names), title, goals)


def uses(names: Iterable[str], x: float, y: float) -> str:
    """Drawings put at a place."""
    place = (f' x="{number(x)}"' if x else "") + (f' y="{number(y)}"' if y else "")
    return "".join(f'<use href="#~{name}"{place}/>' for name in names)


def framed(
    plan: Plan, drawn: str, defs: str, title: str | None = None, goals: Mapping[str, object] | None = None
) -> str:
    """A document of a drawn board with its title above and its goals at the right."""
    height, width = (SIDE * n + 2 * PAD for n in plan.shape)
    top = TITLE_HEIGHT if title else 0
    cards = list((goals or {}).items())
    listed = len(cards) * (CARD_HEIGHT + GAP) - GAP + 2 * PAD if cards else 0
    heading = text(title, PAD, 34, 24, "bold", PAPER) if title else ""
    panel = "".join(
        _card(label, value, width, top + PAD + i * (CARD_HEIGHT + GAP)) for i, (label, value) in enumerate(cards)
    )
    board = f'<g transform="translate({PAD} {top + PAD})">{drawn}</g>'
    whole = (width + (CARD_WIDTH + PAD if cards else 0), top + max(height, listed))
    return document(whole, heading + board + panel, defs, title or "board")


def document(size: tuple[float, float], body: str, defs: str, title: str, backdrop: bool = True) -> str:
    """A standalone document of (width, height); its ids begin with a hash of what it shows."""
    width, height = map(number, size)
    page = f'<rect width="{width}" height="{height}" rx="18" fill="{PAGE}"/>' if backdrop else ""
    head = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    content = f"<title>{plain(title)}</title><defs>{defs}</defs>{page}{body}</svg>\n"
    prefix = "m" + hashlib.sha256((head + content).encode()).hexdigest()[:8] + "-"
    return f'<svg xmlns="http://www.w3.org/2000/svg" {head} role="img">' + content.replace("~", prefix)


def text(what: object, x: float, y: float, size: float, weight: str, colour: str, room: float = 0) -> str:
    """A line of text from (x, y), made smaller where it would be wider than `room`."""
    line = str(what)
    if room:
        size = min(size, room / (0.55 * max(len(line), 1)))
    style = f'font-family="{FONTS}" font-size="{number(size)}" font-weight="{weight}" fill="{colour}"'
    return f'<text x="{number(x)}" y="{number(y)}" {style}>{plain(line)}</text>'


def plain(line: str) -> str:
    """Text as XML takes it; a ~ is written as a reference because it stands for the prefix of ids."""
    allowed = "".join(c for c in line if c >= " " and not "\ud800" <= c <= "\udfff" and c not in "\ufffe\uffff")
    return escape(allowed).replace("~", "&#126;")


def _card(label: str, value: object, x: float, y: float) -> str:
    box = f'<rect x="{number(x)}" y="{number(y)}" width="{CARD_WIDTH}" height="{CARD_HEIGHT}" rx="12" fill="#252a4a"/>'
    room = CARD_WIDTH - 28
    return (
        box
        + text(label, x + 14, y + 18, 12.5, "normal", FAINT, room)
        + text(value, x + 14, y + 41, 20, "bold", PAPER, room)
    )
