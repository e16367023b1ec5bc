"""Expert iteration: a network learns what a short search with it would have played, and the search gets better with it.

The teacher looks one move ahead on the real simulator. Of the moves that the network's probabilities propose, drawn
without repetition (the Gumbel root of Danihelka and others, 2022), it samples a few futures each, always fresh ones,
and never those that will really come. What it found raises the probabilities of good moves and lowers those of bad
ones; that is what the network learns to say at once, together with what the boards turned out to be worth. The boards
are those that the learner itself comes to.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import lax

from agents.learning.algorithms import in_range
from agents.learning.inputs import View, seen_actions
from agents.learning.learner import ILLEGAL, Metrics, OnDevice, in_minibatches, masked, of_attempts
from agents.learning.practice import Outcome, Seen, Situation
from agents.ppo import advantages
from agents.search import deeper, futures
from agents.search.deeper import Future, Judge, Knobs
from agents.search.futures import Measure, Span
from crush_gym import Level
from crush_gym import State as Position
from crush_gym.keys import player_key
from crush_gym.runtime import randomness

__all__ = ["Expert", "Settings", "improved"]


@dataclass(frozen=True)
class Settings:
    """How it learns."""

    boards: int = 128
    """that are played side by side"""
    length: int = 16
    """moves of each between two updates"""
    epochs: int = 2
    """passes over what was played"""
    minibatch: int = 512
    """moves of one step of the optimiser"""
    rate: float = 1e-3
    """of learning; it falls in a straight line to a tenth of it at the run's last step"""
    considered: int = 8
    """moves that the teacher tries"""
    samples: int = 4
    """futures of each of them"""
    judged: bool = False
    """whether futures count what the network expects of the positions that they come to, which takes long"""
    sharpness: float = 5.0
    """how much more the teacher likes the best of the moves that it tried than the worst, in logits"""
    discount: float = 0.9
    """what a reward is worth one move later"""
    trace: float = 0.8
    """lambda of the returns that values learn from"""
    value: float = 0.5
    """weight of the value's error"""
    norm: float = 0.5
    """greatest norm of a gradient"""
    mirror: bool = True
    """learn from boards as their mirror images"""
    recolour: bool = True
    """learn from boards in other colours"""
    updates: int = 8
    """in one call of the program"""

    def __post_init__(self) -> None:
        in_range(
            self, boards=(1, 65536), length=(1, 4096), epochs=(1, 100), rate=(1e-8, 1.0), considered=(2, 480),
            samples=(1, 10_000), sharpness=(0.01, 1000), discount=(0, 1), trace=(0, 1), value=(0, 100),
            norm=(1e-6, 1e6), updates=(1, 10_000), minibatch=(1, self.boards * self.length),
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
    """What was played, with axes of moves and boards in front, or flat. taught: the teacher's probabilities."""

    view: View
    legal: jax.Array
    taught: jax.Array
    target: jax.Array


@dataclass(frozen=True, eq=False)
class Expert(OnDevice):
    """See the head of this file; by the run's steps, the rate falls."""

    settings: Settings = Settings()

    name = "expert"

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
        return State(weights, self.optimiser.init(weights), situation, playing, scale)

    def _update(self, state: State) -> tuple[State, Metrics]:
        """Play with the teacher, then learn what it said."""
        key, playing, mixing = jax.random.split(state.key, 3)
        situation, batch, seen = self._played(state, playing)
        (weights, optimiser), losses = in_minibatches(
            self._minibatch, (state.weights, state.optimiser), batch, mixing,
            self.settings.epochs, self.settings.minibatch,
        )  # fmt: skip
        return State(weights, optimiser, situation, key, state.scale), seen | losses

    # ------------------------------------------------------------------ playing

    def _played(self, state: State, key: jax.Array) -> tuple[Situation, Batch, Metrics]:
        """So many moves of every board, with what the teacher says of each."""
        practice, settings = self.practice, self.settings

        def move(situation: Situation, key: jax.Array) -> Any:
            looking, searching, drawing, falling = jax.random.split(key, 4)
            seen = practice.look(looking, situation, settings.mirror, settings.recolour)
            logits, value = self.network.apply(state.weights, self.inputs.cells(seen.view))
            own = seen_actions(seen.symmetry, practice.game.shape, masked(logits, seen.legal))
            taught = self._taught(state, searching, situation, own)
            action = jax.random.categorical(drawing, jnp.log(taught)).astype(jnp.int32)
            situation, outcome = practice.step(jax.random.split(falling, settings.boards), situation, action)
            return situation, (seen, seen_actions(seen.symmetry, practice.game.shape, taught), value, outcome)

        moves, last = jax.random.split(key)
        played: tuple[Seen, jax.Array, jax.Array, Outcome]
        situation, played = lax.scan(move, state.situation, jax.random.split(moves, settings.length))
        seen, taught, value, outcome = played
        final = practice.look(last, situation, settings.mirror, settings.recolour).view
        following = self.network.apply(state.weights, self.inputs.cells(final))[1]
        rewards = outcome.reward / state.scale
        gained = advantages(rewards, outcome.over, value, following, settings.discount, settings.trace)
        return situation, Batch(seen.view, seen.legal, taught, gained + value), of_attempts(outcome)

    def _taught(self, state: State, key: jax.Array, situation: Situation, logits: jax.Array) -> jax.Array:
        """The teacher's probabilities, float32[B, actions]. logits: the network's, of the boards' own actions."""
        settings, boards = self.settings, self.settings.boards
        proposing, sampling = jax.random.split(key)
        noisy = jnp.where(logits > ILLEGAL, logits + jax.random.gumbel(proposing, logits.shape), -jnp.inf)
        strength, moves = lax.top_k(noisy, min(settings.considered, self.practice.game.actions))
        actions = jnp.where(strength > -jnp.inf, moves, -1).astype(jnp.int32)
        words = randomness.key_bits(player_key(jax.random.split(sampling, boards)))
        brought = self._brought(state, words, situation, actions.T).T / state.scale
        return improved(logits, actions, brought, settings.sharpness)

    def _brought(self, state: State, words: jax.Array, situation: Situation, actions: jax.Array) -> jax.Array:
        """What moves bring on the mean of their futures, float32[considered, B], in rewards."""
        settings, spec = self.settings, self.practice.game.spec
        worth = "score" if self.practice.rewarded == "score" else "progress"
        measure = Measure.of(worth, settings.samples, fractions=settings.judged)
        position, level = situation.env.game, self.practice.level(situation)
        span = Span(jnp.int32(0), jnp.int32(settings.samples), settings.samples)
        if settings.judged:
            knobs = Knobs(jnp.float32(settings.discount), (), (state.weights, state.scale))
            future = Future(measure, judge=Judge(lambda *_: (), self._expected))
            sums = deeper.sums_of(spec, future, knobs, words, position, level, actions, span)
        else:
            sums = futures.sums_of(spec, measure, words, position, level, actions, span)
        return sums.astype(jnp.float32) / (measure.grains * settings.samples)

    def _expected(self, params: Any, memory: Any, position: Position, level: Level) -> jax.Array:
        """What the network expects of positions, in rewards; see `crush_gym.policies.Value`."""
        weights, scale = params
        view = self.inputs.view(self.practice.game.spec, self.practice.game.channels, position, level)
        expected: jax.Array = self.network.apply(weights, self.inputs.cells(view))[1] * scale
        return expected

    # ------------------------------------------------------------------ learning

    def _minibatch(self, carry: Any, batch: Batch) -> tuple[Any, Metrics]:
        """One step of the optimiser."""
        weights, optimiser = carry
        gradient, metrics = jax.grad(self._loss, has_aux=True)(weights, batch)
        change, optimiser = self.optimiser.update(gradient, optimiser, weights)
        metrics["loss/gradient"] = optax.tree.norm(gradient)
        return (optax.apply_updates(weights, change), optimiser), metrics

    def _loss(self, weights: Any, batch: Batch) -> tuple[jax.Array, Metrics]:
        logits, value = self.network.apply(weights, self.inputs.cells(batch.view))
        logp = jax.nn.log_softmax(masked(logits, batch.legal))
        said = -jnp.sum(jnp.where(batch.legal, batch.taught * logp, 0.0), axis=1).mean()
        least = -jnp.sum(jnp.where(batch.taught > 0, batch.taught * jnp.log(batch.taught), 0.0), axis=1).mean()
        error = 0.5 * jnp.square(value - batch.target).mean()
        agrees = jnp.argmax(logp, axis=1) == jnp.argmax(batch.taught, axis=1)
        metrics = {
            "loss/policy": said,
            "loss/above_least": said - least,
            "loss/value": error,
            "loss/agrees": agrees.mean(),
        }
        return said + self.settings.value * error, metrics


def improved(logits: jax.Array, actions: jax.Array, brought: jax.Array, sharpness: float) -> jax.Array:
    """Probabilities that are better than those that they come from: float32[B, actions].

    A move that was tried is likelier by how much it brought, between the worst and the best of those tried; the others
    count as what the tried ones brought on the mean, weighed by their probabilities.

    Args:
        logits: float32[B, actions], ILLEGAL where a move is not legal.
        actions: those that were tried, int32[B, K], -1 from where there are no more.
        brought: by each of them, float32[B, K].
        sharpness: logits between the worst and the best.
    """
    tried, prior = actions >= 0, jax.nn.softmax(logits)
    lowest = jnp.min(jnp.where(tried, brought, jnp.inf), axis=1, keepdims=True)
    highest = jnp.max(jnp.where(tried, brought, -jnp.inf), axis=1, keepdims=True)
    shares = jnp.where(tried, (brought - lowest) / jnp.maximum(highest - lowest, 1e-9), 0.0)
    weights = jnp.where(tried, jnp.take_along_axis(prior, jnp.maximum(actions, 0), axis=1), 0.0)
    mean = jnp.sum(weights * shares, axis=1, keepdims=True) / jnp.maximum(weights.sum(axis=1, keepdims=True), 1e-9)
    # What is tried nowhere lands beyond the last action, and is dropped.
    places = jnp.where(tried, actions, logits.shape[1])
    rows = jnp.arange(logits.shape[0])[:, None]
    worth = jnp.broadcast_to(mean, logits.shape).at[rows, places].set(shares, mode="drop")
    return jax.nn.softmax(jnp.where(logits > ILLEGAL, logits + sharpness * worth, ILLEGAL))
