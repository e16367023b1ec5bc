"""Players that were trained: `policy:PATH` plays the network in a file, in any game that it can see.

Its full name holds a digest of the weights (`policy:PATH:weights=1a2b3c4d`), so that results of a file that was trained
again are never taken for those of the old one.
"""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp

from agents.attempts import PolicyError
from agents.learning.files import PolicyFileError, Trained, read
from agents.learning.inputs import Inputs
from agents.learning.learner import masked
from agents.learning.networks import Architecture
from agents.protocol import Memory, Policy
from crush_gym import Game, Level, State
from crush_gym.policies import legal

__all__ = ["PLAYS", "TrainedAgent", "policy_of"]

PLAYS = ("best", "sample")
"""The move of the highest logit, or one drawn by the probabilities."""


@dataclass(frozen=True)
class TrainedAgent:
    """The network of a file as a player.

    path: of the file
    weights: digest of the weights that are meant; "" for whatever the file holds
    play: "best", the likeliest move, or "sample", one drawn by chance
    temperature: divides the logits where moves are drawn
    blind: play games, too, of which the network does not see everything
    """

    path: str
    weights: str = ""
    play: str = "best"
    temperature: float = 1.0
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
        object.__setattr__(self, "weights", trained.digest)
        object.__setattr__(self, "trained", trained)

    @property
    def name(self) -> str:
        """The file, the digest of its weights, and the parameters that differ from their defaults."""
        known = [f for f in dataclasses.fields(self) if f.init and f.name not in ("path", "weights")]
        changed = [f"{f.name}={getattr(self, f.name)}" for f in known if getattr(self, f.name) != f.default]
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
        return policy_of(game, trained.architecture, trained.inputs, trained.weights, self.play, self.temperature)


def _size(shape: tuple[int, int]) -> str:
    return f"{shape[0]}x{shape[1]}"


def policy_of(
    game: Game,
    architecture: Architecture,
    inputs: Inputs,
    weights: Any,
    play: str = "best",
    temperature: float = 1.0,
) -> Policy:
    """A network as a player of a game; other weights and temperatures compile nothing."""
    act, logits = _functions(game.spec, tuple(game.channels), architecture, inputs, play)
    return Policy(act, params=(weights, jnp.float32(temperature)), logits=logits)


@functools.lru_cache(maxsize=64)
def _functions(spec: Any, channels: tuple[str, ...], architecture: Architecture, inputs: Inputs, play: str) -> Any:
    """(act, logits): one pair for each kind of game, by which programs are kept."""
    network: Any = architecture.made()

    def seen(weights: Any, state: State, level: Level) -> jax.Array:
        answer: jax.Array = network.apply(weights, inputs.cells(inputs.view(spec, channels, state, level)))[0]
        return masked(answer, legal(spec, state).T)

    def logits(params: Any, memory: Memory, state: State, level: Level) -> jax.Array:
        weights, temperature = params
        return (seen(weights, state, level) / temperature).T

    def act(params: Any, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[jax.Array, Memory]:
        weights, temperature = params
        found = seen(weights, state, level)
        if play == "sample":
            noise = jax.vmap(lambda k: jax.random.gumbel(k, found.shape[1:]))(key)
            found = masked(found / temperature + noise, legal(spec, state).T)
        return jnp.argmax(found, axis=1).astype(jnp.int32), memory

    return act, logits
