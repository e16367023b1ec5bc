"""What environments render: the board in a terminal, as a picture, as an SVG."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import jax
import numpy as np

from crush_gym.engine.state import State
from crush_gym.envs.options import Options
from crush_gym.envs.task import Lanes
from crush_gym.envs.views import picture_shape

RENDER_MODES = ("ansi", "rgb_array", "svg")
"""What is drawn of any number of boards."""

HUMAN = "human"
"""A window, which there is for a single board."""


class Picture:
    """Draws boards of the levels of one environment."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.levels = options.levels

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Height, width and 3, of the largest of the levels."""
        return picture_shape(self.options.task.spec)

    def all(self, lanes: Lanes) -> np.ndarray:
        """Pictures of all boards, uint8[B, height, width, 3]; smaller boards stand in the upper left corner."""
        return np.stack([self.rgb(lanes, i) for i in range(lanes.level.shape[-1])])

    def rgb(self, lanes: Lanes, i: int) -> np.ndarray:
        picture = self._rgb(*self._rows(lanes, i))
        whole = np.zeros(self.shape, np.uint8)
        whole[: picture.shape[0], : picture.shape[1]] = picture[: whole.shape[0], : whole.shape[1]]
        return whole

    def render(self, mode: str, lanes: Lanes, i: int) -> Any:
        """One board in one of the modes."""
        from crush_gym import render

        if mode == "rgb_array":
            return self.rgb(lanes, i)
        rows, level = self._rows(lanes, i)
        return render.ansi(rows, level) if mode == "ansi" else render.svg(rows, level)

    def _rows(self, lanes: Lanes, i: int) -> tuple[list[str], Any]:
        level = self.levels[int(lanes.level[i])]
        state: State = jax.tree.map(lambda x: np.asarray(x)[..., i], lanes.state)
        return self.options.game.text(state, level), level

    def _rgb(self, rows: list[str], level: Any) -> np.ndarray:
        from crush_gym import render

        return render.rgb(rows, level)
