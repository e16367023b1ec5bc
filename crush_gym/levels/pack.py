"""A pack: an ordered collection of levels, in one file."""

from __future__ import annotations

import hashlib
import operator
import os
from collections.abc import Hashable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, SupportsIndex, overload

import numpy as np
from jax import tree_util

from crush_gym.levels.errors import LevelError, Problem, Report, UnknownLevelError, show, show_path
from crush_gym.levels.files import parse_json, read_file, write_file
from crush_gym.levels.level import Level
from crush_gym.levels.reading import read_level
from crush_gym.levels.splits import folded, parted
from crush_gym.levels.values import did_you_mean, read_object, read_text
from crush_gym.levels.writing import format_pack

PACK_KEYS = ("name", "levels")
_ENOUGH = 1000
"""After so many problems a pack is not read on: nobody would read them either."""

MOST_LEVELS = 20_000
"""Levels of a pack at most: more take minutes and gigabytes, and nobody plays them."""

_LISTED = 20
"""How many names an error lists."""


class LevelPack(Sequence[Level]):
    """Levels in an order, by index or by name; no two have one name."""

    def __init__(self, levels: Iterable[Level], name: str = "") -> None:
        self.name = name
        self._levels = tuple(levels)
        self._by_name = {level.name: level for level in self._levels if level.name}
        found: list[Problem] = []
        _check_names(self.names, found)
        if not self._levels:
            found.append(Problem("", None, None, "a pack must hold at least one level"))
        if found:
            raise LevelError(found)

    @classmethod
    def from_dict(cls, value: object) -> LevelPack:
        """Read a pack, or a level as a pack of one, or raise one `LevelError` with all that is wrong."""
        return _read_pack(value, "")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> LevelPack:
        """Read a pack from a JSON file, or a level as a pack of one."""
        return _read_pack(read_file(path), show_path(path))

    def to_dict(self) -> dict[str, Any]:
        """Write the pack as a dict of the file format."""
        return {"name": self.name, "levels": [level.to_dict() for level in self]}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the pack to a JSON file that people can read, all of it or nothing."""
        write_file(path, format_pack(self.name, [level.to_dict() for level in self]))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the levels in order, "" for a level without one."""
        return tuple(level.name for level in self._levels)

    def stack(self, indices: Any) -> Level:
        """Return one level per board.

        indices: int or str [*boards], positions or names. Every array of the result ends in the
        boards' axes.
        """
        places = self._positions(indices)
        used, where = np.unique(places, return_inverse=True)
        chosen = tuple(self._levels[i] for i in used)
        stacked: Level = tree_util.tree_map(
            lambda *leaves: np.stack(leaves, axis=-1)[..., where.reshape(places.shape)], *chosen
        )
        object.__setattr__(stacked, "levels", chosen)  # frozen, and no argument: only a new stack knows them
        return stacked

    def content_hash(self) -> str:
        """Return the SHA-256 in hex of the levels' content hashes in order; no name counts."""
        return hashlib.sha256("".join(level.content_hash() for level in self).encode()).hexdigest()

    def split(
        self, train: float = 0.8, seed: int = 0, *, by: Sequence[Hashable] | None = None
    ) -> tuple[LevelPack, LevelPack]:
        """Split the levels into two packs, one to learn on and one to test on, each in the pack's order.

        Args:
            train: the share of the levels in the first, rounded to whole levels; each pack gets at least one.
            seed: which ones depends on it, on the number of levels and on `by` only: positions are sorted by the
                SHA-256 of "seed position", and the first of them are taken.
            by: a label for each level, such as its family (`crush_gym.levels.families`): of the levels of one label,
                this share is in the first, too, but for less than one level.

        For a sequence, `pack[:800]` and `pack[800:]` split in order.
        """
        first, second = parted(len(self), train, seed, by)
        return self._part(first, "train"), self._part(second, "test")

    def folds(
        self, number: int = 5, seed: int = 0, *, by: Sequence[Hashable] | None = None
    ) -> tuple[tuple[LevelPack, LevelPack], ...]:
        """Split the levels so many times, so that each is tested on once: for cross-validation.

        Args:
            number: of folds, whose sizes differ by one level at most.
            seed, by: as of `split`; the levels of one label are dealt out evenly, too.

        Returns:
            For each fold a pack of all other levels, to learn on, and a pack of its own, to test on.
        """
        parts = folded(len(self), number, seed, by)
        everywhere = set(range(len(self)))
        return tuple(
            (self._part(sorted(everywhere - set(part)), f"train {n}"), self._part(part, f"test {n}"))
            for n, part in enumerate(parts, 1)
        )

    def _part(self, positions: Sequence[int], what: str) -> LevelPack:
        return LevelPack([self._levels[i] for i in positions], f"{self.name} {what}".strip())

    def _positions(self, indices: Any) -> np.ndarray[Any, np.dtype[np.intp]]:
        """Turn names and negative positions into positions from 0."""
        asked = np.asarray(indices)
        if asked.size == 0:
            raise ValueError("stack needs at least one level: expected indices or names of levels")
        if asked.dtype.kind in "UT":
            numbers = {name: i for i, name in enumerate(self.names)}
            positions = [numbers[self[str(name)].name] for name in asked.ravel()]
            return np.array(positions, np.intp).reshape(asked.shape)
        if asked.dtype.kind not in "iu":
            raise TypeError(f"stack takes whole numbers or names of levels, not {asked.dtype}")
        wrong = asked[(asked < -len(self)) | (asked >= len(self))]
        if wrong.size:
            raise IndexError(f"there is no level {wrong.flat[0]}: the pack has {len(self)} levels")
        return np.where(asked < 0, asked + len(self), asked).astype(np.intp)

    @overload
    def __getitem__(self, key: SupportsIndex | str) -> Level: ...
    @overload
    def __getitem__(self, key: slice) -> LevelPack: ...
    def __getitem__(self, key: SupportsIndex | str | slice) -> Level | LevelPack:
        if isinstance(key, slice):
            return LevelPack(self._levels[key], self.name)
        if isinstance(key, str):
            return self._named(key)
        index = operator.index(key)
        if not -len(self) <= index < len(self):
            raise IndexError(f"there is no level {index}: the pack has {len(self)} levels")
        return self._levels[index]

    def _named(self, name: str) -> Level:
        if name in self._by_name:
            return self._by_name[name]
        near = get_close_matches(name[:80], self._by_name, 3, 0.5)
        hint = f"did you mean {' or '.join(map(show, near))}?" if near else f"it has {_listed(self._by_name)}"
        pack = f"the pack {show(self.name)}" if self.name else "the pack"
        raise UnknownLevelError(f"{pack} has no level {show(name)}; {hint}")

    def __len__(self) -> int:
        return len(self._levels)

    def __iter__(self) -> Iterator[Level]:
        return iter(self._levels)

    def __contains__(self, item: object) -> bool:
        return item in self._by_name if isinstance(item, str) else item in self._levels

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LevelPack):
            return NotImplemented
        return self.name == other.name and self._levels == other._levels

    def __hash__(self) -> int:
        return hash((self.name, self._levels))

    def __repr__(self) -> str:
        levels = "1 level" if len(self) == 1 else f"{len(self)} levels"
        return f"<LevelPack {self.name!r}: {levels}>"


def load_pack(source: object) -> LevelPack:
    """Load a pack: a shipped one by name, a file by path, or a dict of the file format.

    A shipped name comes before a file of that name; write "./name" for the file.
    """
    if isinstance(source, LevelPack):
        return source
    if isinstance(source, dict):
        return LevelPack.from_dict(source)
    if isinstance(source, os.PathLike):
        return LevelPack.load(source)
    if not isinstance(source, str):
        raise LevelError(f"expected the name of a pack, a path or a dict, not {show(source)}")
    shipped = shipped_packs()
    if source in shipped:
        return _read_pack(parse_json(shipped[source].read_bytes(), show(source)), show(source))
    looks_like_a_path = os.sep in source or "/" in source or source.endswith(".json")
    if looks_like_a_path or os.path.exists(source):
        return LevelPack.load(source)
    hint = did_you_mean(source, shipped) or _level_meant(source) or "; a path ends in .json or holds a /"
    raise LevelError(f"no pack {show(source)} ships: there is {_listed(shipped)}{hint}")


def _level_meant(name: str) -> str:
    """Where a level of about this name ships; "" where there is none."""
    homes = {level: pack for pack in shipped_packs() for level in load_pack(pack).names if level}
    near = get_close_matches(name[:80], homes, 1, 0.8)
    return f"; did you mean the level {show(near[0])} of {show(homes[near[0]])}?" if near else ""


def home_and_level(text: str) -> tuple[str, str]:
    """The pack or the file that a text such as "basics/jelly" or "my.json/Bridge" names, and its level, "" for all."""
    if os.path.isfile(text):
        return text, ""
    first, slash, rest = text.partition("/")
    if slash and first in shipped_packs():
        return first, rest
    for place in (i for i in reversed(range(len(text))) if text[i] == "/"):
        if os.path.isfile(text[:place]) or (text[:place].endswith(".json") and not text.endswith(".json")):
            return text[:place], text[place + 1 :]
    is_path = text.endswith(".json") or first in ("", ".", "..") or os.path.isdir(first)
    return (first, rest) if slash and not is_path else (text, "")


def level_named(pack: LevelPack, text: str) -> Level:
    """A level as a person names it: by its name, or by its number from 0."""
    return pack[int(text)] if text not in pack.names and text.isascii() and text.isdigit() else pack[text]


def shipped_packs() -> dict[str, Traversable]:
    """Find the packs that come with the package: their files by name."""
    files = (resources.files("crush_gym.levels") / "packs").iterdir()
    names = {file.name.removesuffix(".json"): file for file in files if file.name.endswith(".json")}
    return dict(sorted(names.items()))


def _read_pack(value: object, source: str) -> LevelPack:
    """Read a pack or a single level, and gather the problems of all levels."""
    found: list[Problem] = []
    pack = value
    if isinstance(value, dict) and "levels" not in value and "board" in value:
        pack = {"name": value.get("name", ""), "levels": [value]}
    content = read_object(Report("", found), "a pack", pack, PACK_KEYS, ("levels",)) or {}
    name = read_text(Report("", found), "the pack's name", content.get("name", ""))
    levels = _read_levels(content["levels"], found) if "levels" in content else []
    if found:
        raise LevelError(found, source)
    return LevelPack(levels, name or "")


def _read_levels(value: object, found: list[Problem]) -> list[Level]:
    if not isinstance(value, (list, tuple)) or not value:
        held = "an empty list" if isinstance(value, (list, tuple)) else show(value)
        found.append(Problem("", None, None, f"levels must be a list of at least one level, not {held}"))
        return []
    if len(value) > MOST_LEVELS:
        message = f"a pack holds at most {MOST_LEVELS:,} levels, not {len(value):,}: cut it into several files"
        found.append(Problem("", None, None, message))
        return []
    levels = []
    for i, item in enumerate(value):
        level = read_level(item, found, f"levels[{i}]")
        if level is not None:
            levels.append(Level(name=level[0], **level[1]))
        if len(found) >= _ENOUGH:
            found.append(Problem("", None, None, "too many problems: the levels after these were not read"))
            return []
    _check_names([_name_of(item) for item in value], found)
    return levels


def _name_of(level: object) -> str:
    name = level.get("name") if isinstance(level, dict) else None
    return name if isinstance(name, str) else ""


def _check_names(names: Iterable[str], found: list[Problem]) -> None:
    """Refuse a name that two levels have; any number of levels may have none."""
    first: dict[str, int] = {}
    for i, name in enumerate(names):
        if name and name in first:
            message = f"is the name of levels[{first[name]}] and of levels[{i}]: expected different ones"
            found.append(Problem(name, None, None, message))
        first.setdefault(name, i)


def _listed(names: Iterable[str]) -> str:
    """List names, the first few of many."""
    known = list(names)
    shown = ", ".join(map(show, known[:_LISTED]))
    return shown + (f" and {len(known) - _LISTED} more" if len(known) > _LISTED else "") or "none"
