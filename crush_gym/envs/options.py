"""Options of the environments: read once, refused in a sentence where they make no sense."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from crush_gym.envs.task import ILLEGAL, ORDERS, REWARDS, Task
from crush_gym.envs.views import VIEWS
from crush_gym.game import Game, simple_level
from crush_gym.levels import Level, LevelError, LevelPack, load_pack
from crush_gym.levels.errors import UnknownLevelError
from crush_gym.levels.pack import shipped_packs

DEFAULT_PACK = "tour"
"""What Saga plays where nothing else is said."""

RULES = ("saga", "points", "combo")


@dataclass(frozen=True)
class Options:
    """What an environment plays and shows, checked. channels: where the planes are, "first" or "last"."""

    game: Game
    task: Task
    levels: tuple[Level, ...]
    order: str
    obs: str
    channels: str


def read_options(
    rules: str = "saga",
    *,
    level: Any = None,
    pack: Any = None,
    order: str = "sample",
    shape: tuple[int, int] | None = None,
    colours: int | None = None,
    moves: int | None = None,
    goal: int | None = None,
    obs: str = "planes",
    channels: str = "first",
    reward: str = "score",
    illegal: str = "pass",
) -> Options:
    """Check what was asked for.

    level: the level to play: its name in a pack that ships, a path, a dict or a `Level`; or its name in `pack`
    pack: the levels to play: a name such as "tour" (Saga's default), a path, a dict, a `LevelPack` or a list
    order: which level of a pack an episode plays: "sample", any of them; "cycle", one after the other
    shape: (height, width) of a board without a level, (9, 9) unless said
    colours: of candies without a level: 6 of Points, 5 of Combo
    moves: of an episode without a level: 20 of Points, 50 of Combo
    goal: points that win an episode without a level; none unless said
    obs: what is seen: "planes", everything; "king", binary planes; "cells", numbers by layer; "rgb", the picture
    channels: whether the planes of an observation are its "first" axis or its "last"
    reward: "score", the points of the move; "progress", the share of the goals it did, and 1 for a win; "win", 1 for it
    illegal: what becomes of an illegal action: "pass", nothing; "random", a legal one is made; "raise", an error
    """
    for name, value, known in (
        ("rules", rules, RULES), ("obs", obs, VIEWS), ("reward", reward, REWARDS), ("illegal", illegal, ILLEGAL),
        ("order", order, ORDERS), ("channels", channels, ("first", "last")),
    ):  # fmt: skip
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}, not {value!r}")
    simple = {"shape": shape, "colours": colours, "moves": moves, "goal": goal}
    if level is None and pack is None and rules != "saga":
        levels: tuple[Level, ...] = (simple_level(rules, shape, colours, moves, goal),)
    else:
        given = [name for name, value in simple.items() if value is not None]
        if given:
            raise ValueError(f"{given[0]} describes a game without level files: leave it out, or level and pack")
        levels = find_levels(level, pack)
    game = Game(levels, rules=rules)
    if reward == "progress" and not any(_has_goal(level) for level in levels):
        raise ValueError('reward="progress" is of goals, and this game has none: set goal=, or use reward="score"')
    return Options(game, Task(game.spec, reward, illegal), levels, order, obs, channels)


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
    found = load_pack(level)
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
    for source in shipped_packs():
        pack = load_pack(source)
        if name in pack:
            return pack[name]
    try:
        return load_pack(DEFAULT_PACK)[name]
    except UnknownLevelError as error:
        raise LevelError(f"no pack that ships has a level {name!r} ({error})") from None


def _has_goal(level: Level) -> bool:
    asked = (level.goal_score > 0, level.goal_jelly, level.goal_cherry > 0, level.goal_hazelnut > 0)
    return bool(any(asked) or (level.orders > 0).any())
