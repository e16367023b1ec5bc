"""What all learners have in common: pure functions on one state, which a run calls, logs, keeps and takes up again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Protocol, TypeVar

import jax
import jax.numpy as jnp
from jax import lax

from agents.learning.inputs import Inputs
from agents.learning.networks import DEFAULT, Architecture
from agents.learning.practice import Outcome, Practice, Situation
from crush_gym import Level
from crush_gym.runtime import cut, even, whole

__all__ = [
    "ILLEGAL",
    "Learner",
    "Metrics",
    "OnDevice",
    "State",
    "in_minibatches",
    "masked",
    "mean_of_some",
    "of_attempts",
]

Carry = TypeVar("Carry")

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
    previews: whether it can show the network what moves bring by themselves
    foresees: whether the network counts that from the start, where no other network is asked for
    from_pairs: whether it learns from recorded moves instead of play; data: a digest of those, "" without any
    shape: (rows, columns) of the board that its network sees
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

    @property
    def previews(self) -> bool: ...

    @property
    def foresees(self) -> bool: ...

    @property
    def from_pairs(self) -> bool: ...

    @property
    def data(self) -> str: ...

    @property
    def shape(self) -> tuple[int, int]: ...

    def shapes(self, key: jax.Array) -> State:
        """Something with the shapes and types of a state, whatever it holds."""
        ...

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

    def shown(self, state: State) -> tuple[list[str], Level] | None:
        """One of the boards that are learned on, where any is played: its rows of tokens, and its level."""
        ...

    def examined(self, weights: Any, part: str = "validation") -> Mapping[str, float]:
        """What weights make of recorded moves that were kept back, by name; nothing where it learns from play.

        Args:
            part: "validation", by which weights are chosen, or "test".
        """
        ...


@dataclass(frozen=True, eq=False)
class OnDevice(ABC):
    """A learner whose boards, network and optimiser are one program; what differs is how it begins and how it updates.

    Its state has at least weights, situation and scale; its settings have `updates`, the number of them in one call.

    steps: moves of the whole run, by which schedules go
    devices: that boards, and what is learned from them, are split over; the weights are on each of them
    """

    practice: Practice
    architecture: Architecture = DEFAULT
    settings: Any = None
    steps: int = 1_000_000
    devices: tuple[jax.Device, ...] = ()

    previews, foresees, from_pairs, data = True, False, False, ""

    @property
    def shape(self) -> tuple[int, int]:
        """See `Learner`."""
        return self.practice.game.shape

    @property
    @abstractmethod
    def steps_per_update(self) -> int:
        """Moves on all boards of one update."""

    @abstractmethod
    def _begin(self, key: jax.Array) -> State:
        """See `start`."""

    @abstractmethod
    def _update(self, state: State) -> tuple[State, Metrics]:
        """Play and learn once."""

    @property
    def inputs(self) -> Inputs:
        """What the network sees."""
        return self.practice.inputs

    @property
    def steps_per_call(self) -> int:
        """See `Learner`."""
        return self.steps_per_update * int(self.settings.updates)

    @cached_property
    def network(self) -> Any:
        """The network."""
        return self.architecture.made()

    def new_weights(self, key: jax.Array, situation: Situation) -> Any:
        """Weights that have learned nothing; the boards show what comes in."""
        one = jax.tree.map(lambda x: x[:1], self.practice.view(situation))
        return self.network.init(key, self.inputs.cells(one))

    def shapes(self, key: jax.Array) -> State:
        """See `Learner`; nothing is compiled for it."""
        return jax.eval_shape(self._begin, key)

    def start(self, key: jax.Array) -> State:
        """See `Learner`."""
        return self._compiled[0](key)

    def learn(self, state: State) -> tuple[State, Metrics]:
        """See `Learner`."""
        learned: tuple[State, Metrics] = self._compiled[1](state)
        return learned

    def __post_init__(self) -> None:
        if self.devices:
            even(self.settings.boards, self.devices, "boards")
            object.__setattr__(self, "practice", self.practice.on(self.devices))

    @cached_property
    def _compiled(self) -> tuple[Any, Any]:
        if not self.devices:
            return jax.jit(self._begin), jax.jit(self._updates, donate_argnums=0)
        placed = self._placement()
        return (
            jax.jit(self._begin, out_shardings=placed),
            jax.jit(
                self._updates, donate_argnums=0, in_shardings=(placed,), out_shardings=(placed, whole(self.devices))
            ),
        )

    def _placement(self) -> Any:
        """Where a state lies on several devices: boards in parts, the rest whole on each."""
        shapes = self.shapes(jax.eval_shape(jax.random.key, 0))
        placed = jax.tree.map(lambda _: whole(self.devices), shapes)
        return placed._replace(situation=jax.tree.map(partial(cut, self.devices), shapes.situation))

    def _updates(self, state: State) -> tuple[State, Metrics]:
        state, metrics = lax.scan(lambda s, _: self._update(s), state, None, length=self.settings.updates)
        return state, {name: jnp.nanmean(values) for name, values in metrics.items()}

    def weights(self, state: State) -> Any:
        """See `Learner`."""
        return state.weights

    def scale(self, state: State) -> float:
        """See `Learner`."""
        return float(state.scale)

    def shown(self, state: State) -> tuple[list[str], Level]:
        """See `Learner`."""
        return self.practice.shown(state.situation)

    def examined(self, weights: Any, part: str = "validation") -> Mapping[str, float]:
        """See `Learner`."""
        del weights, part
        return {}


def in_minibatches(
    step: Callable[[Carry, Any], tuple[Carry, Metrics]],
    carry: Carry,
    batch: Any,
    key: jax.Array,
    epochs: int,
    size: int,
) -> tuple[Carry, Metrics]:
    """Learn from what was played, in another order each time.

    Args:
        step: one step of the optimiser: from weights and the like and a part of the batch to new ones and metrics.
        carry: weights and the like at first.
        batch: a tree of X[T, B, ...], moves of boards.
        key: decides the orders.
        epochs: passes over the batch.
        size: of a part, which divides T x B.

    Returns:
        The last weights and the like, and the metrics' means.
    """
    flat = jax.tree.map(lambda x: x.reshape(x.shape[0] * x.shape[1], *x.shape[2:]), batch)
    moves = jax.tree.leaves(flat)[0].shape[0]

    def part(carry: Carry, places: jax.Array) -> tuple[Carry, Metrics]:
        return step(carry, jax.tree.map(lambda x: jnp.take(x, places, axis=0), flat))

    def epoch(carry: Carry, key: jax.Array) -> tuple[Carry, Metrics]:
        return lax.scan(part, carry, jax.random.permutation(key, moves).reshape(-1, size))

    carry, metrics = lax.scan(epoch, carry, jax.random.split(key, epochs))
    return carry, {name: values.mean() for name, values in metrics.items()}


def of_attempts(outcome: Outcome) -> Metrics:
    """What is logged of play: the means over the attempts that ended, NaN where none did, and of moves' rewards."""
    return {
        "play/return": mean_of_some(outcome.gained, outcome.over),
        "play/moves": mean_of_some(outcome.made, outcome.over),
        "play/reward": outcome.reward.mean(),
    }


def masked(logits: jax.Array, legal: jax.Array) -> jax.Array:
    """Logits of which none but legal moves can be drawn: float32[B, actions], bool[B, actions]."""
    return jnp.where(legal, logits, ILLEGAL)


def mean_of_some(values: jax.Array, which: jax.Array) -> jax.Array:
    """The mean of the values that are meant; NaN where none is. X[...], bool[...] -> float32[]."""
    return jnp.sum(jnp.where(which, values, 0)) / jnp.sum(which)
