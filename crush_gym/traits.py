"""Numbers that describe a level: covariates for studies, and what the generator's estimate is made of."""

from __future__ import annotations

import numpy as np

from crush_gym import layout
from crush_gym.levels import Level

TRAITS: dict[str, str] = {
    "cells": "floor cells",
    "height": "rows of the board",
    "colours": "colours of its candies",
    "moves": "moves that an attempt has, 0 in timed levels",
    "seconds": "seconds that an attempt has, 0 in levels with moves",
    "lines": "places where a run of three could lie",
    "open lines": "those of them on which no blocker stands",
    "portals": "portals",
    "jelly": "cells with jelly",
    "double jelly": "cells with two layers of it",
    "locks": "cells under a liquorice lock",
    "marmalade": "cells under marmalade",
    "chocolate": "cells of chocolate",
    "icing": "cells of icing",
    "icing layers": "layers of all icing",
    "swirls": "liquorice swirls on the board and to come",
    "bombs": "candy bombs on the board",
    "bombs to come": "candy bombs that entries spawn",
    "plus5": "candies with five seconds more, on the board and to come",
    "drops": "candies with a sugar drop, on the board and to come",
    "specials": "striped and wrapped candies and colour bombs on the board",
    "ingredients": "ingredients on the board and to come",
    "jelly goal": "1 where all jelly has to go",
    "score goal": "points that are asked for",
    "most of a colour": "the largest order of one colour",
    "colours ordered": "colours that are ordered",
    "specials ordered": "specials that are ordered, in all",
    "combos ordered": "combos that are ordered, in all",
    "blockers ordered": "swirls, icing, chocolate and locks that are ordered, in all",
}
"""What each of a level's traits is. Of what entries spawn, at most 20 of a kind count."""


def traits_of(level: Level) -> dict[str, float]:
    """Numbers that describe a level, by the names in `TRAITS`, 0 where there is none of something.

    The features that `generate` knows are among them under their own names: what is above 0, the level has. They are
    covariates for studies of difficulty, and what `crush_gym.generator.estimate` is made of.

    Args:
        level: one level, not a stack.
    """
    if not isinstance(level, Level) or np.ndim(level.height):
        given = "a stack of them" if isinstance(level, Level) else f"a {type(level).__name__}"
        raise TypeError(f"traits are those of one Level, such as pack[0], not of {given}")
    counts = {**_of_the_board(level), **_of_the_goals(level)}
    return {name: float(counts[name]) for name in TRAITS}


def _of_the_board(level: Level) -> dict[str, int]:
    """Its size, and what lies on it or comes."""
    planes = dict(zip(layout.PLANES, np.asarray(level.start), strict=True))
    colourless = ~np.bitwise_or.reduce([planes[name] for name in layout.COLOUR]) & level.floor
    return {
        "cells": _count(level.floor),
        "height": int(level.height),
        "colours": int(level.colours),
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
        "swirls": _count(_kind(planes, layout.SWIRL) & colourless) + _quota(level, "swirl"),
        "bombs": _count(np.bitwise_or.reduce([planes[name] for name in layout.TIMER])),
        "bombs to come": _quota(level, "bomb"),
        "plus5": _count(planes["plus5"]) + _quota(level, "plus5"),
        "drops": _count(planes["drop"]) + _quota(level, "drop"),
        "specials": _specials(planes) + _count(_kind(planes, layout.COLOUR_BOMB) & colourless),
        "ingredients": _count(_ingredients(planes) & colourless) + _quota(level, "cherry") + _quota(level, "hazelnut"),
    }


def _of_the_goals(level: Level) -> dict[str, int]:
    """What it asks for, and in how many moves or seconds."""
    orders = dict(zip(layout.ORDERS, np.asarray(level.orders).tolist(), strict=True))
    letters = [orders[letter] for letter in layout.COLOUR_LETTERS]
    return {
        "moves": max(0, int(level.moves)),
        "seconds": max(0, int(level.seconds)),
        "jelly goal": int(level.goal_jelly),
        "score goal": max(0, int(level.goal_score)),
        "most of a colour": max(letters),
        "colours ordered": sum(count > 0 for count in letters),
        "specials ordered": sum(orders[name] for name in ("striped", "wrapped", "bomb")),
        "combos ordered": sum(orders[name] for name in layout.COMBOS),
        "blockers ordered": sum(orders[name] for name in ("swirl", "icing", "chocolate", "lock")),
    }


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
