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

from agents.foreign.fitting import check_actions, view_of
from agents.foreign.kinds import has
from agents.foreign.players import Foreign
from agents.foreign.window import Window
from agents.protocol import Policy
from crush_gym import Game
from crush_gym.envs.views import CHANNELS, VIEWS

CHOICES: dict[str, tuple[str | None, ...]] = {
    "obs": (None, *VIEWS), "channels": (None, *CHANNELS), "illegal": ("raise", "random"),
}  # fmt: skip
"""Options of `adapt` in words; of each, the first is the default."""


@dataclass(frozen=True)
class Adapted:
    """A player of another kind as an agent; see `adapt`. Two of one name are equal."""

    name: str
    player: Any = field(compare=False, repr=False)
    obs: str | None = None
    channels: str | None = None
    illegal: str = "raise"
    game: Game | None = field(default=None, compare=False, repr=False)

    def bind(self, game: Game) -> Policy:
        """The player in this game; a `PolicyError` where it was trained in one of another kind."""
        check_actions(self.name, self.player, game)
        obs, channels = view_of(self.name, self.player, game, self.obs, self.channels)
        return Foreign(self.name, self.player, Window(game, obs, channels), self.illegal).policy()


def adapt(player: Any, name: str = "", *, game: Game | None = None, **options: str) -> Adapted:
    """Make an agent of a player of one of the kinds that this module tells of; a class is called for its object.

    name: by which `agents.registry.make` finds it, which gives it one itself
    obs, channels: what it is shown, as the environments' options of these names. Unless said, the view that fits the
    player's `observation_space`; or planes, channels first, where it has none
    illegal: "raise", a `PolicyError`; or "random", a random legal move instead, for players that see no mask
    game: the one that it was trained in, where that was one for several levels, such as Game(load_pack("tour")): what
    planes and actions there are depends on all of them. The harness plays in it, whichever of its levels is asked for
    Options that are left out are the player's attributes of these names, if it has them.
    """
    unknown = sorted(set(options) - set(CHOICES))
    if unknown:
        raise TypeError(f"adapt has no option {unknown[0]!r}: it knows {', '.join(CHOICES)} and game")
    if not (has(player, "act") or has(player, "predict") or callable(player)):
        raise TypeError(f"a player has act(obs, mask, rng) or predict, or is a function, but this is {player!r}")
    asked: dict[str, Any] = {key: options.get(key, getattr(player, key, known[0])) for key, known in CHOICES.items()}
    for key, value in asked.items():
        if value not in CHOICES[key]:
            words = ", ".join(repr(word) for word in CHOICES[key] if word)
            raise ValueError(f"{key} must be one of {words}, not {value!r}")
    return Adapted(name, player() if isinstance(player, type) else player, **asked, game=game)
