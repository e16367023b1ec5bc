"""One board as a `gymnasium.Env`."""

from __future__ import annotations

import os
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from crush_gym.envs import saved
from crush_gym.envs.base import (
    check_render_mode,
    check_reset_options,
    checked_actions,
    observation_space,
    observed,
    one_board,
)
from crush_gym.envs.batch import Batch
from crush_gym.envs.options import read_given
from crush_gym.envs.pictures import HUMAN, RENDER_MODES, Picture
from crush_gym.envs.task import Facts, Lanes, Seen
from crush_gym.levels import Level


class CrushEnv(gym.Env[Any, np.int64]):
    """A level, or a level of a pack in each episode. Actions are swaps (rulebook 3); see `read_options`."""

    metadata = {"render_modes": [*RENDER_MODES, HUMAN], "render_fps": 4}  # noqa: RUF012 - Gymnasium's own form

    def __init__(self, rules: str = "saga", *, render_mode: str | None = None, **options: Any) -> None:
        """options: see `crush_gym.envs.options.read_options`. Nothing is computed before the first reset.

        render_mode: what `render` gives: "ansi", "rgb_array" or "svg"; or "human", a window that shows each position
        """
        check_render_mode(render_mode, self.metadata["render_modes"])
        self.options = read_given(CrushEnv.__init__, rules, options)
        self.render_mode = render_mode
        self.game = self.options.game
        self._batch = Batch(self.options, 1, "none")
        self._picture = Picture(self.options)
        self._window: Any = None
        self.action_space = spaces.Discrete(self.game.actions)
        self.observation_space = observation_space(self.options)
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
        if self.render_mode == HUMAN:
            return self._show()
        return self._picture.render(self.render_mode, self._lanes(), 0)

    def _show(self) -> None:
        """The board in the window."""
        from crush_gym.render import Window

        if self._window is None:
            self._window = Window("crush_gym", self.metadata["render_fps"])
        self._window.show(self._picture.rgb(self._lanes(), 0))

    def close(self) -> None:
        """Nothing can be done with it afterwards."""
        self._closed = True
        if self._window is not None:
            self._window.close()

    def _lanes(self) -> Lanes:
        if not self._batch.started:
            raise gym.error.ResetNeeded("there is no episode yet: call env.reset() first")
        return self._batch.lanes()

    def _check_open(self) -> None:
        if self._closed:
            raise gym.error.ClosedEnvironmentError("this environment was closed: make a new one")

    def _shown(self, seen: Seen, facts: Facts) -> tuple[Any, dict[str, Any]]:
        self._mask = np.array(seen.mask[0])
        if self.render_mode == HUMAN:
            self._show()
        obs = observed(self.options, self._picture, seen.planes, self._lanes)
        info = {name: value[0] for name, value in facts._asdict().items()}
        info |= {"waves": np.int32(0), "action_mask": self._mask.copy()}
        return one_board(obs, 0), info | {"illegal": np.bool_(False), "cleared": np.int32(0)}


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
