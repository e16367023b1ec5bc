"""`crush-gym leaderboard`: rank the players of a store."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from crush_gym.cli import common
from crush_gym.cli.common import Subparsers, add_command
from experiments.commands import results

if TYPE_CHECKING:
    from experiments.ranking import Leaderboard, Standing


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, "leaderboard", run, "rank the players of stores, with intervals, as a table and a page",
        "leaderboard runs.sqlite --out leaderboard.html",
        "leaderboard mine.sqlite theirs.sqlite",
        "leaderboard ladder.sqlite --over-levels --reference greedy",
        "leaderboard runs.sqlite --agents random greedy --levels 'look-alike*' --json",
    )  # fmt: skip
    results.add_options(parser)
    parser.add_argument("--agents", nargs="+", metavar="AGENT", help="only these players (default: all in the store)")
    parser.add_argument(
        "--reference", metavar="AGENT",
        help="the player whose results are 1 (default: lookahead:samples=2 where its results ship or are here and "
        "differ from random play's; else winning always, or the best mean score)",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Rank and report."""
    rows, runs = results.read(options.stores)
    from experiments.ranking import field_of, rank
    from experiments.ranking.origins import origins
    from experiments.report.leaderboard import leaderboard_page

    field = results.refused(lambda: field_of(rows, options.agents, options.levels))
    board = results.refused(lambda: rank(field, options.reference, options.seed, over_levels=options.over_levels))
    known = origins(field, runs, *map(str, options.stores))
    if options.out:
        results.write_page(leaderboard_page(board, known), options.out)
    if options.json:
        common.print_json(_report(board, known.commands))
    else:
        _print(board)
        if options.out:
            print(f"page: {options.out}")
    return 0


def _print(board: Leaderboard) -> None:
    from experiments.report.leaderboard import lead, scale_of, warnings

    head = ("rank", "player", "IQM", "95 % interval", "mean", "success", "an attempt", "attempts")
    common.print_table([head, *map(_row, board.standings)], left=(0, 1))
    print()
    for sentence in (lead(board).replace("**", ""), scale_of(board), *warnings(board)):
        print(common.plain(sentence))


def _row(s: Standing) -> tuple[str, ...]:
    from experiments.report import duration
    from experiments.report.words import decimal, ranks, rate_of

    success = "\N{EN DASH}" if s.success is None else rate_of(s.success)[0]
    figures = (*decimal(s.iqm), decimal(s.mean)[0], success, duration(s.seconds))
    return (ranks(s.best, s.worst), s.agent, *figures, f"{s.attempts:,}")


def _report(board: Leaderboard, commands: Any) -> dict[str, Any]:
    standings = [
        {
            "agent": s.agent, "rank": s.rank, "best_rank": s.best, "worst_rank": s.worst,
            "iqm": results.as_json(s.iqm), "mean": results.as_json(s.mean), "gap": results.as_json(s.gap),
            "success": results.as_json(s.success), "seconds": s.seconds, "attempts": s.attempts,
            "commands": list(commands.get(s.agent, ())),
        }
        for s in board.standings
    ]  # fmt: skip
    scales = board.yardsticks
    levels = [
        {
            "level": task.level, "identity": task.identity, "counts": "success" if task.goal else "score",
            "zero": scales[task.identity].zero, "one": scales[task.identity].one, "usable": task in board.tasks,
            "one_is": scales[task.identity].origin,
        }
        for task in board.field.tasks
    ]  # fmt: skip
    over = "levels" if board.over_levels else "attempts"
    return {"standings": standings, "levels": levels, "left_out": list(board.field.left_out), "intervals_over": over}
