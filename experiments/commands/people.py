"""`crush-gym people`: how people did on levels, from a file of their results."""

from __future__ import annotations

import argparse
import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crush_gym.cli import common
from crush_gym.cli.common import CommandError, Subparsers, UsageError, add_command
from experiments.commands import results

if TYPE_CHECKING:
    from experiments.people import LevelResult, Reading, Summary

SHOWN = 30
"""Levels in the terminal, at most."""


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, "people", run, "how people did on levels, from a file of their results",
        "people results.csv --out people.html",
        "people results.sqlite --table plays --levels ladder --without-replays",
        "people results.parquet --strict --json",
    )  # fmt: skip
    parser.add_argument(
        "file", type=Path, metavar="FILE",
        help="CSV, Parquet or SQLite with the columns player_id, level, num_attempts, num_success and perhaps dt, one "
        "row for each player, day and level; or with level, attempts, successes and perhaps players",
    )  # fmt: skip
    parser.add_argument("--levels", metavar="PACK", help=f"the levels that are meant: {common.PACK_HELP}")
    parser.add_argument("--table", metavar="NAME", help="of a database, where several tables have the columns")
    parser.add_argument("--strict", action="store_true", help="refuse a file with any problem, instead of telling it")
    parser.add_argument(
        "--without-replays", action="store_true", help="leave out what players did on a level after they had won it"
    )
    parser.add_argument(
        "--players", type=_players, metavar="N", help="intervals as they would be with N players on each level"
    )
    parser.add_argument("--seed", type=common.seed, default=0, help="of the bootstrap's resamples (default: 0)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write a page (.html)")
    common.add_json(parser)


def _players(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or not 2 <= int(text) <= 10**9:
        raise argparse.ArgumentTypeError(f"expected a whole number from 2 upwards, not {text!r}")
    return int(text)


def run(options: argparse.Namespace) -> int:
    """Read, summarise and report."""
    if not options.file.is_file():
        raise UsageError(f"there is no file {str(options.file)!r}")
    names = None if options.levels is None else common.find_pack(options.levels).names
    from experiments.people import Log, PeopleError, read, summarise

    try:
        reading = read(options.file, names, strict=options.strict, table=options.table)
    except PeopleError as error:
        raise CommandError(str(error)) from None
    people = reading.people
    if options.without_replays:
        if not isinstance(people, Log):
            raise UsageError("--without-replays needs results player by player, not totals of levels")
        people = people.without_replays()
    summary = summarise(people, options.seed, players=options.players)
    if options.out:
        _write(reading, summary, options)
    if options.json:
        common.print_json(_report(reading, summary, options))
    else:
        _print(reading, summary)
        if options.out:
            print(f"page: {options.out}")
    return 0


def _write(reading: Reading, summary: Summary, options: argparse.Namespace) -> None:
    from experiments.people.page import Told, people_page

    given = [
        "crush-gym", "people", str(options.file), *(["--levels", options.levels] if options.levels else []),
        *(["--table", options.table] if options.table else []), *(["--strict"] if options.strict else []),
        *(["--without-replays"] if options.without_replays else []),
        *(["--players", str(options.players)] if options.players else []), "--seed", str(options.seed),
        "--out", str(options.out),
    ]  # fmt: skip
    told = Told(str(options.file), shlex.join(given), not options.without_replays, options.players, options.seed)
    results.write_page(people_page(reading, summary, told), options.out)


def _print(reading: Reading, summary: Summary) -> None:
    head = ("level", "players", "attempts", "success", "95 % interval", "design effect", "cleared", "to clear", "90 %")
    common.print_table([head, *map(_row, summary.levels[:SHOWN])])
    if len(summary.levels) > SHOWN:
        print(f"... and {len(summary.levels) - SHOWN:,} levels more: `--json` and `--out` have all of them")
    print()
    if found := summary.differences:
        sds = zip(("levels", "players", "players from level to level"), found[1:], strict=True)
        said = (f"{name} {sd.value:.2f} ({sd.low:.2f} to {sd.high:.2f})" for name, sd in sds)
        some = "" if summary.drawn == summary.players else f", of {summary.drawn:,} players drawn at random"
        print(f"standard deviations of logits: {', '.join(said)}{some}")
    else:
        print(f"how much players differ is not known: {summary.unknown}")
    if reading.without_people:
        print(f"{len(reading.without_people):,} levels of the pack have no people")
    for problem in reading.problems:
        print(problem.sentence)


def _row(level: LevelResult) -> tuple[str, ...]:
    from experiments.report import percent
    from experiments.report.words import rate_of

    def known(value: float, form: str) -> str:
        return "-" if math.isnan(value) else format(value, form)

    return (
        level.name, f"{level.players:,}" if level.players else "-", f"{level.attempts:,}", *rate_of(level.rate),
        known(level.design_effect, ".1f"), "-" if math.isnan(level.cleared) else percent(level.cleared),
        known(level.to_clear, ".0f"), known(level.to_clear_90, ".0f"),
    )  # fmt: skip


def _report(reading: Reading, summary: Summary, options: argparse.Namespace) -> dict[str, Any]:
    differences = summary.differences and {
        "mean": summary.differences.mean,
        **{name: results.as_json(getattr(summary.differences, name)) for name in ("level", "player", "player_level")},
        "players": summary.drawn,
    }
    return {
        "file": str(options.file), "rows": reading.rows, "players": summary.players or None,
        "replays": not options.without_replays, "levels": [_level(level) for level in summary.levels],
        "differences": differences, "without_people": list(reading.without_people),
        "problems": results.problems(reading),
    }  # fmt: skip


def _level(level: LevelResult) -> dict[str, Any]:
    return {
        "level": level.name, "players": level.players or None, "attempts": level.attempts,
        "successes": level.successes, "success": results.as_json(level.rate),
        **{
            name: None if math.isnan(value) else value
            for name in ("design_effect", "cleared", "replayed", "to_clear", "to_clear_90")
            for value in [getattr(level, name)]
        },
    }  # fmt: skip
