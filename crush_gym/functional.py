"""Environments as pure functions, in the shape of gymnax 1.0: for programs that are compiled whole.

    env = functional.make("Crush/Combo-v0")
    obs, state = env.reset(key)
    obs, state, reward, terminated, truncated, info = env.step(key, state, action)

All functions work on one board, on arrays of boards (the boards' axes last), in `jax.jit`, and under `jax.vmap`
as deep as you like, at the speed of the native batch.

Every episode draws its level from those of the options, by `order` and `weights` as in the other environments, from
its key: `reset(fold_in(key(s), n))` draws what episode n of seed s draws there. With order="cycle", `reset(key(s))`
plays level s modulo their number, and every next episode the next level. Or `reset` and `step` are both given `params`:
one level for all boards, or a stack of levels, one a board.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from gymnasium import spaces

from crush_gym.checks import Boards, check_kind, one_level
from crush_gym.engine import randomness
from crush_gym.engine.spec import Spec
from crush_gym.engine.state import State
from crush_gym.envs import IDS, views
from crush_gym.envs import task as tasks
from crush_gym.envs.options import Options, read_given
from crush_gym.envs.task import Pool, Task
from crush_gym.game import Game, bits_of
from crush_gym.levels import Level
from crush_gym.levels.values import did_you_mean
from crush_gym.runtime import kept, lockstep
from crush_gym.runtime.devices import Devices, chosen, even, split_over
from crush_gym.runtime.observe import observe
from crush_gym.runtime.ranks import LEVEL_RANKS, STATE_RANKS, boards_of_level
from crush_gym.runtime.vmap import COMMON, OWN, SHARED, native
from crush_gym.runtime.xla import Options as XlaOptions
from crush_gym.runtime.xla import options_for, untraced

OBSERVATIONS = ("planes", "king", "cells")


class EnvState(NamedTuple):
    """An episode.

    streak: illegal actions in a row, int32[*boards]
    level: which of the options' levels is played, int32[*boards]; None where `reset` was given params
    """

    game: State
    streak: jax.Array
    level: jax.Array | None = None


class Env:
    """One kind of game with its reward; see `make`.

    default_params: the level, where there is only one; None where every episode draws its own
    """

    def __init__(self, options: Options, auto_reset: bool, devices: Devices = ()) -> None:
        self.options, self.auto_reset, self.devices = options, auto_reset, devices
        self.game: Game = options.game
        self.default_params: Level | None = options.levels[0] if len(options.levels) == 1 else None

    def on(self, devices: Sequence[jax.Device]) -> Env:
        """The same environment, where the boards of `reset` and `step`, in one axis, are split over devices evenly.

        Within a compiled program each device then plays its own boards without asking the others. Levels that are given
        as `params` must be one for all boards.
        """
        return Env(self.options, self.auto_reset, chosen(devices))

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
        """A new episode, or one for each key: (observation, state).

        params: a level, or a stack of levels, one a board; drawn from the options' levels unless given
        """
        levels = self._levels(params)
        asked = () if isinstance(levels, Pool) else boards_of_level(levels)
        bits = bits_of(key, asked or _boards_of_key(key))
        return self._compiled(bits, levels)[0](bits, levels)

    def step(
        self, key: jax.Array, state: EnvState, action: jax.Array, params: Level | None = None
    ) -> tuple[Any, EnvState, jax.Array, jax.Array, jax.Array, dict[str, Any]]:
        """One move: (observation, state, reward, terminated, truncated, info).

        params: what `reset` was given
        info: "action_mask" bool[actions, *boards], "score", "illegal"; where levels are drawn, "level", the number of
        the one that was played; with `auto_reset`, where the observation and the mask are the next episode's, also
        "final_obs".
        """
        levels = self._levels(params)
        if isinstance(levels, Pool) != (state.level is not None):
            raise ValueError("`step` needs the params that `reset` was given, and none where that was given none")
        bits = bits_of(key, tuple(state.streak.shape))
        return self._compiled(bits, levels)[1](bits, state, jnp.asarray(action, jnp.int32), levels)

    def action_mask(self, state: EnvState) -> jax.Array:
        """bool[actions, *boards]; all False on a finished board."""
        return self.game.legal(state.game)

    def level(self, state: EnvState, params: Level | None = None) -> Level:
        """The levels that boards play; one for all where there is only one. params: what `reset` was given."""
        levels = self._levels(params)
        return _level_of(_pool_of(levels), state.level) if isinstance(levels, Pool) else levels

    def _levels(self, params: Level | None) -> Level | Pool:
        """The caller's, or all that are drawn from."""
        if params is None or params is self.default_params:
            return self._placed if untraced() else self.options.pool
        check_kind(self.game.spec, one_level(params))
        return params

    @functools.cached_property
    def _placed(self) -> Pool:
        """The options' levels on the device, where no call has to bring them."""
        pool: Pool = jax.tree.map(jnp.asarray, self.options.pool)
        return pool

    def _compiled(self, bits: jax.Array, levels: Level | Pool) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """`reset` and `step` for so many boards. bits: uint32[2, *boards]."""
        if self.devices:
            self._check_split(bits, levels)
        options = options_for(self.game.spec, bits[0].size // max(len(self.devices), 1))
        order = self.options.order if isinstance(levels, Pool) else None
        weighted = isinstance(levels, Pool) and levels.edges is not None
        return _programs(self.options.task, self.options.obs, self.auto_reset, order, weighted, options, self.devices)

    def _check_split(self, bits: jax.Array, levels: Level | Pool) -> None:
        if bits.ndim != 2 or (not isinstance(levels, Pool) and boards_of_level(levels)):
            raise ValueError("on several devices boards have one axis, and params are one level for all of them")
        even(bits.shape[1], self.devices, "boards")


def make(id: str = "Crush/Saga-v0", auto_reset: bool = True, **options: Any) -> Env:
    """An environment of one of the ids.

    auto_reset: an episode that ends is followed at once by another, drawn from the step's key
    options: see `crush_gym.envs.options.read_options`.
    """
    name = id.removeprefix("crush_gym:") if isinstance(id, str) else id
    if name not in IDS:
        hint = did_you_mean(name, IDS) or f"; the ids are {', '.join(IDS)}"
        raise ValueError(f"there is no environment {id!r}{hint}")
    read = read_given(make, IDS[name], options)
    if read.obs not in OBSERVATIONS or read.channels != "first":
        raise ValueError(f"obs must be one of {', '.join(map(repr, OBSERVATIONS))} here, with its planes first")
    if read.task.illegal == "raise":
        raise ValueError('a compiled program cannot raise: use illegal="pass" or "random"')
    return Env(read, auto_reset)


RESET_KEY = 2**31 - 1
"""fold_in(key, RESET_KEY) is the key of the episode that follows one which a step with this key ended."""


@functools.lru_cache(maxsize=64)
def _programs(
    task: Task,
    obs: str,
    auto_reset: bool,
    order: str | None,
    weighted: bool,
    options: XlaOptions,
    devices: Devices = (),
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The compiled `reset` and `step`, for any arrangement of boards. order: None on levels of the caller's."""
    spec = task.spec
    look = functools.partial(_look, spec, obs)

    def reset(bits: jax.Array, levels: Level | Pool) -> tuple[Any, EnvState]:
        pool = _pool_of(levels)
        number = None if order is None else _first_level(bits, pool, order)
        level = _level_of(pool, number)
        game = lockstep.reset(spec, bits, level)
        return look(game, level), EnvState(game, jnp.zeros(bits.shape[1:], jnp.int32), number)

    def step(bits: jax.Array, state: EnvState, action: jax.Array, levels: Level | Pool) -> tuple[Any, ...]:
        pool = _pool_of(levels)
        level = _level_of(pool, state.level)
        game, streak, outcome = tasks.play(task, bits, state.game, state.streak, action, level)
        info = {"score": game.books.score, "illegal": outcome.illegal}
        info |= {} if state.level is None else {"level": state.level}
        state = EnvState(game, streak, state.level)
        if auto_reset:
            info["final_obs"] = look(game, level)
            state = _renewed(spec, order, bits, state, outcome.terminated | outcome.truncated, pool)
            level = _level_of(pool, state.level)
        info["action_mask"] = lockstep.legal(spec, state.game)
        return look(state.game, level), state, outcome.reward, outcome.terminated, outcome.truncated, info

    states: Any = EnvState._make([STATE_RANKS, 0, None if order is None else 0])
    ranks, kind = (LEVEL_RANKS, COMMON) if order is None else (_POOL_RANKS[weighted], SHARED)
    resets, steps = native(reset, (1, ranks), (OWN, kind)), native(step, (1, states, 0, ranks), (OWN, OWN, OWN, kind))
    if devices:
        resets = split_over(devices, resets, (-1, None), -1)
        steps = split_over(devices, steps, (-1, -1, -1, None), -1)
    return kept.program(resets, options), kept.program(steps, options)


_STACK_RANKS = jax.tree.map(lambda rank: rank + 1, LEVEL_RANKS)
_POOL_RANKS = {False: Pool._make([_STACK_RANKS, None]), True: Pool._make([_STACK_RANKS, 1])}
"""The number of axes of each leaf of a pool, without weights and with them."""


def _pool_of(levels: Level | Pool) -> Pool:
    """The levels of a flat batch: what all boards draw from, or each board's."""
    return levels if isinstance(levels, Pool) else Pool(levels, None)


def _level_of(pool: Pool, number: jax.Array | None) -> Level:
    """Each board's level."""
    return pool.levels if number is None else tasks.of_level(pool.levels, number)


def _first_level(bits: jax.Array, pool: Pool, order: str) -> jax.Array:
    """The numbers of the levels that `reset` draws with these keys."""
    if order == "cycle":
        return tasks.next_level(bits, jnp.zeros(bits.shape[1:], jnp.int32), pool, order)
    return tasks.drawn_level(bits, pool)


def _renewed(spec: Spec, order: str | None, bits: jax.Array, state: EnvState, over: jax.Array, pool: Pool) -> EnvState:
    """The states with new episodes where they are over. bits: the keys of the steps that ended them."""
    bits = randomness.fold(bits, jnp.full(over.shape, RESET_KEY))
    streak = jnp.where(over, 0, state.streak)
    if state.level is None:
        own = jnp.arange(over.shape[0])
        return EnvState(tasks.begun(spec, bits, over, state.game, own, pool.levels), streak)
    following = (state.level + 1) % tasks.level_count(pool) if order == "cycle" else tasks.drawn_level(bits, pool)
    number = jnp.where(over, following, state.level)
    return EnvState(tasks.begun(spec, bits, over, state.game, number, pool.levels), streak, number)


def _look(spec: Spec, obs: str, game: State, level: Level) -> Any:
    """The observation of boards, which come last."""
    planes = observe(spec, game, level)
    if obs == "planes":
        return planes
    seen = views.view(spec, obs, jnp.moveaxis(planes, -1, 0), jnp)
    return jax.tree.map(lambda x: jnp.moveaxis(x, 0, -1), seen)


def _boards_of_key(key: jax.Array) -> Boards:
    """The arrangement of keys, new or old style."""
    typed = jnp.issubdtype(key.dtype, jax.dtypes.prng_key)
    return tuple(key.shape if typed else key.shape[:-1])


__all__ = ["Env", "EnvState", "make"]
