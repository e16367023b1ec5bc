"""Recorded pairs as something to learn from: cut into parts by attempts, and read in an order that a seed decides."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from agents.learning.inputs import Trait
from agents.learning.pairs import About, Pairs, PairsError, digest, joined, read, shards

__all__ = ["PARTS", "Demonstrations"]

PARTS = ("train", "validation", "test")

HELD = 1 / 11
"""Share of a level's pairs for validation, and as much for a test: of 5,500 pairs 500 each, to an attempt."""

KEPT = 4
"""Shards that are kept in memory."""

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Demonstrations:
    """The pairs of a folder.

    levels: how many of its levels are meant, the first ones; parts: of each shard's pairs, numbers in `PARTS`, or -1
    preview: whether what moves bring by themselves is to be seen, where the pairs tell it
    """

    folder: Path
    levels: int
    about: About
    parts: tuple[Array, ...] = field(repr=False)
    preview: bool = True

    @classmethod
    def open(cls, folder: str | os.PathLike[str], levels: int = 0) -> Demonstrations:
        """Read all pairs once, checking them; a `PairsError` where there are too few attempts for all parts.

        Args:
            levels: how many are meant, the first ones; 0: all.
        """
        about = read(folder)
        if levels > len(about.levels):
            raise PairsError(f"{os.fspath(folder)!r} holds pairs of {len(about.levels)} levels, not of {levels}")
        known = [np.stack([pairs.level, pairs.player, pairs.attempt]) for pairs in shards(folder)]
        part = parts_of(np.concatenate(known, axis=1), levels or len(about.levels))
        ends = np.cumsum([each.shape[1] for each in known])[:-1]
        found = cls(Path(folder), levels or len(about.levels), about, tuple(np.split(part, ends)))
        if not all(found.number(name) for name in PARTS):
            raise PairsError(
                f"{os.fspath(folder)!r} holds too few attempts to learn from some, to judge by others, and to test "
                "with more: record more pairs"
            )
        return found

    @cached_property
    def digest(self) -> str:
        """Sixteen hexadecimal digits of all pairs."""
        return digest(self.folder)

    def number(self, part: str) -> int:
        """Pairs of a part."""
        return int(sum((each == PARTS.index(part)).sum() for each in self.parts))

    def traits(self) -> tuple[Trait, ...]:
        """Means and standard deviations of the traits of who made the moves that are learned from."""
        values = np.concatenate([pairs.traits for pairs in self._of("train")]).astype(np.float64)
        return tuple(
            Trait(name, float(mean), float(max(sd, 1e-6)))
            for name, mean, sd in zip(self.about.traits, values.mean(axis=0), values.std(axis=0), strict=True)
        )

    def held(self, part: str, most: int) -> Pairs:
        """The pairs of a part, or so many of them, evenly spread."""
        number = self.number(part)
        wanted = np.unique(np.linspace(0, number - 1, min(most, number)).round().astype(int))
        found, before = [], 0
        for pairs in self._of(part):
            mine = wanted[(wanted >= before) & (wanted < before + pairs.number)] - before
            found.append(pairs.some(mine))
            before += pairs.number
        return joined(found, self.about)

    def _of(self, part: str) -> Iterator[Pairs]:
        for pairs, parts in zip(shards(self.folder), self.parts, strict=True):
            yield pairs.some(parts == PARTS.index(part))

    # ------------------------------------------------------------------ lessons

    def lesson(self, seed: int, first: int, number: int) -> Pairs:
        """A stretch of the endless row of pairs to learn from: in every epoch all of them, in an order of its own.

        Shards come in another order each time, and pairs within them. Stretches are the same wherever one begins.

        Args:
            seed: decides the orders.
            first: the place in the row of the first pair that is wanted.
            number: how many are wanted.
        """
        found = []
        while number > 0:
            epoch, place = divmod(first, int(self._sizes.sum()))
            order = np.random.default_rng([seed, epoch]).permutation(len(self._sizes))
            ends = np.cumsum(self._sizes[order])
            turn = int(np.searchsorted(ends, place, side="right"))
            shard = int(order[turn])
            within = place - int(ends[turn] - self._sizes[shard])
            places = np.random.default_rng([seed, epoch, shard]).permutation(np.flatnonzero(self.parts[shard] == 0))
            taken = places[within : within + number]
            found.append(self._shard(shard).some(taken))
            first, number = first + len(taken), number - len(taken)
        return joined(found, self.about)

    @cached_property
    def _sizes(self) -> Array:
        """Pairs to learn from, of each shard."""
        return np.array([(each == 0).sum() for each in self.parts])

    @cached_property
    def _kept(self) -> OrderedDict[int, Pairs]:
        return OrderedDict()

    def _shard(self, number: int) -> Pairs:
        if number not in self._kept:
            (self._kept[number],) = shards(self.folder, [number])
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(number)
        return self._kept[number]


def parts_of(attempts: Array, levels: int) -> Array:
    """Which part each pair belongs to: whole attempts, of each level the same shares. int8[n], -1: none.

    Args:
        attempts: level, player and attempt of each pair, int[3, n].
        levels: how many are meant, the first ones.
    """
    unique, which, moves = np.unique(attempts, axis=1, return_inverse=True, return_counts=True)
    level, part = unique[0], np.zeros(unique.shape[1], np.int8)
    order = np.lexsort((_scattered(unique), level))
    for mine in np.split(order, np.flatnonzero(np.diff(level[order])) + 1):
        before, wanted = np.cumsum(moves[mine]) - moves[mine], HELD * moves[mine].sum()
        test = before < wanted
        validation = before - moves[mine][test].sum() < wanted
        part[mine] = np.select([test, validation], [PARTS.index("test"), PARTS.index("validation")], 0)
    part[level >= levels] = -1
    return part[which.ravel()]


def _scattered(numbers: Sequence[Array] | Array) -> Array:
    """A number for each column that looks random, uint64[n]: the end of splitmix64, again for each row."""
    found = np.zeros(len(numbers[0]), np.uint64)
    for row in numbers:
        found = found + row.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            found = (found ^ (found >> np.uint64(shift))) * np.uint64(factor)
        found = found ^ (found >> np.uint64(31))
    return found
