"""One board as a `gymnasium.Env`."""

from __future__ import annotations

import os
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from crush_gym.envs import saved
from crush_gym.envs.batch import Batch
from crush_gym.envs.options import read_options
from crush_gym.envs.pictures import RENDER_MODES, Picture
from crush_gym.envs.task import Facts, Lanes, Seen
from crush_gym.envs.views import space, view
from crush_gym.levels import Level


class CrushEnv(gym.Env[Any, np.int64]):
    """A level, or a level of a pack in each episode. Actions are swaps (rulebook 3); see `read_options`."""

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 4}  # noqa: RUF012 - Gymnasium's own form

    def __init__(self, rules: str = "saga", *, render_mode: str | None = None, **options: Any) -> None:
        """options: see `crush_gym.envs.options.read_options`. Nothing is computed before the first reset.

        render_mode: what `render` gives: "ansi", "rgb_array" or "svg"; `gym.make` also knows "human", a window
        """
        _check_render_mode(render_mode)
        self.options = read_options(rules, **options)
        self.render_mode = render_mode
        self.game = self.options.game
        self._batch = Batch(self.options.task, self.options.levels, 1, "none", self.options.order)
        self._picture = Picture(self.options)
        self.action_space = spaces.Discrete(self.game.actions)
        self.observation_space = observation_space(self.options, self._picture)
        self._mask = np.ones(self.game.actions, np.int8)
        self._closed = False

    @property
    def level(self) -> Level:
        """The level of this episode."""
        return self._picture.levels[int(self._lanes().level[0])]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """A new episode: number 0 of this seed, or, without one, the next.

        options: "level": name or number of one of the levels; "state": what `get_state` gave, to go on from there.
        """
        self._check_open()
        asked = check_reset_options(options, ("level", "state"))
        super().reset(seed=seed)
        if "state" in asked:
            return self._shown(*self._batch.restore(saved.check(asked["state"], self._batch)))
        if seed is None and not self._batch.started:
            seed = int(self.np_random.integers(2**32))
        seen, facts = self._batch.reset(None if seed is None else np.array([seed % 2**32]))
        if "level" in asked:
            number, lanes = level_number(asked["level"], self._picture.levels), self._batch.lanes()
            seen, facts = self._batch.open(lanes.key, lanes.episode, number=np.array([number], np.int32))
        return self._shown(seen, facts)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One move. An illegal one changes nothing and is flagged in the info, unless `illegal` says otherwise."""
        self._check_open()
        if not self._batch.started:
            raise gym.error.ResetNeeded("step before reset: call env.reset() first")
        number = checked_actions(action, self.game.actions, ())
        if self.options.task.illegal == "raise" and not self._mask[number]:
            raise ValueError(f"action {int(number)} is not legal here: see env.action_masks()")
        done = self._batch.step(np.array([number], np.int32))
        obs, info = self._shown(done.seen, done.facts)
        turn, outcome = done.outcome.turn, done.outcome
        info |= {"illegal": outcome.illegal[0], "cleared": turn.cleared[0], "waves": turn.waves[0]}
        return obs, float(outcome.reward[0]), bool(outcome.terminated[0]), bool(outcome.truncated[0]), info

    def action_masks(self) -> np.ndarray:
        """bool[actions], True where an action is legal; all True where none is."""
        return self._mask.astype(bool)

    def get_state(self) -> Lanes:
        """All there is to this episode: a tree of arrays, for searches and saved games. See `reset`, `set_state`."""
        return self._lanes()

    def set_state(self, state: Lanes) -> tuple[Any, dict[str, Any]]:
        """Go on from what `get_state` gave; the observation and the info there."""
        return self.reset(options={"state": state})

    def save_state(self, path: str | os.PathLike[str]) -> None:
        """Write the episode to a file (.npz), with its format's version and the levels it is played on."""
        saved.save(path, self._lanes(), self._batch)

    def load_state(self, path: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
        """Go on from a file of `save_state`."""
        return self.set_state(saved.load(path, self._batch))

    def render(self) -> Any:
        """The board, in the way of `render_mode`."""
        if self.render_mode is None:
            gym.logger.warn("render() without a render_mode: give one, as in gym.make(id, render_mode='ansi')")
            return None
        return self._picture.render(self.render_mode, self._lanes(), 0)

    def close(self) -> None:
        """Nothing can be done with it afterwards."""
        self._closed = True

    def _lanes(self) -> Lanes:
        if not self._batch.started:
            raise gym.error.ResetNeeded("there is no episode yet: call env.reset() first")
        return self._batch.lanes()

    def _check_open(self) -> None:
        if self._closed:
            raise gym.error.ClosedEnvironmentError("this environment was closed: make a new one")

    def _shown(self, seen: Seen, facts: Facts) -> tuple[Any, dict[str, Any]]:
        self._mask = np.array(seen.mask[0])
        obs = observed(self.options, self._picture, seen.planes, self._lanes)
        info = {name: value[0] for name, value in facts._asdict().items()}
        info["score"], info["waves"], info["action_mask"] = info["score"], np.int32(0), self._mask.copy()
        return first(obs), info | {"illegal": np.bool_(False), "cleared": np.int32(0)}


def first(obs: Any) -> Any:
    """The first board's part of an observation, an array of its own."""
    return {name: np.array(x[0]) for name, x in obs.items()} if isinstance(obs, dict) else np.array(obs[0])


def observed(options: Any, picture: Picture, planes: Any, lanes: Any, xp: Any = np) -> Any:
    """The boards' observation of the kind asked for, boards first. planes: uint8[B, channels, H, W]."""
    if options.obs == "rgb":
        return picture.all(lanes())
    obs = view(options.task.spec, options.obs, planes, xp)
    return xp.moveaxis(obs, 1, -1) if options.channels == "last" and options.obs != "cells" else obs


def observation_space(options: Any, picture: Picture) -> spaces.Space[Any]:
    """The space of one board's observations."""
    if options.obs == "rgb":
        return spaces.Box(0, 255, picture.shape, np.uint8)
    box = space(options.task.spec, options.obs)
    if options.channels == "last" and isinstance(box, spaces.Box):
        depth, height, width = box.shape
        return spaces.Box(0, int(box.high.max()), (height, width, depth), np.uint8)
    return box


def checked_actions(actions: Any, most: int, shape: tuple[int, ...]) -> np.ndarray:
    """Actions as whole numbers from 0 to most - 1, int32 of this shape."""
    array = np.asarray(actions)
    if array.dtype.kind not in "iu" or array.shape != shape:
        what = f"{shape[0]} whole numbers" if shape else "a whole number"
        raise ValueError(f"the action must be {what} from 0 to {most - 1}, not {array.dtype}{list(array.shape)}")
    if ((array < 0) | (array >= most)).any():
        wrong = array[(array < 0) | (array >= most)].flat[0]
        raise ValueError(f"there is no action {wrong}: actions are numbered from 0 to {most - 1}")
    return array.astype(np.int32)


def check_reset_options(options: dict[str, Any] | None, known: tuple[str, ...]) -> dict[str, Any]:
    """The reset's options, of which only these are known."""
    unknown = sorted(set(options or {}) - set(known))
    if unknown:
        raise ValueError(f"reset has no option {unknown[0]!r}: it knows {', '.join(map(repr, known))}")
    return dict(options or {})


def level_number(level: Any, levels: tuple[Level, ...]) -> int:
    """Which of the levels is meant by a name, a number or a Level."""
    if isinstance(level, (int, np.integer)) and 0 <= level < len(levels):
        return int(level)
    for number, known in enumerate(levels):
        if (
            known is level
            or (isinstance(level, str) and known.name == level)
            or (isinstance(level, Level) and known == level)
        ):
            return number
    raise ValueError(f"level {level!r} is none of the {len(levels)} of this environment: make one with it in its pack")


def _check_render_mode(mode: str | None) -> None:
    if mode is not None and mode not in RENDER_MODES:
        raise ValueError(f"render_mode must be one of {', '.join(map(repr, RENDER_MODES))}, not {mode!r}")
