"""What is known of people on levels: player by player, or as totals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from experiments.people.errors import PeopleError

Ints = npt.NDArray[np.int64]


class Counts(NamedTuple):
    """Of each level: attempts, successes and how many people made them, each [levels]. players: 0 where unknown."""

    levels: tuple[str, ...]
    attempts: Ints
    successes: Ints
    players: Ints


@dataclass(frozen=True)
class Log:
    """Results player by player. A pair is one player on one level, over all days; pairs are sorted by level.

    level, player: numbers of names, [pairs]; attempts (1 or more), successes (at most attempts): of the pair, [pairs]
    to_clear: attempts up to the first success, or all of them where there is none, [pairs]
    player_count: how many players there are
    """

    levels: tuple[str, ...]
    player_count: int
    level: Ints
    player: Ints
    attempts: Ints
    successes: Ints
    to_clear: Ints

    @property
    def cleared(self) -> npt.NDArray[np.bool_]:
        """Whether the player ever won the level, [pairs]."""
        return self.successes > 0

    def counts(self) -> Counts:
        """Level by level; a level without people has zeros."""
        size = len(self.levels)
        attempts, successes = (
            np.bincount(self.level, values, size).astype(np.int64) for values in (self.attempts, self.successes)
        )
        return Counts(self.levels, attempts, successes, np.bincount(self.level, minlength=size))

    def without_replays(self) -> Log:
        """The same people, as if each had stopped at the first success."""
        return replace(self, attempts=self.to_clear, successes=self.cleared.astype(np.int64))

    def of_players(self, players: Ints) -> Log:
        """These players only, [players]."""
        chosen = np.zeros(self.player_count, bool)
        chosen[players] = True
        number = np.cumsum(chosen) - 1
        kept = chosen[self.player]
        names = ("level", "attempts", "successes", "to_clear")
        columns = {name: getattr(self, name)[kept] for name in names}
        return replace(self, player_count=int(chosen.sum()), player=number[self.player[kept]], **columns)

    def of(self, levels: Sequence[str]) -> Log:
        """These levels only, in this order; a level without people is one with zeros."""
        place = {name: number for number, name in enumerate(levels)}
        number = np.array([place.get(name, -1) for name in self.levels], np.int64)[self.level]
        kept = np.flatnonzero(number >= 0)
        kept = kept[np.argsort(number[kept], kind="stable")]
        columns = {name: getattr(self, name)[kept] for name in ("player", "attempts", "successes", "to_clear")}
        return replace(self, levels=tuple(levels), level=number[kept], **columns)


@dataclass(frozen=True)
class Totals:
    """Results level by level, where single players are not known. players: 0 where unknown, [levels]."""

    levels: tuple[str, ...]
    attempts: Ints
    successes: Ints
    players: Ints

    def counts(self) -> Counts:
        """Level by level."""
        return Counts(self.levels, self.attempts, self.successes, self.players)

    def of(self, levels: Sequence[str]) -> Totals:
        """These levels only, in this order; a level without people is one with zeros."""
        place = {name: number for number, name in enumerate(self.levels)}
        at = np.array([place.get(name, -1) for name in levels], np.int64)
        attempts, successes, players = (
            np.where(at >= 0, values[at], 0) if values.size else np.zeros(at.size, np.int64)
            for values in (self.attempts, self.successes, self.players)
        )
        return Totals(tuple(levels), attempts, successes, players)


def log_of(
    level: Sequence[Any], player: Sequence[Any], attempts: Any, successes: Any, levels: Sequence[str] | None = None
) -> Log:
    """A log of pairs that are known as arrays [pairs], such as a simulation's: one row for each player and level.

    Attempts after the first success are not told apart: one of them is the last of each further success.
    """
    a, s = np.asarray(attempts, np.int64), np.asarray(successes, np.int64)
    if not (a.shape == s.shape == (len(level),) == (len(player),)) or (a < 1).any() or (s < 0).any() or (s > a).any():
        raise PeopleError("pairs need a level, a player, attempts from 1 and successes from 0 to attempts each")
    names = tuple(dict.fromkeys(map(str, level))) if levels is None else tuple(levels)
    place = {name: number for number, name in enumerate(names)}
    people, who = np.unique(np.asarray(player), return_inverse=True)
    where = np.array([place[str(name)] for name in level], np.int64)
    order = np.lexsort((who, where))
    where, who, a, s = (values[order] for values in (where, who.astype(np.int64), a, s))
    return Log(names, len(people), where, who, a, s, a - np.maximum(s - 1, 0))
