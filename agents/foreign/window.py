"""What players of other kinds are shown of boards: the observations and the masks of the Gymnasium environments."""

from __future__ import annotations

import math
from typing import Any

import jax
import numpy as np

from crush_gym import Game, Level, State
from crush_gym.envs.views import space, view
from crush_gym.runtime import LEVEL_RANKS, STATE_RANKS

Array = np.ndarray[Any, np.dtype[Any]]


class Window:
    """Looks at boards of one game. obs: a kind of `crush_gym.envs.views.VIEWS`; channels: "first" or "last"."""

    def __init__(self, game: Game, obs: str = "planes", channels: str = "first") -> None:
        self.game, self.obs, self.channels = game, obs, channels

    def observations(self, state: State, level: Level) -> Any:
        """The boards in one axis, in front: an array, or for "cells" a dict of them."""
        state, level = flat(state, STATE_RANKS), flat(level, LEVEL_RANKS) if np.ndim(level.height) else level
        if self.obs == "rgb":
            return self._pictures(state, level)
        planes = np.moveaxis(np.asarray(self.game.observe(state, level)), -1, 0)
        seen = view(self.game.spec, self.obs, planes)
        return np.moveaxis(seen, 1, -1) if self.channels == "last" and self.obs != "cells" else seen

    def masks(self, state: State) -> Array:
        """bool[boards, actions]; all False on a finished board."""
        mask = self.game.legal(flat(state, STATE_RANKS), None)
        return np.ascontiguousarray(np.moveaxis(np.asarray(mask), -1, 0))

    def _pictures(self, state: State, level: Level) -> Array:
        """As the environments draw them: smaller boards stand in the upper left corner of the largest."""
        from crush_gym import render

        most = space(self.game.spec, "rgb").shape or ()
        result = np.zeros((state.planes.shape[-1], *most), np.uint8)
        for i, rows in enumerate(self.game.text(state, level)):
            own = jax.tree.map(lambda x, i=i: np.asarray(x)[..., i], level) if np.ndim(level.height) else level
            picture = render.rgb(rows, own)[: most[0], : most[1]]
            result[i, : picture.shape[0], : picture.shape[1]] = picture
        return result


def flat(tree: Any, ranks: Any) -> Any:
    """One axis of boards on every leaf, whatever their arrangement: none, one or several axes."""

    def leaf(x: Any, rank: int) -> Any:
        return x.reshape(*x.shape[:rank], math.prod(x.shape[rank:]))

    return jax.tree.map(leaf, tree, ranks)


def one(obs: Any, i: int) -> Any:
    """Board i's part of observations, an array, or a dict of arrays, of its own."""
    return {name: np.array(x[i]) for name, x in obs.items()} if isinstance(obs, dict) else np.array(obs[i])


def some(obs: Any, which: Array) -> Any:
    """The parts of these boards."""
    return {name: x[which] for name, x in obs.items()} if isinstance(obs, dict) else obs[which]
