"""`crush-gym predict level`: how hard a level is for people, what makes it so, and what other limits would do."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crush_gym.cli import common
from crush_gym.cli.common import Subparsers, add_command
from experiments.commands import results
from experiments.commands.predict import shared

if TYPE_CHECKING:
    from experiments.prediction import Looked

MOVERS = 6
"""What moves a prediction most, as many as are shown."""


def register(parts: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        parts, "level", run, "predict people's success on a level, with a band",
        "predict level my-level.json", "predict level thesis/'look-alike 13' --out look-alike.html",
        "predict level my-level.json --model model.json --json",
    )  # fmt: skip
    parser.add_argument("levels", nargs="+", metavar="LEVEL", help="a file, or pack/level")
    shared.add_model(parser)
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write a page (.html)")
    common.add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Play, predict and report."""
    with shared.working(options):
        model = shared.model_of(options)
        tasks = shared.tasks_of(options.levels)
        from experiments.prediction import look

        with shared.cache_of(options) as cache:
            looked = look(model, tasks, cache)
    if options.out:
        from experiments.report.prediction import levels_page

        results.write_page(levels_page(looked, shared.command(options, "level", *options.levels)), options.out)
    if options.json:
        common.print_json([shared.as_json(looked, n) for n in range(len(tasks))])
        return 0
    for n in range(len(tasks)):
        _print(looked, n)
    print(shared.told(model))
    if options.out:
        print(f"page: {options.out}")
    return 0


def _print(looked: Looked, n: int) -> None:
    from experiments.prediction.sentences import compared, headline, movers, unusual

    print(common.plain(headline(looked, n)))
    for sentence in (*compared(looked, n), *unusual(looked, n)):
        print(sentence)
    rows = [(name, f"{value:+.2f}") for name, value in movers(looked, n)[:MOVERS]]
    print()
    common.print_table([("what moves it, compared with the mean of the levels fitted", "logits"), *rows])
    if curve := looked.curve(n):
        print()
        common.print_table([("moves", "success", "95 % band"), *[_limit(point) for point in curve]], left=())
    print()


def _limit(point: Any) -> tuple[str, str, str]:
    from experiments.report import percent
    from experiments.report.words import rate_of

    mark = "*" if point.own else ""
    return f"{mark}{point.limit}", percent(point.rate.value), rate_of(point.rate)[1]
