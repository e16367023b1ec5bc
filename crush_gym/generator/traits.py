"""Numbers that describe a level: what the generator's estimate is made of, and covariates for studies."""

from __future__ import annotations

import numpy as np

from crush_gym import layout
from crush_gym.levels import Level

_COMBOS = ("striped", "wrapped", "bomb", *layout.COMBOS)


def traits(level: Level) -> dict[str, float]:
    """Counts of cells and units by name, 0 where there are none; one level, not a stack.

    "lines" are the places where a run of three could lie; "open lines" those on which no blocker stands.
    """
    planes = dict(zip(layout.PLANES, np.asarray(level.start), strict=True))
    orders = dict(zip(layout.ORDERS, np.asarray(level.orders).tolist(), strict=True))
    letters = [orders[letter] for letter in layout.COLOUR_LETTERS]
    colourless = ~np.bitwise_or.reduce([planes[name] for name in layout.COLOUR])
    found = {
        "cells": _count(level.floor),
        "height": int(level.height),
        "colours": int(level.colours),
        "moves": max(0, int(level.moves)),
        "seconds": max(0, int(level.seconds)),
        "lines": _lines(level.floor),
        "open lines": _lines(level.floor & ~_standing(planes)),
        "portals": int(np.sum(np.asarray(level.portals)[:, 0] >= 0)),
        "jelly": _count(planes["jelly1"]),
        "double jelly": _count(planes["jelly2"]),
        "locks": _count(planes["lock"]),
        "marmalade": _count(planes["marmalade"]),
        "chocolate": _count(planes["chocolate"]),
        "icing": _count(np.bitwise_or.reduce([planes[name] for name in layout.ICING])),
        "icing layers": sum(_count(planes[name]) << i for i, name in enumerate(layout.ICING)),
        "swirls": _count(_kind(planes, layout.SWIRL) & colourless & level.floor) + _quota(level, "swirl"),
        "bombs": _count(np.bitwise_or.reduce([planes[name] for name in layout.TIMER])),
        "bombs to come": _quota(level, "bomb"),
        "plus5": _count(planes["plus5"]) + _quota(level, "plus5"),
        "drops": _count(planes["drop"]) + _quota(level, "drop"),
        "specials": _specials(planes) + _count(_kind(planes, layout.COLOUR_BOMB) & colourless & level.floor),
        "ingredients": _count(_ingredients(planes) & colourless & level.floor)
        + _quota(level, "cherry")
        + _quota(level, "hazelnut"),
        "jelly goal": int(level.goal_jelly),
        "score goal": max(0, int(level.goal_score)),
        "most of a colour": max(letters),
        "colours ordered": sum(count > 0 for count in letters),
        "specials ordered": sum(orders[name] for name in _COMBOS[:3]),
        "combos ordered": sum(orders[name] for name in _COMBOS[3:]),
        "blockers ordered": sum(orders[name] for name in ("swirl", "icing", "chocolate", "lock")),
    }
    return {name: float(value) for name, value in found.items()}


def _count(rows: np.ndarray) -> int:
    return int(np.bitwise_count(np.asarray(rows)).sum())


def _lines(rows: np.ndarray) -> int:
    """How often three cells of a plane uint16[16] lie in a line."""
    across, down = rows & rows >> 1 & rows >> 2, rows[:-2] & rows[1:-1] & rows[2:]
    return _count(across) + _count(down)


def _standing(planes: dict[str, np.ndarray]) -> np.ndarray:
    """Cells with a blocker that does not move."""
    return np.asarray(np.bitwise_or.reduce([planes[name] for name in (*layout.COVERS, *layout.ICING, "chocolate")]))


def _kind(planes: dict[str, np.ndarray], code: int) -> np.ndarray:
    bits = [planes[name] if code >> i & 1 else ~planes[name] for i, name in enumerate(layout.KIND)]
    return np.asarray(np.bitwise_and.reduce(bits))


def _ingredients(planes: dict[str, np.ndarray]) -> np.ndarray:
    return np.asarray(_kind(planes, layout.CHERRY) | _kind(planes, layout.HAZELNUT))


def _specials(planes: dict[str, np.ndarray]) -> int:
    """Striped and wrapped candies."""
    candies = np.bitwise_or.reduce([planes[name] for name in layout.COLOUR])
    return _count(candies & np.bitwise_or.reduce([planes[name] for name in layout.KIND]))


def _quota(level: Level, kind: str) -> int:
    """How many the entries are told to spawn, at most 20 where there is no limit."""
    listed = level.spawn == layout.SPAWN_KINDS.index(kind)
    quota = np.where(level.spawn_quota < 0, 20, level.spawn_quota)
    return int(np.minimum(quota, 20)[listed].sum())
