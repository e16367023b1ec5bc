"""What is played: a level under its rules."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import jax

from crush_gym import Level, LevelPack, load_pack
from crush_gym.game import simple_level
from crush_gym.levels.writing import level_to_dict

SEEDS = 2**32


@dataclass(frozen=True)
class Task:
    """A level under one of the rule sets."""

    level: Level
    rules: str = "saga"
    adjacency: str = "any"

    @property
    def name(self) -> str:
        """The level's name."""
        return self.level.name

    @cached_property
    def identity(self) -> str:
        """Sixteen hexadecimal digits of all that decides how it is played; its name does not."""
        content = {"rules": self.rules, "adjacency": self.adjacency, "level": level_to_dict(self.level) | {"name": ""}}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def attempt_key(seed: int, task: str, attempt: int) -> jax.Array:
    """The key of an attempt: of nothing but these three, so that no result depends on how work was shared out."""
    return jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), int(task[:8], 16)), attempt)


def tasks_of(source: str | Level | LevelPack | Task | Sequence[Task]) -> tuple[Task, ...]:
    """Tasks from a Level, a LevelPack, or a text: `pack`, `pack/level`, `points`, `combo`, `points:7x7`, a path.

    The path is of a level file, or of a store of results, which stands for all the levels in it.
    """
    if isinstance(source, Task):
        return (source,)
    if isinstance(source, Level):
        return (Task(source),)
    if isinstance(source, LevelPack):
        return tuple(map(Task, source))
    if not isinstance(source, str):
        return tuple(task for each in source for task in tasks_of(each))
    rules, _, size = source.partition(":")
    if rules in ("points", "combo"):
        return (_simple(rules, size),)
    if _is_store(source):
        return _stored(source)
    pack, _, name = source.partition("/")
    if name and not source.endswith(".json"):
        return (Task(load_pack(pack)[name]),)
    return tuple(map(Task, load_pack(source)))


def _is_store(source: str) -> bool:
    if not Path(source).is_file():
        return False
    with open(source, "rb") as file:
        return file.read(16) == b"SQLite format 3\0"


def _stored(source: str) -> tuple[Task, ...]:
    from experiments.results.store import Store, StoreError

    try:
        with Store(source) as store:
            return tuple(store.tasks().values())
    except StoreError as error:
        raise ValueError(str(error)) from None


def _simple(rules: str, size: str) -> Task:
    shape = None
    if size:
        height, x, width = size.partition("x")
        if not (x and height.isdigit() and width.isdigit()):
            raise ValueError(f"expected {rules}:HEIGHTxWIDTH, such as {rules}:7x7, not {rules}:{size}")
        shape = int(height), int(width)
    level = simple_level(rules, shape, None, None, None)
    named = level_to_dict(level) | {"name": f"{rules} {int(level.height)}x{int(level.width)}"}
    return Task(Level.from_dict(named), rules)
