"""A Stable-Baselines3 `VecEnv` over the native batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from crush_gym.envs import saved
from crush_gym.envs.base import (
    check_render_mode,
    checked_actions,
    checked_lanes,
    observation_space,
    observed,
    one_board,
)
from crush_gym.envs.batch import Batch
from crush_gym.envs.options import Options, read_given
from crush_gym.envs.pictures import Picture
from crush_gym.envs.task import Lanes, Seen

try:
    from gymnasium import spaces
    from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper, VecTransposeImage
except ImportError as missing:
    raise ImportError(
        "crush_gym.sb3 needs Stable-Baselines3, which is not installed: pip install 'crush-gym[sb3]'"
    ) from missing

__all__ = ["CrushVecEnv"]


class CrushVecEnv(VecTransposeImage):
    """So many boards, reset as they end; wrap it in `VecMonitor` for episodes' rewards and lengths.

    Lane i seeded s plays what a single environment seeded s + i plays, in its later episodes too.

    Stable-Baselines3 takes planes of 0-255 for photographs. It divides them by 255, as is right; but it also swaps
    their axes by a guess at which are the colours, unless the batch is a `VecTransposeImage` already. So it is one:
    planes stay as they are, and only real pictures (obs="rgb") get their colours first, as "CnnPolicy" needs them.
    """

    def __init__(self, num_envs: int, rules: str = "saga", *, render_mode: str | None = None, **options: Any) -> None:
        """options: see `crush_gym.envs.options.read_options`."""
        check_render_mode(render_mode)
        boards = _Boards(checked_lanes(num_envs), read_given(CrushVecEnv.__init__, rules, options), render_mode)
        if boards.options.obs in ("planes", "rgb"):
            super().__init__(boards, skip=boards.options.obs == "planes")
        else:
            VecEnvWrapper.__init__(self, boards)
            self.skip = True
        self.boards = boards

    def get_state(self) -> Lanes:
        """All there is to these episodes: a tree of arrays. See `set_state`."""
        return self.boards.lanes()

    def set_state(self, state: Lanes) -> Any:
        """Go on from what `get_state` gave; the observations there. The model that learns here must be told of them."""
        return self.transpose_observations(self.boards.restore(state))


class _Boards(VecEnv):
    """The native batch behind `CrushVecEnv`."""

    def __init__(self, num_envs: int, options: Options, render_mode: str | None) -> None:
        self.options, self.render_mode = options, render_mode
        self._batch = Batch(options, num_envs, "same")
        self._picture = Picture(options)
        self._mask = np.ones((num_envs, options.game.actions), bool)
        self._actions: np.ndarray | None = None
        space = observation_space(options)
        super().__init__(num_envs, space, spaces.Discrete(options.game.actions))

    def reset(self) -> Any:
        """New episodes: number 0 of the seeds that `seed` gave, else the next ones."""
        seeds = None
        if any(seed is not None for seed in self._seeds):
            seeds = np.array([int(seed or 0) % 2**32 for seed in self._seeds], np.uint32)
        elif not self._batch.started:
            seeds = np.random.default_rng().integers(2**32, size=self.num_envs, dtype=np.uint32)
        seen, _ = self._batch.reset(seeds)
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = [{} for _ in range(self.num_envs)]
        return self._shown(seen)

    def lanes(self) -> Lanes:
        """See `CrushVecEnv.get_state`."""
        if not self._batch.started:
            raise RuntimeError("there are no episodes yet: call reset() first")
        return self._batch.lanes()

    def restore(self, state: Lanes) -> Any:
        """See `CrushVecEnv.set_state`."""
        self._actions = None
        return self._shown(self._batch.restore(saved.check(state, self._batch))[0])

    def step_async(self, actions: np.ndarray) -> None:
        """Take the actions of the coming `step_wait`."""
        if not self._batch.started:
            raise RuntimeError("step before reset: call reset() first")
        self._actions = checked_actions(actions, self.options.game.actions, (self.num_envs,))

    def step_wait(self) -> tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Observations (of the next episode where one ended), rewards, ends, infos."""
        if self._actions is None:
            raise RuntimeError("step_wait before step_async: call step(actions)")
        step, self._actions = self._batch.step(self._actions), None
        outcome = step.outcome
        done = np.asarray(outcome.terminated | outcome.truncated)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if done.any() and step.final is not None and step.final_facts is not None:
            last = self._view(self._batch.shown(step.final, done))
            known = {name: np.asarray(value) for name, value in step.final_facts._asdict().items()}
            for place, i in enumerate(np.flatnonzero(done)):
                infos[i] = {name: int(value[i]) for name, value in known.items()}
                infos[i]["terminal_observation"] = one_board(last, place)
                infos[i]["TimeLimit.truncated"] = bool(outcome.truncated[i] and not outcome.terminated[i])
        return self._shown(step.seen), np.array(outcome.reward, np.float32), done, infos

    def action_masks(self) -> np.ndarray:
        """bool[num_envs, actions]: what sb3-contrib's maskable algorithms ask for."""
        return self._mask

    def close(self) -> None:
        """Nothing is held that would have to be let go."""

    def get_images(self) -> Sequence[np.ndarray | None]:
        """Pictures of all boards."""
        if self.render_mode != "rgb_array" or not self._batch.started:
            return [None] * self.num_envs
        return list(self._picture.all(self._batch.lanes()))

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """One value for every lane meant."""
        return [getattr(self, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Lanes are no objects of their own: what is set is set for all."""
        if len(list(self._get_indices(indices))) != self.num_envs:
            raise ValueError("the boards of a batch share their attributes: set them for all of them")
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """`action_masks`: each lane's own; any other method is the batch's."""
        lanes = list(self._get_indices(indices))
        if method_name == "action_masks":
            return [self._mask[i] for i in lanes]
        method: Callable[..., Any] = getattr(self, method_name)
        return [method(*args, **kwargs)] * len(lanes)

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """No lane is."""
        return [False] * len(list(self._get_indices(indices)))

    def _get_indices(self, indices: int | Iterable[int] | None) -> Iterable[int]:
        return super()._get_indices(indices)

    def _shown(self, seen: Seen) -> Any:
        self._mask = np.asarray(seen.mask) != 0
        return self._view(seen)

    def _view(self, seen: Seen) -> Any:
        return observed(self.options, self._picture, seen.planes, self._batch.lanes)
