"""Boards as text for a terminal, with colours or without."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from crush_gym import layout
from crush_gym.levels.cells import COVER_MARKS, Cell
from crush_gym.levels.level import Level
from crush_gym.render.glyphs import pair_name
from crush_gym.render.palette import CANDIES, EXIT, FAINT, HINT, PORTALS, RANDOM, TILES
from crush_gym.render.scene import Place, Plan, cell_of, plan_of, tokens_of

SHAPES = {"a": "♥", "b": "●", "c": "■", "d": "★", "e": "▲", "f": "◆", "g": "⬢"}
"""The candies; the same shapes as in pictures."""

FORMS = {layout.PLAIN: "", layout.STRIPED_H: "═", layout.STRIPED_V: "║", layout.WRAPPED: "@"}
COLOURLESS = {
    layout.EMPTY: ("", FAINT),
    layout.SWIRL: ("~", "#e9dcf7"),
    layout.COLOUR_BOMB: ("✱", "#ffffff"),
    layout.CHERRY: ("o", "#ff5f80"),
    layout.HAZELNUT: ("n", "#e0a86a"),
    layout.FUSED3: ("F3", "#ffcf4a"),
    layout.FUSED5: ("F5", "#ffcf4a"),
}
WIDTH = 4
"""Characters of a cell: its cover, its item, two for what the item is or carries. What closes a cover is where there
is room, at the latest between this cell and the next."""

HINTED, POINTED = "»«", "><"
"""What stands left and right of cells of a hint, and of those pointed at."""

BRIGHT = {"b": "#6aaeff", "c": "#3fd47c", "e": "#e58cec", "a": "#ff6a5c"}
"""Candies whose bodies are too dark for thin characters on the board."""

GROUNDS = ("#5c2459", "#93307f")
"""Under one and two layers of jelly."""


class _Style(NamedTuple):
    """Colours as #rrggbb, None for the terminal's own."""

    colour: str | None = None
    ground: str | None = None


def ansi(
    rows: Sequence[str],
    level: Level | None = None,
    *,
    colour: bool = True,
    cursor: Place | tuple[Place, Place] | None = None,
    hint: Iterable[Place] = (),
) -> str:
    """A board in lines of equal width: each cell its shape and what the item is or carries, in its cover: [♥], {♥}.

    rows, level: as for `svg`. colour: with escape codes for 24-bit colours, jelly as the cells' ground; without
    them, jelly is ' or " behind the cell. cursor: a cell (row, column) or two, drawn between > and <; hint: cells
    between » and «. Below rows with portals or exits a line shows them: `A▼` falls in, `A▽` comes out below, `▼▼`.
    """
    table = tokens_of(rows)
    plan = plan_of(table, level)
    marked = dict.fromkeys(hint, HINTED) | dict.fromkeys(_cursor_cells(cursor), POINTED)
    lines = []
    marks = _marks(plan)
    for r in range(-1, plan.shape[0]):
        if r >= 0:
            lines.append(_row(plan, r, [cell_of(token) for token in table[r]], marked, colour))
        between = [marks.get((r, c), []) for c in range(plan.shape[1])]
        if any(between):
            lines.append(_between(between, colour))
    return "\n".join(lines)


def _row(plan: Plan, r: int, cells: Sequence[Cell], marked: dict[Place, str], colour: bool) -> str:
    parts, spilt = [], ""
    for c in range(len(cells) + 1):
        left, right = marked.get((r, c - 1), "  ")[1], marked.get((r, c), "  ")[0]
        if left == right == " ":
            parts.append(spilt or " ")
        else:
            edge = left if right == " " else right if left == " " else "|"
            parts.append(_paint(edge, _Style(HINT, None), colour))
        if c < len(cells):
            ground = None if not cells[c].floor else _ground(cells[c], (r + c) % 2, marked.get((r, c)))
            cell, spilt = _cell(cells[c], ground, colour)
            parts.append(cell)
    return "".join(parts)


def _cell(cell: Cell, ground: str | None, colour: bool) -> tuple[str, str]:
    """A cell in its width, and what finds no room in it."""
    width = WIDTH + (not colour)
    if not cell.floor:
        return " " * width, ""
    body, tint = _item(cell)
    opening, closing = COVER_MARKS.get(cell.cover, (" ", ""))
    written = opening + body + closing + ("" if colour else ("", "'", '"')[cell.jelly])
    style = _Style(tint, ground)
    return _paint(written[:width].ljust(width), style, colour), _paint(written[width:], _Style(tint), colour)


def _item(cell: Cell) -> tuple[str, str]:
    """What stands for an item, at most WIDTH - 1 characters, and its colour."""
    if cell.icing:
        return f"▤{cell.icing}", "#dfe9ff"
    if cell.chocolate:
        return "▦", "#d08a52"
    if not (cell.colour or cell.unfilled):
        return COLOURLESS[cell.kind] if cell != Cell() else ("·", FAINT)
    letter = layout.COLOUR_LETTERS[cell.colour - 1] if cell.colour else "?"
    shape, tint = (SHAPES[letter], CANDIES[letter].body) if cell.colour else ("?", RANDOM.light)
    return shape + FORMS[cell.kind] + _tag(cell), BRIGHT.get(letter, tint)


def _tag(cell: Cell) -> str:
    if cell.counter is not None:
        return str(cell.counter)
    return "+5" if cell.plus5 else "$" if cell.drop else ""


def _ground(cell: Cell, parity: int, mark: str | None) -> str:
    if mark == POINTED:
        return "#000000"
    return GROUNDS[cell.jelly - 1] if cell.jelly else TILES[parity]


def _marks(plan: Plan) -> dict[Place, list[tuple[str, str]]]:
    """What stands below which cell: at most two characters each and their colour."""
    marks: dict[Place, list[tuple[str, str]]] = {}
    for i, ((r, c), (below, column)) in enumerate(plan.portals):
        tint = PORTALS[i % len(PORTALS)]
        marks.setdefault((r, c), []).insert(0, (f"{pair_name(i)}▼", tint))
        marks.setdefault((below - 1, column), []).append((f"{pair_name(i)}▽", tint))
    for place in plan.exits:
        marks.setdefault(place, []).insert(0, ("▼▼", EXIT))
    return marks


def _between(columns: Sequence[list[tuple[str, str]]], colour: bool) -> str:
    """The line between two rows of cells."""
    width = WIDTH + (not colour)
    parts = []
    for marks in columns:
        parts.append(" ")
        room = width
        for mark, tint in marks[:2]:
            shown = mark[-room:]
            parts.append(_paint(shown, _Style(tint), colour))
            room -= len(shown)
        parts.append(" " * room)
    return "".join(parts) + " "


def _paint(text: str, style: _Style, colour: bool) -> str:
    if not colour or (not text.strip() and style.ground is None):
        return text
    codes = [f"{code};2;{_rgb(value)}" for code, value in ((38, style.colour), (48, style.ground)) if value]
    return f"\x1b[{';'.join(['1', *codes])}m{text}\x1b[0m"


def _rgb(colour: str) -> str:
    return ";".join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))


def _cursor_cells(cursor: Place | tuple[Place, Place] | None) -> list[Place]:
    if cursor is None:
        return []
    first, second = cursor
    if isinstance(first, tuple) and isinstance(second, tuple):
        return [first, second]
    if isinstance(first, int) and isinstance(second, int):
        return [(first, second)]
    raise TypeError(f"a cursor is a cell (row, column) or two of them, not {cursor!r}")
