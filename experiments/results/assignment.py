"""What is to be played, as it is asked for: packs, levels, simple games, files, and the levels of a store."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path

from crush_gym import Level, LevelPack, load_pack
from crush_gym.levels.errors import show
from crush_gym.levels.pack import home_and_level, level_named, shipped_packs
from crush_gym.levels.values import did_you_mean
from experiments.results.simple import RULES, is_simple, simple_task
from experiments.results.store import Store, StoreError
from experiments.results.task import SEEDS, Task, attempt_key

__all__ = ["SEEDS", "Task", "attempt_key", "tasks_of"]


def tasks_of(source: str | Level | LevelPack | Task | Sequence[Task]) -> tuple[Task, ...]:
    """Tasks from a Level, a LevelPack, or a text: `PACK`, `PACK/LEVEL`, `FILE`, `FILE/LEVEL`, or a simple game.

    LEVEL is a name, or a number from 0. FILE is a level file, or a store of results, which stands for all the levels
    in it. Simple games are `points`, `combo:7x7`, `points:5x5:moves=10,colours=4` (see `experiments.results.simple`).
    """
    if isinstance(source, Task):
        return (source,)
    if isinstance(source, Level):
        return (Task(source),)
    if isinstance(source, LevelPack):
        return tuple(map(Task, source))
    if not isinstance(source, str):
        return tuple(task for each in source for task in tasks_of(each))
    if is_simple(source):
        return (simple_task(source),)
    if _is_store(source):
        return _stored(source)
    home, name = home_and_level(source)
    _check_rules(home)
    pack = load_pack(home)
    chosen = (level_named(pack, name),) if name else tuple(pack)
    return tuple(Task(level if level.name else _named_by_file(level, pack, home)) for level in chosen)


def _check_rules(home: str) -> None:
    """Refuse what is no pack and no file, but nearly a simple game."""
    rules = home.partition(":")[0]
    near = did_you_mean(rules, RULES)
    if near and not os.path.exists(home) and not did_you_mean(home, shipped_packs()):
        raise ValueError(f"there is no simple game {show(rules)}{near}")


def _named_by_file(level: Level, pack: LevelPack, home: str) -> Level:
    """A level without a name is called by its file and its number."""
    number = next(i for i, other in enumerate(pack) if other is level)
    return dataclasses.replace(level, name=f"{Path(home).stem} {number}" if len(pack) > 1 else Path(home).stem)


def _is_store(source: str) -> bool:
    if not os.path.isfile(source):
        return False
    with open(source, "rb") as file:
        return file.read(16) == b"SQLite format 3\0"


def _stored(source: str) -> tuple[Task, ...]:
    try:
        with Store(source) as store:
            return tuple(store.tasks().values())
    except StoreError as error:
        raise ValueError(str(error)) from None
