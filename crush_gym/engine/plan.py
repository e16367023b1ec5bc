"""From levels to the spec of the game that plays them: the largest sizes and the union of the mechanics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

import numpy as np

from crush_gym import layout
from crush_gym.engine.mechanics import ALL
from crush_gym.engine.spec import Spec
from crush_gym.levels import Level

SPECIALS = {"saga": ("striped", "wrapped", "colour bomb"), "points": ("striped", "colour bomb"), "combo": ()}
"""The specials that runs make under each rule set (rulebook 12)."""


def plan(levels: Sequence[Level], rules: str, adjacency: str) -> Spec:
    """The spec under which all these levels can be played."""
    mechanics = set(SPECIALS[rules])
    mechanics |= {m.name for m in ALL for level in levels if m.name not in mechanics and m.used_by(level)}
    mechanics |= {"sideways" for level in levels if _can_leave_holes(level, mechanics)}
    mechanics |= {"dry" for level in levels if not level.spawn_candies}
    return Spec(
        height=_most(int(level.height) for level in levels),
        width=_most(int(level.width) for level in levels),
        colours=_most(int(level.colours) for level in levels),
        rules=rules,
        adjacency=adjacency,
        mechanics=frozenset(mechanics),
        planes=planes_of(mechanics),
        orders=tuple(name for i, name in enumerate(layout.ORDERS) if any(level.orders[i] > 0 for level in levels)),
        spawn_kinds=_most(int(np.sum(level.spawn >= 0)) for level in levels),
        entry_layers=max(1, _most(_in_one_column(level.entries) for level in levels)),
        portals=_most(len(_portals(level)) for level in levels),
        portal_layers=_most(_portal_layers(_portals(level)) for level in levels),
        portal_hops=_most(_longest_chain(level) for level in levels),
    )


def planes_of(mechanics: Set[str]) -> tuple[str, ...]:
    """The planes of a game with these mechanics, in the order of `layout.PLANES`."""
    owned = {plane for m in ALL if m.name in mechanics for plane in m.planes} | set(layout.COLOUR)
    return tuple(name for name in layout.PLANES if name in owned)


def _most(numbers: Iterable[int]) -> int:
    return max(numbers, default=0)


def _in_one_column(rows: np.ndarray) -> int:
    """Most cells of a plane uint16[16] in one column."""
    bits = rows[:, None] >> np.arange(layout.MAX_SIDE) & 1
    return int(bits.sum(axis=0).max())


def _portals(level: Level) -> list[tuple[int, int, int, int]]:
    return [(int(r), int(c), int(to_r), int(to_c)) for r, c, to_r, to_c in level.portals if r >= 0]


def _portal_layers(portals: Sequence[tuple[int, int, int, int]]) -> int:
    """How many layers the portals need when each goes to the first layer that is free of its columns."""
    layers: list[tuple[set[int], set[int]]] = []
    for _, source, _, target in portals:
        for sources, targets in layers:
            if source not in sources and target not in targets:
                break
        else:
            sources, targets = set(), set()
            layers.append((sources, targets))
        sources.add(source)
        targets.add(target)
    return len(layers)


def _longest_chain(level: Level) -> int:
    """Most portals that one item can pass on its way down."""
    portals = {(r, c): (to_r, to_c) for r, c, to_r, to_c in _portals(level)}
    exits = set(portals.values())

    def passed_from(cell: tuple[int, int]) -> int:
        count = 0
        while True:
            if cell in portals:
                cell, count = portals[cell], count + 1
                continue
            below = (cell[0] + 1, cell[1])
            if below[0] >= layout.MAX_SIDE or not level.floor[below[0]] >> below[1] & 1 or below in exits:
                return count
            cell = below

    return _most(passed_from(entrance) for entrance in portals)


def _can_leave_holes(level: Level, mechanics: set[str]) -> bool:
    """Whether some cell can be empty when step 1 of settling has come to rest (rulebook 7).

    It cannot where every floor cell is an entry or is fed by the floor above it, and nothing stands fast.
    """
    if mechanics & {"lock", "marmalade", "icing", "chocolate"} or not level.spawn_candies:
        return True
    if _portals(level):
        return True
    above = np.concatenate([[np.uint16(0)], level.floor[:-1]])
    return bool(np.any(level.floor & ~level.entries & ~above))
