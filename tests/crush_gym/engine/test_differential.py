"""The engine and the slow reference play the same random levels, cell by cell and count by count."""

from __future__ import annotations

import pytest

from tests.differential import Arena
from tests.random_levels import KINDS, Kind

BATCH = 256
BATCHES = {"everything": 8}
"""Batches of boards by kind, each board a level of its own; 2 where nothing is said."""

pytestmark = pytest.mark.runs_long


def batches(kind: Kind) -> int:
    return BATCHES.get(kind.name, 2)


def test_enough_boards_are_compared() -> None:
    assert sum(map(batches, KINDS)) * BATCH >= 5000


WITHIN_EVERYTHING = ("deliveries", "only runs strike beside", "blockers", "tags")
"""Kinds whose mechanics all occur in "everything": they are compared apart where time does not matter."""


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=pytest.mark.slow) if kind.name in WITHIN_EVERYTHING else kind for kind in KINDS],
    ids=lambda kind: kind.name,
)
def test_engine_and_reference_play_alike(kind: Kind) -> None:
    arena = Arena(kind)
    turns = sum(arena.play(seed, BATCH) for seed in range(batches(kind)))
    assert turns > 2 * BATCH * batches(kind)
