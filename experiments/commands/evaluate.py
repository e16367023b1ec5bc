"""`crush-gym evaluate`: let agents play levels and keep every attempt."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crush_gym.cli import common
from crush_gym.cli.common import CommandError, Subparsers, UsageError, add_command
from experiments.commands import playing, rate
from experiments.commands.playing import DASH
from experiments.commands.results import STORE

if TYPE_CHECKING:
    from experiments.results.row import Row
    from experiments.running.evaluation import Results


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, "evaluate", run, "let agents play levels, and keep every attempt in a store",
        "evaluate random first --levels thesis --attempts 100",
        "evaluate random my_agents:Careful --levels points:7x7 --levels tour --processes 2 --time-limit 600",
        "evaluate random --levels ladder --out ladder.sqlite --export ladder.csv --json",
        "evaluate heuristic --levels my-levels.json/Bridge --levels points:5x5:moves=10,colours=4 --by-level",
    )  # fmt: skip
    parser.add_argument("agents", nargs="+", metavar="AGENT", help=playing.AGENT_HELP)
    parser.add_argument(
        "--levels", action="append", required=True, metavar="LEVELS",
        help=f"{playing.LEVELS_HELP}; may be given several times",
    )  # fmt: skip
    playing.add_options(parser, 100, Path(STORE))
    parser.add_argument("--by-level", action="store_true", help="also say how each agent did on each level")
    parser.add_argument("--export", type=Path, metavar="FILE", help="also write the results as .csv or .parquet")


def run(options: argparse.Namespace) -> int:
    """Play what is missing and report; 1 where something could not be played."""
    if options.export and options.export.suffix not in (".csv", ".parquet"):
        raise UsageError(f"--export {str(options.export)!r} must end in .csv or .parquet")
    with playing.ready(options):
        asked = playing.tasks_named(options.levels)
        results = playing.played(options, options.agents, asked.tasks)
        if options.export:
            _export(results, options.export)
    _report(options, results, asked.labels)
    return int(bool(results.errors))


def _export(results: Results, path: Path) -> None:
    from experiments.results.export import ExportError, export

    try:
        export(results.rows, path)
    except ExportError as error:
        raise CommandError(str(error)) from None


def _report(options: argparse.Namespace, results: Results, labels: dict[str, str]) -> None:
    from experiments.ranking.ratings import ratings
    from experiments.results.row import without_goals

    by_agent: dict[str, list[Row]] = defaultdict(list)
    for row in results.rows:
        by_agent[row.agent].append(row)
    endless = without_goals(results.rows)
    lines = {agent: _summary(rows, endless) for agent, rows in by_agent.items()}
    by_level = ratings(results.rows, labels) if options.by_level else ()
    if options.json:
        known = {"store": str(options.out), "seed": options.seed, "agents": lines}
        known |= {"levels": rate.report(by_level)} if options.by_level else {}
        common.print_json(known | {"errors": playing.errors_as_json(results.errors)})
        return
    table = [
        (agent, *_won(s), f"{s['mean_score']:,.0f}", f"{s['moves_per_second']:,.0f}") for agent, s in lines.items()
    ]
    if table:
        common.print_table([("agent", "won", "success", "mean score", "moves/s"), *table])
    if by_level:
        print()
        rate.print_ratings(by_level)
    print(f"\n{len(results.rows):,} results in {options.out}")
    for sentence in playing.in_short(results.errors):
        print(f"error: {sentence}")
    if not all(error.final for error in results.errors):
        print("The same command plays what is missing.")


def _won(summary: dict[str, Any]) -> tuple[str, str]:
    """Wins and their share in words, dashes where nothing could be won."""
    if summary["success"] is None:
        return DASH, DASH
    return f"{summary['won']:,} of {summary['winnable']:,}", f"{summary['success']:.1%}"


def _summary(rows: list[Row], endless: Collection[str]) -> dict[str, Any]:
    """How an agent did on all levels together; moves a second of one worker, compiling not counted.

    endless: tasks without goals, whose attempts nobody can win
    """
    took, winnable = sum(row.seconds for row in rows), [row.won for row in rows if row.task not in endless]
    return {
        "attempts": len(rows),
        "winnable": len(winnable),
        "won": sum(winnable),
        "success": sum(winnable) / len(winnable) if winnable else None,
        "mean_score": sum(row.score for row in rows) / len(rows),
        "moves_per_second": sum(row.moves for row in rows) / took if took else 0.0,
    }
