"""Synthetic people's moves as state-action pairs: attempts that were played are played again, with the same keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from agents.learning.pairs import Pairs, Writer
from experiments.population.people import People
from experiments.population.traits import skill_at
from experiments.recording import Attempt, Recorder, RecordingError, Told, within
from experiments.results.row import Row
from experiments.results.task import Task
from experiments.running.series import FIRST, MOST

TRAITS = ("skill", "haste", "goals", "specials", "skill here")
"""What is told of who moves; the last is the skill on the level, what its board adds included."""

LANES = 256
"""Attempts that are played again at a time."""

TOLERATED = 0.001
"""Share of attempts that may come out otherwise, and are left out: rounding differs with the number of boards, and
of two moves that a player likes alike to seven digits another one may be made."""


def chosen(rows: Iterable[Row], pairs: int) -> list[Row]:
    """Whole attempts with about so many moves on each level: players' first attempts, then their second ones, ..."""
    of_level: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        of_level[row.task].append(row)
    found = []
    for known in of_level.values():
        known.sort(key=lambda row: ((row.attempt - FIRST) % MOST, row.player))
        turns = [Attempt(0, row.attempt, row.player, place) for place, row in enumerate(known)]
        kept = within(turns, [row.moves for row in known], np.zeros(1, int), pairs)
        found += [row for row, wanted in zip(known, kept, strict=True) if wanted]
    return found


def record(
    people: People, tasks: Sequence[Task], rows: Sequence[Row], folder: Path, seed: int, told: Told = lambda n: None
) -> int:
    """Write the moves of attempts, whatever their order in a mixed one; how many pairs there are.

    Args:
        rows: the attempts, as `evaluate` gave them.
        folder: a new one.
        seed: of the evaluation.
    """
    recorder = Recorder.of(people.agent, tasks, seed)
    origin = {
        "population": f"family {people.family}: synthetic players, no people",
        "players": len(people.patience),
    }
    mixed = [rows[n] for n in np.random.default_rng(seed).permutation(len(rows))]
    written = missed = 0
    with Writer(folder, recorder.about(TRAITS, origin)) as writer:
        for start in range(0, len(mixed), LANES):
            pairs, wrong = _again(recorder, people, mixed[start : start + LANES])
            writer.add(pairs)
            written, missed = written + pairs.number, missed + wrong
            told(pairs.number)
            if missed > max(1, TOLERATED * (start + LANES)):
                raise RecordingError(
                    f"{missed:,} attempts came out otherwise when they were played again: they are of other players, "
                    "or another version played them"
                )
    return written


def _again(recorder: Recorder, people: People, rows: Sequence[Row]) -> tuple[Pairs, int]:
    """The pairs of some attempts, and how many attempts came out otherwise and are left out."""
    place = {task.identity: n for n, task in enumerate(recorder.tasks)}
    turns = [Attempt(place[row.task], row.attempt, row.player, (row.attempt - FIRST) % MOST) for row in rows]
    filled = [*rows, *[rows[-1]] * (LANES - len(rows))]
    traits = jax.tree.map(lambda x: jnp.asarray(x)[np.array([row.player for row in filled])], people.traits)
    level = recorder.pack.stack([place[row.task] for row in filled])
    told = np.stack([*map(np.asarray, traits[:4]), np.asarray(skill_at(traits, level))], axis=1)
    pairs, owner, stats = recorder.pairs(turns, LANES, traits, told)
    same = np.array([row.score for row in rows]) == stats.score
    same &= np.array([row.moves for row in rows]) == stats.moves
    return pairs.some(same[owner]), int((~same).sum())
