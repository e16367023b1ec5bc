"""Results from several stores together: each attempt once, and no two that contradict each other."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from experiments.results.row import KEY, Row
from experiments.results.store import Store


class MergeError(ValueError):
    """Results that do not go together, with the sentence that says why."""


def united(tables: Iterable[Iterable[Row]]) -> list[Row]:
    """The rows of all tables, those that several of them hold once."""
    found: dict[tuple[object, ...], Row] = {}
    for row in itertools.chain.from_iterable(tables):
        refuse_contradiction(found.setdefault(key_of(row), row), row)
    return list(found.values())


def merge(into: Store, source: Store) -> int:
    """Enter what a store lacks of another one, all of it or nothing; how many attempts that were."""
    tasks = source.tasks()
    if any(identity != task.identity for identity, task in tasks.items()):
        raise MergeError(f"{source.name} is damaged: a level in it is not the one that was played")
    runs, new = source.runs(), 0
    with into.writing():
        into.know(tasks.values())
        for number, rows in itertools.groupby(source.rows_by_run(), key=lambda pair: pair[1]):
            lacking = missing(into, (row for row, _ in rows))
            if lacking:
                into.add(into.begin(runs.get(number, {})), lacking)
            new += len(lacking)
    return new


def missing(store: Store, rows: Iterable[Row]) -> list[Row]:
    """Those of the rows that a store does not hold; refused where it holds another result of the same attempt."""
    found = []
    for row in rows:
        known = store.row(*key_of(row))
        if known is None:
            found.append(row)
        else:
            refuse_contradiction(known, row)
    return found


def key_of(row: Row) -> tuple[object, ...]:
    """What tells the row apart from all others."""
    return tuple(getattr(row, name) for name in KEY)


def refuse_contradiction(first: Row, second: Row) -> None:
    """Refuse two rows of one attempt that differ in more than the time it took and the level's name."""
    if first._replace(seconds=0.0, level="") == second._replace(seconds=0.0, level=""):
        return
    name = next(n for n in Row._fields if n not in ("seconds", "level") and getattr(first, n) != getattr(second, n))
    raise MergeError(
        f"attempt {first.attempt} of {first.agent!r} at {first.level!r} (seed {first.seed}) is there twice with "
        f"different results ({name} {getattr(first, name)} and {getattr(second, name)}): these are two players, or two "
        "versions of one, and must have different names"
    )
