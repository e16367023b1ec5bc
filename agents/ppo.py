"""Proximal policy optimisation on the device: boards, network and optimiser in one program of a few updates a call.

The algorithm is that of Schulman and others (2017), with what later work found to matter: advantages normalised in
each minibatch, orthogonal weights, a global limit of gradients' norms. Moves that are not legal have no probability,
neither when boards are played nor when they are learned from, and entropy counts legal moves only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import lax

from agents.learning.algorithms import in_range
from agents.learning.inputs import View
from agents.learning.learner import Metrics, OnDevice, in_minibatches, masked, of_attempts
from agents.learning.practice import Situation

__all__ = ["Ppo", "Settings"]


@dataclass(frozen=True)
class Settings:
    """How it learns."""

    boards: int = 256
    """that are played side by side"""
    length: int = 16
    """moves of each between two updates"""
    epochs: int = 2
    """passes over what was played"""
    minibatch: int = 1024
    """moves of one step of the optimiser"""
    rate: float = 1e-3
    """of learning; it falls in a straight line to a tenth of it at the run's last step"""
    discount: float = 0.9
    """what a reward is worth one move later"""
    trace: float = 0.8
    """lambda of the generalised advantage"""
    clip: float = 0.2
    """how far the probability of a move may go in one update, as a share"""
    entropy: float = 0.01
    """weight of the entropy; it falls to three tenths of it"""
    value: float = 0.5
    """weight of the value's error"""
    norm: float = 0.5
    """greatest norm of a gradient"""
    mirror: bool = True
    """learn from boards as their mirror images"""
    recolour: bool = True
    """learn from boards in other colours"""
    updates: int = 2
    """in one call of the program"""

    def __post_init__(self) -> None:
        in_range(
            self, boards=(1, 65536), length=(1, 4096), epochs=(1, 100), rate=(1e-8, 1.0), discount=(0, 1), trace=(0, 1),
            clip=(1e-3, 10), entropy=(0, 10), value=(0, 100), norm=(1e-6, 1e6), updates=(1, 10_000),
            minibatch=(1, self.boards * self.length),
        )  # fmt: skip
        if self.boards * self.length % self.minibatch:
            raise ValueError(
                f"boards x length, {self.boards * self.length:,} moves, must be a multiple of minibatch, "
                f"{self.minibatch:,}"
            )


class State(NamedTuple):
    """All that learning goes on from. scale: rewards are divided by it; done: updates so far."""

    weights: Any
    optimiser: Any
    situation: Situation
    key: jax.Array
    scale: jax.Array
    done: jax.Array


class Batch(NamedTuple):
    """What was played, with axes of moves and boards in front, or flat. logp: of the move when it was made."""

    view: View
    legal: jax.Array
    action: jax.Array
    logp: jax.Array
    value: jax.Array
    advantage: jax.Array
    target: jax.Array


@dataclass(frozen=True, eq=False)
class Ppo(OnDevice):
    """See the head of this file; by the run's steps, the rate and the entropy's weight fall."""

    settings: Settings = Settings()

    name, foresees = "ppo", True

    @property
    def steps_per_update(self) -> int:
        """See `OnDevice`."""
        return self.settings.boards * self.settings.length

    @cached_property
    def optimiser(self) -> optax.GradientTransformation:
        """Adam, with a limit of gradients' norms."""
        minibatches = self.steps_per_update // self.settings.minibatch
        batches = -(-self.steps // self.steps_per_update) * self.settings.epochs * minibatches
        rate = optax.linear_schedule(self.settings.rate, 0.1 * self.settings.rate, batches)
        return optax.chain(optax.clip_by_global_norm(self.settings.norm), optax.adam(rate, eps=1e-5))

    def _begin(self, key: jax.Array) -> State:
        making, opening, playing = jax.random.split(key, 3)
        situation, scale = self.practice.begun(opening, self.settings.boards)
        weights = self.new_weights(making, situation)
        return State(weights, self.optimiser.init(weights), situation, playing, scale, jnp.int32(0))

    def _update(self, state: State) -> tuple[State, Metrics]:
        """Play, then learn from what was played."""
        settings = self.settings
        key, playing, mixing = jax.random.split(state.key, 3)
        situation, batch, seen = self._played(state, playing)
        entropy = settings.entropy * (1.0 - 0.7 * jnp.minimum(1.0, state.done * self.steps_per_update / self.steps))
        (weights, optimiser), losses = in_minibatches(
            partial(self._minibatch, entropy), (state.weights, state.optimiser), batch, mixing,
            settings.epochs, settings.minibatch,
        )  # fmt: skip
        metrics = seen | losses
        metrics["loss/explained"] = 1.0 - jnp.var(batch.target - batch.value) / jnp.maximum(jnp.var(batch.target), 1e-9)
        return State(weights, optimiser, situation, key, state.scale, state.done + 1), metrics

    # ------------------------------------------------------------------ playing

    def _played(self, state: State, key: jax.Array) -> tuple[Situation, Batch, Metrics]:
        """So many moves of every board, with their advantages."""
        practice, settings = self.practice, self.settings

        def move(situation: Situation, key: jax.Array) -> Any:
            looking, drawing, falling = jax.random.split(key, 3)
            seen = practice.look(looking, situation, settings.mirror, settings.recolour)
            logits, value = self.network.apply(state.weights, self.inputs.cells(seen.view))
            logp = jax.nn.log_softmax(masked(logits, seen.legal))
            action = jax.random.categorical(drawing, logp)
            keys = jax.random.split(falling, settings.boards)
            situation, outcome = practice.step(keys, situation, practice.meant(seen, action))
            own = jnp.take_along_axis(logp, action[:, None], axis=1)[:, 0]
            return situation, (seen.view, seen.legal, action, own, value, outcome)

        moves, last = jax.random.split(key)
        situation, (view, legal, action, logp, value, outcome) = lax.scan(
            move, state.situation, jax.random.split(moves, settings.length)
        )
        final = practice.look(last, situation, settings.mirror, settings.recolour).view
        following = self.network.apply(state.weights, self.inputs.cells(final))[1]
        rewards = outcome.reward / state.scale
        advantage = advantages(rewards, outcome.over, value, following, settings.discount, settings.trace)
        batch = Batch(view, legal, action, logp, value, advantage, advantage + value)
        return situation, batch, of_attempts(outcome)

    # ------------------------------------------------------------------ learning

    def _minibatch(self, entropy: jax.Array, carry: Any, batch: Batch) -> tuple[Any, Metrics]:
        """One step of the optimiser."""
        weights, optimiser = carry
        gradient, metrics = jax.grad(self._loss, has_aux=True)(weights, batch, entropy)
        change, optimiser = self.optimiser.update(gradient, optimiser, weights)
        metrics["loss/gradient"] = optax.tree.norm(gradient)
        return (optax.apply_updates(weights, change), optimiser), metrics

    def _loss(self, weights: Any, batch: Batch, entropy: jax.Array) -> tuple[jax.Array, Metrics]:
        settings = self.settings
        logits, value = self.network.apply(weights, self.inputs.cells(batch.view))
        logp = jax.nn.log_softmax(masked(logits, batch.legal))
        own = jnp.take_along_axis(logp, batch.action[:, None], axis=1)[:, 0]
        ratio = jnp.exp(own - batch.logp)
        advantage = (batch.advantage - batch.advantage.mean()) / (batch.advantage.std() + 1e-8)
        clipped = jnp.clip(ratio, 1.0 - settings.clip, 1.0 + settings.clip)
        policy = -jnp.minimum(ratio * advantage, clipped * advantage).mean()
        error = 0.5 * jnp.square(value - batch.target).mean()
        spread = -jnp.sum(jnp.where(batch.legal, jnp.exp(logp) * logp, 0.0), axis=1).mean()
        metrics = {
            "loss/policy": policy,
            "loss/value": error,
            "loss/entropy": spread,
            "loss/kl": (ratio - 1.0 - (own - batch.logp)).mean(),
            "loss/clipped": (jnp.abs(ratio - 1.0) > settings.clip).mean(),
        }
        return policy + settings.value * error - entropy * spread, metrics


def advantages(
    reward: jax.Array, over: jax.Array, value: jax.Array, following: jax.Array, discount: float, trace: float
) -> jax.Array:
    """Generalised advantages, float32[T, B].

    Args:
        reward: of the moves, float32[T, B].
        over: which of them ended an attempt, after which nothing more can be gained.
        value: what the boards were thought to be worth before them.
        following: the same of the boards after the last one, float32[B].
        discount: what a reward is worth one move later.
        trace: lambda, by which errors of later moves count.
    """

    def back(carry: tuple[jax.Array, jax.Array], move: tuple[jax.Array, ...]) -> Any:
        advantage, after = carry
        reward, over, value = move
        more = jnp.where(over, 0.0, 1.0) * discount
        advantage = reward + more * after - value + more * trace * advantage
        return (advantage, value), advantage

    start = jnp.zeros_like(following), following
    found: jax.Array = lax.scan(back, start, (reward, over, value), reverse=True)[1]
    return found
