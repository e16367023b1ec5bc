"""Networks by name: boards as planes of numbers in, a logit for every action and a value out.

| name | is | plays |
|---|---|---|
| edge | convolutions, then for each swap a function of what stands at its two cells | any size of board |
| resnet | the same over residual blocks, or with King's mean over the board | any size (`head="edge"`) |
| king | King's twelve convolutions and mean over the board, with one plane for each action | its own size |
| mlp | layers over the whole board | its own size |
| linear | of each swap a weighted sum of what it brings by itself, and nothing else: cheap enough for playouts | any |

With `foresight`, the first two add to a swap's logit what it brings by itself, from the start.

Networks that are told traits of a player, float32[B, T], play as that player would: each layer's planes are scaled and
shifted by what they say (FiLM, of Perez and others, 2018), and by nothing before it has been learned.

A network of your own is a `flax.linen.Module` with the same call; `register` gives it a name, by which files find it.
"""

from __future__ import annotations

import dataclasses
import difflib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from agents.learning.convolution import Conv
from agents.learning.inputs import GAINS
from crush_gym.swaps import number_of_actions

__all__ = [
    "DEFAULT",
    "NETWORKS",
    "Architecture",
    "Edge",
    "King",
    "Linear",
    "Mlp",
    "NetworkError",
    "ResNet",
    "answer",
    "network",
    "register",
    "takes",
]

ACTIVATIONS: dict[str, Callable[[jax.Array], jax.Array]] = {"relu": nn.relu, "elu": nn.elu, "tanh": nn.tanh}

Answer = tuple[jax.Array, jax.Array]
"""logits float32[B, actions], legal or not; values float32[B]."""


class NetworkError(ValueError):
    """A network that cannot be had, with the sentence that says why."""


class Film(nn.Module):
    """Planes scaled and shifted by traits of a player; as they are before it has learned."""

    @nn.compact
    def __call__(self, y: jax.Array, traits: jax.Array) -> jax.Array:
        """float[B, ..., C], float[B, T] -> float[B, ..., C]."""
        by = nn.Dense(2 * y.shape[-1], kernel_init=nn.initializers.zeros, name="traits")(traits)
        scale, shift = jnp.split(by.reshape(by.shape[0], *(1,) * (y.ndim - 2), -1), 2, axis=-1)
        return y * (1.0 + scale) + shift


def told(y: jax.Array, traits: jax.Array | None, name: str) -> jax.Array:
    """A layer's planes, by the traits of who plays where they are known."""
    return y if traits is None else Film(name=name)(y, traits)


class EdgeHead(nn.Module):
    """A logit for each pair of neighbours, from what stands at its two cells."""

    hidden: int = 16

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """float[B, H, W, C] -> float[B, actions]; pairs within rows come first (rulebook 3)."""
        left, right, upper, lower = jnp.split(nn.Dense(4 * self.hidden, name="cells")(x), 4, axis=-1)
        across = nn.relu(left[:, :, :-1] + right[:, :, 1:])
        down = nn.relu(upper[:, :-1] + lower[:, 1:])
        final = nn.initializers.orthogonal(0.01)
        parts = [nn.Dense(1, kernel_init=final, name=name)(y) for name, y in (("across", across), ("down", down))]
        return jnp.concatenate([part.reshape(x.shape[0], -1) for part in parts], axis=1)


class ValueHead(nn.Module):
    """A number for each board, from the means and the greatest of its planes."""

    hidden: int = 64

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """float[B, H, W, C] -> float[B]."""
        pooled = jnp.concatenate([x.mean(axis=(1, 2)), x.max(axis=(1, 2))], axis=-1)
        y = nn.relu(nn.Dense(self.hidden, name="hidden")(pooled))
        return nn.Dense(1, kernel_init=nn.initializers.orthogonal(0.1), name="value")(y)[:, 0]


def gains_of_swaps(x: jax.Array) -> jax.Array:
    """What each swap brings by itself, the last of what comes in: float[B, H, W, C] -> float[B, actions, gains]."""
    across, down = jnp.split(x[..., -2 * len(GAINS) :], 2, axis=-1)
    swaps = [across[:, :, :-1].reshape(len(x), -1, len(GAINS)), down[:, :-1].reshape(len(x), -1, len(GAINS))]
    return jnp.concatenate(swaps, axis=1)


class Foresight(nn.Module):
    """Of each swap a weighted sum of what it brings by itself, as shares of the most that any swap of the board brings.

    first: weight of points before anything is learned; that of goals is twice as much, and all others are 0
    """

    first: float

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """float[B, H, W, C] -> float[B, actions]."""
        gains = gains_of_swaps(x)
        most = gains.max(axis=1, keepdims=True)
        shares = jnp.where(most > 0, gains / jnp.where(most > 0, most, 1.0), 0.0)
        weights = {"score": self.first, "goals": 2 * self.first}
        start = nn.initializers.constant(jnp.array([[weights.get(name, 0.0)] for name in GAINS]))
        return nn.Dense(1, use_bias=False, kernel_init=start, name="swap")(shares)[..., 0]


def foreseen(logits: jax.Array, x: jax.Array, first: float) -> jax.Array:
    """Logits with what their swaps bring by themselves, where that counts."""
    return logits + Foresight(first, name="foresight")(x) if first else logits


class Edge(nn.Module):
    """Convolutions, then a logit for each pair of neighbours from its two cells, which also see the input itself.

    norm: whether what a layer makes of a cell is brought to mean 0 and variance 1
    foresight: how much more likely a swap is at first for what it brings by itself, see `Foresight`; 0 leaves that out
    """

    filters: int = 32
    layers: int = 3
    hidden: int = 16
    norm: bool = False
    foresight: float = 0.0

    @nn.compact
    def __call__(self, x: jax.Array, traits: jax.Array | None = None) -> Answer:
        """float[B, H, W, C] -> `Answer`."""
        y = x
        for n in range(self.layers):
            y = Conv(self.filters, name=f"conv{n}")(y)
            y = nn.LayerNorm(name=f"norm{n}")(y) if self.norm else y
            y = nn.relu(told(y, traits, f"film{n}"))
        y = jnp.concatenate([y, x], axis=-1)
        logits = EdgeHead(self.hidden, name="edges")(y)
        return foreseen(logits, x, self.foresight), ValueHead(name="value")(y)


class ResNet(nn.Module):
    """Residual blocks of two convolutions each. head: "edge", or "gap", King's mean over the board."""

    blocks: int = 6
    filters: int = 32
    activation: str = "relu"
    head: str = "edge"
    foresight: float = 0.0

    @nn.compact
    def __call__(self, x: jax.Array, traits: jax.Array | None = None) -> Answer:
        """float[B, H, W, C] -> `Answer`."""
        active = ACTIVATIONS[self.activation]
        y = active(told(Conv(self.filters, name="first")(x), traits, "film"))
        for n in range(self.blocks):
            inner = active(told(Conv(self.filters, name=f"block{n}a")(y), traits, f"film{n}"))
            y = active(y + Conv(self.filters, scale=0.5, name=f"block{n}b")(inner))
        value = ValueHead(name="value")(y)
        if self.head == "edge":
            logits = EdgeHead(name="edges")(jnp.concatenate([y, x], axis=-1))
        else:
            logits = Conv(number_of_actions((x.shape[1], x.shape[2])), name="last")(y).mean(axis=(1, 2))
        return foreseen(logits, x, self.foresight), value


class King(nn.Module):
    """The network of "Human-Like Playtesting with Deep Learning", and those that it is compared with there.

    layers: convolutions; head: "gap", where the last of them has a plane for each action, whose mean over the board is
    the logit, or "fc", two layers over the whole board after them, the first of `hidden` units, each with the share
    `dropout` of what it gets left out while it learns
    """

    layers: int = 12
    filters: int = 35
    activation: str = "elu"
    head: str = "gap"
    dropout: float = 0.5
    hidden: int = 256

    @nn.compact
    def __call__(self, x: jax.Array, traits: jax.Array | None = None, learns: bool = False) -> Answer:
        """float[B, H, W, C] -> `Answer`. learns: whether units are dropped, by the rng "dropout"."""
        active, actions = ACTIVATIONS[self.activation], number_of_actions((x.shape[1], x.shape[2]))
        y = x
        for n in range(self.layers - (self.head == "gap")):
            y = active(told(Conv(self.filters, name=f"conv{n}")(y), traits, f"film{n}"))
        value = ValueHead(name="value")(y)
        if self.head == "gap":
            return Conv(actions, name="last")(y).mean(axis=(1, 2)), value
        drop = nn.Dropout(self.dropout, deterministic=not learns)
        y = active(nn.Dense(self.hidden, name="hidden")(drop(y.reshape(y.shape[0], -1))))
        return nn.Dense(actions, name="last")(drop(y)), value


class Mlp(nn.Module):
    """Layers of `width` units over the whole board."""

    width: int = 256
    layers: int = 2

    @nn.compact
    def __call__(self, x: jax.Array, traits: jax.Array | None = None) -> Answer:
        """float[B, H, W, C] -> `Answer`."""
        actions = number_of_actions((x.shape[1], x.shape[2]))
        y = x.reshape(x.shape[0], -1)
        for n in range(self.layers):
            y = nn.Dense(self.width, kernel_init=nn.initializers.orthogonal(2.0**0.5), name=f"layer{n}")(y)
            y = nn.relu(told(y, traits, f"film{n}"))
        final = nn.initializers.orthogonal(0.01)
        return nn.Dense(actions, kernel_init=final, name="logits")(y), nn.Dense(1, name="value")(y)[:, 0]


class Linear(nn.Module):
    """A weighted sum of the gains of each swap, the last of what comes in; it sees no planes of the board."""

    sees_planes = False

    @nn.compact
    def __call__(self, x: jax.Array) -> Answer:
        """float[B, H, W, C] -> `Answer`."""
        gains = gains_of_swaps(x)
        logits = nn.Dense(1, use_bias=False, kernel_init=nn.initializers.zeros, name="swap")(gains)[..., 0]
        offered = jnp.concatenate([gains.mean(axis=1), gains.max(axis=1)], axis=-1)
        return logits, nn.Dense(1, name="value")(offered)[:, 0]


NETWORKS: dict[str, type[nn.Module]] = {"edge": Edge, "king": King, "resnet": ResNet, "mlp": Mlp, "linear": Linear}
"""The networks that files and commands know; `register` adds to them."""

ANY_SIZE: dict[str, Callable[[Any], bool]] = {
    "edge": lambda made: True, "resnet": lambda made: made.head == "edge", "linear": lambda made: True,
}  # fmt: skip
"""Which of them play boards of any size."""

CHOICES: Mapping[str, tuple[str, ...]] = {"activation": tuple(ACTIVATIONS), "head": ("edge", "gap", "fc")}
"""Arguments that are one of a few words; of "head", a network may know fewer."""


FORESIGHT = 4.0
"""Of networks that count from the start what moves bring by themselves, where nothing else is said."""


@dataclass(frozen=True)
class Architecture:
    """A network as its name and its arguments, from which it is made again, by a file or by `parse`."""

    name: str = "edge"
    arguments: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Architecture:
        """From "name" or "name:argument=value,..."; see `network`."""
        name, _, rest = text.partition(":")
        known = {field.name: field for field in _fields(name)}
        arguments = []
        for part in filter(None, rest.split(",")):
            key, equals, value = part.partition("=")
            if not equals:
                raise NetworkError(f"network {text!r}: expected argument=value, found {part!r}")
            _check_known(name, key, known)
            arguments.append((key, _read(type(known[key].default), value, f"network {text!r}: {key}")))
        return cls(name, tuple(arguments)).checked()

    def checked(self) -> Architecture:
        """The same, refused where there is no such network."""
        known = {field.name: field for field in _fields(self.name)}
        for key, value in self.arguments:
            _check_known(self.name, key, known)
            kind = type(known[key].default)
            if type(value) is not kind and not (kind is float and type(value) is int):
                raise NetworkError(f"network {self.name!r}: {key} must be {kind.__name__}, not {value!r}")
            if isinstance(value, int | float) and not 0 <= value <= 4096:
                raise NetworkError(f"network {self.name!r}: {key} must be from 0 to 4096, not {value!r}")
            if key in CHOICES and value not in CHOICES[key]:
                raise NetworkError(f"network {self.name!r}: {key} must be one of {', '.join(CHOICES[key])}")
        return self

    def __str__(self) -> str:
        spelt = ",".join(f"{key}={value}" for key, value in self.arguments)
        return f"{self.name}:{spelt}" if spelt else self.name

    def foreseeing(self) -> Architecture:
        """The same, which counts from the start what moves bring by themselves."""
        return Architecture(self.name, (*self.arguments, ("foresight", FORESIGHT)))

    def made(self) -> nn.Module:
        """The network."""
        return NETWORKS[self.name](**dict(self.arguments))

    @property
    def any_size(self) -> bool:
        """Whether it plays boards of other sizes than it learned on."""
        return self.name in ANY_SIZE and ANY_SIZE[self.name](self.made())

    @property
    def sees_planes(self) -> bool:
        """Whether it sees planes of the board, or only what moves bring by themselves."""
        return bool(getattr(NETWORKS[self.name], "sees_planes", True))

    @property
    def needs_previews(self) -> bool:
        """Whether it cannot do without what moves bring by themselves."""
        return not self.sees_planes or bool(getattr(self.made(), "foresight", 0.0))


DEFAULT = Architecture()
"""What learns where nothing else is said."""


def network(text: str) -> nn.Module:
    """The network of a text such as "edge" or "resnet:blocks=20,head=gap"; a `NetworkError` where there is none."""
    return Architecture.parse(text).made()


def takes(network: nn.Module, argument: str) -> bool:
    """Whether a network's call knows the argument: "traits", or "learns"."""
    return argument in inspect.signature(type(network).__call__).parameters


def answer(
    network: nn.Module,
    weights: Any,
    cells: jax.Array,
    traits: jax.Array | None = None,
    dropout: jax.Array | None = None,
) -> Answer:
    """What a network says of boards.

    Args:
        cells: float32[B, H, W, C], as `Inputs.cells` gives them.
        traits: of who plays, float32[B, T]; None where the network is told none.
        dropout: a key, where it learns.
    """
    known: dict[str, Any] = {} if traits is None else {"traits": traits}
    if dropout is not None and takes(network, "learns"):
        known |= {"learns": True, "rngs": {"dropout": dropout}}
    found: Answer = network.apply(weights, cells, **known)  # type: ignore[assignment]
    return found


def register(name: str, kind: type[nn.Module], any_size: bool = False) -> None:
    """Give a network of your own a name, before files that name it are read.

    Args:
        name: not yet taken by another network.
        kind: a `flax.linen.Module` whose fields have defaults; it is called with float[B, H, W, C] and gives
            (logits float[B, actions], values float[B]).
        any_size: whether it plays boards of other sizes than it learned on.
    """
    if NETWORKS.get(name, kind) is not kind:
        raise NetworkError(f"there is a network {name!r} already: choose another name")
    NETWORKS[name] = kind
    if any_size:
        ANY_SIZE[name] = lambda made: True


def _fields(name: str) -> list[dataclasses.Field[Any]]:
    if name not in NETWORKS:
        close = difflib.get_close_matches(name, NETWORKS, 1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise NetworkError(f"there is no network {name!r}{hint}; there are {', '.join(NETWORKS)}")
    return [field for field in dataclasses.fields(NETWORKS[name]) if field.name not in ("parent", "name")]


def _check_known(name: str, key: str, known: Mapping[str, Any]) -> None:
    if key not in known:
        raise NetworkError(f"network {name!r} has no argument {key!r}; there are {', '.join(known) or 'none'}")


def _read(kind: type, text: str, where: str) -> Any:
    if kind is bool:
        if text not in ("True", "False"):
            raise NetworkError(f"{where} must be True or False, not {text!r}")
        return text == "True"
    try:
        return text if kind is str else kind(text)
    except ValueError:
        raise NetworkError(f"{where} must be {kind.__name__}, not {text!r}") from None
