"""`crush-gym predict test`: how well success is predicted on levels, or of people, that a model was not fitted on."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crush_gym.cli import common
from crush_gym.cli.common import Subparsers, add_command
from experiments.commands import results
from experiments.commands.predict import shared

if TYPE_CHECKING:
    from experiments.prediction import Entrant, Measured, People, Tested


def register(parts: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        parts, "test", run, "fit on some levels, predict the others, and say how well that went",
        "predict test people.csv --levels ladder --out test.html",
        "predict test people.csv --levels ladder --split blocks:8", "predict test a.csv --on b.csv --levels ladder",
    )  # fmt: skip
    shared.add_people(parser)
    shared.add_parts(parser)
    shared.add_recipe(parser)
    parser.add_argument(
        "--split", default="random:5", metavar="SPLIT",
        help="random:5, fifths dealt out at random; blocks:8, eight parts in the levels' order; first:800, fitted on "
        "the first 800 levels and tested on the rest (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--on", type=Path, metavar="PEOPLE", help="other people's results, which are predicted instead of the first's"
    )
    parser.add_argument("--alone", action="store_true", help="only the model, without the simpler ones beside it")
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write a page (.html)")
    common.add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Play, fit, predict, measure and report."""
    import sys

    with shared.working(options):
        from experiments.prediction import examine, split_of

        case = shared.case_of(options)
        levels = shared.table(options, case.tasks)
        split = split_of(options.split, len(levels))
        found = examine(
            levels, case.people, split, tested=_others(options, case), watched=shared.watched(options),
            other_people=options.other_people, others=not options.alone, seed=options.seed,
            told=lambda name: print(f"trying {name}", file=sys.stderr),
        )  # fmt: skip
    if options.out:
        from experiments.report.forecasts import page_of

        results.write_page(page_of(found, _told(options)), options.out)
    if options.json:
        common.print_json(_report(found, options))
    else:
        _print(found)
        if options.out:
            print(f"page: {options.out}")
    return 0


def _others(options: argparse.Namespace, case: shared.Case) -> People | None:
    """Whose results are predicted, where they are not those of the fit."""
    if options.on is None:
        return None
    from experiments.prediction import people_of

    return people_of(shared.read_people(options.on, case.tasks, options).people)


def _told(options: argparse.Namespace) -> dict[str, str]:
    """What the page says of how it was made."""
    words = ["test", options.people, *(["--on", options.on] if options.on else [])]
    words += [word for name in options.levels for word in ("--levels", name)]
    for name in ("only", "without"):
        words += [f"--{name}", *getattr(options, name)] if getattr(options, name) else []
    words += ["--agents", *options.agents, "--attempts", options.attempts, "--covariates", *options.covariates]
    words += ["--other-people", options.other_people]
    words += ["--split", options.split, "--seed", options.seed, "--out", options.out]
    told = {"people": str(options.people), "command": shared.command(*words), "seed": str(options.seed)}
    return told | ({"tested on": str(options.on)} if options.on else {})


def _print(found: Tested) -> None:
    head = ("", "MAE", "95 % interval", "outside", "width", "SD(kappa)", "Spearman", "calibrated")
    common.print_table([head, *map(_row, found.entrants)])
    whole = found.entrants[0].measured
    print(f"\n{found.split.name}; {whole.levels:,} levels; noise floor of the MAE {100 * whole.floor:.2f} pp")
    for third in whole.thirds:
        bias = f"bias {100 * third.bias:+.2f} pp, {third.outside:.1%} outside"
        print(f"success {third.low:.0%} to {third.high:.0%}: MAE {100 * third.mae:.2f} pp, {bias}")


def _row(entrant: Entrant) -> tuple[str, ...]:
    m, after = entrant.measured, entrant.calibrated
    return (
        entrant.name, f"{100 * m.mae.value:.2f} pp", f"{100 * m.mae.low:.2f} to {100 * m.mae.high:.2f}",
        f"{m.outside.value:.1%}", f"{100 * m.width:.1f} pp", f"{m.kappa:.2f}", f"{m.spearman.value:.3f}",
        "-" if after is None else f"{after.outside:.1%}",
    )  # fmt: skip


def _report(found: Tested, options: argparse.Namespace) -> dict[str, Any]:
    names, people = found.forecast.names, found.people
    band = found.forecast.bands[0.95]
    return {
        "split": options.split, "agents": options.agents, "attempts_of_agents": options.attempts,
        "models": [{"name": e.name, **_measures(e.measured), "calibrated": _after(e)} for e in found.entrants],
        "levels": [
            {
                "level": name, "predicted": float(found.forecast.median[n]), "low": float(band.low[n]),
                "high": float(band.high[n]), "observed": float(people.rates[n]), "attempts": int(people.attempts[n]),
            }
            for n, name in enumerate(names)
            if people.attempts[n] > 0
        ],
    }  # fmt: skip


def _measures(m: Measured) -> dict[str, Any]:
    intervals = {name: results.as_json(getattr(m, name)) for name in ("mae", "outside", "spearman", "kendall")}
    numbers = {name: getattr(m, name) for name in ("levels", "bias", "floor", "width", "kappa", "crps", "winkler")}
    coverage = {str(key): value for key, value in m.coverage.items()}
    return {**intervals, **numbers, "coverage": coverage, "pit": list(m.pit), "thirds": [t._asdict() for t in m.thirds]}


def _after(entrant: Entrant) -> dict[str, Any] | None:
    return None if entrant.calibrated is None else entrant.calibrated._asdict()
