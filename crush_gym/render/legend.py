"""A sheet on which every token is drawn and named."""

from __future__ import annotations

from crush_gym.render.palette import CANDIES, FAINT, PAPER, PORTALS
from crush_gym.render.scene import (
    ENTRY,
    EXIT_MARK,
    PAD,
    SIDE,
    Plan,
    cell_of,
    entrance,
    needed,
    parts_of,
    under,
    way_out,
)
from crush_gym.render.svg import document, text, uses

COLUMNS = 4
STEP = (262, 92)
"""From one entry to the next, across and down."""

TOKENS = {
    **dict(zip(CANDIES, ("heart", "ball", "square", "star", "triangle", "diamond", "hexagon"), strict=True)),
    "?": "random candy",
    "a-": "striped, fires sideways",
    "b|": "striped, fires up and down",
    "c@": "wrapped, blasts twice",
    "*": "colour bomb",
    "d!9": "candy bomb, 9 moves left",
    "e+": "+5 seconds",
    "f$": "sugar drop",
    "C": "chocolate",
    "o": "cherry",
    "n": "hazelnut",
    "~": "liquorice swirl",
    "_": "empty cell",
    "[a]": "lock",
    "{b}": "marmalade",
    "c'": "one layer of jelly",
    "d''": "two layers of jelly",
    "I1": "icing, 1 layer",
    "I2": "icing, 2 layers",
    "I3": "icing, 3 layers",
    "I4": "icing, 4 layers",
    "I5": "icing, 5 layers",
    "F3": "about to blast 3 x 3",
    "F5": "about to blast 5 x 5",
    "#": "void: no cell",
}
"""Every kind of token and what it means."""

PLACES = {
    "portal, items fall in": entrance(0, PORTALS[0]),
    "portal, items come out": way_out(0, PORTALS[0]),
    "exit of ingredients": EXIT_MARK,
    "entry of new items": ENTRY,
}
"""What a level puts at its cells."""


def legend() -> str:
    """The sheet as an SVG document."""
    entries = [(token, token, name, "") for token, name in TOKENS.items()]
    entries += [("_", "", name, mark) for name, mark in PLACES.items()]
    drawn = "".join(_entry(i, *entry) for i, entry in enumerate(entries))
    names = frozenset(name for token in TOKENS for name in parts_of(cell_of(token)))
    rows = -(-len(entries) // COLUMNS)
    size = (COLUMNS * STEP[0] + PAD, rows * STEP[1] + PAD)
    return document(size, drawn, needed(names), "Every token and what it means")


def _entry(i: int, token: str, label: str, name: str, mark: str) -> str:
    x, y = PAD + i % COLUMNS * STEP[0] + 4, PAD + i // COLUMNS * STEP[1] + 8
    cell = cell_of(token)
    board = under(Plan(((cell.floor,),), (), (), ())) if cell.floor else ""
    room = STEP[0] - SIDE - 34
    lines = text(label, SIDE + 18, 27, 21, "bold", PAPER) if label else ""
    lines += text(name, SIDE + 18, 50 if label else 37, 14, "normal", FAINT, room)
    return f'<g transform="translate({x} {y})">{board}{uses(parts_of(cell), 0, 0)}{mark}{lines}</g>'
