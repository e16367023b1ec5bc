"""`crush-gym export`: the results of stores as a file for other programs."""

from __future__ import annotations

import argparse
from pathlib import Path

from crush_gym.cli.common import CommandError, Subparsers, UsageError, add_command
from experiments.commands import results

KINDS = (".csv", ".parquet")


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, "export", run, "write the results of stores as CSV, or as Parquet (needs pyarrow)",
        "export runs.sqlite runs.csv",
        "export mine.sqlite theirs.sqlite all.parquet --agents random greedy",
    )  # fmt: skip
    parser.add_argument("stores", nargs="+", type=Path, metavar="STORE", help="what `crush-gym evaluate` wrote")
    parser.add_argument("file", type=Path, metavar="FILE", help="the .csv or .parquet file to write")
    parser.add_argument("--agents", nargs="+", metavar="AGENT", help="only these players (default: all)")


def run(options: argparse.Namespace) -> int:
    """Write all rows, sorted by agent, level, seed and attempt."""
    if options.file.suffix not in KINDS:
        raise UsageError(f"{str(options.file)!r} must end in {' or '.join(KINDS)}: name the file to write last")
    rows, _ = results.read(options.stores)
    from experiments.results.export import ExportError, export
    from experiments.results.merging import key_of

    names = {row.agent for row in rows}
    for agent in options.agents or ():
        if agent not in names:
            raise UsageError(f"there are no results of {agent!r}: there are those of {', '.join(sorted(names))}")
    chosen = [row for row in rows if not options.agents or row.agent in options.agents]
    try:
        export(sorted(chosen, key=key_of), options.file)
    except ExportError as error:
        raise CommandError(str(error)) from None
    print(f"{len(chosen):,} results in {options.file}")
    return 0
