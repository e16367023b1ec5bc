"""What the environments for one board, for many and for Stable-Baselines3 share: what goes in, and what is shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from crush_gym.envs.options import Options
from crush_gym.envs.pictures import RENDER_MODES, Picture
from crush_gym.envs.views import space, view


def check_render_mode(mode: str | None, known: Sequence[str] = RENDER_MODES) -> None:
    """Refuse what the environment does not draw."""
    if mode is not None and mode not in known:
        raise ValueError(f"render_mode must be one of {', '.join(map(repr, known))}, not {mode!r}")


def checked_lanes(number: Any) -> int:
    """How many boards a batch has."""
    if not isinstance(number, (int, np.integer)) or number < 1:
        raise ValueError(f"num_envs must be a whole number from 1, not {number!r}")
    return int(number)


def check_reset_options(options: dict[str, Any] | None, known: tuple[str, ...]) -> dict[str, Any]:
    """The reset's options, of which only these are known."""
    unknown = sorted(set(options or {}) - set(known))
    if unknown:
        raise ValueError(f"reset has no option {unknown[0]!r}: it knows {', '.join(map(repr, known))}")
    return dict(options or {})


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


def observation_space(options: Options) -> spaces.Space[Any]:
    """The space of one board's observations."""
    return space(options.task.spec, options.obs, options.channels)


def observed(options: Options, picture: Picture, planes: Any, lanes: Any, xp: Any = np) -> Any:
    """The boards' observation of the kind asked for, boards first. planes: uint8[B, channels, H, W]."""
    if options.obs == "rgb":
        return picture.all(lanes())
    obs = view(options.task.spec, options.obs, planes, xp)
    return xp.moveaxis(obs, 1, -1) if options.channels == "last" and options.obs != "cells" else obs


def one_board(obs: Any, i: int) -> Any:
    """Board i's part of an observation, an array of its own."""
    return {name: np.array(x[i]) for name, x in obs.items()} if isinstance(obs, dict) else np.array(obs[i])
