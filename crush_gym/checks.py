"""What people get wrong in what they give a game: refused in one sentence that says what to do instead."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from crush_gym import layout
from crush_gym.engine.plan import plan
from crush_gym.engine.spec import CAPACITIES, Spec
from crush_gym.levels import Level
from crush_gym.runtime.ranks import boards_of_level

Boards = tuple[int, ...]
"""An arrangement of boards: () for one board, (5,) for five, (2, 3) for two rows of three."""

ADVICE = {
    "keys": ("the keys have", "one key, which is split by lane", "keys"),
    "actions": ("the actions have", "one action for all", "actions"),
    "levels": ("the stack of levels has", "one level for all", "a stack"),
}
"""For what can be given for each board: how a sentence about it begins, and what fits."""


def same_boards(boards: Boards, **given: Boards) -> Boards:
    """The boards of a call, whose keys, actions and levels must be for these boards; sizes of 1 stretch."""
    for name, shape in given.items():
        if not _fits(shape, boards, name):
            has, one, many = ADVICE[name]
            expected = (
                f"boards of shape {boards}: give {one}, or {many} of shape {boards}"
                if boards
                else f"one board: give one {name[:-1]}"
            )
            raise ValueError(f"{has} shape {shape}, but the call is for {expected}")
        if shape not in ((), boards):
            boards = np.broadcast_shapes(shape, boards)
    return boards


def _fits(shape: Boards, boards: Boards, name: str) -> bool:
    """Actions stretch over missing axes as well; keys and levels have their boards behind axes of their own."""
    axes = len(shape) in (0, len(boards)) or (name == "actions" and len(shape) < len(boards))
    return axes and all(a == b or 1 in (a, b) for a, b in zip(shape[::-1], boards[::-1], strict=False))


def same_attempts(keys: Boards, attempts: int) -> None:
    """Refuse keys for another number of attempts."""
    if keys not in ((), (attempts,)):
        raise ValueError(
            f"the keys have shape {keys}, but there are {attempts} attempts: give one key, which is split, or keys"
            f" of shape ({attempts},)"
        )


def whole_actions(actions: Any) -> jax.Array:
    """Actions as int32. A number that is too large for it becomes -1: no action either, and no other one."""
    if isinstance(actions, jax.Array) and actions.dtype == jnp.int32 and not actions.weak_type:
        return actions
    known = actions if isinstance(actions, jax.Array) else np.asarray(actions)
    if not jnp.issubdtype(known.dtype, jnp.integer):
        raise TypeError(f"actions must be whole numbers, not {known.dtype}: an action is an index into `legal`")
    if known.dtype.itemsize <= 4:
        return jnp.asarray(known, jnp.int32)
    short, where = known.astype(np.int32), jnp.where if isinstance(known, jax.Array) else np.where
    return jnp.asarray(where(short == known, short, np.int32(-1)))


def sides(shape: Any) -> tuple[int, int]:
    """The height and width of a game without levels."""
    try:
        height, width = map(operator.index, shape)
    except (TypeError, ValueError):
        height = width = 0
    if not all(2 <= side <= layout.MAX_SIDE for side in (height, width)):
        expected = f"two whole numbers from 2 to {layout.MAX_SIDE}, (height, width)"
        raise ValueError(f"shape must be {expected}, not {shape!r}")
    return height, width


def single_levels(levels: Level | Iterable[Level]) -> list[Level]:
    """The levels that a game is made from, each a single one."""
    known = [levels] if isinstance(levels, Level) else list(levels)
    for level in known:
        if not isinstance(level, Level) or np.ndim(level.height):
            raise TypeError(
                f"a game is made from a Level, a LevelPack or a sequence of levels, not from {type(level).__name__}"
                " (load_pack(name) and Level.from_dict(...) make them; a stack of levels is played, not made from)"
            )
    return known


def one_level(level: Any) -> Level:
    """Refuse packs and dicts where a level is expected."""
    if not isinstance(level, Level):
        expected = "one Level, such as pack[0], or a stack of them from pack.stack(indices)"
        raise TypeError(f"level must be {expected}, not {type(level).__name__}")
    return level


WORDS = {"sideways": "sliding sideways", "dry": "entries without candies"}
"""Mechanics whose names say little to people who write levels."""


def check_kind(spec: Spec, level: Level) -> None:
    """Refuse a level, or a stack, that the game was compiled without something for.

    A stack is checked by the levels that `LevelPack.stack` put into it. What went through JAX is trusted.
    """
    if not level.levels and (boards_of_level(level) or any(isinstance(x, jax.Array) for x in jax.tree.leaves(level))):
        return
    stranger = first_stranger(spec, level.levels or (level,))
    if stranger is not None:
        missing = sorted(_kind(stranger, spec.rules, spec.adjacency).mechanics - spec.mechanics)
        named = ", ".join(WORDS.get(name, name) for name in missing)
        why = f"it needs {named}" if missing else "it is larger, or uses more of something"
        where = " in the stack" if boards_of_level(level) else ""
        remedy = "make a Game of all its levels" if where else "make a Game of it"
        raise ValueError(f"level {stranger.name!r}{where} is not of this game's kind: {why}; {remedy}")


@functools.lru_cache(maxsize=16)
def first_stranger(spec: Spec, levels: tuple[Level, ...]) -> Level | None:
    """The first of the levels that cannot be played under this spec."""
    return next((level for level in levels if not _covers(spec, _kind(level, spec.rules, spec.adjacency))), None)


@functools.lru_cache(maxsize=4096)
def _kind(level: Level, rules: str, adjacency: str) -> Spec:
    return plan([level], rules, adjacency)


def _covers(wide: Spec, narrow: Spec) -> bool:
    """Whether everything in the narrow spec fits into the wide one."""
    sizes = ("height", "width", "colours", *CAPACITIES)
    return (
        narrow.mechanics <= wide.mechanics
        and set(narrow.orders) <= set(wide.orders)
        and all(getattr(narrow, size) <= getattr(wide, size) for size in sizes)
    )
