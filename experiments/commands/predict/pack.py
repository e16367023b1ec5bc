"""`crush-gym predict pack`: the difficulty curve of a pack, with the levels that stand out."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crush_gym.cli import common
from crush_gym.cli.common import Subparsers, UsageError, add_command
from experiments.commands import results
from experiments.commands.playing import positive
from experiments.commands.predict import shared

if TYPE_CHECKING:
    from experiments.prediction import Band, Looked, Observed, Prediction
    from experiments.prediction.spikes import Spike

SHOWN = 40
"""Levels in the terminal, at most."""


def register(parts: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        parts, "pack", run, "predict people's success on every level of a pack, and mark the levels that stand out",
        "predict pack tour --out tour.html", "predict pack ladder --model model.json --only 1/5 --json",
        "predict pack ladder --model model.json --only 1/5 --attempts 240 --players 100 --json",
    )  # fmt: skip
    parser.add_argument("levels", nargs="+", metavar="LEVELS", help="pack, pack/level, or a file")
    shared.add_parts(parser)
    shared.add_model(parser)
    parser.add_argument(
        "--attempts", type=positive, metavar="N",
        help="also the band of the success rate that people will show in so many attempts at each level",
    )  # fmt: skip
    parser.add_argument(
        "--players", type=positive, metavar="N", help="the people who make these attempts at a level (default: unknown)"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write a page (.html)")
    common.add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Play, predict and report."""
    if options.players and not options.attempts:
        raise UsageError("--players needs --attempts: say in how many attempts the success rate will be observed")
    with shared.working(options):
        from experiments.prediction import look
        from experiments.prediction.spikes import spikes

        model = shared.model_of(options)
        tasks = shared.tasks_of(options.levels)
        kept = shared.chosen([task.name for task in tasks], options)
        with shared.cache_of(options) as cache:
            looked = look(model, [tasks[n] for n in kept], cache)
        seen = looked.prediction.observed(options.attempts, options.players or 0) if options.attempts else None
        found = {spike.place: spike for spike in spikes(looked.prediction)}
    if options.out:
        from experiments.report.prediction import pack_page

        page = pack_page(looked, tuple(found.values()), shared.command("pack", *options.levels, "--out", options.out))
        results.write_page(page, options.out)
    if options.json:
        common.print_json([_row(looked, n, seen, found.get(n)) for n in range(len(kept))])
    else:
        _print(looked, seen, found)
        print(shared.told(model))
        if options.out:
            print(f"page: {options.out}")
    return 0


def _row(looked: Looked, n: int, seen: Observed | None, spike: Spike | None) -> dict[str, Any]:
    row = shared.as_json(looked, n)
    if seen is not None:
        band = seen.band()
        row["observed"] = {
            "low": round(float(band.low[n]), 5), "high": round(float(band.high[n]), 5),
            "attempts": int(seen.attempts[n]), "players": int(seen.players[n]) or None,
        }  # fmt: skip
    row["spike"] = spike and {"harder": spike.harder, "around": spike.around, "probability": spike.probability}
    return row


def _print(looked: Looked, seen: Observed | None, found: dict[int, Spike]) -> None:
    from experiments.report import counted

    said, bands = looked.prediction, [looked.prediction.band(), *([] if seen is None else [seen.band()])]
    heads = ["level", "success", "95 % band", *["of observed rates"] * (len(bands) - 1), ""]
    common.print_table([heads, *(_line(said, bands, n, found.get(n)) for n in range(min(len(said.names), SHOWN)))])
    if len(said.names) > SHOWN:
        print(f"... and {len(said.names) - SHOWN:,} levels more: `--json` and `--out` have all of them")
    harder = sum(spike.harder for spike in found.values())
    print(f"\nmuch harder than those around: {counted(harder, 'level')}; much easier: {len(found) - harder:,}")
    if far := int(said.far.sum()):
        print(f"{counted(far, 'level')} unlike those of the fit, with wider bands: `predict level` says why")


def _line(said: Prediction, bands: list[Band], n: int, spike: Spike | None) -> list[str]:
    from experiments.report import percent

    limits = [f"{percent(band.low[n])} to {percent(band.high[n])}" for band in bands]
    mark = "" if spike is None else f"{'harder' if spike.harder else 'easier'} than around ({percent(spike.around)})"
    return [said.names[n], percent(said.median[n]), *limits, mark]
