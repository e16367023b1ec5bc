"""State-action pairs in files: positions, and the moves that somebody made in them, for learning to do the same.

A folder holds `pairs.json`, which says what the pairs are of, and shards of some thousand pairs each, which can be read
one after the other. A shard is NumPy's `.npz`, a zip file of plain arrays that anything can read; nothing in it is
ever executed. The arrays of a shard of n pairs:

| array | type | |
|---|---|---|
| planes | uint16[n, planes, rows] | what is seen: binary planes, a word a row, bit c is column c |
| legal | uint8[n, bytes] | which actions are legal, a bit each, the lowest bit of the first byte first |
| action | int16[n] | what was done; actions are numbered on the board of `shape` |
| level | int32[n] | number of the level in `levels` |
| player, attempt, move | int32[n] | who did it, in which attempt on the level, as which move, all from 0 |
| traits | float32[n, traits] | of who did it |
| probabilities | float16[n, actions] | of all actions, by who did it; there only if `probabilities` says so |
| gains | float16[n, actions, gains] | what each move brings by itself, in `inputs.UNITS`; only if `gains` names some |

    for pairs in shards("moves"):
        seen = cells(pairs.planes, 9)              # uint8[n, planes, rows, 9], 0 or 1
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crush_gym.support import write_bytes

__all__ = [
    "About", "Pairs", "PairsError", "Writer", "cells", "digest", "joined", "mask", "packed_cells", "packed_mask",
    "read", "shards",
]  # fmt: skip

FORMAT = 1
"""The version that is written; newer ones are refused."""

SHARD = 16_384
"""Pairs of a shard."""

MOST_BYTES = 1 << 30
"""Larger arrays are not read: no shard has any."""

MANIFEST = "pairs.json"

Array = np.ndarray[Any, Any]


class PairsError(ValueError):
    """A folder that holds no pairs, or broken ones; the sentence says which."""


class Pairs(NamedTuple):
    """Pairs; see the table above. probabilities, gains: None where nobody knows them."""

    planes: Array
    legal: Array
    action: Array
    level: Array
    player: Array
    attempt: Array
    move: Array
    traits: Array
    probabilities: Array | None = None
    gains: Array | None = None

    @property
    def number(self) -> int:
        """How many there are."""
        return int(self.action.shape[0])

    def some(self, places: Array | slice) -> Pairs:
        """Those at these places, or where a mask is true, in their order."""
        return Pairs(**{name: x[places] for name, x in self._asdict().items() if x is not None})


@dataclass(frozen=True)
class About:
    """What pairs are of.

    planes: names of the planes; shape: (rows, columns) of the largest board; actions: how many there are on it
    levels: names, and hashes of what the levels hold; traits: names; probabilities: whether they are known
    origin: who made the moves, for JSON; gains: names of what is told of each move
    """

    planes: tuple[str, ...]
    shape: tuple[int, int]
    actions: int
    levels: tuple[tuple[str, str], ...]
    traits: tuple[str, ...] = ()
    probabilities: bool = False
    origin: Mapping[str, Any] = field(default_factory=dict)
    gains: tuple[str, ...] = ()

    def content(self) -> dict[str, Any]:
        """All of it, for JSON; the gains, which the first of these files did not know, only where there are some."""
        found = dataclasses.asdict(self)
        return found if self.gains else {name: x for name, x in found.items() if name != "gains"}

    def layout(self) -> dict[str, tuple[Any, tuple[int, ...]]]:
        """Type and shape of each array, of one pair."""
        rows, _ = self.shape
        numbers = {name: (np.int32, ()) for name in ("level", "player", "attempt", "move")}
        found: dict[str, tuple[Any, tuple[int, ...]]] = {
            "planes": (np.uint16, (len(self.planes), rows)), "legal": (np.uint8, (-(-self.actions // 8),)),
            "action": (np.int16, ()), **numbers, "traits": (np.float32, (len(self.traits),)),
        }  # fmt: skip
        if self.probabilities:
            found["probabilities"] = (np.float16, (self.actions,))
        return found | ({"gains": (np.float16, (self.actions, len(self.gains)))} if self.gains else {})


class Shard(NamedTuple):
    """A file of pairs, as the manifest lists it. pairs: how many; sha256: of the file's bytes, in hexadecimal."""

    file: str
    pairs: int
    sha256: str


class Writer:
    """Writes pairs into a folder, shard by shard; what was written is whole whenever it is broken off.

    with Writer("moves", about) as writer:
        writer.add(pairs)

    resume: add to the pairs that the folder holds, which must be of the same
    """

    def __init__(self, folder: str | os.PathLike[str], about: About, shard: int = SHARD, resume: bool = False) -> None:
        self.folder, self.about, self.shard = Path(folder), about, shard
        self._waiting: list[Pairs] = []
        self._written: list[dict[str, Any]] = []
        if resume and (self.folder / MANIFEST).exists():
            if read(self.folder) != self.about:
                raise PairsError(f"{str(self.folder)!r} holds pairs of something else: choose another folder")
            self._written = [shard._asdict() for shard in _listed(self.folder)]
        elif self.folder.exists() and any(self.folder.iterdir()):
            raise PairsError(f"{str(self.folder)!r} is not empty: pairs go into a folder of their own")
        self.folder.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is None:
            self.close()

    @property
    def number(self) -> int:
        """Pairs in the folder."""
        return sum(int(shard["pairs"]) for shard in self._written)

    def add(self, pairs: Pairs) -> None:
        """Some more pairs, of the types that `About.layout` says or of such as fit into them."""
        known = {
            name: np.asarray(getattr(pairs, name)).astype(kind, casting="same_kind")
            for name, (kind, _) in self.about.layout().items()
        }
        self._waiting.append(_checked(known, self.about, pairs.number, "what is added"))
        while sum(each.number for each in self._waiting) >= self.shard:
            self._write(self.shard)

    def flush(self) -> None:
        """Write what waits, as a shard however small."""
        while self._waiting:
            self._write(self.shard)

    def close(self) -> None:
        """Write what is left."""
        self.flush()
        if not self._written:
            self._write(self.shard)

    def _write(self, most: int) -> None:
        waiting = joined(self._waiting, self.about)
        arrays = {name: x for name, x in waiting.some(slice(most))._asdict().items() if x is not None}
        left = waiting.some(slice(most, None))
        self._waiting = [left] if left.number else []
        file, content = f"pairs-{len(self._written):05d}.npz", io.BytesIO()
        np.savez_compressed(content, **arrays)
        write_bytes(self.folder / file, content.getvalue())
        digest = hashlib.sha256(content.getvalue()).hexdigest()
        self._written.append(Shard(file, len(arrays["action"]), digest)._asdict())
        manifest = {"format": FORMAT, **self.about.content(), "shards": self._written}
        write_bytes(self.folder / MANIFEST, (json.dumps(manifest, indent=1) + "\n").encode())


def read(folder: str | os.PathLike[str]) -> About:
    """What a folder's pairs are of."""
    manifest = _manifest(Path(folder))
    try:
        return About(
            planes=tuple(map(str, manifest["planes"])),
            shape=(int(manifest["shape"][0]), int(manifest["shape"][1])),
            actions=int(manifest["actions"]),
            levels=tuple((str(name), str(content)) for name, content in manifest["levels"]),
            traits=tuple(map(str, manifest["traits"])),
            probabilities=bool(manifest["probabilities"]),
            origin=dict(manifest["origin"]),
            gains=tuple(map(str, manifest.get("gains", ()))),
        )
    except (KeyError, TypeError, ValueError, IndexError) as reason:
        raise PairsError(f"{str(folder)!r} has a {MANIFEST} that is not as it should be: {reason!r}") from None


def shards(folder: str | os.PathLike[str], order: Sequence[int] | None = None) -> Iterator[Pairs]:
    """The shards one after the other, each checked as it is read.

    Args:
        order: numbers of the shards wanted, in this order; by default all.
    """
    folder, about = Path(folder), read(folder)
    listed = _listed(folder)
    for number in range(len(listed)) if order is None else order:
        shard = listed[number]
        yield _shard(folder / shard.file, about, shard.pairs, shard.sha256)


def digest(folder: str | os.PathLike[str]) -> str:
    """Sixteen hexadecimal digits of all that a folder's pairs are."""
    content = json.dumps([read(folder).content(), *_listed(Path(folder))], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _listed(folder: Path) -> list[Shard]:
    try:
        return [
            Shard(Path(str(shard["file"])).name, int(shard["pairs"]), str(shard["sha256"]))
            for shard in _manifest(folder)["shards"]
        ]
    except (KeyError, TypeError, ValueError) as reason:
        raise PairsError(f"{str(folder)!r} has a {MANIFEST} that is not as it should be: {reason!r}") from None


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        with path.open("rb") as file:
            manifest = json.loads(file.read(MOST_BYTES))
    except FileNotFoundError:
        raise PairsError(f"{str(folder)!r} holds no pairs: there is no {MANIFEST}") from None
    except (OSError, ValueError) as reason:
        raise PairsError(f"{str(path)!r} cannot be read: {reason}") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        known = manifest.get("format") if isinstance(manifest, dict) else None
        raise PairsError(f"{str(path)!r} is of format {known!r}, but this version reads {FORMAT}")
    return manifest


def _shard(path: Path, about: About, pairs: int, digest: str) -> Pairs:
    try:
        content = path.read_bytes()
    except OSError as reason:
        raise PairsError(f"{str(path)!r} cannot be read: {reason.strerror}") from None
    if hashlib.sha256(content).hexdigest() != digest:
        raise PairsError(f"{str(path)!r} is not what was written: its hash differs from the one in {MANIFEST}")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as members:
            if any(member.file_size > MOST_BYTES for member in members.infolist()):
                raise PairsError(f"{str(path)!r} holds an array of more than {MOST_BYTES >> 20} MiB")
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            known = {name: arrays[name] for name in about.layout()}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as reason:
        raise PairsError(f"{str(path)!r} is no shard of pairs: {reason}") from None
    return _checked(known, about, pairs, repr(str(path)))


def _checked(known: Mapping[str, Array], about: About, pairs: int, where: str) -> Pairs:
    """The pairs, refused where an array has another type or shape, or a move is not legal."""
    for name, (kind, shape) in about.layout().items():
        if known[name].dtype != kind or known[name].shape != (pairs, *shape):
            found = f"{known[name].dtype}{list(known[name].shape)}"
            expected = f"{np.dtype(kind)}{[pairs, *shape]}"
            raise PairsError(f"in {where}, {name} is {found}, expected {expected}")
    action = known["action"]
    if ((action < 0) | (action >= about.actions)).any():
        raise PairsError(f"in {where}, an action is not from 0 to {about.actions - 1}")
    if not mask(known["legal"], about.actions)[np.arange(pairs), action].all():
        raise PairsError(f"in {where}, a move is not legal")
    if ((known["level"] < 0) | (known["level"] >= len(about.levels))).any():
        raise PairsError(f"in {where}, a level is not one of the {len(about.levels)} levels")
    return Pairs(**known)


def joined(pairs: Sequence[Pairs], about: About) -> Pairs:
    """All of them, one after the other."""
    names = about.layout()
    if not pairs:
        return Pairs(**{name: np.zeros((0, *shape), kind) for name, (kind, shape) in names.items()})
    return Pairs(**{name: np.concatenate([getattr(each, name) for each in pairs]) for name in names})


def cells(planes: Array, columns: int) -> Array:
    """Planes cell by cell: uint16[..., rows] -> uint8[..., rows, columns] of 0 and 1."""
    bits = np.arange(columns, dtype=np.uint16)
    return (planes[..., None] >> bits & np.uint16(1)).astype(np.uint8)


def packed_cells(planes: Array) -> Array:
    """The inverse of `cells`; what is not 0 counts as 1."""
    bits = np.uint16(1) << np.arange(planes.shape[-1], dtype=np.uint16)
    return np.where(planes != 0, bits, np.uint16(0)).sum(axis=-1, dtype=np.uint16)


def mask(legal: Array, actions: int) -> Array:
    """Which actions are legal: uint8[n, bytes] -> bool[n, actions]."""
    return np.unpackbits(legal, axis=-1, count=actions, bitorder="little").astype(bool)


def packed_mask(legal: Array) -> Array:
    """The inverse of `mask`."""
    return np.packbits(legal, axis=-1, bitorder="little")
