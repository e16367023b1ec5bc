"""What `crush-gym evaluate --levels` must be told to play given levels again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from crush_gym.levels import load_pack
from crush_gym.levels.pack import shipped_packs
from experiments.ranking.field import PlayedTask
from experiments.results.assignment import tasks_of

MOST = 8
"""Levels of a pack that are named one by one; where there are more, the store says what they are."""


def sources(tasks: Sequence[PlayedTask], *stores: str) -> list[str]:
    """Shipped packs, levels of such, simple games; and the stores, which hold all their levels, for what is neither."""
    left = {task.identity: task.level for task in tasks}
    found: list[str] = []
    for name in tuple(left.values()):
        rules, _, size = name.partition(" ")
        if rules in ("points", "combo"):
            found += _taken(left, f"{rules}:{size}")
    for pack in shipped_packs():
        found += _of_pack(left, pack)
    return [*found, *stores] if left else found


def _taken(left: dict[str, str], source: str) -> list[str]:
    """The source, if its levels are among those that are left, which then are no more."""
    try:
        identities = {task.identity for task in tasks_of(source)}
    except ValueError:  # the name of a level that only looks like a simple game
        return []
    if not identities or not identities <= left.keys():
        return []
    for identity in identities:
        del left[identity]
    return [source]


def _of_pack(left: dict[str, str], pack: str) -> list[str]:
    names = set(left.values())
    levels = load_pack(pack)
    shared = [name for name in levels.names if name in names]
    if len(shared) == len(levels.names):
        return _taken(left, pack)
    if len(shared) > MOST:
        return []
    return list(_each(left, (f"{pack}/{name}" for name in shared)))


def _each(left: dict[str, str], named: Iterable[str]) -> Iterable[str]:
    for source in named:
        yield from _taken(left, source)
