"""Trained networks in files: one safetensors file, which says of itself what it is and runs nothing when it is read.

Beside the weights, by their names in the network ("params/conv0/kernel"), it holds an object in JSON under the key
`crush_gym` of the format's metadata:

    {"format": 1,
     "architecture": {"name": "edge", "arguments": {"filters": 32}},
     "channels": ["colour a", ...], "preview": true,      what it sees, see agents.learning.inputs
     "kind": "king",                                       of planes, where they are not those of `Game.channels`
     "traits": [["skill", 0.1, 0.9], ...],                 what it is told of who plays, with means and SDs
     "shape": [9, 9],                                      the board that it learned on
     "about": {...}}                                       how it was made: settings, budget, levels, versions
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from agents.learning.inputs import KINDS, Inputs, Trait
from agents.learning.networks import Architecture, NetworkError, takes
from crush_gym.support import write_bytes

try:
    import safetensors
    from safetensors.numpy import save
except ImportError as missing:
    raise ImportError(
        "trained players need safetensors, which is not installed: pip install 'crush-gym[learn]'"
    ) from missing

__all__ = ["FORMAT", "PolicyFileError", "Trained", "read", "shipped", "write"]

FORMAT = 1
"""The version that is written; newer ones are refused."""

KEY = "crush_gym"

MOST_BYTES = 1 << 28
"""Larger files are not read: no network here is."""

MOST_NAMES, MOST_SIDE = 1024, 16

SHIPPED, SUFFIX = Path(__file__).parents[1] / "weights", ".safetensors"
"""Where the networks lie that ship, and how their files' names end."""

Weights = Any


class PolicyFileError(ValueError):
    """A file that is no trained network, or one that cannot be used; the sentence says why."""


@dataclass(frozen=True, eq=False)
class Trained:
    """A network with its weights.

    shape: (height, width) of the boards that it learned on; about: how it was made, for JSON
    """

    architecture: Architecture
    inputs: Inputs
    shape: tuple[int, int]
    weights: Weights = field(repr=False)
    about: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def digest(self) -> str:
        """Eight hexadecimal digits of all that decides how it plays."""
        whole = hashlib.sha256(json.dumps(_heading(self, {}), sort_keys=True).encode())
        for name, values in sorted(_flat(self.weights).items()):
            whole.update(f"{name} {values.dtype} {values.shape}".encode() + values.tobytes())
        return whole.hexdigest()[:8]


def write(path: str | os.PathLike[str], trained: Trained) -> None:
    """Write a file, whole or not at all."""
    heading = json.dumps(_heading(trained, trained.about))
    write_bytes(path, save(_flat(trained.weights), metadata={KEY: heading}))


def read(path: str | os.PathLike[str]) -> Trained:
    """Read a file, or one that ships by its name; a `PolicyFileError` says in one sentence what is wrong with it."""
    where = repr(os.fspath(path))
    flat, text = _content(_place(path), where)
    heading = _checked_heading(text, where)
    architecture, inputs, shape = _described(heading, where)
    weights = _checked_weights(flat, architecture, inputs, shape, where)
    about = heading.get("about")
    return Trained(architecture, inputs, shape, weights, about if isinstance(about, dict) else {})


def shipped() -> tuple[str, ...]:
    """Names of the networks that ship, for `read` and `policy:NAME`."""
    return tuple(sorted(place.stem for place in SHIPPED.glob(f"*{SUFFIX}")))


def _place(path: str | os.PathLike[str]) -> Path:
    """Where the file lies. A name without a folder and an ending is that of one that ships."""
    text = os.fspath(path)
    return SHIPPED / f"{text}{SUFFIX}" if text in shipped() else Path(path)


def _heading(trained: Trained, about: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "architecture": {"name": trained.architecture.name, "arguments": dict(trained.architecture.arguments)},
        "channels": list(trained.inputs.channels),
        "preview": trained.inputs.preview,
        "shape": list(trained.shape),
        **({"kind": trained.inputs.kind} if trained.inputs.kind != "planes" else {}),
        **({"traits": [list(trait) for trait in trained.inputs.traits]} if trained.inputs.traits else {}),
        "about": dict(about),
    }


def _flat(weights: Weights) -> dict[str, np.ndarray[Any, Any]]:
    """Weights by their names. Arrays that are views of others would be written wrongly, without a word."""
    leaves = jax.tree_util.tree_flatten_with_path(weights)[0]
    return {"/".join(str(part.key) for part in path): np.array(leaf, order="C") for path, leaf in leaves}


def _content(path: Path, where: str) -> tuple[dict[str, np.ndarray[Any, Any]], str]:
    """The arrays and the text of a file."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise PolicyFileError(
                f"{where} is larger than {MOST_BYTES >> 20} MiB: no trained player is; it was not read"
            )
        with safetensors.safe_open(path, "numpy") as file:
            text = (file.metadata() or {}).get(KEY)
            if text is None:
                raise PolicyFileError(
                    f"{where} holds weights, but was not written by `crush-gym train`: it does not say of what"
                )
            return {name: file.get_tensor(name) for name in file.keys()}, text  # noqa: SIM118 - it is no mapping
    except FileNotFoundError:
        raise PolicyFileError(f"there is no file {where}{_meant(path)}") from None
    except OSError as error:
        raise PolicyFileError(f"{where} cannot be read: {error.strerror or error}") from None
    except (safetensors.SafetensorError, TypeError, ValueError) as error:
        if isinstance(error, PolicyFileError):
            raise
        raise PolicyFileError(f"{where} is no whole safetensors file: {' '.join(str(error).split())[:200]}") from None


def _meant(path: Path) -> str:
    """Which of those that ship may be meant by a name without a folder and an ending."""
    if path.suffix or len(path.parts) > 1:
        return ""
    near = difflib.get_close_matches(path.name[:80], shipped(), 1, 0.5)
    return f"; did you mean {near[0]!r}?" if near else f"; those that ship are {', '.join(shipped())}"


def _checked_heading(text: str, where: str) -> dict[str, Any]:
    try:
        heading = json.loads(text)
    except (ValueError, RecursionError):
        heading = None
    if not isinstance(heading, dict) or not isinstance(heading.get("format"), int):
        raise PolicyFileError(f"{where} does not say what it is: the {KEY!r} entry of its metadata is damaged")
    if heading["format"] != FORMAT:
        raise PolicyFileError(f"{where} has format {heading['format']}, and this version reads format {FORMAT}")
    return heading


def _described(heading: dict[str, Any], where: str) -> tuple[Architecture, Inputs, tuple[int, int]]:
    """What the network is and sees."""
    named, channels, preview = heading.get("architecture"), heading.get("channels"), heading.get("preview")
    if (
        not isinstance(named, dict)
        or not isinstance(named.get("name"), str)
        or not isinstance(named.get("arguments"), dict)
    ):
        raise PolicyFileError(f"{where} does not name its architecture")
    try:
        architecture = Architecture(named["name"], tuple(named["arguments"].items())).checked()
    except NetworkError as error:
        raise PolicyFileError(f"{where}: {error}") from None
    if not (
        isinstance(channels, list) and len(channels) <= MOST_NAMES and all(isinstance(n, str) for n in channels)
    ) or not (channels or not architecture.sees_planes):
        raise PolicyFileError(f"{where} does not name the planes that it sees")
    if len(set(channels)) < len(channels) or not isinstance(preview, bool):
        raise PolicyFileError(f"{where} names a plane twice, or does not say whether it sees previews")
    if architecture.needs_previews and not preview:
        raise PolicyFileError(f"{where} sees no previews, without which no {architecture} plays")
    shape = heading.get("shape")
    if not (isinstance(shape, list) and len(shape) == 2 and all(type(n) is int and 2 <= n <= MOST_SIDE for n in shape)):
        raise PolicyFileError(f"{where} does not say on which size of board it learned")
    kind, traits = heading.get("kind", "planes"), heading.get("traits", [])
    if kind not in KINDS:
        raise PolicyFileError(f"{where} sees planes of a kind {kind!r} that this version does not know")
    if not (isinstance(traits, list) and len(traits) <= MOST_NAMES and all(map(_is_trait, traits))):
        raise PolicyFileError(f"{where} does not say which traits of players it is told")
    if traits and not takes(architecture.made(), "traits"):
        raise PolicyFileError(f"{where} is told traits of players, which {architecture} does not take")
    told = tuple(Trait(name, float(mean), float(sd)) for name, mean, sd in traits)
    return architecture, Inputs(tuple(channels), preview, kind, told), (shape[0], shape[1])


def _is_trait(found: Any) -> bool:
    if not (isinstance(found, list) and len(found) == 3 and isinstance(found[0], str)):
        return False
    numbers = all(type(x) in (int, float) and np.isfinite(x) for x in found[1:])
    return numbers and found[2] > 0


def _checked_weights(
    flat: dict[str, np.ndarray[Any, Any]],
    architecture: Architecture,
    inputs: Inputs,
    shape: tuple[int, int],
    where: str,
) -> Weights:
    """The weights as the network takes them, refused where they are not its own."""
    example = jax.ShapeDtypeStruct((1, *shape, len(inputs.names)), jnp.float32)  # type: ignore[no-untyped-call]
    traits = jax.ShapeDtypeStruct((1, len(inputs.traits)), jnp.float32)  # type: ignore[no-untyped-call]
    told = {"traits": traits} if inputs.traits else {}
    wanted = jax.eval_shape(architecture.made().init, jax.random.key(0), example, **told)
    leaves, tree = jax.tree_util.tree_flatten_with_path(wanted)
    names = ["/".join(str(part.key) for part in path) for path, _ in leaves]
    missing, extra = sorted(set(names) - set(flat)), sorted(set(flat) - set(names))
    if missing or extra:
        what = f"lacks {missing[0]!r}" if missing else f"has {extra[0]!r}, which no {architecture} has"
        raise PolicyFileError(f"{where} {what}: it is damaged, or of another architecture than it says")
    for name, (_, leaf) in zip(names, leaves, strict=True):
        found = flat[name]
        if found.shape != leaf.shape or found.dtype != leaf.dtype:
            raise PolicyFileError(
                f"{where}: {name!r} is {found.dtype}{list(found.shape)}, expected {leaf.dtype}{list(leaf.shape)}"
            )
        if not np.isfinite(found).all():
            raise PolicyFileError(f"{where}: {name!r} holds NaN or infinity, with which nothing can be played")
    return jax.tree.unflatten(tree, [flat[name] for name in names])
