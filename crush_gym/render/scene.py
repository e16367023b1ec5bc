"""What a picture shows: the cells read from rows of tokens, and what a level puts at fixed places."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from crush_gym import layout
from crush_gym.levels.cells import Cell
from crush_gym.levels.level import Level
from crush_gym.levels.tokens import parse_token
from crush_gym.render import candies, items, layers
from crush_gym.render.glyphs import pair_name, write
from crush_gym.render.palette import BOARD, EXIT, INK, PORTALS, RIM, TILES
from crush_gym.render.paths import Floor, outline

SIDE = 64
"""A cell's side in the units of a drawing."""

PAD = 16
"""What is drawn around the board's cells."""

Place = tuple[int, int]


class Plan(NamedTuple):
    """What stays where it is during an attempt. floor: [H][W]; places: (row, column)."""

    floor: Floor
    portals: tuple[tuple[Place, Place], ...]
    exits: tuple[Place, ...]
    entries: tuple[Place, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """(height, width) in cells."""
        return len(self.floor), len(self.floor[0])


def tokens_of(rows: Sequence[str]) -> list[list[str]]:
    """The tokens [H][W] of a board's rows."""
    table = [row.split() for row in rows]
    if not table or not table[0] or any(len(row) != len(table[0]) for row in table):
        raise ValueError("a picture needs a board: rows of tokens, all of one length, as Game.text gives them")
    return table


@lru_cache(maxsize=4096)
def cell_of(token: str) -> Cell:
    """What a token says, in whatever position it was printed."""
    return parse_token(token, layout.MAX_COLOURS, within_turn=True)


def plan_of(table: Sequence[Sequence[str]], level: Level | None) -> Plan:
    """The floor of a board and, from its level, the rest."""
    floor = tuple(tuple(cell_of(token).floor for token in row) for row in table)
    if level is None:
        return Plan(floor, (), (), ())
    if np.ndim(level.height):
        raise ValueError("a picture shows one level, but this is a stack of levels: give one of them")
    if level.shape != (len(floor), len(floor[0])):
        raise ValueError(
            f"the board is {len(floor)}x{len(floor[0])}, but its level is {level.shape[0]}x{level.shape[1]}"
        )
    ends = [row for row in np.asarray(level.portals).tolist() if row[0] >= 0]
    portals = tuple(((row[0], row[1]), (row[2], row[3])) for row in ends)
    return Plan(floor, portals, _places(level.exits), _places(level.entries))


def parts_of(cell: Cell) -> tuple[str, ...]:
    """The names of the drawings that make up a cell, from the lowest."""
    if not cell.floor:
        return ()
    names = (f"jelly{cell.jelly}" if cell.jelly else "", _item(cell), _tag(cell), cell.cover)
    return tuple(name for name in names if name)


@lru_cache(maxsize=1)
def definitions() -> dict[str, str]:
    """All drawings by name, in the order in which a document holds them."""
    return candies.definitions() | items.definitions() | layers.definitions()


@lru_cache(maxsize=4096)
def needed(names: frozenset[str]) -> str:
    """The drawings of these names and of all that they use."""
    known, wanted, seen = definitions(), set(names), set[str]()
    while wanted:
        name = wanted.pop()
        seen.add(name)
        wanted |= set(re.findall(r"#~([\w-]+)", known[name])) - seen
    return "".join(text for name, text in known.items() if name in seen)


def under(plan: Plan) -> str:
    """The floor: its rim, its plate, its tiles."""
    path = outline(plan.floor, SIDE, 15)
    tiles = ["", ""]
    for r, row in enumerate(plan.floor):
        for c, is_floor in enumerate(row):
            if is_floor:
                x, y = SIDE * c + 2, SIDE * r + 2
                tiles[(r + c) % 2] += (
                    f"M{x + 11} {y}h38a11 11 0 0 1 11 11v38a11 11 0 0 1-11 11h-38a11 11 0 0 1-11-11v-38"
                )
                tiles[(r + c) % 2] += "a11 11 0 0 1 11-11Z"
    plates = "".join(f'<path d="{d}" fill="{colour}"/>' for d, colour in zip(tiles, TILES, strict=True) if d)
    return (
        f'<path d="{path}" fill="{BOARD}" stroke="{INK}" stroke-width="16" stroke-linejoin="round"/>'
        f'<path d="{path}" fill="{BOARD}" stroke="{RIM}" stroke-width="9" stroke-linejoin="round"/>'
        f'<path d="{path}" fill="{BOARD}"/>{plates}'
    )


def over(plan: Plan) -> str:
    """What lies over the items: marks of entries and exits, the ends of portals."""
    marks = [_at(place, ENTRY) for place in plan.entries] + [_at(place, EXIT_MARK) for place in plan.exits]
    for i, (first, second) in enumerate(plan.portals):
        colour = PORTALS[i % len(PORTALS)]
        marks += [_at(first, entrance(i, colour)), _at(second, way_out(i, colour))]
    return "".join(marks)


def ring_around(place: Place, colour: str) -> str:
    """A frame that singles out a cell."""
    box = 'x="2" y="2" width="60" height="60" rx="13" fill="none"'
    return _at(
        place, f'<rect {box} stroke="{INK}" stroke-width="8"/><rect {box} stroke="{colour}" stroke-width="4.5"/>'
    )


ENTRY = f'<path d="M26.5 -3L32 2.5L37.5 -3" fill="none" stroke="{INK}" stroke-width="5" stroke-linejoin="round"/>' + (
    '<path d="M26.5 -3L32 2.5L37.5 -3" fill="none" stroke="#c9d0f5" stroke-width="2.2" stroke-linecap="round"'
    ' stroke-linejoin="round"/>'
)
"""Over the edge through which new items come."""

EXIT_MARK = (
    f'<path d="M21 59H43V63H51L32 77L13 63H21Z" fill="{EXIT}" stroke="{INK}" stroke-width="2.6"'
    ' stroke-linejoin="round"/>'
)
"""Over the edge through which ingredients leave."""


def entrance(index: int, colour: str) -> str:
    """A dark hole at the foot of a cell, into which items fall."""
    return (
        f'<ellipse cx="32" cy="59" rx="27" ry="6.5" fill="none" stroke="{INK}" stroke-width="7"/>'
        f'<ellipse cx="32" cy="59" rx="27" ry="6.5" fill="#05060d" stroke="{colour}" stroke-width="3.6"/>'
        f'<path d="M26 56.5L32 61.5L38 56.5" fill="none" stroke="{colour}" stroke-width="2.8" stroke-linecap="round"'
        f' stroke-linejoin="round"/>{_label(index, 9, 54, colour)}'
    )


def way_out(index: int, colour: str) -> str:
    """A bright mouth at the head of a cell, out of which items fall."""
    return (
        f'<path d="M7 6L14 22H50L57 6Z" fill="{colour}" opacity=".38"/>'
        f'<ellipse cx="32" cy="5" rx="27" ry="6.5" fill="none" stroke="{INK}" stroke-width="7"/>'
        f'<ellipse cx="32" cy="5" rx="27" ry="6.5" fill="#fff" stroke="{colour}" stroke-width="3.6"/>'
        f'<path d="M26 3L32 8L38 3" fill="none" stroke="{INK}" stroke-width="2.8" stroke-linecap="round"'
        f' stroke-linejoin="round"/>{_label(index, 9, 10, colour)}'
    )


def _label(index: int, x: float, y: float, colour: str) -> str:
    name = pair_name(index)
    height = 11.5 if len(name) == 1 else 7.5
    disc = f'<circle cx="{x}" cy="{y}" r="10" fill="{INK}" stroke="{colour}" stroke-width="2.6"/>'
    return disc + write(name, x, y, height, "#ffffff", 2.6)


def _at(place: Place, drawing: str) -> str:
    return f'<g transform="translate({SIDE * place[1]} {SIDE * place[0]})">{drawing}</g>'


def _item(cell: Cell) -> str:
    if cell.icing:
        return f"icing{cell.icing}"
    if cell.chocolate:
        return "chocolate"
    if cell.unfilled:
        return "random"
    if cell.colour:
        form = {layout.STRIPED_H: "-h", layout.STRIPED_V: "-v", layout.WRAPPED: "-w"}.get(cell.kind, "")
        return layout.COLOUR_LETTERS[cell.colour - 1] + form
    return COLOURLESS[cell.kind]


COLOURLESS = {
    layout.EMPTY: "",
    layout.SWIRL: "swirl",
    layout.COLOUR_BOMB: "bomb",
    layout.CHERRY: "cherry",
    layout.HAZELNUT: "hazelnut",
    layout.FUSED3: "fused3",
    layout.FUSED5: "fused5",
}
"""What colourless kinds' drawings are called."""


def _tag(cell: Cell) -> str:
    if cell.counter is not None:
        return f"counter{cell.counter}"
    return "plus5" if cell.plus5 else "drop" if cell.drop else ""


def _places(words: object) -> tuple[Place, ...]:
    numbers: list[int] = np.asarray(words).tolist()
    return tuple((r, c) for r, word in enumerate(numbers) for c in range(layout.MAX_SIDE) if word >> c & 1)
