"""The ground of a generated level: its floor, where things come in, go through and fall to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from crush_gym.generator.dice import Dice
from crush_gym.generator.shapes import Cell, Size, draw_floor, tidy

Portals = dict[Cell, Cell]

PORTAL_ROWS = 7
"""The least height of a board with portals: two rooms of three rows, one above the other."""


@dataclass(frozen=True)
class Ground:
    """A floor that is filled everywhere from the entries.

    portals: from entrance to exit; default_entries: those that a level file need not name
    """

    size: Size
    symmetry: str
    floor: frozenset[Cell]
    portals: Portals
    default_entries: frozenset[Cell]
    entries: frozenset[Cell]

    @cached_property
    def ends(self) -> frozenset[Cell]:
        """Cells in which things come to rest when all is empty: nothing below, and no portal leads away."""
        return frozenset(cell for cell in self.floor if self.below(cell) is None)

    def below(self, cell: Cell) -> Cell | None:
        """The cell that this one feeds."""
        if cell in self.portals:
            return self.portals[cell]
        under = (cell[0] + 1, cell[1])
        return under if under in self.floor and under not in self.portals.values() else None

    def end_of(self, cell: Cell) -> Cell:
        """Where an item that starts here comes to rest on an empty board."""
        under = self.below(cell)
        return cell if under is None else self.end_of(under)

    @cached_property
    def sheltered(self) -> frozenset[Cell]:
        """Cells where something that stands fast shuts off no entry and no portal."""
        gates = {*self.entries, *self.portals, *self.portals.values()}
        return frozenset(cell for cell in self.floor if cell not in gates)


def draw_ground(dice: Dice, size: Size, shape: str, symmetry: str, with_portals: bool) -> Ground:
    """A floor of the shape and, if asked for, a wall across it with portals through it."""
    floor: set[Cell] = set(draw_floor(dice, size, shape, symmetry))
    portals: Portals = {}
    if with_portals:
        wall = _wall(dice, size, symmetry)
        walled = tidy(cell for cell in floor if cell[0] not in wall)
        portals = _through(walled, wall, size, crossed=dice.happens(0.4))
        if 2 * len(walled) < size[0] * size[1] or not portals:
            cells = {(row, column) for row in range(size[0]) for column in range(size[1])}
            walled = tidy(cell for cell in cells if cell[0] not in wall)
            portals = _through(walled, wall, size, crossed=False)
        floor = walled
    default = top_entries(floor, portals)
    return Ground(size, symmetry, frozenset(floor), portals, default, enough_entries(floor, portals, default))


def _wall(dice: Dice, size: Size, symmetry: str) -> range:
    """The rows of the wall; in the middle where up and down must be alike."""
    height = size[0]
    if symmetry in ("rotation", "both"):
        return range((height - 1) // 2, height // 2 + 1)
    row = dice.between(3, height - 4)
    return range(row, row + 1)


def _through(floor: set[Cell], wall: range, size: Size, *, crossed: bool) -> Portals:
    """A portal from the lowest cell of every column above the wall to the highest one below it."""
    tops: dict[int, Cell] = {}
    bottoms: dict[int, Cell] = {}
    for row, column in sorted(floor):
        if row < wall.start:
            bottoms[column] = (row, column)
        else:
            tops.setdefault(column, (row, column))
    targets = {column: size[1] - 1 - column if crossed else column for column in bottoms}
    return {bottoms[column]: tops[to] for column, to in targets.items() if to in tops}


def top_entries(floor: Iterable[Cell], portals: Portals) -> frozenset[Cell]:
    """The topmost floor cell of each column unless a portal leads to it (rulebook 2)."""
    tops: dict[int, Cell] = {}
    for row, column in sorted(floor):
        tops.setdefault(column, (row, column))
    return frozenset(cell for cell in tops.values() if cell not in portals.values())


def enough_entries(floor: set[Cell], portals: Portals, entries: frozenset[Cell]) -> frozenset[Cell]:
    """The entries, and more where otherwise no candy could ever come."""
    while True:
        dry = floor - _reached(floor, portals, entries)
        led_to = set(portals.values())
        more = {cell for cell in dry if (cell[0] - 1, cell[1]) not in floor and cell not in led_to}
        if not more:
            return entries
        highest = min(row for row, _ in more)
        entries = entries | {cell for cell in more if cell[0] == highest}


def _reached(floor: set[Cell], portals: Portals, entries: Iterable[Cell]) -> set[Cell]:
    """Cells into which something can fall or slide from the entries (rulebook 7)."""
    reached, edge, led_to = set(entries), sorted(entries), set(portals.values())
    while edge:
        cell = edge.pop()
        row, column = cell
        if cell in portals:
            after = [portals[cell]]
        else:
            after = [(row + 1, column - 1), (row + 1, column + 1)]
            after += [] if (row + 1, column) in led_to else [(row + 1, column)]
        for new in after:
            if new in floor and new not in reached:
                reached.add(new)
                edge.append(new)
    return reached
