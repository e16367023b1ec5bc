"""`crush-gym levels rate`: how hard levels are for players."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from crush_gym.cli import common
from crush_gym.cli.common import Subparsers, add_command
from experiments.commands import playing
from experiments.commands.playing import DASH
from experiments.commands.results import as_json

if TYPE_CHECKING:
    from experiments.ranking.ratings import Rating

PLAYERS = ("random", "greedy", "heuristic")
HEADINGS = ("level", "player", "attempts", "success", "95 % interval", "mean score", "moves left")


def register(parts: Subparsers) -> None:
    """Add the command, a part of `levels`."""
    parser = add_command(
        parts, "rate", run, "let players play levels, and say how hard each level is for each of them",
        "levels rate my-levels.json",
        "levels rate old.json new.json basics/jelly --agents heuristic mcts:simulations=50 --attempts 500",
    )  # fmt: skip
    parser.add_argument("levels", nargs="+", metavar="LEVELS", help=playing.LEVELS_HELP)
    parser.add_argument(
        "--agents", nargs="+", default=list(PLAYERS), metavar="AGENT",
        help=f"{playing.AGENT_HELP} (default: {' '.join(PLAYERS)})",
    )  # fmt: skip
    playing.add_options(parser, 200, None)


def run(options: argparse.Namespace) -> int:
    """Play and report; 1 where something could not be played."""
    with playing.ready(options):
        asked = playing.tasks_named(options.levels)
        results = playing.played(options, options.agents, asked.tasks)
    from experiments.ranking.ratings import ratings

    found = ratings(results.rows, asked.labels)
    if options.json:
        common.print_json({"levels": report(found), "errors": playing.errors_as_json(results.errors)})
        return int(bool(results.errors))
    print_ratings(found)
    for sentence in playing.in_short(results.errors):
        print(f"error: {sentence}")
    return int(bool(results.errors))


def print_ratings(found: Sequence[Rating]) -> None:
    """As a table."""
    if not found:
        return
    common.print_table([HEADINGS, *map(_row, found)], left=(0, 1))
    if any(each.moves_left is not None for each in found):
        print("\nMoves left are those of the attempts that were won, on average.")


def _row(each: Rating) -> tuple[str, ...]:
    success, limits = (DASH, DASH)
    if each.success is not None:
        success, low, high = (f"{100 * value:.1f}" for value in each.success)
        success, limits = f"{success} %", f"{low} to {high} %"
    left = DASH if each.moves_left is None else f"{each.moves_left:.1f}"
    return each.label, each.agent, f"{each.attempts:,}", success, limits, f"{each.score:,.0f}", left


def report(found: Iterable[Rating]) -> list[dict[str, Any]]:
    """For programs: a list of levels, each with its players."""
    levels: dict[str, dict[str, Any]] = {}
    for each in found:
        level = levels.setdefault(each.identity, {"level": each.label, "identity": each.identity, "players": []})
        level["players"].append(
            {
                "agent": each.agent, "attempts": each.attempts, "won": each.won, "success": as_json(each.success),
                "mean_score": each.score, "moves_left": each.moves_left,
            }
        )  # fmt: skip
    return list(levels.values())
