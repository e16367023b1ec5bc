"""Environments as pure functions, in the shape of gymnax 1.0: for programs that are compiled whole.

    env = functional.make("Crush/Combo-v0")
    obs, state = env.reset(key)
    obs, state, reward, terminated, truncated, info = env.step(key, state, action)

All functions work on one board, on arrays of boards (the boards' axes last), in `jax.jit`, and under `jax.vmap`
as deep as you like, at the speed of the native batch.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from gymnasium import spaces

from crush_gym.engine import randomness
from crush_gym.engine.state import State
from crush_gym.envs import IDS, views
from crush_gym.envs import task as tasks
from crush_gym.envs.options import Options, read_options
from crush_gym.envs.task import Task
from crush_gym.game import LEVEL_RANKS, STATE_RANKS, Game, bits_of
from crush_gym.levels import Level
from crush_gym.runtime import kept, lockstep
from crush_gym.runtime.observe import observe
from crush_gym.runtime.vmap import native
from crush_gym.runtime.xla import Options as XlaOptions
from crush_gym.runtime.xla import options_for

OBSERVATIONS = ("planes", "king", "cells")


class EnvState(NamedTuple):
    """An episode. streak: illegal actions in a row, int32[*boards]."""

    game: State
    streak: jax.Array


class Env:
    """One kind of game with its reward; see `make`. `params` is the level, or a stack of levels, one a board."""

    def __init__(self, options: Options, auto_reset: bool) -> None:
        self.options, self.auto_reset = options, auto_reset
        self.game: Game = options.game
        self.default_params: Level = options.levels[0]

    @property
    def num_actions(self) -> int:
        """Number of actions (rulebook 3)."""
        return self.game.actions

    @property
    def action_space(self) -> spaces.Discrete:
        """The space of one board's actions."""
        return spaces.Discrete(self.game.actions)

    @property
    def observation_space(self) -> spaces.Space[Any]:
        """The space of one board's observations."""
        return views.space(self.options.task.spec, self.options.obs)

    def reset(self, key: jax.Array, params: Level | None = None) -> tuple[Any, EnvState]:
        """A new episode, or one for each key: (observation, state)."""
        level = self.default_params if params is None else params
        bits = bits_of(key, tuple(jnp.shape(level.height)) or key.shape)
        return self._compiled(bits)[0](bits, level)

    def step(
        self, key: jax.Array, state: EnvState, action: jax.Array, params: Level | None = None
    ) -> tuple[Any, EnvState, jax.Array, jax.Array, jax.Array, dict[str, Any]]:
        """One move: (observation, state, reward, terminated, truncated, info).

        info: "action_mask" bool[actions, *boards], "score", "illegal"; with `auto_reset`, where the observation and
        the mask are the next episode's, also "final_obs".
        """
        level = self.default_params if params is None else params
        bits = bits_of(key, tuple(state.streak.shape))
        return self._compiled(bits)[1](bits, state, jnp.asarray(action, jnp.int32), level)

    def action_mask(self, state: EnvState) -> jax.Array:
        """bool[actions, *boards]; all False on a finished board."""
        return self.game.legal(state.game)

    def _compiled(self, bits: jax.Array) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """`reset` and `step` for so many boards. bits: uint32[2, *boards]."""
        options = options_for(self.game.spec, bits[0].size)
        return _programs(self.options.task, self.options.obs, self.auto_reset, options)


def make(id: str = "Crush/Saga-v0", auto_reset: bool = True, **options: Any) -> Env:
    """An environment of one of the ids.

    auto_reset: an episode that ends is followed at once by another, drawn from the step's key, on the same level.
    options: see `crush_gym.envs.options.read_options`; Saga needs a level.
    """
    if id not in IDS:
        raise ValueError(f"there is no environment {id!r}: the ids are {', '.join(IDS)}")
    read = read_options(IDS[id], **options)
    if read.obs not in OBSERVATIONS or read.channels != "first":
        raise ValueError(f"obs must be one of {', '.join(map(repr, OBSERVATIONS))} here, with its planes first")
    if read.task.illegal == "raise":
        raise ValueError('a compiled program cannot raise: use illegal="pass" or "random"')
    return Env(read, auto_reset)


RESET_KEY = 2**31 - 1
"""fold_in(key, RESET_KEY) is the key of the episode that follows one which a step with this key ended."""


@functools.lru_cache(maxsize=64)
def _programs(
    task: Task, obs: str, auto_reset: bool, options: XlaOptions
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The compiled `reset` and `step`, for any arrangement of boards."""
    state: Any = EnvState._make([STATE_RANKS, 0])
    spec = task.spec

    def reset(bits: jax.Array, level: Level) -> tuple[Any, EnvState]:
        game = lockstep.reset(spec, bits, level)
        return _look(game, level), EnvState(game, jnp.zeros(bits.shape[1:], jnp.int32))

    def step(bits: jax.Array, state: EnvState, action: jax.Array, level: Level) -> tuple[Any, ...]:
        game, streak, outcome = tasks.play(task, bits, state.game, state.streak, action, level)
        over = outcome.terminated | outcome.truncated
        info = {"score": game.books.score, "illegal": outcome.illegal}
        if auto_reset:
            info["final_obs"] = _look(game, level)
            fresh = _fresh(spec, randomness.fold(bits, jnp.full(bits.shape[1:], RESET_KEY)), over, game, level)
            game, streak = fresh, jnp.where(over, 0, streak)
        info["action_mask"] = lockstep.legal(spec, game)
        return _look(game, level), EnvState(game, streak), outcome.reward, outcome.terminated, outcome.truncated, info

    def _look(game: State, level: Level) -> Any:
        planes = observe(spec, game, level)
        return planes if obs == "planes" else _view_last(spec, obs, planes)

    return (
        kept.program(native(reset, (1, LEVEL_RANKS), (False, True)), options),
        kept.program(native(step, (1, state, 0, LEVEL_RANKS), (False, False, False, True)), options),
    )


def _fresh(spec: Any, bits: jax.Array, over: jax.Array, game: State, level: Level) -> State:
    """The states with new episodes where they are over: a batch of which none is costs nothing."""

    def renewed(old: State) -> State:
        new = lockstep.reset(spec, bits, level)
        return jax.tree.map(lambda x, y: jnp.where(over, x, y), new, old)

    return jax.lax.cond(jnp.any(over), renewed, lambda old: old, game)


def _view_last(spec: Any, kind: str, planes: jax.Array) -> Any:
    """A view of planes whose boards come last."""
    seen = views.view(spec, kind, jnp.moveaxis(planes, -1, 0), jnp)
    return jax.tree.map(lambda x: jnp.moveaxis(x, 0, -1), seen)


__all__ = ["Env", "EnvState", "make"]
