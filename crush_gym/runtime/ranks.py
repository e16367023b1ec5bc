"""How many axes each leaf of one board's state and of one level has: what comes behind them are the boards'."""

from __future__ import annotations

from typing import Any

import numpy as np

from crush_gym.engine.state import Books, State
from crush_gym.engine.terrain import LEAF_RANKS
from crush_gym.levels import Level
from crush_gym.levels.level import LEAVES

LEVEL_RANKS = Level(name="", **{leaf: LEAF_RANKS.get(leaf, 0) for leaf in LEAVES})
"""The number of axes of each leaf of one level."""

_STACKED = ("orders", "spawned", "last_spawn")
STATE_RANKS: Any = State._make([2, Books._make(1 if field in _STACKED else 0 for field in Books._fields)])
"""The number of axes of each leaf of one board's state."""


def boards_of_state(state: State) -> tuple[int, ...]:
    """The arrangement of a state's boards."""
    return tuple(state.planes.shape[2:])


def boards_of_level(level: Level) -> tuple[int, ...]:
    """The arrangement of the boards that a stack of levels is for; () for one level."""
    return tuple(np.shape(level.height))
