"""Results that did not come from `evaluate`, such as a paper's: from CSV, with columns named as a `Row`'s."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from crush_gym import REASONS
from crush_gym.levels.errors import show, show_path
from experiments.results.row import Row
from experiments.results.tables import LONGEST, TYPES
from experiments.results.task import SEEDS, Task

ABSENT = {"seed": 0, "reason": "none", "score": 0, "moves": 0, "moves_left": -1, "waves": 0, "goals_left": 0,
          "seconds": 0.0, "player": -1}  # fmt: skip
"""What stands for columns that are not there."""

LARGEST = 2**63


class ScoresError(ValueError):
    """A file that holds no results, with the sentence that says what and where."""


def read_scores(path: str | os.PathLike[str], tasks: Iterable[Task]) -> list[Row]:
    """The rows of a CSV file, at levels among these tasks, which it names by `task` or by `level`.

    It must have `agent`, one of these two, and what says how attempts went: `score`, and for levels with goals `won`
    (0 or 1) or `outcome`. Without `attempt`, the lines of an agent at a level are numbered from 0.
    """
    source = show_path(path)
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            return list(_rows(csv.DictReader(file, strict=True), list(tasks), source))
    except OSError as error:
        raise ScoresError(f"{source} cannot be read: {error.strerror or error}") from None
    except (csv.Error, UnicodeDecodeError) as error:
        raise ScoresError(f"{source} is no CSV file in UTF-8: {error}") from None


def _rows(reader: csv.DictReader[str], tasks: list[Task], source: str) -> Iterator[Row]:
    columns = [name.strip() for name in reader.fieldnames or ()]
    reader.fieldnames = columns
    _check_columns(columns, source)
    finder, counted = _Finder(tasks), Counter[tuple[str, str, int]]()
    for line in reader:
        where = f"{source}, line {reader.line_num}"
        if None in line or None in line.values():
            raise ScoresError(f"{where}: expected {len(columns)} columns")
        try:
            row = _row({name: text.strip() for name, text in line.items()}, finder)
        except ValueError as error:
            raise ScoresError(f"{where}: {error}") from None
        if "attempt" not in columns:
            number = counted[row.agent, row.task, row.seed]
            counted[row.agent, row.task, row.seed] += 1
            row = row._replace(attempt=number)
        yield row


def _check_columns(columns: list[str], source: str) -> None:
    for name in columns:
        if name not in Row._fields or columns.count(name) > 1:
            raise ScoresError(
                f"{source} has {'twice ' * (name in Row._fields)}the column {show(name)}: expected some of "
                f"{', '.join(Row._fields)}, each once"
            )
    if "agent" not in columns or not {"task", "level"} & set(columns) or not {"score", "won", "outcome"} & set(columns):
        raise ScoresError(f"{source} needs the columns `agent`, `level` (or `task`), and `score`, `won` or `outcome`")


class _Finder:
    """Tasks by their identities and by their names."""

    def __init__(self, tasks: list[Task]) -> None:
        self.tasks = {task.identity: task for task in tasks}
        self.named: dict[str, list[Task]] = {}
        for task in self.tasks.values():
            self.named.setdefault(task.name, []).append(task)

    def find(self, identity: str, name: str) -> Task:
        """The task; a `ValueError` where there is none, or more than one."""
        if identity:
            if identity not in self.tasks:
                raise ValueError(f"no level has the identity {show(identity)}: name its pack by --levels")
            return self.tasks[identity]
        fitting = self.named.get(name, [])
        if len(fitting) != 1:
            found = f"{len(fitting)} levels are" if fitting else "no level is"
            raise ValueError(f"{found} called {show(name)}: name the pack of the right one by --levels, or give `task`")
        return fitting[0]


def _row(texts: Mapping[str, str], finder: _Finder) -> Row:
    task = finder.find(texts.get("task", ""), texts.get("level", ""))
    values: dict[str, Any] = {name: _value(name, text) for name, text in texts.items() if text}
    if not values.get("agent"):
        raise ValueError("it names no agent")
    values |= {"task": task.identity, "level": task.name} | _outcome(values, task)
    return Row(**{"attempt": 0, **ABSENT, **values})


def _value(name: str, text: str) -> Any:
    """A cell as its column's type."""
    kind = TYPES[name]
    if kind is bool:
        known = {"0": False, "1": True, "false": False, "true": True}
        if text.lower() not in known:
            raise ValueError(f"{name} is {show(text)}, expected 0 or 1")
        return known[text.lower()]
    if kind is str:
        return text
    try:
        value = kind(text)
    except ValueError:
        value = None
    most = LONGEST if kind is float else LARGEST
    if value is None or not abs(value) < most or (name in ("seed", "attempt") and not 0 <= value < SEEDS):
        what = "a number" if kind is float else "a whole number"
        raise ValueError(f"{name} is {show(text)}, expected {what}{' from 0 to 4294967295' if name == 'seed' else ''}")
    return value


def _outcome(values: Mapping[str, Any], task: Task) -> dict[str, Any]:
    """`won` and `outcome`, one from the other, and from whether the level can be won."""
    endless = not task.content()["level"].get("goals")
    won, outcome = values.get("won"), values.get("outcome")
    if won is None and outcome is None and not endless:
        raise ValueError("the level has goals: `won` (0 or 1) must say whether they were met")
    if outcome is None:
        outcome = "won" if won else "ended" if endless else "lost"
    possible = ("ended" if endless else "won", "lost")
    if outcome not in possible or won not in (None, outcome == "won"):
        raise ValueError(
            f"outcome {show(outcome)}, won {won}: on a level with{'out' * endless} goals, attempts end as "
            f"{' or '.join(possible)}, and only those that are won have won 1"
        )
    if values.get("reason", "none") not in REASONS:
        raise ValueError(f"reason is {show(values['reason'])}, expected one of {', '.join(REASONS)}")
    return {"won": outcome == "won", "outcome": outcome}
