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
from agents.learning.inputs import Inputs, View, any_symmetry, seen_actions, seen_through
from agents.learning.learner import Metrics, masked, mean_of_some
from agents.learning.networks import DEFAULT, Architecture
from agents.learning.practice import Practice, Situation
from crush_gym import Level

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
    updates: int = 8
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
class Ppo:
    """See the head of this file. steps: moves of the whole run, by which the rate and the entropy's weight fall."""

    practice: Practice
    architecture: Architecture = DEFAULT
    settings: Settings = Settings()
    steps: int = 1_000_000

    name = "ppo"

    @property
    def inputs(self) -> Inputs:
        """What the network sees."""
        return self.practice.inputs

    @property
    def steps_per_update(self) -> int:
        """Moves on all boards between two updates."""
        return self.settings.boards * self.settings.length

    @property
    def steps_per_call(self) -> int:
        """See `Learner`."""
        return self.steps_per_update * self.settings.updates

    @cached_property
    def network(self) -> Any:
        """The network."""
        return self.architecture.made()

    @cached_property
    def optimiser(self) -> optax.GradientTransformation:
        """Adam, with a limit of gradients' norms."""
        batches = -(-self.steps // self.steps_per_update) * self.settings.epochs * self._minibatches
        rate = optax.linear_schedule(self.settings.rate, 0.1 * self.settings.rate, batches)
        return optax.chain(optax.clip_by_global_norm(self.settings.norm), optax.adam(rate, eps=1e-5))

    @property
    def _minibatches(self) -> int:
        return self.steps_per_update // self.settings.minibatch

    def start(self, key: jax.Array) -> State:
        """See `Learner`."""
        return self._started(key)

    @cached_property
    def _started(self) -> Any:
        return jax.jit(self._start)

    def _start(self, key: jax.Array) -> State:
        making, opening, playing = jax.random.split(key, 3)
        situation, scale = self.practice.begun(opening, self.settings.boards)
        weights = self.network.init(
            making, self.inputs.cells(jax.tree.map(lambda x: x[:1], self.practice.view(situation)))
        )
        return State(weights, self.optimiser.init(weights), situation, playing, scale, jnp.int32(0))

    def learn(self, state: State) -> tuple[State, Metrics]:
        """See `Learner`."""
        return self._learned(state)

    @cached_property
    def _learned(self) -> Any:
        return jax.jit(self._updates, donate_argnums=0)

    def _updates(self, state: State) -> tuple[State, Metrics]:
        state, metrics = lax.scan(lambda s, _: self._update(s), state, None, length=self.settings.updates)
        return state, {name: jnp.nanmean(values) for name, values in metrics.items()}

    def _update(self, state: State) -> tuple[State, Metrics]:
        """Play, then learn from what was played."""
        key, playing, mixing = jax.random.split(state.key, 3)
        situation, batch, seen = self._played(state, playing)
        flat = jax.tree.map(lambda x: x.reshape(x.shape[0] * x.shape[1], *x.shape[2:]), batch)
        entropy = self.settings.entropy * (
            1.0 - 0.7 * jnp.minimum(1.0, state.done * self.steps_per_update / self.steps)
        )

        def epoch(carry: Any, key: jax.Array) -> Any:
            order = jax.random.permutation(key, self.steps_per_update)
            return lax.scan(partial(self._minibatch, flat, entropy), carry, order.reshape(self._minibatches, -1))

        keys = jax.random.split(mixing, self.settings.epochs)
        (weights, optimiser), losses = lax.scan(epoch, (state.weights, state.optimiser), keys)
        metrics = seen | {name: values.mean() for name, values in losses.items()}
        metrics["loss/explained"] = 1.0 - jnp.var(flat.target - flat.value) / jnp.maximum(jnp.var(flat.target), 1e-9)
        return State(weights, optimiser, situation, key, state.scale, state.done + 1), metrics

    # ------------------------------------------------------------------ playing

    def _played(self, state: State, key: jax.Array) -> tuple[Situation, Batch, Metrics]:
        """So many moves of every board, with their advantages."""
        practice, settings = self.practice, self.settings

        def move(situation: Situation, key: jax.Array) -> Any:
            looking, drawing, falling = jax.random.split(key, 3)
            view, legal, symmetry = self._look(situation, looking)
            logits, value = self.network.apply(state.weights, self.inputs.cells(view))
            logp = jax.nn.log_softmax(masked(logits, legal))
            seen = jax.random.categorical(drawing, logp)
            chosen = jax.nn.one_hot(seen, logp.shape[1], dtype=bool)
            action = jnp.argmax(seen_actions(symmetry, practice.game.shape, chosen), axis=1).astype(jnp.int32)
            situation, outcome = practice.step(jax.random.split(falling, settings.boards), situation, action)
            own = jnp.take_along_axis(logp, seen[:, None], axis=1)[:, 0]
            return situation, (view, legal, seen, own, value, outcome)

        moves, last = jax.random.split(key)
        situation, (view, legal, seen, logp, value, outcome) = lax.scan(
            move, state.situation, jax.random.split(moves, settings.length)
        )
        following = self.network.apply(state.weights, self.inputs.cells(self._look(situation, last)[0]))[1]
        advantage = advantages(outcome.reward / state.scale, outcome.over, value, following, settings)
        batch = Batch(view, legal, seen, logp, value, advantage, advantage + value)
        metrics = {
            "play/return": mean_of_some(outcome.gained, outcome.over),
            "play/moves": mean_of_some(outcome.made, outcome.over),
            "play/reward": outcome.reward.mean(),
        }
        return situation, batch, metrics

    def _look(self, situation: Situation, key: jax.Array) -> tuple[View, jax.Array, Any]:
        """What is seen of boards through a symmetry of each, and which moves are legal as seen."""
        settings = self.settings
        symmetry = any_symmetry(key, self.inputs, settings.boards, settings.mirror, settings.recolour)
        view = seen_through(symmetry, self.inputs, self.practice.view(situation))
        return view, seen_actions(symmetry, self.practice.game.shape, self.practice.legal(situation)), symmetry

    # ------------------------------------------------------------------ learning

    def _minibatch(self, flat: Batch, entropy: jax.Array, carry: Any, places: jax.Array) -> tuple[Any, Metrics]:
        """One step of the optimiser."""
        weights, optimiser = carry
        batch = jax.tree.map(lambda x: jnp.take(x, places, axis=0), flat)
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

    def weights(self, state: State) -> Any:
        """See `Learner`."""
        return state.weights

    def scale(self, state: State) -> float:
        """See `Learner`."""
        return float(state.scale)

    def shown(self, state: State) -> tuple[list[str], Level]:
        """See `Learner`."""
        return self.practice.shown(state.situation)


def advantages(
    reward: jax.Array, over: jax.Array, value: jax.Array, following: jax.Array, settings: Settings
) -> jax.Array:
    """Generalised advantages, float32[T, B].

    Args:
        reward: of the moves, float32[T, B].
        over: which of them ended an attempt, after which nothing more can be gained.
        value: what the boards were thought to be worth before them.
        following: the same of the boards after the last one, float32[B].
    """

    def back(carry: tuple[jax.Array, jax.Array], move: tuple[jax.Array, ...]) -> Any:
        advantage, after = carry
        reward, over, value = move
        more = jnp.where(over, 0.0, 1.0) * settings.discount
        advantage = reward + more * after - value + more * settings.trace * advantage
        return (advantage, value), advantage

    start = jnp.zeros_like(following), following
    found: jax.Array = lax.scan(back, start, (reward, over, value), reverse=True)[1]
    return found
