"""What is played: a level under its rules, and the keys of its attempts."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax

from crush_gym import keys
from crush_gym.levels import Level, LevelError
from crush_gym.levels.errors import show
from crush_gym.levels.files import parse_json
from crush_gym.levels.writing import level_to_dict

SEEDS = 2**32

RULES, ADJACENCIES = ("saga", "points", "combo"), ("any", "runs")


@dataclass(frozen=True)
class Task:
    """A level under one of the rule sets.

    draws: eight hexadecimal digits that its attempts' keys are made of instead of the level's own: attempts of tasks
    that share them have the same keys, number by number
    """

    level: Level
    rules: str = "saga"
    adjacency: str = "any"
    draws: str = ""

    @property
    def name(self) -> str:
        """The level's name."""
        return self.level.name

    @cached_property
    def identity(self) -> str:
        """Sixteen hexadecimal digits of all that decides how it is played; its name does not."""
        content = self.content()
        content["level"]["name"] = ""
        digits = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        return (self.draws + digits)[:16]

    def content(self) -> dict[str, Any]:
        """All that it takes to play it again, for JSON."""
        known = {"rules": self.rules, "adjacency": self.adjacency, "level": level_to_dict(self.level)}
        return known | ({"draws": self.draws} if self.draws else {})


def task_from(text: str) -> Task:
    """The task of a `content` in JSON; a `ValueError` in words where it is none."""
    known = parse_json(text, "a level in it")
    if not isinstance(known, dict) or not {"level", "rules", "adjacency"} <= known.keys():
        raise ValueError("a level in it has no `level`, `rules` and `adjacency`")
    if known["rules"] not in RULES or known["adjacency"] not in ADJACENCIES:
        raise ValueError(
            f"a level in it is played by the rules {show(known['rules'])}, {show(known['adjacency'])}, expected one of "
            f"{', '.join(RULES)}, and any or runs"
        )
    draws = known.get("draws", "")
    if not (isinstance(draws, str) and re.fullmatch("([0-9a-f]{8})?", draws)):
        raise ValueError(f"a level in it has the draws {show(draws)}, expected eight hexadecimal digits")
    try:
        return Task(Level.from_dict(known["level"]), known["rules"], known["adjacency"], draws)
    except LevelError as error:
        raise ValueError(f"a level in it cannot be read: {error.problems[0]}") from None


def attempt_key(seed: int, task: str, attempt: int) -> jax.Array:
    """The key of an attempt: of nothing but these three, so that no result depends on how work was shared out."""
    return keys.attempt_key(keys.attempt_key(jax.random.key(seed), int(task[:8], 16)), attempt)
