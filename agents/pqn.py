"""Q-learning without a memory: many boards side by side, returns of several moves, normalised layers.

The algorithm is PQN, of Gallici and others (2024): it learns from each stretch of play once or twice and forgets it,
and has no second network for its targets, which are lambda-returns of the best moves' values, Peng's Q(lambda). What
makes that stable is that layers are normalised. Moves that are not legal are neither made nor counted as best ones, and
nothing follows the last move of an attempt.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import lax

from agents.learning.action_values import chosen, dueling, highest, of_greedy, of_moves, returns, shares
from agents.learning.algorithms import in_range
from agents.learning.inputs import View
from agents.learning.learner import Metrics, OnDevice, in_minibatches, of_attempts
from agents.learning.networks import Architecture
from agents.learning.practice import Seen, Situation

__all__ = ["Pqn", "Settings"]


NORMALISED = Architecture("edge", (("norm", True),))
"""The network where no other is asked for."""


@dataclass(frozen=True)
class Settings:
    """How it learns."""

    boards: int = 128
    """that are played side by side"""
    length: int = 16
    """moves of each between two updates"""
    epochs: int = 1
    """passes over what was played"""
    minibatch: int = 256
    """moves of one step of the optimiser"""
    rate: float = 1e-3
    """of learning; it falls in a straight line to a tenth of it at the run's last step"""
    discount: float = 0.9
    """what a reward is worth one move later"""
    trace: float = 0.65
    """lambda of the returns: 0 looks one move ahead, 1 to the end of the stretch"""
    epsilon: float = 0.4
    """share of random moves on the first board; on the others it falls, to a hundredth of it"""
    greedy: float = 0.125
    """part of the boards on which no move is random; their returns are logged as play/greedy"""
    norm: float = 10.0
    """greatest norm of a gradient"""
    mirror: bool = True
    """learn from boards as their mirror images"""
    recolour: bool = True
    """learn from boards in other colours"""
    updates: int = 8
    """in one call of the program"""

    def __post_init__(self) -> None:
        in_range(
            self, boards=(1, 65536), length=(1, 4096), epochs=(1, 100), rate=(1e-8, 1.0), discount=(0, 1), trace=(0, 1),
            epsilon=(0, 1), greedy=(0, 1), norm=(1e-6, 1e6), updates=(1, 10_000),
            minibatch=(1, self.boards * self.length),
        )  # fmt: skip
        if self.boards * self.length % self.minibatch:
            raise ValueError(
                f"boards x length, {self.boards * self.length:,} moves, must be a multiple of minibatch, "
                f"{self.minibatch:,}"
            )


class State(NamedTuple):
    """All that learning goes on from. scale: rewards are divided by it."""

    weights: Any
    optimiser: Any
    situation: Situation
    key: jax.Array
    scale: jax.Array


class Batch(NamedTuple):
    """What was played, with axes of moves and boards in front, or one of both. target: what the move was worth."""

    view: View
    legal: jax.Array
    action: jax.Array
    target: jax.Array


@dataclass(frozen=True, eq=False)
class Pqn(OnDevice):
    """See the head of this file."""

    architecture: Architecture = NORMALISED
    settings: Settings = Settings()

    name, foresees = "pqn", True

    @property
    def steps_per_update(self) -> int:
        """See `OnDevice`."""
        return self.settings.boards * self.settings.length

    @cached_property
    def optimiser(self) -> optax.GradientTransformation:
        """Rectified Adam, with a limit of gradients' norms."""
        minibatches = self.steps_per_update // self.settings.minibatch
        batches = -(-self.steps // self.steps_per_update) * self.settings.epochs * minibatches
        rate = optax.linear_schedule(self.settings.rate, 0.1 * self.settings.rate, batches)
        return optax.chain(optax.clip_by_global_norm(self.settings.norm), optax.radam(rate))

    def _begin(self, key: jax.Array) -> State:
        making, opening, playing = jax.random.split(key, 3)
        situation, scale = self.practice.begun(opening, self.settings.boards)
        weights = self.new_weights(making, situation)
        return State(weights, self.optimiser.init(weights), situation, playing, scale)

    def _update(self, state: State) -> tuple[State, Metrics]:
        """Play, then learn from what was played."""
        settings = self.settings
        key, playing, mixing = jax.random.split(state.key, 3)
        situation, batch, seen = self._played(state, playing)
        (weights, optimiser), losses = in_minibatches(
            self._minibatch, (state.weights, state.optimiser), batch, mixing, settings.epochs, settings.minibatch
        )
        return State(weights, optimiser, situation, key, state.scale), seen | losses

    # ------------------------------------------------------------------ playing

    def _played(self, state: State, key: jax.Array) -> tuple[Situation, Batch, Metrics]:
        """So many moves of every board, with what they turned out to be worth."""
        practice, settings = self.practice, self.settings
        share = shares(settings.boards, settings.epsilon, settings.greedy)

        def looked(situation: Situation, key: jax.Array) -> tuple[Seen, jax.Array]:
            seen = practice.look(key, situation, settings.mirror, settings.recolour)
            return seen, self._values(state.weights, seen.view, seen.legal)

        def move(situation: Situation, key: jax.Array) -> Any:
            looking, drawing, falling = jax.random.split(key, 3)
            seen, values = looked(situation, looking)
            action = chosen(drawing, values, seen.legal, share)
            keys = jax.random.split(falling, settings.boards)
            situation, outcome = practice.step(keys, situation, practice.meant(seen, action))
            best = of_moves(values, highest(values, seen.legal))
            return situation, (seen.view, seen.legal, action, best, outcome)

        moves, last = jax.random.split(key)
        situation, (view, legal, action, best, outcome) = lax.scan(
            move, state.situation, jax.random.split(moves, settings.length)
        )
        seen, values = looked(situation, last)
        following = jnp.concatenate([best[1:], of_moves(values, highest(values, seen.legal))[None]])
        target = returns(outcome.reward / state.scale, outcome.over, following, settings.discount, settings.trace)
        return situation, Batch(view, legal, action, target), of_attempts(outcome) | of_greedy(outcome, share)

    def _values(self, weights: Any, view: View, legal: jax.Array) -> jax.Array:
        """What moves are thought to be worth, float32[B, actions]."""
        logits, value = self.network.apply(weights, self.inputs.cells(view))
        return dueling(logits, value, legal)

    # ------------------------------------------------------------------ learning

    def _minibatch(self, carry: Any, batch: Batch) -> tuple[Any, Metrics]:
        """One step of the optimiser."""
        weights, optimiser = carry
        gradient, metrics = jax.grad(self._loss, has_aux=True)(weights, batch)
        change, optimiser = self.optimiser.update(gradient, optimiser, weights)
        metrics["loss/gradient"] = optax.tree.norm(gradient)
        return (optax.apply_updates(weights, change), optimiser), metrics

    def _loss(self, weights: Any, batch: Batch) -> tuple[jax.Array, Metrics]:
        value = of_moves(self._values(weights, batch.view, batch.legal), batch.action)
        error = 0.5 * jnp.square(value - batch.target).mean()
        explained = 1.0 - jnp.var(batch.target - value) / jnp.maximum(jnp.var(batch.target), 1e-9)
        return error, {"loss/error": error, "loss/explained": explained, "loss/worth": value.mean()}
