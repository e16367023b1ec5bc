"""Where players learn: boards side by side that begin their next attempt as soon as one ends, in one program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from agents.learning.inputs import (
    Inputs,
    Symmetry,
    View,
    any_symmetry,
    mirrored_actions,
    seen_actions,
    seen_through,
)
from crush_gym import Game, Level
from crush_gym.envs.rewards import REWARDS
from crush_gym.functional import Env, EnvState
from crush_gym.keys import player_key
from crush_gym.runtime import split_over

__all__ = ["Outcome", "Practice", "Seen", "Situation"]

WARM_UP = 64
"""Random moves before the first lesson, fewer on some boards than on others: attempts that all take the same number of
moves would else end together for ever. They also show how much rewards vary."""


class Situation(NamedTuple):
    """Boards between two moves. gained: reward of the attempt so far, float32[B]; made: its moves, int32[B]."""

    env: EnvState
    gained: jax.Array
    made: jax.Array


class Outcome(NamedTuple):
    """What a move brought, per board. reward: unscaled; over: it ended the attempt.

    gained, made: of the attempt that ended, else 0
    """

    reward: jax.Array
    over: jax.Array
    gained: jax.Array
    made: jax.Array


class Seen(NamedTuple):
    """What is seen of boards, each through a symmetry of its own. legal: of the moves as seen, bool[B, actions]."""

    view: View
    legal: jax.Array
    symmetry: Symmetry


@dataclass(frozen=True, eq=False)
class Practice:
    """An environment of `crush_gym.functional`, which draws a level for every attempt, and what is seen of it."""

    env: Env
    inputs: Inputs

    def on(self, devices: tuple[jax.Device, ...]) -> Practice:
        """The same, with the boards split over devices."""
        return Practice(self.env.on(devices), self.inputs)

    def _by_each(self, f: Callable[..., Any], in_axes: tuple[int, ...], out_axis: int = -1) -> Callable[..., Any]:
        """A function that treats every board for itself, by each device for its own. Axes: the boards'."""
        return split_over(self.env.devices, f, in_axes, out_axis) if self.env.devices else f

    @property
    def rewarded(self) -> str:
        """The name of the reward; "" of one that has none."""
        reward = self.env.options.task.reward
        return next((name for name, known in REWARDS.items() if known == reward), "")

    @property
    def game(self) -> Game:
        """The game of all levels."""
        return self.env.game

    def begun(self, key: jax.Array, boards: int) -> tuple[Situation, jax.Array]:
        """So many boards in the middle of their attempts, and the standard deviation of a random move's reward."""
        opening, playing, staying = jax.random.split(key, 3)
        env = self.env.reset(jax.random.split(opening, boards))[1]
        start = Situation(env, jnp.zeros(boards, jnp.float32), jnp.zeros(boards, jnp.int32))
        first = jax.random.randint(staying, (boards,), 0, WARM_UP)

        def move(situation: Situation, now: tuple[jax.Array, jax.Array]) -> tuple[Situation, Any]:
            key, number = now
            keys = jax.random.split(key, boards)
            action = self._by_each(self.game.random_action, (0, -1))(player_key(keys), situation.env.game)
            after, outcome = self.step(keys, situation, action)
            plays = number >= first
            kept = jax.tree.map(lambda new, old: jnp.where(plays, new, old), after, situation)
            return kept, (outcome.reward, plays)

        moves = jax.random.split(playing, WARM_UP), jnp.arange(WARM_UP)
        situation, (rewards, counted) = lax.scan(move, start, moves)
        return situation, jnp.maximum(jnp.std(rewards, where=counted), 1e-6)

    def level(self, situation: Situation) -> Level:
        """What the boards play."""
        return self.env.level(situation.env)

    def view(self, situation: Situation) -> View:
        """What is seen of the boards."""

        def seen(situation: Situation) -> View:
            return self.inputs.view(self.game.spec, self.game.channels, situation.env.game, self.level(situation))

        return self._by_each(seen, (-1,), 0)(situation)

    def legal(self, situation: Situation) -> jax.Array:
        """bool[B, actions]."""
        return self._by_each(self.game.legal, (-1,))(situation.env.game).T

    def look(self, key: jax.Array, situation: Situation, mirror: bool = False, recolour: bool = False) -> Seen:
        """The boards through symmetries that are drawn for them. mirror, recolour: which kinds are wanted."""
        symmetry = any_symmetry(key, self.inputs, situation.made.shape[0], mirror, recolour)
        legal = seen_actions(symmetry, self.game.shape, self.legal(situation))
        return Seen(seen_through(symmetry, self.inputs, self.view(situation)), legal, symmetry)

    def meant(self, seen: Seen, action: jax.Array) -> jax.Array:
        """The boards' own actions, of those that were chosen as seen: int32[B] -> int32[B]."""
        return jnp.where(seen.symmetry.mirror, jnp.asarray(mirrored_actions(*self.game.shape))[action], action)

    def shown(self, situation: Situation) -> tuple[list[str], Level]:
        """The first of the boards, on the host: its rows of tokens, and its level."""
        number = 0 if situation.env.level is None else int(situation.env.level[0])
        level = self.env.options.levels[number]
        return self.game.text(jax.tree.map(lambda x: np.asarray(x)[..., 0], situation.env.game), level), level

    def step(self, keys: jax.Array, situation: Situation, action: jax.Array) -> tuple[Situation, Outcome]:
        """One move of every board; where it ended the attempt, the next one begins. keys: keys[B]."""
        _, env, reward, terminated, truncated, _ = self.env.step(keys, self._in_time(situation), action)
        over = terminated | truncated
        gained, made = situation.gained + reward, situation.made + 1
        outcome = Outcome(reward, over, jnp.where(over, gained, 0.0), jnp.where(over, made, 0))
        return Situation(env, jnp.where(over, 0.0, gained), jnp.where(over, 0, made)), outcome

    def _in_time(self, situation: Situation) -> EnvState:
        """The boards, those against the clock with no time left once they made as many moves as they had seconds.

        Who plays such levels well gains time without end: in the end, all boards would be there, and learn nothing.
        """
        if all(int(level.seconds) < 0 for level in self.env.options.levels):
            return situation.env
        seconds, game = self.level(situation).seconds, situation.env.game
        late = (seconds >= 0) & (game.books.made >= seconds)
        time = jnp.where(late, jnp.minimum(game.books.time, 1), game.books.time)
        return situation.env._replace(game=game._replace(books=game.books._replace(time=time)))
