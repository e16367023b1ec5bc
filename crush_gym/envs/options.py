"""Options of the environments: read once, refused in a sentence where they make no sense."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from crush_gym.envs import rewards
from crush_gym.envs.rewards import Reward
from crush_gym.envs.task import DRAWS, ILLEGAL, ORDERS, Pool, Task
from crush_gym.envs.views import VIEWS
from crush_gym.game import Game, simple_level
from crush_gym.levels import Level, LevelError, LevelPack, load_pack
from crush_gym.levels.pack import home_and_level, level_named, shipped_packs
from crush_gym.levels.values import did_you_mean

DEFAULT_PACK = "tour"
"""What Saga plays where nothing else is said."""

RULES = ("saga", "points", "combo")


@dataclass(frozen=True)
class Options:
    """What an environment plays and shows, checked.

    weights: how often each level is played, in proportion; None where all are alike
    channels: where the planes are, "first" or "last"
    """

    game: Game
    task: Task
    levels: tuple[Level, ...]
    order: str
    weights: tuple[float, ...] | None
    obs: str
    channels: str

    @functools.cached_property
    def pool(self) -> Pool:
        """The levels that episodes are played on."""
        return Pool(LevelPack(self.levels).stack(np.arange(len(self.levels))), _edges(self.weights))


def read_options(
    rules: str = "saga",
    *,
    level: Any = None,
    pack: Any = None,
    order: str = "sample",
    weights: Sequence[float] | None = None,
    shape: tuple[int, int] | None = None,
    colours: int | None = None,
    moves: int | None = None,
    goal: int | None = None,
    obs: str = "planes",
    channels: str = "first",
    reward: str | Reward = "score",
    illegal: str = "pass",
) -> Options:
    """Check what was asked for.

    level: the level to play: its name in a pack that ships, PACK/LEVEL, FILE, FILE/LEVEL, a dict or a `Level`; or its
    name in `pack`
    pack: the levels to play: a name such as "tour" (Saga's default), a path, a dict, a `LevelPack` or a list
    order: which level of a pack an episode plays: "sample", any of them; "cycle", one after the other
    weights: how often "sample" plays each level, in proportion: a number from 0 for each; equally often unless said
    shape: (height, width) of a board without a level, (9, 9) unless said
    colours: of candies without a level: 6 of Points, 5 of Combo
    moves: of an episode without a level: 20 of Points, 50 of Combo
    goal: points that win an episode without a level; none unless said
    obs: what is seen: "planes", everything; "king", binary planes, without the moves left, the candy bombs' counters
    and how much of a goal is left; "cells", numbers by layer; "rgb", the picture
    channels: whether the planes of an observation are its "first" axis or its "last"
    reward: "score", the points of the move; "progress", the share of the goals it did, and 1 for a win; "win", 1 for
    it; or a function of your own, see `crush_gym.envs.rewards`
    illegal: what becomes of an illegal action: "pass", nothing; "random", a legal one is made; "raise", an error
    """
    for name, value, known in (
        ("rules", rules, RULES), ("obs", obs, VIEWS), ("illegal", illegal, ILLEGAL),
        ("order", order, ORDERS), ("channels", channels, ("first", "last")),
    ):  # fmt: skip
        if value not in known:
            expected = ", ".join(map(repr, known))
            raise ValueError(f"{name} must be one of {expected}, not {value!r}{did_you_mean(value, known)}")
    simple = {"shape": shape, "colours": colours, "moves": moves, "goal": goal}
    if level is None and pack is None and rules != "saga":
        levels: tuple[Level, ...] = (simple_level(rules, shape, colours, moves, goal),)
    else:
        given = [name for name, value in simple.items() if value is not None]
        if given:
            raise ValueError(f"{given[0]} describes a game without level files: leave it out, or level and pack")
        levels = find_levels(level, pack)
    game = Game(levels, rules=rules)
    shares = _checked_weights(weights, levels, order)
    task = Task(game.spec, _checked_reward(reward, game, levels), illegal, game)
    return Options(game, task, levels, order, shares, obs, channels)


def read_given(maker: Callable[..., Any], rules: str, options: Mapping[str, Any]) -> Options:
    """`read_options` of what `maker` was given besides its own arguments."""
    names = [name for f in (read_options, maker) for name in inspect.signature(f).parameters]
    known = [name for name in dict.fromkeys(names) if name not in ("self", "rules", "options")]
    for name in options:
        if name not in known:
            hint = did_you_mean(name, known) or f"; the options are {', '.join(map(repr, known))}"
            raise ValueError(f"there is no option {name!r}{hint}")
    return read_options(rules, **options)


def find_levels(level: Any = None, pack: Any = None) -> tuple[Level, ...]:
    """The levels meant by these two options."""
    if level is None:
        return tuple(_pack(pack if pack is not None else DEFAULT_PACK))
    if isinstance(level, str) and pack is not None:
        return (_pack(pack)[level],)
    if pack is not None:
        raise ValueError("give a level of a pack by its name, or leave pack= out")
    if isinstance(level, Level):
        return (level,)
    if isinstance(level, str) and not _is_path(level):
        return (_shipped_level(level),)
    home, name = home_and_level(level) if isinstance(level, str) else (level, "")
    found = load_pack(home)
    if name:
        return (level_named(found, name),)
    if len(found) != 1:
        raise ValueError(f"level= means one level, but this holds {len(found)}: use pack=, or name one as well")
    return (found[0],)


def _pack(source: Any) -> LevelPack:
    if isinstance(source, Sequence) and not isinstance(source, (str, LevelPack)):
        return LevelPack(source)
    return load_pack(source)


def _is_path(text: str) -> bool:
    return os.sep in text or "/" in text or text.endswith(".json")


def _shipped_level(name: str) -> Level:
    """The level of this name in the packs that come with the package."""
    packs = {source: load_pack(source) for source in shipped_packs()}
    for pack in packs.values():
        if name in pack:
            return pack[name]
    homes = {level: source for source, pack in packs.items() for level in pack.names}
    near = [f"{level!r} of {homes[level]}" for level in get_close_matches(name[:80], homes, 3, 0.6)]
    hint = f"did you mean {' or '.join(near)}?" if near else f"the packs are {', '.join(packs)}"
    raise LevelError(f"no pack that ships has a level {name!r}; {hint}")


def _checked_reward(reward: Any, game: Game, levels: tuple[Level, ...]) -> Reward:
    found = rewards.find(reward)
    if found == rewards.Progress() and not any(_has_goal(level) for level in levels):
        raise ValueError('reward="progress" is of goals, and this game has none: set goal=, or use reward="score"')
    rewards.check(found, game, levels)
    return found


def _has_goal(level: Level) -> bool:
    asked = (level.goal_score > 0, level.goal_jelly, level.goal_cherry > 0, level.goal_hazelnut > 0)
    return bool(any(asked) or (level.orders > 0).any())


def _checked_weights(weights: Any, levels: tuple[Level, ...], order: str) -> tuple[float, ...] | None:
    """One number for each level, or None where all are alike: then nothing has to be looked up."""
    if weights is None:
        return None
    if order != "sample":
        raise ValueError(f'weights are for order="sample", where levels are drawn: leave them out with order={order!r}')
    try:
        numbers = np.asarray(weights, np.float64)
    except (TypeError, ValueError):
        numbers = np.array(np.nan)
    if numbers.shape != (len(levels),):
        what = f"{len(numbers)}" if numbers.ndim == 1 else repr(weights)
        raise ValueError(f"weights must be {len(levels)} numbers, one for each level, not {what}")
    for level, number in zip(levels, numbers, strict=True):
        if not 0 <= number < np.inf:
            raise ValueError(f"weights must be numbers from 0, but the one of level {level.name!r} is {number}")
    if not 0 < numbers.sum() < np.inf:
        raise ValueError(f"weights must come to more than 0 and less than infinity together, not to {numbers.sum()}")
    return None if (numbers == numbers[0]).all() else tuple(numbers.tolist())


def _edges(weights: tuple[float, ...] | None) -> np.ndarray[Any, Any] | None:
    """See `Pool`. A level of weight 0 begins where the next one does, so it is never drawn."""
    if weights is None:
        return None
    sums = np.cumsum(weights)
    return np.rint(sums[:-1] / sums[-1] * DRAWS).astype(np.uint32)
