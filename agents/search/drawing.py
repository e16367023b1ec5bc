"""A search drawn as a tree: decision nodes by what their playouts were worth, the paths that won marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from agents.search.tree import ROOT, Tree

WIDTH, ROW, MARGIN = 960, 74, 34
WON, PLAIN, INK, PAPER = "#d9480f", "#adb5bd", "#343a40", "#ffffff"


@dataclass
class _Spot:
    """A node or an edge on the page. worth: mean value of its visits; won: whether a visit below it was a win."""

    x: float
    level: int
    visits: int
    worth: float
    won: bool
    action: int | None


def svg(tree: Tree, board: int, caption: str = "") -> str:
    """The search of one board: round nodes are positions, small squares the actions tried in them.

    A winning path, one below which some playout won, is drawn in orange; the thicker a line, the more visits.
    """
    one = _one(tree, board)
    spots, lines = _placed(one)
    depth = max(spot.level for spot in spots.values())
    height = 2 * MARGIN + ROW * max(depth, 1) + 24
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" role="img">',
        f"<title>{escape(caption or 'A search tree')}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="{PAPER}"/>',
    ]
    parts += [_line(spots[a], spots[b]) for a, b in lines]
    parts += [_mark(spot) for spot in spots.values()]
    parts.append(f'<text x="{MARGIN / 2}" y="{height - 10}" font-size="13" fill="{INK}">{escape(caption)}</text></svg>')
    return "\n".join(parts)


def _one(tree: Tree, board: int) -> dict[str, Any]:
    """The tree of one board, as arrays of its nodes and edges."""
    stored = {name: np.asarray(getattr(tree, name)) for name in Tree._fields if name not in ("planes", "books")}
    return {name: value[..., board] for name, value in stored.items()}


Key = tuple[str, int]


def _placed(one: dict[str, Any]) -> tuple[dict[Key, _Spot], list[tuple[Key, Key]]]:
    """Leaves side by side from left to right, everything else above the middle of what hangs on it."""
    spots: dict[Key, _Spot] = {}
    lines: list[tuple[Key, Key]] = []
    free = 0.0

    def place(key: Key, level: int) -> float:
        nonlocal free
        children = _children(one, key)
        for child in children:
            lines.append((key, child))
        places = [place(child, level + 1) for child in children]
        if not places:
            free += 1.0
        x = sum(places) / len(places) if places else free
        spots[key] = _spot(one, key, x, level, [spots[child] for child in children])
        return x

    place(("node", ROOT), 0)
    scale = (WIDTH - 2 * MARGIN) / max(free, 1.0)
    for spot in spots.values():
        spot.x = MARGIN + (spot.x - 0.5) * scale
    return spots, lines


def _children(one: dict[str, Any], key: Key) -> list[Key]:
    kind, number = key
    if kind == "node":
        return [("edge", int(edge)) for edge in np.flatnonzero(one["edge_parent"][: int(one["edges"])] == number)]
    return [("node", int(node)) for node in np.flatnonzero(one["node_edge"] == number)]


def _spot(one: dict[str, Any], key: Key, x: float, level: int, below: list[_Spot]) -> _Spot:
    kind, number = key
    visits = int(one[f"{kind}_visits"][number])
    worth = float(one[f"{kind}_total"][number]) / max(visits, 1)
    if kind == "node":
        return _Spot(x, level, visits, worth, bool(one["node_wins"][number]), None)
    return _Spot(x, level, visits, worth, any(spot.won for spot in below), int(one["edge_action"][number]))


def _line(upper: _Spot, lower: _Spot) -> str:
    colour, width = (WON, 1.4) if lower.won else (PLAIN, 0.8)
    width += 0.35 * float(np.sqrt(lower.visits))
    ends = f'x1="{upper.x:.1f}" y1="{_y(upper):.1f}" x2="{lower.x:.1f}" y2="{_y(lower):.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{width:.2f}"/>'


def _y(spot: _Spot) -> float:
    return MARGIN + float(ROW * spot.level)


def _mark(spot: _Spot) -> str:
    said = f"<title>{spot.visits} visits, mean {spot.worth:.2f}</title>"
    colour = WON if spot.won else INK
    if spot.action is not None:
        said = f"<title>action {spot.action}: {spot.visits} visits, mean {spot.worth:.2f}</title>"
        return f'<rect x="{spot.x - 3:.1f}" y="{_y(spot) - 3:.1f}" width="6" height="6" fill="{colour}">{said}</rect>'
    radius = 2.5 + 0.55 * float(np.sqrt(spot.visits))
    fill = f'fill="{PAPER}" stroke="{colour}" stroke-width="1.5"'
    return f'<circle cx="{spot.x:.1f}" cy="{_y(spot):.1f}" r="{radius:.1f}" {fill}>{said}</circle>'
