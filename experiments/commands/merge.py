"""`crush-gym merge`: bring the results of several stores, and those of others in CSV, together in one."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from crush_gym.cli import common
from crush_gym.cli.common import CommandError, Subparsers, UsageError, add_command
from experiments.commands import results
from experiments.commands.playing import tasks_named

if TYPE_CHECKING:
    from experiments.results.store import Store
    from experiments.results.task import Task


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, "merge", run, "bring the results of stores, and scores in CSV, together in one store",
        "merge all.sqlite machine1.sqlite machine2.sqlite",
        "merge runs.sqlite paper.csv --levels points:7x7",
    )  # fmt: skip
    parser.add_argument("out", type=Path, metavar="OUT", help="the store that takes them, an old one or a new one")
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE",
        help="a store; or a .csv file whose columns are named as those of `crush-gym export`. It needs `agent`, "
        "`level` (or `task`) and, for levels with goals, `won` (0 or 1), for others `score`; `seed`, `attempt` and the "
        "rest may be left out",
    )  # fmt: skip
    parser.add_argument(
        "--levels", action="append", default=[], metavar="LEVELS",
        help="where the levels of .csv files are found, besides in the stores: as for `crush-gym evaluate`",
    )  # fmt: skip
    common.add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Merge, all or nothing, and report."""
    if options.out.suffix == ".csv":
        raise UsageError(f"{str(options.out)!r} comes first and so takes the results: it must be a store, not a .csv")
    tasks = tasks_named(options.levels).tasks
    is_new = not options.out.exists()
    try:
        with results.told():
            new, total = _merged(options.out, options.files, tasks)
    except CommandError:
        if is_new:
            options.out.unlink(missing_ok=True)
        raise
    if options.json:
        common.print_json({"store": str(options.out), "new": {str(p): n for p, n in new.items()}, "results": total})
        return 0
    common.print_table([("file", "new results"), *((str(path), f"{number:,}") for path, number in new.items())])
    print(f"\n{total:,} results in {options.out}")
    return 0


def _merged(out: Path, files: list[Path], tasks: tuple[Task, ...]) -> tuple[dict[Path, int], int]:
    """How many results of each file are new, and how many there are then."""
    from experiments.results.merging import MergeError, merge
    from experiments.results.scores import ScoresError
    from experiments.results.store import Store

    new: dict[Path, int] = {}
    try:
        with Store(out) as store, store.writing():
            # Stores first, whose levels the rows of .csv files may be of.
            for path in sorted(files, key=lambda path: path.suffix == ".csv"):
                if path.suffix == ".csv":
                    new[path] = _import(store, path, tasks)
                elif path.exists() and path.samefile(out):
                    raise UsageError(f"{str(path)!r} is the store that takes the results: name it once")
                else:
                    with contextlib.closing(results.opened(path)) as source:
                        new[path] = merge(store, source)
            return {path: new[path] for path in files}, len(store)
    except (MergeError, ScoresError) as error:
        raise CommandError(str(error)) from None


def _import(store: Store, path: Path, tasks: tuple[Task, ...]) -> int:
    """Enter what a file of scores holds and the store does not."""
    from experiments.results.merging import missing
    from experiments.results.scores import read_scores

    known = {task.identity: task for task in (*store.tasks().values(), *tasks)}
    rows = read_scores(path, known.values())
    used = {row.task for row in rows}
    store.know(known[identity] for identity in known if identity in used)
    new = 0
    for agent in dict.fromkeys(row.agent for row in rows):
        lacking = missing(store, (row for row in rows if row.agent == agent))
        if lacking:
            store.add(store.begin({"agent": {"name": agent}, "imported": path.name}), lacking)
        new += len(lacking)
    return new
