"""What a mechanic is: the planes it owns, when a level uses it, and what a hit does to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from crush_gym import layout
from crush_gym.engine.bits import Plane
from crush_gym.engine.board import Board
from crush_gym.levels import Level


class Strike(NamedTuple):
    """One round's hits (rulebook 5), as planes.

    area: cells hit directly
    bare: those of them that no cover protects
    cleared: candies and colour bombs cleared by it
    beside: cells not hit directly, next to a clearing
    beside_runs: those of them next to a clearing by a run
    """

    area: Plane
    bare: Plane
    cleared: Plane
    beside: Plane
    beside_runs: Plane


@dataclass(frozen=True)
class Report:
    """What something did to the board, for the board and for the books.

    fixed: new versions of planes that belong to cells
    gone: cells whose item disappears
    points: planes of cells and the points each of them brings
    orders: planes of cells that count for an order, by its name
    plus5, drops: cells whose +5 takes effect, whose sugar drop is collected
    chocolate: cells where chocolate was removed
    """

    fixed: dict[str, Plane] = field(default_factory=dict)
    gone: Plane | None = None
    points: tuple[tuple[Plane, int], ...] = ()
    orders: dict[str, Plane] = field(default_factory=dict)
    plus5: Plane | None = None
    drops: Plane | None = None
    chocolate: Plane | None = None


class Mechanic:
    """A room of its own for one blocker, layer or tag. Subclasses say what differs from doing nothing."""

    name = ""
    planes: tuple[str, ...] = ()

    def used_by(self, level: Level) -> bool:
        """Whether the level can ever show this mechanic. Level of one board, concrete arrays."""
        return any(np.any(level.start[layout.PLANES.index(name)]) for name in self.planes)

    def struck(self, board: Board, strike: Strike) -> Report:
        """What a round's hits do to it."""
        del board, strike
        return Report()

    def taken(self, board: Board, cells: Plane) -> Report:
        """What happens when the candies of these cells are cleared or consumed: the effect of a tag."""
        del board, cells
        return Report()


def spawned(level: Level, kind: str) -> bool:
    """Whether the level's entries spawn this kind."""
    return bool(np.any(level.spawn == layout.SPAWN_KINDS.index(kind)))


def has_item(level: Level, code: int) -> bool:
    """Whether an item without a colour, of this kind, stands on the level's board."""
    start = {name: level.start[layout.PLANES.index(name)] for name in (*layout.COLOUR, *layout.KIND)}
    fits = ~(start["colour0"] | start["colour1"] | start["colour2"])
    for i, name in enumerate(layout.KIND):
        fits = fits & (start[name] if code >> i & 1 else ~start[name])
    return bool(np.any(fits & level.floor))
