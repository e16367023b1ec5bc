"""A learner's whole state in a file, from which learning goes on as if it had never stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from agents.learning.files import PolicyFileError
from crush_gym.support import write_bytes

try:
    import safetensors
    from safetensors.numpy import save
except ImportError as missing:
    raise ImportError("learning needs safetensors, which is not installed: pip install 'crush-gym[learn]'") from missing

__all__ = ["restore", "store"]

KEY = "crush_gym_run"


def store(path: str | os.PathLike[str], state: Any, about: Mapping[str, Any]) -> None:
    """Write a pytree of arrays and keys, and what is known besides, whole or not at all."""
    leaves = jax.tree.leaves(state)
    arrays = {f"{n:05d}": np.array(_plain(leaf), order="C") for n, leaf in enumerate(leaves)}
    write_bytes(path, save(arrays, metadata={KEY: json.dumps(dict(about))}))


def restore(path: str | os.PathLike[str], like: Any) -> tuple[Any, dict[str, Any]]:
    """What `store` wrote. like: a tree of the same structure, shapes and types, such as `jax.eval_shape` gives."""
    where = repr(os.fspath(path))
    leaves, tree = jax.tree.flatten(like)
    try:
        with safetensors.safe_open(Path(path), "numpy") as file:
            about = json.loads((file.metadata() or {})[KEY])
            arrays = [file.get_tensor(f"{n:05d}") for n in range(len(leaves))]
            more = len(list(file.keys())) > len(leaves)
    except FileNotFoundError:
        raise PolicyFileError(f"there is no {where} to go on from") from None
    except (OSError, safetensors.SafetensorError, KeyError, ValueError, TypeError) as error:
        said = " ".join(str(error).split())[:200]
        raise PolicyFileError(f"{where} is no state to go on from: {said}") from None
    found = [(x.shape, x.dtype) for x in arrays]
    if more or found != [_shape(leaf) for leaf in leaves]:
        raise PolicyFileError(f"{where} is the state of a run with other settings or another version")
    return jax.tree.unflatten(tree, [_typed(x, leaf) for x, leaf in zip(arrays, leaves, strict=True)]), about


def _is_key(leaf: Any) -> bool:
    return bool(jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key))


def _plain(leaf: Any) -> np.ndarray[Any, Any]:
    return np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf)


def _shape(leaf: Any) -> tuple[tuple[int, ...], Any]:
    if _is_key(leaf):
        leaf = jax.eval_shape(jax.random.key_data, leaf)
    return tuple(leaf.shape), np.dtype(leaf.dtype)


def _typed(array: np.ndarray[Any, Any], leaf: Any) -> Any:
    """An array of its own, which a program may use up."""
    placed = jax.device_put(array.copy())
    return jax.random.wrap_key_data(placed) if _is_key(leaf) else placed
