"""Players of other kinds as agents: plain Python, one board at a time, and policies made for Gymnasium environments.

Three kinds are known by their looks, in this order:
- what has `act(obs, mask, rng) -> int`, an object or a class, and perhaps `reset()`: every attempt is played by a
  deep copy of its own, `reset` first; what all copies should share belongs into the module;
- what has `predict`, as Stable-Baselines3's models: asked for many boards at once, with `action_masks=` where it
  takes them and `deterministic=True`;
- a function of the same arguments as `act`.

`act` and functions are given as many of (obs, mask, rng) as they take. obs: one board's, as the environments show
it; mask: bool[actions]; rng: a `numpy.random.Generator` that depends on the attempt's key alone, so no result
depends on which boards are played together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agents.attempts import PolicyError
from agents.foreign.kinds import has
from agents.foreign.players import Foreign
from agents.foreign.window import Window
from agents.protocol import Policy
from crush_gym import Game
from crush_gym.envs.views import VIEWS, space

CHOICES = {"obs": VIEWS, "channels": ("first", "last"), "illegal": ("raise", "random")}
"""Options of `adapt`; of each, the first is the default."""


@dataclass(frozen=True)
class Adapted:
    """A player of another kind as an agent; see `adapt`. Two of one name are equal."""

    name: str
    player: Any = field(compare=False, repr=False)
    obs: str = "planes"
    channels: str = "first"
    illegal: str = "raise"

    def bind(self, game: Game) -> Policy:
        """The player in this game; a `PolicyError` where it was trained in one of another kind."""
        _same_spaces(self, game)
        return Foreign(self.name, self.player, Window(game, self.obs, self.channels), self.illegal).policy()


def adapt(player: Any, name: str = "", **options: str) -> Adapted:
    """Make an agent of a player of one of the kinds that this module tells of; a class is called for its object.

    name: by which `agents.registry.make` finds it, which gives it one itself
    obs, channels: what it is shown, as the environments' options of these names
    illegal: "raise", a `PolicyError`; or "random", a random legal move instead, for players that see no mask
    Options that are left out are the player's attributes of these names, if it has them.
    """
    unknown = sorted(set(options) - set(CHOICES))
    if unknown:
        raise TypeError(f"adapt has no option {unknown[0]!r}: it knows {', '.join(CHOICES)}")
    if not (has(player, "act") or has(player, "predict") or callable(player)):
        raise TypeError(f"a player has act(obs, mask, rng) or predict, or is a function, but this is {player!r}")
    asked = {key: options.get(key, getattr(player, key, known[0])) for key, known in CHOICES.items()}
    for key, value in asked.items():
        if value not in CHOICES[key]:
            raise ValueError(f"{key} must be one of {', '.join(map(repr, CHOICES[key]))}, not {value!r}")
    return Adapted(name, player() if isinstance(player, type) else player, **asked)


def _same_spaces(agent: Adapted, game: Game) -> None:
    """Refuse a model whose spaces tell that it was trained in a game of another kind."""
    seen = space(game.spec, agent.obs).shape if agent.obs in ("planes", "king") else None
    for name, attribute, here in (("observation_space", "shape", seen), ("action_space", "n", game.actions)):
        there = getattr(getattr(agent.player, name, None), attribute, None)
        # In any order of axes: libraries turn what they take for images.
        if there is not None and here is not None and sorted(np.ravel(there)) != sorted(np.ravel(here)):
            raise PolicyError(
                f"the agent {agent.name!r} was trained with {name}.{attribute} {there}, but here it is {here}: play "
                "what it was trained on, and say which observation it knows (obs=, channels=)"
            )
