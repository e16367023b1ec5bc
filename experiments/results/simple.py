"""The simple games by their texts: `points`, `combo:7x7`, `points:5x5:moves=10,colours=4`."""

from __future__ import annotations

from typing import Any

from crush_gym import Level
from crush_gym.game import simple_level
from crush_gym.levels import LevelError
from crush_gym.levels.errors import show
from crush_gym.levels.values import did_you_mean
from crush_gym.levels.writing import level_to_dict
from experiments.results.task import ADJACENCIES, Task

RULES = ("points", "combo")
"""Rule sets that need no level."""

NUMBERS = ("colours", "moves", "goal")
OPTIONS = (*NUMBERS, "adjacency")
"""What such a text can say, besides the size, in the order in which names tell it."""


def is_simple(text: str) -> bool:
    """Whether the text is meant for a simple game."""
    return text.partition(":")[0] in RULES


def simple_task(text: str) -> Task:
    """The task that the text names; a `ValueError` in a sentence where there is none.

    It is called so that its name, with colons for blanks, names it again.
    """
    rules, *parts = text.split(":")
    sizes = [part for part in parts if "=" not in part]
    if len(sizes) > 1 or any(not part for part in parts):
        raise ValueError(f"expected {rules}:HEIGHTxWIDTH:option=value,..., such as {rules}:7x7:moves=10, not {text}")
    shape = _shape(rules, sizes[0]) if sizes else None
    options = _options(text, [part for part in parts if "=" in part])
    adjacency = options.pop("adjacency", ADJACENCIES[0])
    try:
        level = simple_level(rules, shape, *(options.get(name) for name in NUMBERS))
    except LevelError as error:
        raise ValueError(f"{text}: {error.problems[0].message}") from None
    except ValueError as error:
        raise ValueError(f"{text}: {error}") from None
    return Task(_named(rules, level, adjacency), rules, adjacency)


def _shape(rules: str, size: str) -> tuple[int, int]:
    height, x, width = size.partition("x")
    if not (x and _is_number(height) and _is_number(width)):
        raise ValueError(f"expected {rules}:HEIGHTxWIDTH, such as {rules}:7x7, not {rules}:{size}")
    return int(height), int(width)


def _options(text: str, parts: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in ",".join(parts).split(",") if parts else ():
        name, equals, value = part.partition("=")
        if not equals and name in OPTIONS:
            raise ValueError(f"{text}: {name} has no value, expected {name}=...")
        if name not in OPTIONS:
            hint = did_you_mean(name, OPTIONS) or f"; there are {', '.join(OPTIONS)}, and the size as in 7x7"
            raise ValueError(f"{text}: there is no option {show(name)}{hint}")
        if name in found:
            raise ValueError(f"{text} says {name} twice")
        found[name] = _value(text, name, value)
    return found


def _value(text: str, name: str, value: str) -> int | str:
    if name in NUMBERS:
        if not _is_number(value):
            raise ValueError(f"{text}: {name} must be a whole number, not {show(value)}")
        return int(value)
    if value not in ADJACENCIES:
        expected = did_you_mean(value, ADJACENCIES) or f"; expected {' or '.join(ADJACENCIES)}"
        raise ValueError(f"{text}: there is no {name} {show(value)}{expected}")
    return value


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 10


def _named(rules: str, level: Level, adjacency: str) -> Level:
    """The level, named by its rules, its size, and what else is not as usual."""
    usual = simple_level(rules, level.shape, None, None, None)
    pairs = [("colours", level.colours, usual.colours), ("moves", level.moves, usual.moves),
             ("goal", level.goal_score, usual.goal_score), ("adjacency", adjacency, ADJACENCIES[0])]  # fmt: skip
    changed = ",".join(f"{name}={here}" for name, here, there in pairs if here != there)
    height, width = level.shape
    name = f"{rules} {height}x{width} {changed}".strip()
    return Level.from_dict(level_to_dict(level) | {"name": name})
