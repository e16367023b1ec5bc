"""State-action pairs in files: what is written is read again, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.learning.pairs import (
    MANIFEST,
    About,
    Pairs,
    PairsError,
    Writer,
    cells,
    mask,
    packed_cells,
    packed_mask,
    read,
    shards,
)

ABOUT = About(
    planes=("colour a", "legal"), shape=(4, 5), actions=31, levels=(("one", "ab"), ("two", "cd")),
    traits=("skill",), probabilities=True, origin={"player": "habit", "seed": 3},
)  # fmt: skip


def some(number: int, seed: int = 0) -> Pairs:
    rng = np.random.default_rng(seed)
    legal = rng.random((number, ABOUT.actions)) < 0.3
    legal[:, 7] = True
    return Pairs(
        planes=packed_cells(rng.integers(0, 2, (number, 2, 4, 5))),
        legal=packed_mask(legal),
        action=np.array([rng.choice(np.flatnonzero(each)) for each in legal], np.int16),
        level=rng.integers(0, 2, number, np.int32),
        **{name: rng.integers(0, 9, number, np.int32) for name in ("player", "attempt", "move")},
        traits=rng.normal(size=(number, 1)).astype(np.float32),
        probabilities=rng.random((number, ABOUT.actions)).astype(np.float16),
    )


def written(folder: Path, parts: list[Pairs], shard: int = 100) -> Path:
    with Writer(folder, ABOUT, shard) as writer:
        for part in parts:
            writer.add(part)
    return folder


def test_pairs_are_read_as_they_were_written_in_shards_of_one_size(tmp_path: Path) -> None:
    parts = [some(130, 1), some(5, 2), some(120, 3)]
    folder = written(tmp_path / "moves", parts)
    found = list(shards(folder))
    assert [pairs.number for pairs in found] == [100, 100, 55] and read(folder) == ABOUT
    for name in ABOUT.layout():
        expected = np.concatenate([getattr(part, name) for part in parts])
        got = np.concatenate([getattr(pairs, name) for pairs in found])
        assert got.dtype == expected.dtype and (got == expected).all()
    (last,) = shards(folder, order=[2])
    assert (last.action == found[2].action).all()


def test_what_was_written_is_whole_when_the_writer_is_broken_off(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), Writer(tmp_path, ABOUT, 100) as writer:
        writer.add(some(250))
        raise KeyboardInterrupt
    assert sum(pairs.number for pairs in shards(tmp_path)) == 200


def test_cells_and_masks_are_packed_and_unpacked() -> None:
    rng = np.random.default_rng(4)
    board, legal = rng.integers(0, 2, (6, 3, 9, 16), np.uint8), rng.random((6, 144)) < 0.2
    assert (cells(packed_cells(board), 16) == board).all()
    assert (mask(packed_mask(legal), 144) == legal).all()
    assert packed_cells(np.array([[0, 1, 0], [1, 0, 1]])).tolist() == [2, 5]


def changed(folder: Path, **values: Any) -> None:
    manifest = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps(manifest | values))


def test_what_is_no_pairs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PairsError, match=f"there is no {MANIFEST}"):
        read(tmp_path)
    folder = written(tmp_path / "moves", [some(20)])
    with pytest.raises(PairsError, match="is not empty"):
        Writer(folder, ABOUT)
    changed(folder, format=9)
    with pytest.raises(PairsError, match="format 9, but this version reads 1"):
        read(folder)
    changed(folder, format=1, actions=12)
    with pytest.raises(PairsError, match=r"legal is uint8\[20, 4\], expected uint8\[20, 2\]"):
        list(shards(folder))
    changed(folder, actions=31, shards=[{"file": "../../pairs-00000.npz"}])
    with pytest.raises(PairsError, match="not as it should be: KeyError"):
        list(shards(folder))
    changed(folder, shards=[{"file": "pairs-00000.npz", "pairs": 20, "sha256": "no"}])
    (folder / "pairs-00000.npz").write_bytes(b"PK")
    with pytest.raises(PairsError, match="its hash differs"):
        list(shards(folder))


def test_moves_that_are_not_legal_are_refused(tmp_path: Path) -> None:
    pairs = some(20)
    illegal = mask(pairs.legal, ABOUT.actions).argmin(axis=1).astype(np.int16)
    with Writer(tmp_path, ABOUT) as writer:
        with pytest.raises(PairsError, match="a move is not legal"):
            writer.add(pairs._replace(action=illegal))
        with pytest.raises(PairsError, match="an action is not from 0 to 30"):
            writer.add(pairs._replace(action=np.full(20, 31)))
        with pytest.raises(PairsError, match="not one of the 2 levels"):
            writer.add(pairs._replace(level=pairs.level + 2))
