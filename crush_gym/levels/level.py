"""A level: one puzzle as arrays, all levels alike in shape, so that a new level never recompiles."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

import numpy as np
from jax import tree_util

from crush_gym.levels.files import parse_json
from crush_gym.levels.reading import level_from_dict
from crush_gym.levels.writing import level_to_dict

Leaf: TypeAlias = Any
"""A numpy array, a JAX array or a tracer: a level passes through all of them."""


@dataclass(frozen=True, eq=False, repr=False)
class Level:
    """A level as a pytree of arrays (rulebook 1 and 2).

    Masks are row words: bit c of word r is the cell (r, c), and rows beyond `height` are 0. The
    shapes below are one level's; a stack of levels (`LevelPack.stack`) has the boards as last axes.
    `name` is no leaf: it is lost on the way through JAX, and never makes it compile again.
    """

    name: str
    height: Leaf
    """int32"""
    width: Leaf
    """int32"""
    colours: Leaf
    """int32"""
    floor: Leaf
    """uint16[16]"""
    entries: Leaf
    """uint16[16], "top" already resolved to cells"""
    exits: Leaf
    """uint16[16]"""
    portals: Leaf
    """int8[128, 4]: row and column of the entrance, of the exit; -1 where unused"""
    start: Leaf
    """uint16[len(layout.PLANES), 16]: what the board gives explicitly"""
    unfilled: Leaf
    """uint16[16]: the `?` cells; their tags, covers and jelly are in `start`"""
    moves: Leaf
    """int32, -1 in a timed level"""
    seconds: Leaf
    """int32, -1 in a level with moves"""
    goal_score: Leaf
    """int32, -1 for none"""
    goal_jelly: Leaf
    """bool"""
    goal_cherry: Leaf
    """int32, 0 for none"""
    goal_hazelnut: Leaf
    """int32, 0 for none"""
    orders: Leaf
    """int32[len(layout.ORDERS)], 0 for none"""
    stars: Leaf
    """int32[3], 0 where missing"""
    spawn: Leaf
    """int8[len(layout.SPAWN_KINDS)]: indices into SPAWN_KINDS in the listed order, then -1"""
    spawn_quota: Leaf
    """int32, aligned with `spawn`; -1 for no limit"""
    spawn_on_board: Leaf
    """int32, aligned with `spawn`; -1 for no limit"""
    spawn_every: Leaf
    """int32, aligned with `spawn`"""
    spawn_counter: Leaf
    """int32: the counter of spawned candy bombs, 0 if none are"""
    spawn_candies: Leaf
    """bool"""
    levels: tuple[Level, ...] = field(default=(), init=False)
    """of a stack: the different levels in it; no leaf, so it is lost like the name"""

    @classmethod
    def from_dict(cls, value: object) -> Level:
        """Read a level as a dict of the file format, or raise a `LevelError`."""
        name, leaves = level_from_dict(value)
        return cls(name=name, **leaves)

    @classmethod
    def from_json(cls, text: str | bytes) -> Level:
        """Read a level from JSON, or raise a `LevelError`."""
        return cls.from_dict(parse_json(text))

    def to_dict(self) -> dict[str, Any]:
        """Write the level as a dict of the file format, without what is left at its default."""
        return level_to_dict(self)

    @property
    def shape(self) -> tuple[int, int]:
        """Return (height, width); of a stack of levels, what all of them fit into."""
        return int(np.max(self.height)), int(np.max(self.width))

    def content_hash(self) -> str:
        """Return the SHA-256 in hex of what the level holds; its name does not count."""
        content = level_to_dict(self, aligned=False)
        content.pop("name", None)
        return hashlib.sha256(json.dumps(content, separators=(",", ":")).encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Level):
            return NotImplemented
        pairs = zip(_leaves(self), _leaves(other), strict=True)
        return self.name == other.name and all(np.array_equal(mine, theirs) for mine, theirs in pairs)

    def __hash__(self) -> int:
        return hash((self.name, np.asarray(self.start).tobytes(), np.asarray(self.floor).tobytes()))

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        if not isinstance(self.height, (np.ndarray, np.generic)) or np.ndim(self.height):
            return f"<Level{name}, boards {getattr(self.height, 'shape', '')}>"
        limit = f"{self.moves} moves" if self.moves >= 0 else f"{self.seconds} s"
        return f"<Level{name} {self.height}x{self.width}, {self.colours} colours, {limit}>"

    def _repr_html_(self) -> str | None:
        """Show the start board and the goals as a picture, in notebooks."""
        from crush_gym.render import level_html

        return level_html(self)


LEAVES = tuple(leaf.name for leaf in fields(Level) if leaf.name not in ("name", "levels"))
"""The names of a level's arrays in the order in which JAX sees them."""


def _leaves(level: Level) -> tuple[Leaf, ...]:
    return tuple(getattr(level, name) for name in LEAVES)


def _flatten(level: Level) -> tuple[tuple[Leaf, ...], None]:
    return _leaves(level), None


def _flatten_with_keys(level: Level) -> tuple[list[tuple[tree_util.GetAttrKey, Leaf]], None]:
    return [(tree_util.GetAttrKey(name), getattr(level, name)) for name in LEAVES], None


def _unflatten(_: None, leaves: Iterable[Leaf]) -> Level:
    """Make a level of whatever JAX puts in place of the arrays; nothing may be checked here."""
    return Level("", *leaves)


tree_util.register_pytree_with_keys(Level, _flatten_with_keys, _unflatten, _flatten)
