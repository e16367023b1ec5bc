"""A function of the features of a move, its value Q: linear, or a network; its file, and the player that follows it.

The file is JSON that people can read:

    {"format": 1,
     "features": ["upper row", ...],           what it is of, by name: see agents.q_learning.features
     "mean": [...], "scale": [...],            of each feature: it is shifted and divided by these first
     "layers": [{"weights": [[...], ...],      [inputs][outputs], then "bias": [outputs]; the rectified outputs of a
                 "bias": [...]}],              layer are the inputs of the next, and the last has one: points
     "made": {...}}                            how, for people
"""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from agents.protocol import Memory, Policy
from agents.q_learning.features import DISCOUNT, LINES, NAMES, RETURN, Features
from agents.search.cores import over_cores
from crush_gym import Game, Level, State
from crush_gym.runtime import cores, randomness, sizes

FORMAT = 1

Array = np.ndarray[Any, np.dtype[np.float32]]


class Layer(NamedTuple):
    """weights: float32[inputs, outputs]; bias: float32[outputs]."""

    weights: Any
    bias: Any


class Params(NamedTuple):
    """What a function is, all of it data. mean, scale: of each feature, float32[features]; the last layer has one
    output."""

    mean: Any
    scale: Any
    layers: tuple[Layer, ...]


def q_values(params: Params, phi: jax.Array) -> jax.Array:
    """Points that are expected of moves: float32[features, *moves] -> float32[*moves]."""
    x = jnp.moveaxis(phi, 0, -1)
    x = (x - params.mean) / params.scale
    for layer in params.layers[:-1]:
        x = jax.nn.relu(x @ layer.weights + layer.bias)
    return (x @ params.layers[-1].weights + params.layers[-1].bias)[..., 0]


@dataclass(frozen=True)
class Function:
    """A function with the names of its features. made: how, for people."""

    features: tuple[str, ...]
    params: Params
    made: dict[str, Any] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        """Write the file, all of it or nothing."""
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.draft")
        draft.write_text(self.text(), encoding="utf-8")
        draft.replace(path)

    def text(self) -> str:
        """What the file holds, a list of numbers a line."""
        layers = [{"weights": _plain(layer.weights), "bias": _plain(layer.bias)} for layer in self.params.layers]
        value = {
            "format": FORMAT,
            "features": list(self.features),
            "mean": _plain(self.params.mean),
            "scale": _plain(self.params.scale),
            "layers": layers,
            "made": self.made,
        }
        return ",\n ".join(f"{json.dumps(key)}: {json.dumps(part)}" for key, part in value.items()).join(("{", "}\n"))


def _plain(x: Any) -> Any:
    """As lists of numbers that read back as the same float32."""
    return np.vectorize(lambda v: float(f"{v:.9g}"))(np.asarray(x, np.float32)).tolist()


def load(text: str, source: str) -> Function:
    """A function from what a file holds, or a `ValueError` that says what is wrong with it."""
    try:
        value = json.loads(text)
        if value["format"] != FORMAT:
            raise ValueError(f"it is of format {value['format']}, and this version reads {FORMAT}")
        names = tuple(value["features"])
        layers = tuple(Layer(_array(one["weights"], 2), _array(one["bias"], 1)) for one in value["layers"])
        params = Params(_array(value["mean"], 1), _array(value["scale"], 1), layers)
        made = dict(value.get("made", {}))
    except (KeyError, TypeError, ValueError) as error:
        said = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{source} holds no function of moves: {said}") from None
    _check(names, params, source)
    return Function(names, params, made)


def _array(value: Any, axes: int) -> Array:
    found = np.asarray(value, np.float32)
    if found.ndim != axes or not np.isfinite(found).all():
        raise ValueError(f"expected numbers in {axes} axes, all finite")
    return found


def _check(names: tuple[str, ...], params: Params, source: str) -> None:
    """Refuse features that are not known and layers that do not fit."""
    strange = [name for name in names if name not in NAMES]
    if strange or not names or len(set(names)) != len(names):
        raise ValueError(f"{source} is of features {strange or list(names)}: there are {', '.join(NAMES)}")
    outputs = len(names)
    for layer in params.layers:
        fits = layer.weights.shape[0] == outputs and layer.bias.shape == layer.weights.shape[1:]
        outputs = layer.weights.shape[1] if fits else -1
    if outputs != 1 or len(params.mean) != len(names) or len(params.scale) != len(names) or not params.scale.all():
        raise ValueError(f"{source} has layers, means or scales that do not fit its {len(names)} features")


# ------------------------------------------------------------------ from a name to the player


class Source(NamedTuple):
    """A file of weights. digest: sixteen hexadecimal digits of what it holds."""

    function: Function
    digest: str


@functools.lru_cache(maxsize=32)
def find(agent: str, weights: str) -> Source:
    """The function that ships with an agent by this name, "" for its own, or that of a file."""
    place: Any = Path(weights)
    if not _is_file(weights):
        place = _shipped() / (f"{agent}-{weights}.json" if weights else f"{agent}.json")
        if not place.is_file():
            known = ", ".join(map(repr, ships(agent)))
            raise ValueError(f"{agent} has no weights {weights!r}: there are {known}, or name a .json file")
    try:
        content = place.read_bytes()
    except OSError as error:
        raise ValueError(f"the weights {str(place)!r} cannot be read: {error.strerror}") from None
    return Source(load(content.decode("utf-8", "replace"), repr(str(place))), hashlib.sha256(content).hexdigest()[:16])


def _is_file(weights: str) -> bool:
    return "/" in weights or weights.endswith(".json")


def _shipped() -> Any:
    return resources.files("agents") / "weights"


def ships(agent: str) -> list[str]:
    """Names of an agent's weights that ship."""
    names = sorted(entry.name for entry in _shipped().iterdir() if entry.name.startswith(agent))
    return [name.removeprefix(agent).removesuffix(".json").removeprefix("-") for name in names]


def checked_digest(agent: str, weights: str, digest: str) -> str:
    """The digest of a file of weights, which tells a file from what it was; "" for those that ship.

    A digest that was given before must still be the file's own.
    """
    found = find(agent, weights).digest
    if digest and digest != found:
        raise ValueError(f"the weights {weights!r} are others now: their digest is {found}, not {digest}")
    return found if _is_file(weights) else ""


def player(function: Function, game: Game) -> Policy:
    """The player of a function in a game: the legal move of the greatest value."""
    height, width = game.shape
    if max(height, width) > LINES:
        raise ValueError(f"the features describe boards up to {LINES}x{LINES}, and this one is {height}x{width}")
    choose = _choice(Features(game.spec, function.features))
    if RETURN not in function.features:
        return Policy(choose.act, params=function.params, value=choose.expected, worth="score", discount=DISCOUNT)
    return Policy(choose.in_parts, params=function.params, traceable=False, lanes=sizes.ASKED * cores())


@functools.lru_cache(maxsize=64)
def _choice(features: Features) -> Choice:
    """One for each kind of game: programs are kept by its functions."""
    return Choice(features)


@dataclass(frozen=True)
class Choice:
    """The move of the greatest value, of equal ones the one with the smallest number."""

    features: Features

    def act(
        self, params: Params, key: jax.Array, memory: Memory, state: State, level: Level
    ) -> tuple[jax.Array, Memory]:
        """See `crush_gym.policies.Act`."""
        return self.best(params, randomness.key_bits(key), state, level), memory

    def in_parts(
        self, params: Params, key: jax.Array, memory: Memory, state: State, level: Level
    ) -> tuple[jax.Array, Memory]:
        """The same on all cores."""
        return over_cores(Choice.best, self, self.features.spec, params, key, state, level), memory

    def best(self, params: Params, bits: jax.Array, state: State, level: Level) -> jax.Array:
        """int32[B], -1 where nothing is legal."""
        values = self.values(params, bits, state, level)
        return jnp.where(values.max(axis=0) > -jnp.inf, jnp.argmax(values, axis=0), -1).astype(jnp.int32)

    def expected(self, params: Params, memory: Memory, state: State, level: Level) -> jax.Array:
        """The greatest value of a move; see `crush_gym.policies.Value`."""
        nothing = jnp.zeros((2, state.books.score.shape[0]), jnp.uint32)  # is drawn
        return self.values(params, nothing, state, level).max(axis=0)

    def values(self, params: Params, bits: jax.Array, state: State, level: Level) -> jax.Array:
        """float32[actions, B], minus infinity where a move is not legal."""
        phi, mask = self.features.of((), bits, state, level)
        return jnp.where(mask, q_values(params, phi), -jnp.inf)
