"""Which view of the boards a model was trained on, by the spaces that it tells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium import spaces

from agents.attempts import PolicyError
from crush_gym import Game
from crush_gym.envs.views import CHANNELS, VIEWS, space

ADVICE = (
    "play what it was trained on, which for several levels is adapt(model, game=Game(pack)); where a wrapper changed "
    "the observations, say in `adapt` what it knows (obs=, channels=)"
)


def check_actions(name: str, player: Any, game: Game) -> None:
    """Refuse a model that was trained in a game with another number of actions."""
    there = getattr(getattr(player, "action_space", None), "n", None)
    if there is not None and there != game.actions:
        raise PolicyError(
            f"the agent {name!r} was trained with action_space.n {there}, but here it is {game.actions}: play what it "
            "was trained on"
        )


def view_of(name: str, player: Any, game: Game, obs: str | None, channels: str | None) -> tuple[str, str]:
    """What a player is shown: what it asks for, else what its `observation_space` fits; see `agents.foreign.adapt`."""
    wanted = getattr(player, "observation_space", None)
    if obs is not None:
        order = channels or CHANNELS[0]
        _check_said(name, wanted, space(game.spec, obs, order))
        return obs, order
    if wanted is None:
        return VIEWS[0], channels or CHANNELS[0]
    views = [view for view in _views() if channels in (None, view[1])]
    for fits in (_same, _turned):
        for view in views:
            if fits(wanted, space(game.spec, *view)):
                return view
    shown = ", ".join(f"{kind} {_short(space(game.spec, kind))}" for kind in VIEWS)
    raise PolicyError(
        f"the agent {name!r} takes observations {_short(wanted)}, which is no view of this game: there are {shown}, "
        f"with channels first or last; {ADVICE}"
    )


def _views() -> Iterator[tuple[str, str]]:
    for kind in VIEWS:
        yield from ((kind, order) for order in (CHANNELS if kind in ("planes", "king") else CHANNELS[:1]))


def _same(wanted: Any, here: spaces.Space[Any]) -> bool:
    return bool(wanted == here)


def _turned(wanted: Any, here: spaces.Space[Any]) -> bool:
    """Whether the axes were turned as libraries do with what they take for images, whose colours they want first."""
    if not isinstance(here, spaces.Box) or len(here.shape) != 3:
        return False
    return bool(wanted == spaces.Box(0, int(here.high.max()), (here.shape[2], *here.shape[:2]), np.uint8))


def _check_said(name: str, wanted: Any, here: spaces.Space[Any]) -> None:
    """Refuse a view that was asked for where the model's space has other lengths, in whatever order."""
    there = getattr(wanted, "shape", None)
    if there is not None and here.shape is not None and sorted(there) != sorted(here.shape):
        raise PolicyError(
            f"the agent {name!r} was trained with observation_space.shape {there}, but here it is {here.shape}: "
            f"{ADVICE}"
        )


def _short(box: Any) -> str:
    """A space in few words."""
    if isinstance(box, spaces.Box):
        return f"{box.shape} of {box.dtype} {box.low.min():g} to {box.high.max():g}"
    return f"a dict of {', '.join(box)}" if isinstance(box, spaces.Dict) else f"{box}"[:200]
