"""Recorded pairs to learn from: parts are of whole attempts, epochs of all pairs, stretches the same from anywhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agents.learning.demonstrations import PARTS, Demonstrations, parts_of
from agents.learning.pairs import Pairs, PairsError
from tests.agents.learning.demonstrators import MOVES, written

NUMBER = 1608


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Demonstrations:
    return Demonstrations.open(written(tmp_path_factory.mktemp("pairs") / "moves", NUMBER))


def names_of(pairs: Pairs) -> list[tuple[int, int]]:
    return list(zip(pairs.attempt.tolist(), pairs.move.tolist(), strict=True))


def test_parts_are_whole_attempts_in_shares_of_nine_one_and_one(known: Demonstrations) -> None:
    parts = {part: known.held(part, NUMBER) for part in PARTS}
    assert sum(pairs.number for pairs in parts.values()) == NUMBER
    attempts = {part: set(pairs.attempt.tolist()) for part, pairs in parts.items()}
    assert not attempts["train"] & (attempts["validation"] | attempts["test"])
    assert not attempts["validation"] & attempts["test"]
    for level in (0, 1):
        whole = sum((pairs.level == level).sum() for pairs in parts.values())
        for part in ("validation", "test"):
            assert abs((parts[part].level == level).sum() - whole / 11) <= MOVES


def test_a_level_of_the_papers_size_is_cut_into_4500_500_and_500() -> None:
    attempt = np.repeat(np.arange(220), 25)
    part = parts_of(np.stack([np.zeros(5500, int), np.zeros(5500, int), attempt]), 1)
    assert np.bincount(part).tolist() == [4500, 500, 500]
    more = np.repeat(np.arange(400), 25)
    later = parts_of(np.stack([np.zeros(10_000, int), np.zeros(10_000, int), more]), 1)
    assert np.abs(np.bincount(later) - np.array([9, 1, 1]) / 11 * 10_000).max() <= 50
    long = np.repeat(np.arange(3), 25)  # of few and long attempts each part has one
    assert sorted(parts_of(np.stack([0 * long, 0 * long, long]), 1)[::25].tolist()) == [0, 1, 2]


def test_every_epoch_has_all_pairs_once_in_an_order_of_its_own(known: Demonstrations) -> None:
    size = known.number("train")
    epochs = [names_of(known.lesson(7, n * size, size)) for n in range(2)]
    assert sorted(epochs[0]) == sorted(epochs[1]) == sorted(names_of(known.held("train", NUMBER)))
    assert epochs[0] != epochs[1] != names_of(known.lesson(8, size, size))


def test_a_stretch_is_the_same_wherever_one_begins(known: Demonstrations) -> None:
    size = known.number("train")
    long = known.lesson(7, size - 400, 900)
    again = Demonstrations.open(known.folder)
    for first in (0, 250, 399, 400, 899):
        part = again.lesson(7, size - 400 + first, 900 - first)
        assert all((x == y[first:]).all() for x, y in zip(part, long, strict=True) if x is not None)


def test_some_levels_are_meant_and_pairs_that_are_too_few_refused(known: Demonstrations, tmp_path: Path) -> None:
    first = Demonstrations.open(known.folder, levels=1)
    assert set(first.held("train", NUMBER).level.tolist()) == {0}
    assert first.number("train") == (known.held("train", NUMBER).level == 0).sum()
    with pytest.raises(PairsError, match="holds pairs of 2 levels, not of 3"):
        Demonstrations.open(known.folder, levels=3)
    with pytest.raises(PairsError, match="too few attempts"):
        Demonstrations.open(written(tmp_path / "few", 2 * MOVES))


def test_held_pairs_are_spread_evenly(known: Demonstrations) -> None:
    every, some = names_of(known.held("train", NUMBER)), names_of(known.held("train", 100))
    places = [every.index(name) for name in some]
    assert len(places) == 100 and set(np.diff(places)) <= {len(every) // 100, -(-len(every) // 100), 12, 13, 14}
    assert places[0] == 0 and places[-1] == len(every) - 1
