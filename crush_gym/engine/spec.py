"""What is decided before compiling: the size of the boards, the rule set and the mechanics that can occur."""

from __future__ import annotations

from dataclasses import dataclass

from crush_gym import layout, sizes
from crush_gym.swaps import number_of_actions

CAPACITIES = ("spawn_kinds", "entry_layers", "portals", "portal_layers", "portal_hops")
"""What a game has room for besides boards, colours, mechanics and orders; see `Spec`."""


@dataclass(frozen=True)
class Spec:
    """Everything static about a game; two games of equal spec share their compiled programs.

    height, width: the largest board
    colours: the largest number of colours
    rules: "saga", "points" or "combo" (rulebook 12)
    adjacency: whether any clearing or only a run's strikes its neighbours, "any" or "runs" (rulebook 5)
    mechanics: names of the mechanics compiled in (see `mechanics.ALL`), and of what the engine itself looks for:
        "sideways", "dry" (see `plan`), "unknown" (new candies are `layout.UNKNOWN`)
    planes: names of the planes a state holds, in the order of `layout.PLANES`
    orders: kinds of order that can be asked for
    spawn_kinds: how many kinds a level can tell its entries to spawn
    entry_layers: most entries in one column
    portals: most portals of a level
    portal_layers: most portals that start, or end, in one column
    portal_hops: most portals on one way of falling
    """

    height: int
    width: int
    colours: int
    rules: str
    adjacency: str
    mechanics: frozenset[str]
    planes: tuple[str, ...]
    orders: tuple[str, ...] = ()
    spawn_kinds: int = 0
    entry_layers: int = 1
    portals: int = 0
    portal_layers: int = 0
    portal_hops: int = 0

    def has(self, *names: str) -> bool:
        """Whether any of these mechanics is compiled in."""
        return not self.mechanics.isdisjoint(names)

    @property
    def rich(self) -> bool:
        """Whether the game has so many mechanics that compiling its programs at length costs more than it brings."""
        return len(self.planes) >= sizes.RICH_PLANES

    @property
    def moving(self) -> tuple[str, ...]:
        """The planes that travel with items; they come first among `planes`."""
        return tuple(p for p in self.planes if p in (*layout.MOVING, *layout.MARKS))

    @property
    def fixed(self) -> tuple[str, ...]:
        """The planes that belong to cells."""
        return tuple(p for p in self.planes if p in layout.FIXED)

    @property
    def actions(self) -> int:
        """Number of actions: pairs of neighbours on the largest board (rulebook 3)."""
        return number_of_actions((self.height, self.width))
