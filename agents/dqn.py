"""Deep Q-learning with a memory: the algorithm of Mnih and others (2015) with the two changes that became standard.

Double (van Hasselt and others, 2016): of the moves on the board that followed, the network chooses the best one, and an
older copy of it tells what that is worth. Dueling (Wang and others, 2016): see `agents.learning.action_values`. Moves
that are not legal are neither made nor chosen there, and nothing follows the last move of an attempt. Differences from
the papers: boards are played side by side, each with a share of random moves of its own, and errors are squared without
a limit, since the mean is what counts here, and rare great cascades make much of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import lax

from agents.learning.action_values import chosen, dueling, highest, of_greedy, of_moves, returns, shares
from agents.learning.algorithms import in_range
from agents.learning.inputs import View
from agents.learning.learner import Metrics, OnDevice, of_attempts
from agents.learning.practice import Outcome, Situation

__all__ = ["Dqn", "Memory", "Move", "Settings", "remembering"]


@dataclass(frozen=True)
class Settings:
    """How it learns."""

    boards: int = 64
    """that are played side by side"""
    memory: int = 32768
    """last moves that are remembered, on the device and in the run's state.safetensors; a move takes rows x columns x
    planes bytes, 11 for each action where previews are seen, else 1, and 9: on Combo 9x9 2,727 bytes, or 1,287"""
    first: int = 32
    """moves of each board, at random, before the first lesson; they are not counted as steps"""
    lessons: int = 1
    """steps of the optimiser after each move of all boards"""
    minibatch: int = 128
    """remembered moves of one step of the optimiser"""
    copy: int = 100
    """steps of the optimiser between two copies of the network, which tell what follows is worth"""
    ahead: int = 1
    """rewards of so many moves are counted before what follows is looked up"""
    rate: float = 1e-3
    """of learning; it falls in a straight line to a tenth of it at the run's last step"""
    discount: float = 0.9
    """what a reward is worth one move later"""
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
    updates: int = 256
    """moves of each board in one call of the program"""

    def __post_init__(self) -> None:
        in_range(
            self, boards=(1, 65536), lessons=(1, 10_000), minibatch=(1, 1_000_000), copy=(1, 1_000_000_000),
            ahead=(1, 100), rate=(1e-8, 1.0), discount=(0, 1), epsilon=(0, 1), greedy=(0, 1), norm=(1e-6, 1e6),
            updates=(1, 1_000_000), memory=(2 * self.boards, 100_000_000),
        )  # fmt: skip
        if self.memory % self.boards:
            raise ValueError(f"memory, {self.memory:,} moves, must be a multiple of boards, {self.boards:,}")
        if not self.ahead < self.first <= self.slots:
            raise ValueError(
                f"first must be greater than ahead, {self.ahead}, and at most memory / boards, {self.slots:,}, "
                f"not {self.first}"
            )

    @property
    def slots(self) -> int:
        """Moves of each board that are remembered."""
        return self.memory // self.boards


class Move(NamedTuple):
    """A move of each board: what was seen before it, and what it brought. reward: unscaled, float32[B]."""

    view: View
    legal: jax.Array
    action: jax.Array
    reward: jax.Array
    over: jax.Array


class Memory(NamedTuple):
    """A ring of the last moves. moves: a slot for each, in front of the boards' axis; made: how many ever, int32[].

    Move n stands in slot n modulo their number. What followed a move is seen in the slots after it.
    """

    moves: Move
    made: jax.Array


class State(NamedTuple):
    """All that learning goes on from. copy: older weights; scale: rewards are divided by it; taught: lessons so far."""

    weights: Any
    copy: Any
    optimiser: Any
    situation: Situation
    memory: Memory
    key: jax.Array
    scale: jax.Array
    taught: jax.Array


@dataclass(frozen=True, eq=False)
class Dqn(OnDevice):
    """See the head of this file."""

    settings: Settings = Settings()

    name = "dqn"

    @property
    def steps_per_update(self) -> int:
        """See `OnDevice`."""
        return self.settings.boards

    @cached_property
    def optimiser(self) -> optax.GradientTransformation:
        """Adam, with a limit of gradients' norms."""
        lessons = -(-self.steps // self.steps_per_update) * self.settings.lessons
        rate = optax.linear_schedule(self.settings.rate, 0.1 * self.settings.rate, lessons)
        return optax.chain(optax.clip_by_global_norm(self.settings.norm), optax.adam(rate, eps=1e-5))

    def _begin(self, key: jax.Array) -> State:
        settings = self.settings
        making, opening, filling, playing = jax.random.split(key, 4)
        situation, scale = self.practice.begun(opening, settings.boards)
        weights = self.new_weights(making, situation)
        always = jnp.ones(settings.boards)
        situation, (moves, _) = lax.scan(
            lambda boards, key: self._move(weights, always, boards, key),
            situation, jax.random.split(filling, settings.first),
        )  # fmt: skip
        ring = jax.tree.map(lambda x: jnp.zeros((settings.slots, *x.shape[1:]), x.dtype).at[: len(x)].set(x), moves)
        memory = Memory(ring, jnp.int32(settings.first))
        copy = jax.tree.map(jnp.copy, weights)
        return State(weights, copy, self.optimiser.init(weights), situation, memory, playing, scale, jnp.int32(0))

    def _update(self, state: State) -> tuple[State, Metrics]:
        """Make a move on every board, remember it, then learn from any that are remembered."""
        settings = self.settings
        key, playing, learning = jax.random.split(state.key, 3)
        share = shares(settings.boards, settings.epsilon, settings.greedy)
        situation, (move, outcome) = self._move(state.weights, share, state.situation, playing)
        memory = remembering(state.memory, move)
        start = state.weights, state.copy, state.optimiser, state.taught
        (weights, copy, optimiser, taught), losses = lax.scan(
            partial(self._lesson, memory, state.scale), start, jax.random.split(learning, settings.lessons)
        )
        metrics = of_attempts(outcome) | of_greedy(outcome, share) | {name: x.mean() for name, x in losses.items()}
        return State(weights, copy, optimiser, situation, memory, key, state.scale, taught), metrics

    def _move(
        self, weights: Any, share: jax.Array, situation: Situation, key: jax.Array
    ) -> tuple[Situation, tuple[Move, Outcome]]:
        """One move of every board. share: of the moves that are drawn by chance, float32[B]."""
        practice, settings = self.practice, self.settings
        looking, drawing, falling = jax.random.split(key, 3)
        seen = practice.look(looking, situation, settings.mirror, settings.recolour)
        action = chosen(drawing, self._values(weights, seen.view, seen.legal), seen.legal, share)
        keys = jax.random.split(falling, settings.boards)
        situation, outcome = practice.step(keys, situation, practice.meant(seen, action))
        return situation, (Move(seen.view, seen.legal, action, outcome.reward, outcome.over), outcome)

    def _values(self, weights: Any, view: View, legal: jax.Array) -> jax.Array:
        """What moves are thought to be worth, float32[B, actions]."""
        logits, value = self.network.apply(weights, self.inputs.cells(view))
        return dueling(logits, value, legal)

    # ------------------------------------------------------------------ learning

    def _lesson(self, memory: Memory, scale: jax.Array, carry: Any, key: jax.Array) -> tuple[Any, Metrics]:
        """One step of the optimiser, from moves that are drawn for it."""
        weights, copy, optimiser, taught = carry
        moves, then = drawn(memory, key, self.settings.minibatch, self.settings.ahead)
        target = self._targets(weights, copy, moves.reward / scale, moves.over, then)
        now = jax.tree.map(lambda x: x[0], moves)
        gradient, metrics = jax.grad(self._loss, has_aux=True)(weights, now, target)
        change, optimiser = self.optimiser.update(gradient, optimiser, weights)
        metrics["loss/gradient"] = optax.tree.norm(gradient)
        weights, taught = optax.apply_updates(weights, change), taught + 1
        copied = taught % self.settings.copy == 0
        copy = jax.tree.map(lambda new, old: jnp.where(copied, new, old), weights, copy)
        return (weights, copy, optimiser, taught), metrics

    def _targets(self, weights: Any, copy: Any, reward: jax.Array, over: jax.Array, then: Move) -> jax.Array:
        """What moves are taken to be worth, float32[M]. reward, over: of them and what follows, [ahead, M]."""
        best = highest(self._values(weights, then.view, then.legal), then.legal)
        worth = of_moves(self._values(copy, then.view, then.legal), best)
        return returns(reward, over, jnp.broadcast_to(worth, reward.shape), self.settings.discount)[0]

    def _loss(self, weights: Any, moves: Move, target: jax.Array) -> tuple[jax.Array, Metrics]:
        value = of_moves(self._values(weights, moves.view, moves.legal), moves.action)
        error = 0.5 * jnp.square(value - target).mean()
        explained = 1.0 - jnp.var(target - value) / jnp.maximum(jnp.var(target), 1e-9)
        return error, {"loss/error": error, "loss/explained": explained, "loss/worth": value.mean()}


# ------------------------------------------------------------------ the memory


def remembering(memory: Memory, move: Move) -> Memory:
    """The memory with one more move of every board, in the place of the oldest one where it is full."""
    slot = memory.made % len(memory.moves.over)
    moves = jax.tree.map(lambda ring, x: lax.dynamic_update_index_in_dim(ring, x, slot, 0), memory.moves, move)
    return Memory(moves, memory.made + 1)


def drawn(memory: Memory, key: jax.Array, number: int, ahead: int) -> tuple[Move, Move]:
    """Any of the moves whose next ones are remembered, too.

    Args:
        memory: with more than `ahead` moves of each board.
        key: of the draw.
        number: how many are drawn.
        ahead: how many moves later what followed is looked at.

    Returns:
        The moves with those that follow them, X[ahead, number, ...], and what was seen after these, X[number, ...].
    """
    slots, boards = memory.moves.over.shape
    when, where = jax.random.split(key)
    board = jax.random.randint(where, (number,), 0, boards)
    age = jax.random.randint(when, (number,), ahead, jnp.minimum(memory.made, slots))
    first = memory.made - 1 - age
    flat = jax.tree.map(lambda x: x.reshape(slots * boards, *x.shape[2:]), memory.moves)

    def at(later: int) -> Move:
        return jax.tree.map(lambda x: jnp.take(x, (first + later) % slots * boards + board, axis=0), flat)

    moves = jax.tree.map(lambda *x: jnp.stack(x), *(at(later) for later in range(ahead)))
    return moves, at(ahead)
