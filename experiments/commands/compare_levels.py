"""`crush-gym levels compare`: which of two levels is harder, for players."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from crush_gym.cli import common
from crush_gym.cli.common import Subparsers, UsageError, add_command
from experiments.commands import playing, results

if TYPE_CHECKING:
    from experiments.ranking.two_levels import TwoLevels
    from experiments.results.task import Task

PLAYER = "heuristic"


def register(parts: Subparsers) -> None:
    """Add the command, a part of `levels`."""
    parser = add_command(
        parts, "compare", run, "let players play two levels with the same keys, and say which is harder for them",
        "levels compare old.json new.json",
        "levels compare pack.json/Bridge pack.json/River --agents greedy heuristic --attempts 1000",
    )  # fmt: skip
    parser.add_argument("first", metavar="A", help=f"a level: {playing.LEVELS_HELP}")
    parser.add_argument("second", metavar="B", help="another one, or another version of it")
    parser.add_argument(
        "--agents", nargs="+", default=[PLAYER], metavar="AGENT", help=f"{playing.AGENT_HELP} (default: {PLAYER})"
    )
    playing.add_options(parser, 500, None)


def run(options: argparse.Namespace) -> int:
    """Play and report; 1 where something could not be played."""
    with playing.ready(options):
        first, second = (_the_level(text) for text in (options.first, options.second))
        from experiments.ranking.two_levels import comparable, compare_levels

        tasks = results.refused(lambda: comparable(first, second))
        played = playing.played(options, options.agents, tasks)
    found = results.refused(lambda: compare_levels(played.rows, tasks, _called(options, first, second)))
    if options.json:
        errors = playing.errors_as_json(played.errors)
        common.print_json({"players": [_report(each) for each in found], "errors": errors})
    else:
        _print(found)
        for sentence in playing.in_short(played.errors):
            print(f"error: {sentence}")
    return int(bool(played.errors))


def _the_level(text: str) -> Task:
    """The one level that a text names."""
    tasks = playing.tasks_named([text]).tasks
    if len(tasks) != 1:
        raise UsageError(f"{text!r} names {len(tasks)} levels: say which one, as in {text + '/' + tasks[0].name!r}")
    return tasks[0]


def _called(options: argparse.Namespace, first: Task, second: Task) -> tuple[str, str]:
    """Both levels' labels."""
    labels = playing.tasks_named([options.first, options.second]).labels
    return labels[first.identity], labels[second.identity]


def _print(found: tuple[TwoLevels, ...]) -> None:
    from experiments.report import percent, plain
    from experiments.report.words import in_points

    if not found:
        return
    first, second = found[0].levels
    form = percent if found[0].goal else plain
    rows = [
        (each.agent, f"{each.attempts:,}", form(each.first), form(each.second), *in_points(each.goal, each.difference))
        for each in found
    ]
    common.print_table([("player", "attempts", first, second, "difference", "95 % interval"), *rows])
    print()
    for each in found:
        print(common.plain(each.verdict))


def _report(each: TwoLevels) -> dict[str, Any]:
    return {
        "agent": each.agent, "levels": list(each.levels), "counts": "success" if each.goal else "score",
        "attempts": each.attempts, "first": each.first, "second": each.second,
        "difference": results.as_json(each.difference), "verdict": each.verdict,
    }  # fmt: skip
