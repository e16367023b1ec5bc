"""What is to be played, as it is asked for: packs, levels, simple games, files, and the levels of a store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crush_gym import Level, LevelPack, load_pack
from crush_gym.game import simple_level
from crush_gym.levels.writing import level_to_dict
from experiments.results.store import Store, StoreError
from experiments.results.task import SEEDS, Task, attempt_key

__all__ = ["SEEDS", "Task", "attempt_key", "tasks_of"]


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
