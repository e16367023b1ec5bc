"""What all learners have in common: pure functions on one state, which a run calls, logs, keeps and takes up again."""

from __future__ import annotations

from typing import Any, Protocol

import jax
import jax.numpy as jnp

from agents.learning.inputs import Inputs
from agents.learning.networks import Architecture
from crush_gym import Level

__all__ = ["ILLEGAL", "Learner", "Metrics", "State", "masked", "mean_of_some"]

State = Any
"""A pytree of all that learning goes on from: weights, the optimiser, boards, keys, counters."""

Metrics = dict[str, jax.Array]
"""Numbers by name, float32[] each, of one call."""

ILLEGAL = -1e9
"""The logit of a move that is not legal: its probability is exactly 0 in single precision."""


class Learner(Protocol):
    """A way to learn, on its levels, with its settings.

    architecture, inputs: of the network whose weights it learns
    steps_per_call: moves on all boards together of one call of `learn`
    """

    @property
    def name(self) -> str: ...

    @property
    def settings(self) -> Any: ...

    @property
    def architecture(self) -> Architecture: ...

    @property
    def inputs(self) -> Inputs: ...

    @property
    def steps_per_call(self) -> int: ...

    def start(self, key: jax.Array) -> State:
        """Before the first lesson."""
        ...

    def learn(self, state: State) -> tuple[State, Metrics]:
        """One call: the state that was given is used up."""
        ...

    def weights(self, state: State) -> Any:
        """Of the network, as a file keeps them."""
        ...

    def scale(self, state: State) -> float:
        """What rewards were divided by."""
        ...

    def shown(self, state: State) -> tuple[list[str], Level]:
        """One of the boards that are learned on: its rows of tokens, and its level."""
        ...


def masked(logits: jax.Array, legal: jax.Array) -> jax.Array:
    """Logits of which none but legal moves can be drawn: float32[B, actions], bool[B, actions]."""
    return jnp.where(legal, logits, ILLEGAL)


def mean_of_some(values: jax.Array, which: jax.Array) -> jax.Array:
    """The mean of the values that are meant; NaN where none is. X[...], bool[...] -> float32[]."""
    return jnp.sum(jnp.where(which, values, 0)) / jnp.sum(which)
