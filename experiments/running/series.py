"""Players who try a level until they have won it or give up: their attempts one after the other, as one shard."""

from __future__ import annotations

import dataclasses
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from agents.protocol import Agent
from experiments.results.row import Row
from experiments.running.events import Advanced
from experiments.running.grouping import Group
from experiments.running.jobs import Manner, Shard, Table, Told

FIRST, MOST = 2**31, 2**12
"""Attempt n of player p has the number FIRST + MOST p + n: no attempt of `evaluate` without players has it."""

MOST_PLAYERS = FIRST // MOST

SERIES = 2048
"""Players and levels of a shard at most."""


@dataclass(frozen=True)
class Players:
    """Who plays until a level is cleared.

    Args:
        patience: attempts after which each gives up, int[players].
        traits: for the player's start, a tree of arrays that end in the players' axis; None: none.
    """

    patience: np.ndarray[Any, np.dtype[np.int64]]
    traits: Any = None

    @property
    def number(self) -> int:
        """How many there are."""
        return len(self.patience)

    @property
    def identity(self) -> str:
        """Sixteen hexadecimal digits of the traits: what is stored of players with other ones is of others."""
        digest = hashlib.sha256(str(jax.tree.structure(self.traits)).encode())
        for leaf in jax.tree.leaves(self.traits):
            array = np.asarray(leaf)
            digest.update(f"{array.dtype}{array.shape[:-1]}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]


def players_of(until_cleared: Any, traits: Any, players: int | None) -> Players:
    """Read what `evaluate` was given, or refuse it in a sentence."""
    traits = jax.tree.map(np.asarray, traits)
    sizes = {leaf.shape[-1] if leaf.ndim else 0 for leaf in jax.tree.leaves(traits)}
    sizes |= {len(until_cleared)} if np.ndim(until_cleared) else set()
    sizes |= {players} if players is not None else set()
    if len(sizes) != 1:
        raise ValueError(f"players, traits and patience must be for one number of players, not for {sorted(sizes)}")
    (number,) = sizes
    if not 1 <= number <= MOST_PLAYERS:
        raise ValueError(f"there must be 1 to {MOST_PLAYERS:,} players, not {number}")
    patience = np.broadcast_to(np.asarray(until_cleared), (number,))
    if patience.dtype.kind not in "iu" or patience.min() < 1 or patience.max() > MOST:
        raise ValueError(f"until_cleared must be whole numbers of attempts from 1 to {MOST:,}")
    return Players(patience.astype(np.int64), traits)


@dataclass(frozen=True)
class Series(Shard):
    """A shard whose items are (number of the task, number of the attempt to begin with), one for each player.

    patience: of each item's player; traits: of the items' players, a tree that ends in the items' axis
    """

    def _played(self, table: Table, told: Told) -> list[Row]:
        """Rounds of the items that are not won yet."""
        rows: list[Row] = []
        quick = table.policy(self.label, self.wanted, self.group)[1].traceable
        left = {i: attempt for i, (_, attempt) in enumerate(self.items)}
        while left:
            chosen, size = self._round(left, quick)
            items = tuple((self.items[i][0], attempt) for i, attempt in chosen)
            traits = None
            if self.traits is not None:
                who = np.array([i for i, _ in chosen] + [chosen[-1][0]] * (size - len(chosen)))
                traits = jax.tree.map(lambda x, who=who: x[..., who], self.traits)
            once = dataclasses.replace(self, items=items, size=size, traits=traits)
            before = len(left)
            for (i, _), row in zip(chosen, Shard._played(once, table, _silent), strict=True):
                if i in left:  # else an earlier one of these attempts was won
                    rows.append(row._replace(player=(row.attempt - FIRST) // MOST))
                    left[i] += 1
                    if row.won or left[i] % MOST >= self.patience[i] or left[i] % MOST == 0:
                        del left[i]
            told(Advanced(self.name, before - len(left)))
        return rows

    def _round(self, left: dict[int, int], quick: bool) -> tuple[list[tuple[int, int]], int]:
        """Items and their attempts to play together, and how many attempts they are filled up to.

        Each number of attempts is a program. So quick agents always play as many, with attempts that are needed only
        if those before them are lost; the others, who take longer to play than to compile for, play few numbers.
        """
        if not quick:
            size = self.size
            while size // 4 >= len(left):
                size //= 4
            return list(left.items()), size
        chosen = list(left.items())
        for ahead in range(1, max(self.patience)):
            more = [(i, attempt + ahead) for i, attempt in left.items() if attempt % MOST + ahead < self.patience[i]]
            if not more or len(chosen) + len(more) > self.size:
                return chosen + more[: self.size - len(chosen)], self.size
            chosen += more
        return chosen, self.size


def _silent(event: Any) -> None:
    """How far one round is, is not told."""


def series_of(
    manner: Manner, wanted: str | Agent, group: Group, seed: int, players: Players, rows: Iterable[Row]
) -> Iterator[Series]:
    """What is missing of the players on a group. rows: what is there of them."""
    tried: dict[tuple[str, int], list[bool]] = defaultdict(list)
    for row in rows:
        if row.player >= 0:
            tried[row.task, row.player].append(row.won)
    missing = []
    for player in range(players.number):
        for number, task in enumerate(group.tasks):
            known = tried[task.identity, player]
            if not any(known) and len(known) < players.patience[player]:
                missing.append((number, FIRST + MOST * player + len(known)))
    size = min(SERIES, max(len(missing), 1))
    for start in range(0, len(missing), size):
        items = tuple(missing[start : start + size])
        who = np.array([(attempt - FIRST) // MOST for _, attempt in items])
        traits = None if players.traits is None else jax.tree.map(lambda x, who=who: x[..., who], players.traits)
        patience = tuple(players.patience[who].tolist())
        yield Series(manner.name, wanted, group, seed, items, size, not manner.quick, patience, traits)
