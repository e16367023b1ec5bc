"""What is kept of one agent's attempts at one level, and what it says of the level under any limit of moves."""

from __future__ import annotations

import dataclasses
import itertools
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from crush_gym import OUTCOMES, REASONS, Level
from crush_gym.generator.trials import only_score
from experiments.features.recorder import POINTS, Notes, moves_between

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]

LIFTED, STEP = 1.5, 20
"""A limit of moves is lifted to at least so many times as many, and to a multiple of so many: levels that differ in
their limits only are mostly played as one."""

BLOCK = 100
"""Attempts of which means are taken together, whatever the attempts were played together with."""

BEST = (0.15, 0.05)
"""Shares of the best attempts of which means are kept."""

PATHS = ("score", "score of the best 15 %", "score of the best 5 %", "left", "left of the best 15 %",
         "left of the best 5 %")  # fmt: skip
"""Rows of `Record.paths`."""

ENDED_EARLY = tuple(REASONS.index(name) for name in ("bomb", "stuck"))


class Record(NamedTuple):
    """Attempts 0, 1, 2, ... of one agent at one level, n of them, which went on beyond the level's own limit of moves.

    won: the move after which all was done that the level asks for, 0 for never, int32[n]
    over: the move after which a candy bomb, or a board without a legal move, ended it, 0 for none, int32[n]
    score, left: at the end; see `Stats.goals_left`, int32[n]
    paths: what `PATHS` names, after each of the recorder's points, float32[blocks, 6, POINTS]
    means: of each block: legal moves of a position, shuffles of an attempt, float32[blocks, 2]
    seconds: of an attempt's playing
    """

    won: Ints
    over: Ints
    score: Ints
    left: Ints
    paths: Floats
    means: Floats
    seconds: float

    @property
    def attempts(self) -> int:
        """How many there are."""
        return self.won.size

    def first(self, attempts: int) -> Record:
        """The first so many attempts, whole blocks."""
        counts = [column[:attempts] for column in (self.won, self.over, self.score, self.left)]
        blocks = attempts // BLOCK
        return Record._make([*counts, self.paths[:blocks], self.means[:blocks], self.seconds])

    def successes(self, limit: int | None = None) -> int:
        """Attempts that are won within so many moves; None: within those that there were."""
        won = self.won > 0
        if limit is not None:
            # At the last move, what is asked for counts before a bomb does.
            won &= (self.won <= limit) & ((self.over == 0) | (self.over >= limit))
        return int(won.sum())

    def path(self, limit: int, lifted: int) -> npt.NDArray[np.float64]:
        """The rows of `paths` under a limit of moves, float64[6]. lifted: that it was played with; below 1: a clock."""
        if lifted < 1:
            means = [_means(x[None], highest) for x, highest in ((self.score, True), (self.left, False))]
            return np.concatenate(means, axis=1).mean(axis=0)[:, 0]
        points = np.arange(1, POINTS + 1) * int(moves_between(np.array(lifted)))
        return np.array([np.interp(limit, points, row) for row in self.paths.mean(axis=0)])


def lifted(level: Level, limit: int | None = None) -> Level:
    """The level with more moves than its own limit, or than `limit`; a timed level as it is.

    Nothing on a board depends on how many moves are left: the same attempt under a lower limit is its beginning. Time
    is different, since a +5 never brings more than there was at the start.
    """
    own = int(level.moves) if limit is None else limit
    if int(level.moves) < 1:
        return level
    return dataclasses.replace(level, moves=np.array(STEP * -(-int(np.ceil(LIFTED * own)) // STEP), np.int32))


def record_of(level: Level, stats: Any, notes: Any, seconds: float) -> Record:
    """The record of whole blocks of attempts at one level, as it was played. stats, notes: host arrays [..., n]."""
    made = stats.moves.astype(np.int32)
    over = np.where(np.isin(stats.reason, ENDED_EARLY), made, 0)
    done = np.arange(1, POINTS + 1)[:, None] * int(moves_between(np.asarray(level.moves))) >= made
    paths = [
        _means(np.where(done, last, table), highest)
        for table, last, highest in ((notes.score, stats.score, True), (notes.left, stats.goals_left, False))
    ]
    blocks = (-1, BLOCK)
    legal = notes.legal.reshape(blocks).sum(axis=1) / np.maximum(made.reshape(blocks).sum(axis=1), 1)
    shuffles = stats.shuffles.reshape(blocks).mean(axis=1)
    counts = [x.astype(np.int32) for x in (_won(level, stats, notes, made), over, stats.score, stats.goals_left)]
    means = [np.concatenate(paths, axis=1), np.stack([legal, shuffles], axis=1)]
    return Record._make([*counts, *[x.astype(np.float32) for x in means], seconds])


def _won(level: Level, stats: Any, notes: Notes, made: Ints) -> Any:
    """The move after which all goals were met. Where only a score is asked for, attempts go on to the last move."""
    won = np.where(stats.outcome == OUTCOMES.index("won"), made, 0)
    if int(level.moves) > 0 and only_score(level):
        late = (notes.reached == 0) & (stats.score >= int(level.goal_score))
        won = np.where(late, made, notes.reached)
    return won


def _means(table: npt.NDArray[Any], highest: bool) -> npt.NDArray[np.float64]:
    """Means of each block, and of its highest or lowest attempts: float64[blocks, 3, points]. table: [points, n]."""
    ordered = np.sort(table.reshape(len(table), -1, BLOCK), axis=2)[:, :, :: -1 if highest else 1]
    counts = (BLOCK, *(round(share * BLOCK) for share in BEST))
    return np.stack([ordered[:, :, :count].mean(axis=2) for count in counts]).transpose(2, 0, 1)


def joined(records: Sequence[Record]) -> Record:
    """Records of attempts that follow each other, as one."""
    columns: list[Any] = [np.concatenate([record[i] for record in records]) for i in range(len(Record._fields) - 1)]
    sizes = [record.attempts for record in records]
    return Record._make([*columns, float(np.average([record.seconds for record in records], weights=sizes))])


def packed(record: Record) -> bytes:
    """As bytes, which hold a checksum."""
    counts = np.concatenate([[record.attempts], *record[:4]]).astype("<i4")
    rest = np.concatenate([record.paths.ravel(), record.means.ravel(), [record.seconds]]).astype("<f4")
    return zlib.compress(counts.tobytes() + rest.tobytes())


def unpacked(content: bytes) -> Record | None:
    """From bytes; None where they are damaged."""
    try:
        data = zlib.decompress(content)
        size = int(np.frombuffer(data, "<i4", 1)[0])
        blocks = size // BLOCK
        ends = np.cumsum([4, *[4 * size] * 4, 4 * blocks * len(PATHS) * POINTS, 8 * blocks, 4])
        if len(data) != ends[-1]:
            return None
    except (zlib.error, ValueError, OverflowError):
        return None
    parts = [data[start:end] for start, end in itertools.pairwise(ends)]
    counts = [np.frombuffer(part, "<i4").astype(np.int32) for part in parts[:4]]
    paths, means, seconds = (np.frombuffer(part, "<f4").astype(np.float32) for part in parts[4:])
    shaped = paths.reshape(blocks, len(PATHS), POINTS), means.reshape(blocks, 2)
    return Record._make([*counts, *shaped, float(seconds[0])])
