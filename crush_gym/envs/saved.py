"""Episodes in files: numpy's format, with a version of our own and what the episode was played on.

Nothing of a file is believed before it was checked: which arrays there are and how large they say they are, before
anything is unpacked; their shapes and types, before memory is taken for them; and what they hold.
"""

from __future__ import annotations

import io
import json
import lzma
import os
import struct
import tokenize
import zipfile
import zlib
from typing import Any

import jax
import numpy as np

from crush_gym.engine.state import Books
from crush_gym.envs.batch import Batch
from crush_gym.envs.sense import nonsense
from crush_gym.envs.task import Lanes
from crush_gym.levels.errors import show, show_path

FORMAT = 2
"""Raised when the meaning of the arrays changes; the formats before it are read, see `_current`."""

SHUFFLES = 1 + Books._fields.index("shuffles")
"""Which of the leaves counts shuffles: the first is the planes, then come the books. Format 1 had none."""

ABOUT = "about"

HEAD, MOST_ABOUT = 4096, 16 * 2**20
"""Bytes that an array's head may take; and those that may be said about the episode: a hash of each of its levels."""

BROKEN = (
    OSError, ValueError, LookupError, EOFError, RuntimeError, MemoryError, SyntaxError, TypeError, ArithmeticError,
    struct.error, tokenize.TokenError, zipfile.BadZipFile, zlib.error, lzma.LZMAError,
)  # fmt: skip
"""What the readers of zip files, of arrays and of JSON raise where a file is broken."""

OTHER = "this state is of another kind of game, or of another number of boards"


class SavedStateError(ValueError):
    """A file or a tree that is no saved state, or one of another environment."""


def save(path: str | os.PathLike[str], lanes: Lanes, batch: Batch) -> None:
    """Write lanes to a file, all of it or nothing."""
    arrays: dict[str, Any] = {f"leaf{i}": np.asarray(leaf) for i, leaf in enumerate(jax.tree.leaves(lanes))}
    arrays[ABOUT] = np.array(json.dumps(_about(batch)))
    draft = f"{os.fspath(path)}.{os.getpid()}.tmp"
    try:
        with open(draft, "wb") as file:
            np.savez(file, **arrays)
        os.replace(draft, path)
    finally:
        if os.path.exists(draft):
            os.remove(draft)


def load(path: str | os.PathLike[str], batch: Batch) -> Lanes:
    """Read lanes that were saved by an environment of the same levels."""
    source = show_path(path)
    try:
        with zipfile.ZipFile(path) as file:
            about = _read_about(file)
            _check_about(about, batch, source)
            lanes = _read_lanes(file, about["format"], batch)
    except FileNotFoundError:
        raise SavedStateError(f"there is no file {source}") from None
    except SavedStateError:
        raise
    except BROKEN as error:
        said = " ".join(str(error).split())[:200] or type(error).__name__
        raise SavedStateError(f"{source} holds no saved state: {said}") from None
    if found := nonsense(batch.task.spec, lanes, batch.options.levels):
        raise SavedStateError(f"{source} holds what no game comes to: {found}")
    return lanes


def check(lanes: Any, batch: Batch) -> Lanes:
    """Lanes that this batch can go on from."""
    if not isinstance(lanes, Lanes):
        raise SavedStateError(f"a state is what get_state() gave, not {type(lanes).__name__}")
    expected = batch.example
    kinds: list[Any] = [jax.tree.structure(lanes), jax.tree.structure(expected)]
    if kinds[0] != kinds[1]:
        raise SavedStateError(OTHER)
    for leaf, wanted in zip(jax.tree.leaves(lanes), jax.tree.leaves(expected), strict=True):
        if np.shape(leaf) != wanted.shape or np.asarray(leaf).dtype != wanted.dtype:
            raise SavedStateError(OTHER)
    return lanes


def _about(batch: Batch) -> dict[str, Any]:
    hashes = [level.content_hash() for level in batch.options.levels]
    return {"format": FORMAT, "rules": batch.task.spec.rules, "levels": hashes}


def _read_about(file: zipfile.ZipFile) -> dict[str, Any]:
    """What is said about the episode."""
    shape, dtype, content = _array(file, ABOUT, MOST_ABOUT)
    if shape != () or dtype.kind != "U":
        raise ValueError("what it says about the episode is no text")
    known = json.loads(str(np.frombuffer(content, dtype, 1)[0]))
    if not isinstance(known, dict):
        raise ValueError("what it says about the episode is no JSON object")
    return known


def _check_about(about: dict[str, Any], batch: Batch, source: str) -> None:
    """Refuse what was saved by another environment."""
    expected = _about(batch)
    for name, meaning in (("format", "format version"), ("rules", "rules"), ("levels", "levels")):
        here, there = expected[name], about.get(name)
        former = name == "format" and type(there) is int and 1 <= there <= FORMAT
        if not former and (type(here) is not type(there) or here != there):
            shown = f" ({show(there)}, not {show(here)})" if name != "levels" else ""
            raise SavedStateError(f"{source} was saved with other {meaning} than these{shown}")


def _read_lanes(file: zipfile.ZipFile, version: int, batch: Batch) -> Lanes:
    """The lanes, of which the file must hold just the arrays that are expected. What format 1 did not count is 0."""
    wanted, tree = jax.tree.flatten(batch.example)
    there = [leaf for i, leaf in enumerate(wanted) if version > 1 or i != SHUFFLES]
    names = [f"leaf{i}" for i in range(len(there))]
    if sorted(file.namelist()) != sorted(f"{name}.npy" for name in (ABOUT, *names)):
        raise ValueError("it has other arrays than it should")
    leaves = [_leaf(file, name, leaf) for name, leaf in zip(names, there, strict=True)]
    if version == 1:
        leaves.insert(SHUFFLES, np.zeros_like(leaves[1]))
    lanes: Lanes = jax.tree.unflatten(tree, leaves)
    return lanes


def _leaf(file: zipfile.ZipFile, name: str, wanted: Any) -> Any:
    """An array of the shape and the type that is wanted."""
    size = wanted.size * wanted.dtype.itemsize
    shape, dtype, content = _array(file, name, size)
    if shape != wanted.shape or dtype != wanted.dtype:
        raise SavedStateError(OTHER)
    if len(content) != size:
        raise ValueError(f"{name} has {len(content)} bytes, expected {size}")
    return np.frombuffer(content, dtype).reshape(shape).copy()


def _array(file: zipfile.ZipFile, name: str, most: int) -> tuple[tuple[int, ...], np.dtype[Any], bytes]:
    """An array's shape, its type and its bytes, of which there may be so many. Nothing larger is unpacked."""
    member = file.getinfo(f"{name}.npy")
    if member.file_size > most + HEAD:
        raise SavedStateError(OTHER) if name != ABOUT else ValueError("what it says about the episode is too long")
    with file.open(member) as packed:
        content = io.BytesIO(packed.read(member.file_size))
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    version = np.lib.format.read_magic(content)
    if version not in read:
        raise ValueError(f"{name} is of an array format that saved states do not have")
    shape, by_columns, dtype = read[version](content)
    if dtype.hasobject or (by_columns and len(shape) > 1):
        raise ValueError(f"{name} is an array that saved states do not have")
    return shape, dtype, content.read()
