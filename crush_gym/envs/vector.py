"""Thousands of boards as one `gymnasium.vector.VectorEnv`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import jax
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from crush_gym.envs import saved
from crush_gym.envs.base import (
    check_render_mode,
    check_reset_options,
    checked_actions,
    checked_lanes,
    observation_space,
    observed,
    one_board,
)
from crush_gym.envs.batch import Batch
from crush_gym.envs.options import read_given
from crush_gym.envs.pictures import RENDER_MODES, Picture
from crush_gym.envs.task import Facts, Lanes, Seen, Step
from crush_gym.runtime.devices import chosen

MODES = {AutoresetMode.NEXT_STEP: "next", AutoresetMode.SAME_STEP: "same", AutoresetMode.DISABLED: "none"}
OUTPUTS = ("numpy", "jax")


class CrushVectorEnv(VectorEnv[Any, Any, Any]):
    """Lane i seeded s plays what a single environment seeded s + i plays, in its later episodes too."""

    def __init__(
        self,
        num_envs: int = 1,
        rules: str = "saga",
        *,
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        output: str = "numpy",
        devices: Sequence[jax.Device] | None = None,
        **options: Any,
    ) -> None:
        """options: see `crush_gym.envs.options.read_options`. Nothing is computed before the first reset.

        render_mode: what `render` gives for each board: "ansi", "rgb_array" or "svg"
        autoreset_mode: when an episode that ended is followed by the next one: a `gymnasium.vector.AutoresetMode`
        output: "numpy", fresh arrays; or "jax", where observations, masks, rewards and ends stay on the device
        devices: that the lanes are split over, such as `jax.devices()`; each plays the same wherever it is
        """
        if output not in OUTPUTS:
            raise ValueError(f"output must be one of {', '.join(map(repr, OUTPUTS))}, not {output!r}")
        check_render_mode(render_mode)
        self.num_envs, self.output = checked_lanes(num_envs), output
        self.options = read_given(CrushVectorEnv.__init__, rules, options)
        if output == "jax" and self.options.obs == "rgb":
            raise ValueError('obs="rgb" is drawn on the host: use output="numpy" with it')
        self.game, self.render_mode = self.options.game, render_mode
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": list(RENDER_MODES), "render_fps": 4, "autoreset_mode": self.autoreset_mode}
        self._batch = Batch(self.options, self.num_envs, MODES[self.autoreset_mode], chosen(devices))
        self._picture = Picture(self.options)
        self.single_action_space = spaces.Discrete(self.game.actions)
        self.single_observation_space = observation_space(self.options)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._mask: Any = np.ones((self.num_envs, self.game.actions), np.int8)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """New episodes: number 0 of seeds seed, seed + 1, ... or of those given; without seeds, the next ones.

        options: "reset_mask": bool[num_envs], the lanes meant; "state": what `get_state` gave, to go on from there.
        """
        self._check_open()
        asked = check_reset_options(options, ("reset_mask", "state"))
        super().reset(seed=seed if isinstance(seed, (int, np.integer)) else None)
        if "state" in asked:
            return self._shown(*self._batch.restore(saved.check(asked["state"], self._batch)))
        which = _lanes_meant(asked.get("reset_mask"), self.num_envs)
        return self._shown(*self._batch.reset(self._seeds(seed), which))

    def _seeds(self, seed: Any) -> np.ndarray | None:
        if seed is None or (isinstance(seed, Sequence) and all(one is None for one in seed)):
            if self._batch.started:
                return None
            seed = int(self.np_random.integers(2**32))
        if isinstance(seed, (int, np.integer)):
            return ((int(seed) + np.arange(self.num_envs)) % 2**32).astype(np.uint32)
        if len(seed) != self.num_envs or any(not isinstance(one, (int, np.integer)) for one in seed):
            raise ValueError(f"seed must be one whole number, or {self.num_envs} of them")
        return np.array([int(one) % 2**32 for one in seed], np.uint32)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """One move of every lane."""
        self._check_open()
        if not self._batch.started:
            raise gym.error.ResetNeeded("step before reset: call envs.reset() first")
        if isinstance(actions, jax.Array) and actions.shape == (self.num_envs,) and actions.dtype.kind in "iu":
            numbers: Any = actions
        else:
            numbers = checked_actions(actions, self.game.actions, (self.num_envs,))
        if self.options.task.illegal == "raise":
            self._refuse_illegal(np.asarray(numbers))
        return self._on_device(numbers) if self.output == "jax" else self._on_host(numbers)

    def action_masks(self) -> Any:
        """bool[num_envs, actions], True where an action is legal; all True where none is."""
        return self._mask != 0

    def get_state(self) -> Lanes:
        """All there is to these episodes: a tree of arrays. See `reset`, `set_state`."""
        if not self._batch.started:
            raise gym.error.ResetNeeded("there are no episodes yet: call envs.reset() first")
        return self._batch.lanes()

    def set_state(self, state: Lanes) -> tuple[Any, dict[str, Any]]:
        """Go on from what `get_state` gave; the observations and the infos there."""
        return self.reset(options={"state": state})

    def save_state(self, path: str | os.PathLike[str]) -> None:
        """Write the episodes to a file (.npz), with its format's version and the levels they are played on."""
        saved.save(path, self.get_state(), self._batch)

    def load_state(self, path: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
        """Go on from a file of `save_state`."""
        return self.set_state(saved.load(path, self._batch))

    def render(self) -> tuple[Any, ...] | None:
        """All boards, in the way of `render_mode`."""
        if self.render_mode is None:
            return None
        lanes = self.get_state()
        return tuple(self._picture.render(self.render_mode, lanes, i) for i in range(self.num_envs))

    def _on_host(self, numbers: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        done = self._batch.step(numbers)
        obs, info = self._shown(done.seen, done.facts)
        outcome = done.outcome
        extra = {"illegal": outcome.illegal, "cleared": outcome.turn.cleared, "waves": outcome.turn.waves}
        over = outcome.terminated | outcome.truncated
        info = _dense(info | extra, self.num_envs)
        if self.autoreset_mode == AutoresetMode.SAME_STEP and over.any():
            info |= self._final(done, extra, over)
        return obs, outcome.reward.astype(np.float64), outcome.terminated, outcome.truncated, info

    def _on_device(self, numbers: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        parts = self._batch.step_blocks(numbers)
        seen, facts, outcome = self._batch.on_device([(part.seen, part.facts, part.outcome) for part in parts])
        self._mask = seen.mask
        obs = observed(self.options, self._picture, seen.planes, None, jax.numpy)
        info = facts._asdict() | {"action_mask": seen.mask, "illegal": outcome.illegal}
        info |= {"cleared": outcome.turn.cleared, "waves": outcome.turn.waves}
        if self.autoreset_mode == AutoresetMode.SAME_STEP:
            over = np.asarray(outcome.terminated | outcome.truncated)
            if over.any():
                final, final_facts = (
                    jax.tree.map(np.asarray, self._batch.on_device([part[i] for part in parts], axis))
                    for i, axis in ((3, -1), (4, 0))
                )
                extra = {"illegal": outcome.illegal, "cleared": outcome.turn.cleared, "waves": outcome.turn.waves}
                host = {name: np.asarray(value) for name, value in extra.items()}
                info |= self._final(Step(outcome, seen, facts, final, final_facts), host, over)
        return obs, outcome.reward, outcome.terminated, outcome.truncated, info

    def _final(self, done: Step, extra: dict[str, Any], over: Any) -> dict[str, Any]:
        """What the episodes that ended in this step showed at last, as `SyncVectorEnv` tells it."""
        seen = self._batch.shown(done.final, over)  # type: ignore[arg-type]
        shown = observed(self.options, self._picture, seen.planes, self._batch.lanes)
        final_obs = np.full(self.num_envs, None, object)
        for place, i in enumerate(np.flatnonzero(over)):
            final_obs[i] = one_board(shown, place)
        masks = np.ones((self.num_envs, self.game.actions), np.int8)
        masks[over] = seen.mask
        known = done.final_facts._asdict() | extra | {"action_mask": masks}  # type: ignore[union-attr]
        info = {
            name: np.where(over.reshape(-1, *[1] * (np.ndim(x) - 1)), x, np.zeros_like(x)) for name, x in known.items()
        }
        info |= {f"_{name}": over.copy() for name in known}
        return {"final_obs": final_obs, "_final_obs": over.copy(), "final_info": info, "_final_info": over.copy()}

    def _shown(self, seen: Seen, facts: Facts) -> tuple[Any, dict[str, Any]]:
        """Observations and infos after a reset, or of a step before what the step adds."""
        self._mask = seen.mask if self.output == "jax" else seen.mask.copy()
        obs = observed(self.options, self._picture, seen.planes, self._batch.lanes)
        nothing = np.zeros(self.num_envs, np.int32)
        info = facts._asdict() | {"waves": nothing, "cleared": nothing.copy(), "illegal": nothing.astype(bool)}
        info["action_mask"] = np.asarray(seen.mask)
        if self.output == "jax":
            obs, info = jax.tree.map(jax.numpy.asarray, (obs, info))
            return obs, info
        return obs, _dense(info, self.num_envs)

    def _refuse_illegal(self, numbers: np.ndarray) -> None:
        mask = np.asarray(self._mask)
        wrong = np.flatnonzero(mask[np.arange(self.num_envs), numbers] == 0)
        if wrong.size:
            i = int(wrong[0])
            raise ValueError(f"action {int(numbers[i])} of lane {i} is not legal there: see action_masks()")

    def _check_open(self) -> None:
        if self.closed:
            raise gym.error.ClosedEnvironmentError("these environments were closed: make new ones")


def _dense(info: dict[str, Any], size: int) -> dict[str, Any]:
    """With the masks that Gymnasium keeps beside the values: every lane has every one."""
    values = {name: value for name, value in info.items() if not name.startswith("_")}
    return values | {f"_{name}": np.ones(size, bool) for name in values}


def _lanes_meant(mask: Any, size: int) -> np.ndarray | None:
    if mask is None:
        return None
    lanes = np.asarray(mask)
    if lanes.dtype != np.bool_ or lanes.shape != (size,) or not lanes.any():
        raise ValueError(f"reset_mask must be bool[{size}] with a lane to reset, not {lanes.dtype}{list(lanes.shape)}")
    return lanes
