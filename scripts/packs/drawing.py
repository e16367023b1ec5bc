"""Levels drawn with one character a cell, and what the characters stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from crush_gym.generator.ground import Ground, Portals, enough_entries, top_entries
from crush_gym.levels import Level

LEGEND = {
    ".": "?", "#": "#", "j": "?'", "J": "?''", "1": "I1", "2": "I2", "3": "I3", "4": "I4", "5": "I5",
    "L": "[?]", "l": "[?]'", "M": "{?}", "m": "{?}'", "C": "C", "c": "C'", "~": "~", "o": "o", "n": "n",
    "*": "*", "+": "?+", "$": "?$", "i": "I1'", "I": "I2'", "k": "[?]''",
}  # fmt: skip
"""Tokens of the rulebook by the characters of a drawing; a level may add to them."""


@dataclass(frozen=True)
class Drawing:
    """A level without its calibrated number: the moves, or the goal score where a score is all it asks for.

    exits: "ends" for every cell below which nothing is, or "middle" for those of the middle columns
    portals: pairs of strings "row column"; more: further keys of the level file
    """

    name: str
    colours: int
    goals: Mapping[str, Any]
    board: str
    legend: Mapping[str, str] = field(default_factory=dict)
    moves: int = 20
    seconds: int = 0
    exits: str = ""
    portals: tuple[tuple[str, str], ...] = ()
    spawn: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)

    def level(self) -> Level:
        """The level as the file format has it, with as many entries as its board needs."""
        rows = self.board.split()
        size = (len(rows), len(rows[0]))
        floor = {(r, c) for r, row in enumerate(rows) for c, mark in enumerate(row) if mark != "#"}
        portals: Portals = {_cell(one): _cell(other) for one, other in self.portals}
        top = top_entries(floor, portals)
        entries = enough_entries(floor, portals, top)
        ground = Ground(size, "none", frozenset(floor), portals, top, entries)
        tokens = LEGEND | dict(self.legend)
        content: dict[str, Any] = {
            "name": self.name,
            "colours": self.colours,
            **({"seconds": self.seconds} if self.seconds else {"moves": self.moves}),
            "goals": dict(self.goals),
            "board": [" ".join(tokens[mark] for mark in row) for row in rows],
        }
        if portals:
            content["portals"] = [[list(one), list(other)] for one, other in sorted(portals.items())]
        if entries != top:
            content["entries"] = [list(cell) for cell in sorted(entries)]
        if self.exits:
            content["exits"] = [list(cell) for cell in sorted(ground.ends) if self._is_exit(cell[1], size[1])]
        if self.spawn:
            content["spawn"] = {kind: dict(limits) for kind, limits in self.spawn.items()}
        return Level.from_dict(content | dict(self.more))

    def _is_exit(self, column: int, width: int) -> bool:
        return self.exits == "ends" or abs(2 * column + 1 - width) <= width / 2


def _cell(text: str) -> tuple[int, int]:
    row, column = text.split()
    return int(row), int(column)


def straight(columns: str, above: int, below: int) -> tuple[tuple[str, str], ...]:
    """Portals from one row to another, in each of these columns."""
    return tuple((f"{above} {column}", f"{below} {column}") for column in columns)


def crossed(columns: str, above: int, below: int) -> tuple[tuple[str, str], ...]:
    """The same, but the first column leads to the last, and so on."""
    pairs = zip(columns, reversed(columns), strict=True)
    return tuple((f"{above} {column}", f"{below} {other}") for column, other in pairs)
