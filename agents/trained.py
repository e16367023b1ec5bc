"""Players that were trained: `policy:PATH` plays the network in a file, or `policy:NAME` one that ships (see
agents/weights), in any game that it can see.

Its full name holds a digest of the weights (`policy:PATH:weights=1a2b3c4d`), so that results of a file that was trained
again are never taken for those of the old one.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from agents.attempts import PolicyError
from agents.learning.files import PolicyFileError, Trained, read
from agents.learning.inputs import Inputs
from agents.learning.learner import masked
from agents.learning.networks import Answer, Architecture, answer
from agents.protocol import Memory, Policy
from agents.registry import written
from crush_gym import Game, Level, State
from crush_gym.policies import WORTHS, legal

__all__ = ["PLAYS", "TrainedAgent", "Units", "policy_of", "units_of"]

PLAYS = ("best", "sample")
"""The move of the highest logit, or one drawn by the probabilities."""


@dataclass(frozen=True)
class TrainedAgent:
    """The network of a file as a player.

    path: of the file, or the name of one that ships
    weights: digest of the weights that are meant; "" for whatever the file holds
    play: "best", the likeliest move, or "sample", one drawn by chance
    temperature: divides the logits where moves are drawn
    traits: of the player that is imitated, where the network is told some: "skill=1.5,haste=0"; the others are those of
        the average player
    blind: play games, too, of which the network does not see everything
    """

    path: str
    weights: str = ""
    play: str = "best"
    temperature: float = 1.0
    traits: str = ""
    blind: bool = False
    trained: Trained = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.play not in PLAYS:
            raise ValueError(f"play must be one of {', '.join(PLAYS)}, not {self.play!r}")
        if not 0.0 < self.temperature < float("inf"):
            raise ValueError(f"temperature must be a number above 0, not {self.temperature}")
        trained = read(self.path)
        if self.weights not in ("", trained.digest):
            raise PolicyFileError(
                f"{self.path!r} holds the weights {trained.digest}, not {self.weights}: it was trained again since then"
            )
        _traits(self.traits, trained.inputs, self.path)
        object.__setattr__(self, "weights", trained.digest)
        object.__setattr__(self, "trained", trained)

    @property
    def name(self) -> str:
        """The file, the digest of its weights, and the parameters that differ from their defaults."""
        known = [f for f in dataclasses.fields(self) if f.init and f.name not in ("path", "weights")]
        changed = [f"{f.name}={written(getattr(self, f.name))}" for f in known if getattr(self, f.name) != f.default]
        return f"policy:{self.path}:{','.join([f'weights={self.weights}', *changed])}"

    def bind(self, game: Game) -> Policy:
        """The player in this game; a `PolicyError` where it cannot play there."""
        trained = self.trained
        if game.shape != trained.shape and not trained.architecture.any_size:
            raise PolicyError(
                f"{self.path!r} plays boards of {_size(trained.shape)} only, being of the architecture "
                f"{trained.architecture.name!r}, and this game has {_size(game.shape)}"
            )
        unseen = trained.inputs.unseen(game)
        if unseen and not self.blind:
            raise PolicyError(
                f"{self.path!r} never saw what this game has ({', '.join(unseen)}): train it on such levels, or let it "
                "play all the same with blind=True"
            )
        how = self.play, self.temperature, units_of(trained.about), _traits(self.traits, trained.inputs, self.path)
        return policy_of(game, trained.architecture, trained.inputs, trained.weights, *how)


def _traits(text: str, inputs: Inputs, path: str) -> dict[str, float]:
    """Traits by name from "skill=1.5,haste=0"."""
    known, found = [trait.name for trait in inputs.traits], {}
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        if name not in known:
            raise ValueError(f"{path!r} is told no trait {name!r} of who plays; there are {', '.join(known) or 'none'}")
        try:
            found[name] = float(value)
        except ValueError:
            found[name] = float("nan")
        if not math.isfinite(found[name]):
            raise ValueError(f"traits: {name} must be a number, such as {name}=1.5, not {value!r}")
    return found


def _size(shape: tuple[int, int]) -> str:
    return f"{shape[0]}x{shape[1]}"


class Units(NamedTuple):
    """What a network's values are counted in. scale: they are to be multiplied by it; discount: of further moves."""

    worth: str
    scale: float
    discount: float


def units_of(about: Mapping[str, Any]) -> Units | None:
    """The units of a trained network's values; None where it does not tell, or counts what nobody else does."""
    worth, scale = about.get("reward"), about.get("reward_scale")
    settings = about.get("settings")
    discount = settings.get("discount") if isinstance(settings, dict) else None
    if worth not in WORTHS or not isinstance(scale, int | float) or not isinstance(discount, int | float):
        return None
    return Units(worth, float(scale), float(discount)) if 0 <= discount <= 1 else None


def policy_of(
    game: Game,
    architecture: Architecture,
    inputs: Inputs,
    weights: Any,
    play: str = "best",
    temperature: float = 1.0,
    units: Units | None = None,
    traits: Mapping[str, float] | None = None,
) -> Policy:
    """A network as a player of a game; other weights, temperatures and traits compile nothing.

    Where the network is told traits, a start that is given some, arrays by name, plays each attempt with its own.
    """
    act, start, logits, value = _functions(game.spec, tuple(game.channels), architecture, inputs, play)
    standard = inputs.standard(traits or {}) if inputs.traits else ()
    params = weights, jnp.float32(temperature), jnp.float32(units.scale if units else 1.0), standard
    if units is None:
        return Policy(act, start, params=params, logits=logits)
    return Policy(act, start, params=params, logits=logits, value=value, worth=units.worth, discount=units.discount)


@functools.lru_cache(maxsize=64)
def _functions(spec: Any, channels: tuple[str, ...], architecture: Architecture, inputs: Inputs, play: str) -> Any:
    """(act, start, logits, value): the same for each kind of game, by which programs are kept."""
    network: Any = architecture.made()

    def start(params: Any, key: jax.Array, state: State, level: Level, given: Any = None) -> Memory:
        """The traits of who plays each board, float32[traits, B]; nothing where the network is told none."""
        if not inputs.traits:
            return ()
        shape = len(inputs.traits), state.planes.shape[-1]
        traits = params[3][:, None] if given is None else inputs.standard(given)
        return jnp.broadcast_to(traits, shape)

    def said(weights: Any, memory: Memory, state: State, level: Level) -> Answer:
        cells = inputs.cells(inputs.view(spec, channels, state, level))
        return answer(network, weights, cells, memory.T if inputs.traits else None)

    def seen(weights: Any, memory: Memory, state: State, level: Level) -> jax.Array:
        return masked(said(weights, memory, state, level)[0], legal(spec, state).T)

    def logits(params: Any, memory: Memory, state: State, level: Level) -> jax.Array:
        weights, temperature, *_ = params
        return (seen(weights, memory, state, level) / temperature).T

    def value(params: Any, memory: Memory, state: State, level: Level) -> jax.Array:
        weights, _, scale, _ = params
        return said(weights, memory, state, level)[1] * scale

    def act(params: Any, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[jax.Array, Memory]:
        weights, temperature, *_ = params
        found = seen(weights, memory, state, level)
        if play == "sample":
            noise = jax.vmap(lambda k: jax.random.gumbel(k, found.shape[1:]))(key)
            found = masked(found / temperature + noise, legal(spec, state).T)
        return jnp.argmax(found, axis=1).astype(jnp.int32), memory

    return act, start, logits, value
