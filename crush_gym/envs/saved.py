"""Episodes in files: numpy's format, with a version of our own and what the episode was played on."""

from __future__ import annotations

import json
import os
import zipfile
from typing import Any

import jax
import numpy as np

from crush_gym.engine.state import Books
from crush_gym.envs.batch import Batch
from crush_gym.envs.task import Lanes

FORMAT = 2
"""Raised when the meaning of the arrays changes; the formats before it are read, see `_current`."""

SHUFFLES = 1 + Books._fields.index("shuffles")
"""Which of the leaves counts shuffles: the first is the planes, then come the books. Format 1 had none."""


class SavedStateError(ValueError):
    """A file or a tree that is no saved state, or one of another environment."""


def save(path: str | os.PathLike[str], lanes: Lanes, batch: Batch) -> None:
    """Write lanes to a file, all of it or nothing."""
    arrays: dict[str, Any] = {f"leaf{i}": np.asarray(leaf) for i, leaf in enumerate(jax.tree.leaves(lanes))}
    arrays["about"] = np.array(json.dumps(_about(batch)))
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
    try:
        with np.load(path, allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            leaves = [file[f"leaf{i}"] for i in range(len(file.files) - 1)]
    except FileNotFoundError:
        raise SavedStateError(f"there is no file {os.fspath(path)!r}") from None
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise SavedStateError(f"{os.fspath(path)!r} holds no saved state: {error}") from None
    leaves, about = _current(leaves, about)
    expected = _about(batch)
    for name, meaning in (("format", "format version"), ("rules", "rules"), ("levels", "levels")):
        if about.get(name) != expected[name]:
            shown = f" ({about.get(name)!r}, not {expected[name]!r})" if name != "levels" else ""
            raise SavedStateError(f"{os.fspath(path)!r} was saved with other {meaning} than these{shown}")
    return check(jax.tree.unflatten(jax.tree.structure(_example(batch)), leaves), batch)


def _current(leaves: list[Any], about: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """What was saved in an older format as it would be saved now; what was not counted then is 0."""
    if about.get("format") == 1:
        return [*leaves[:SHUFFLES], np.zeros_like(leaves[1]), *leaves[SHUFFLES:]], about | {"format": FORMAT}
    return leaves, about


def check(lanes: Any, batch: Batch) -> Lanes:
    """Lanes that this batch can go on from."""
    expected = _example(batch)
    if not isinstance(lanes, Lanes):
        raise SavedStateError(f"a state is what get_state() gave, not {type(lanes).__name__}")
    for leaf, wanted in zip(jax.tree.leaves(lanes), jax.tree.leaves(expected), strict=True):
        if np.shape(leaf) != wanted.shape or np.asarray(leaf).dtype != wanted.dtype:
            raise SavedStateError("this state is of another kind of game, or of another number of boards")
    return lanes


def _about(batch: Batch) -> dict[str, Any]:
    hashes = [level.content_hash() for level in batch.options.levels]
    return {"format": FORMAT, "rules": batch.task.spec.rules, "levels": hashes}


def _example(batch: Batch) -> Any:
    """Shapes and types of the lanes."""
    return batch.example
