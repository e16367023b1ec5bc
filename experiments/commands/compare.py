"""`crush-gym compare`: two players of a store, level by level."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from crush_gym.cli import common
from crush_gym.cli.common import Subparsers, UsageError, add_command
from experiments.commands import results

if TYPE_CHECKING:
    from experiments.ranking import Comparison, LevelDifference

SHOWN = 30
"""Levels in the terminal, at most."""


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, "compare", run, "compare two players of stores, level by level, with a verdict",
        "compare greedy random runs.sqlite",
        "compare mcts:simulations=200 mcts runs.sqlite --levels 'look-alike*' --out comparison.html",
    )  # fmt: skip
    parser.add_argument("first", metavar="A", help="a player, by the name that its results have")
    parser.add_argument("second", metavar="B", help="another one")
    results.add_options(parser)


def run(options: argparse.Namespace) -> int:
    """Compare and report."""
    if options.first == options.second:
        raise UsageError(f"{options.first!r} cannot be compared with itself: name two players")
    rows, runs = results.read(options.stores)
    from experiments.ranking import compare, field_of
    from experiments.ranking.origins import origins
    from experiments.report.comparison import comparison_page

    players = (options.first, options.second)
    field = results.refused(lambda: field_of(rows, players, options.levels))
    found = results.refused(lambda: compare(field, *players, options.seed, over_levels=options.over_levels))
    if options.out:
        results.write_page(comparison_page(found, origins(field, runs, *map(str, options.stores))), options.out)
    if options.json:
        common.print_json(_report(found))
    else:
        _print(found)
        if options.out:
            print(f"page: {options.out}")
    return 0


def _print(found: Comparison) -> None:
    from experiments.report.comparison import counts

    levels = sorted(found.levels, key=lambda each: -each.improvement)
    shown = levels if len(levels) <= SHOWN else [*levels[: SHOWN // 2], *levels[-SHOWN // 2 :]]
    print(f"A: {common.plain(found.first)}\nB: {common.plain(found.second)}\n")
    head = ("level", "A", "B", "difference", "95 % interval", "beats", "t of scores", "dof", "p")
    common.print_table([head, *map(_row, shown)])
    if len(shown) < len(levels):
        print(f"... and {len(levels) - len(shown):,} levels between: `--json` and `--out` have all of them")
    print(f"\n{common.plain(counts(found))}\n{common.plain(found.verdict)}")


def _row(each: LevelDifference) -> tuple[str, ...]:
    from experiments.report import percent, plain
    from experiments.report.words import difference_of, p_value, t_value, value_of

    task, scores = each.task, each.scores
    results = (value_of(task, each.first), value_of(task, each.second), *difference_of(task, each.difference))
    welch = (t_value(scores.t), plain(scores.dof), p_value(scores.p).removeprefix("= "))
    return (task.label, *results, percent(each.improvement), *welch)


def _report(found: Comparison) -> dict[str, Any]:
    levels = [
        {
            "level": each.task.level, "identity": each.task.identity,
            "counts": "success" if each.task.goal else "score", "first": each.first, "second": each.second,
            "difference": results.as_json(each.difference), "improvement": each.improvement,
            "welch": _welch(each),
        }
        for each in found.levels
    ]  # fmt: skip
    return {
        "first": found.first, "second": found.second, "verdict": found.verdict,
        "improvement": results.as_json(found.improvement), "success": results.as_json(found.success),
        "intervals_over": "levels" if found.over_levels else "attempts", "levels": levels,
    }  # fmt: skip


def _welch(each: LevelDifference) -> dict[str, float | None]:
    """JSON knows no infinity: t is null where neither player's scores vary."""
    return {"t": each.scores.t if math.isfinite(each.scores.t) else None, "dof": each.scores.dof, "p": each.scores.p}
