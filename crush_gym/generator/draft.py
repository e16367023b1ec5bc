"""A board in the making: what lies on its ground, laid out in patterns that share the ground's symmetry."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from crush_gym.generator.dice import Dice
from crush_gym.generator.ground import Ground
from crush_gym.generator.shapes import Cell, orbits, where

Pattern = Callable[[float, float, int], float]
"""(y, x, row + column) -> how far a cell is from the pattern's lines; y and x run from -1 to 1."""

PATTERNS: dict[str, Pattern] = {
    "centre": lambda y, x, n: y * y + x * x,
    "edges": lambda y, x, n: -max(abs(y), abs(x)),
    "corners": lambda y, x, n: -abs(y) * abs(x),
    "ring": lambda y, x, n: abs(max(abs(y), abs(x)) - 0.5),
    "diamond": lambda y, x, n: abs(abs(y) + abs(x) - 0.85),
    "cross": lambda y, x, n: min(abs(y), abs(x)),
    "saltire": lambda y, x, n: abs(abs(y) - abs(x)),
    "columns": lambda y, x, n: abs(abs(x) - 0.45),
    "bands": lambda y, x, n: abs(abs(y) - 0.35) + 0.05 * abs(x),
    "checks": lambda y, x, n: n % 2 + 0.2 * (y * y + x * x),
    "bottom": lambda y, x, n: -y + 0.05 * abs(x),
    "low corners": lambda y, x, n: -abs(x) - y,
    "smile": lambda y, x, n: abs(y - 0.6 + 0.7 * x * x),
    "chevron": lambda y, x, n: abs(y + abs(x) - 0.4),
}
"""Named by where the pattern is densest."""


@dataclass
class Draft:
    """What lies on each cell; an entry of a level's `spawn` for each kind that comes from above."""

    ground: Ground
    colours: int
    items: dict[Cell, str] = field(default_factory=dict)
    covers: dict[Cell, tuple[str, str]] = field(default_factory=dict)
    jelly: dict[Cell, int] = field(default_factory=dict)
    exits: frozenset[Cell] = frozenset()
    spawn: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def bare(self) -> set[Cell]:
        """Floor on which nothing but a random candy lies."""
        return {cell for cell in self.ground.floor if cell not in self.items and cell not in self.covers}

    def choose(
        self, dice: Dice, number: int, among: Iterable[Cell], patterns: Iterable[str], symmetry: str = ""
    ) -> list[tuple[Cell, ...]]:
        """About so many cells, in groups that the symmetry (the ground's) makes equal, closest to the pattern first."""
        ground = self.ground
        name = dice.pick([*patterns, "blobs"])
        distance = _blobs(dice) if name == "blobs" else PATTERNS[name]

        def far(group: tuple[Cell, ...]) -> float:
            return sum(distance(*where(cell, ground.size), sum(cell)) for cell in group) / len(group)

        groups = orbits(among, ground.size, symmetry or ground.symmetry)
        ranked = [(round(far(group), 6), dice.share(), group) for group in groups]
        chosen: list[tuple[Cell, ...]] = []
        for _, _, group in sorted(ranked):
            if sum(map(len, chosen)) + len(group) <= max(number, len(group) if not chosen else number):
                chosen.append(group)
        return chosen

    def rows(self) -> list[str]:
        """The board as rows of tokens (rulebook 2)."""
        height, width = self.ground.size
        return [" ".join(self._token((row, column)) for column in range(width)) for row in range(height)]

    def _token(self, cell: Cell) -> str:
        if cell not in self.ground.floor:
            return "#"
        item = self.items.get(cell, "?")
        opening, closing = self.covers.get(cell, ("", ""))
        return f"{opening}{item}{closing}" + "'" * self.jelly.get(cell, 0)


def _blobs(dice: Dice) -> Pattern:
    """Two soft spots somewhere on the board."""
    spots = [(dice.share(-0.7, 0.9), dice.share(-0.9, 0.9)) for _ in range(2)]
    return lambda y, x, n: -sum(1.0 / (0.15 + (y - r) * (y - r) + (x - c) * (x - c)) for r, c in spots)
