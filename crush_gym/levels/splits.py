"""Which levels of a pack go into which part, decided by nothing but a seed, their positions and their labels."""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Hashable, Sequence

from crush_gym.levels.errors import show

Positions = list[int]


def parted(size: int, train: float, seed: int, by: Sequence[Hashable] | None) -> tuple[Positions, Positions]:
    """Positions to learn on and to test on, each in order; see `LevelPack.split`."""
    if isinstance(train, bool) or not isinstance(train, (int, float)) or not 0 < train < 1:
        raise ValueError(f"train must be a share between 0 and 1, such as 0.8, not {show(train)}")
    if size < 2:
        raise ValueError("a pack of one level cannot be split: each part needs at least one")
    order = _shuffled(size, seed, by)
    # Of each run of alike levels the share that is due by then, so that both the parts and each label's are right.
    first = [i for n, i in enumerate(order) if _due(n + 1, size, train) > _due(n, size, train)]
    if by is None:
        first = order[: _due(size, size, train)]
    return sorted(first), sorted(set(order) - set(first))


def folded(size: int, number: int, seed: int, by: Sequence[Hashable] | None) -> list[Positions]:
    """Positions of each fold, in order; see `LevelPack.folds`."""
    if not isinstance(number, int) or isinstance(number, bool) or not 2 <= number <= size:
        raise ValueError(f"there must be 2 to {size} folds, as many as there are levels at most, not {show(number)}")
    order = _shuffled(size, seed, by)
    return [sorted(order[fold::number]) for fold in range(number)]


def _due(n: int, size: int, train: float) -> int:
    """How many of the first n are in the first part, of which each part gets at least one."""
    whole = min(max(round(train * size), 1), size - 1)
    return round(n * whole / size)


def _shuffled(size: int, seed: int, by: Sequence[Hashable] | None) -> Positions:
    """All positions by the SHA-256 of "seed position"; those of one label together, in the labels' first order."""
    seed = operator.index(seed)
    order = sorted(range(size), key=lambda i: hashlib.sha256(f"{seed} {i}".encode()).digest())
    if by is None:
        return order
    if len(by) != size:
        raise ValueError(f"by must be {size} labels, one for each level, not {len(by)}")
    rank = {label: n for n, label in enumerate(dict.fromkeys(by))}
    return sorted(order, key=lambda i: rank[by[i]])
