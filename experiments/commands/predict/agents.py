"""`crush-gym predict agents`: how well each agent alone predicts people."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crush_gym.cli import common
from crush_gym.cli.common import Subparsers, add_command
from experiments.commands import results
from experiments.commands.playing import positive
from experiments.commands.predict import shared

if TYPE_CHECKING:
    from experiments.prediction.single import Predictor, Unfit
    from experiments.results.task import Task


def register(parts: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        parts, "agents", run, "rank agents by how well each of them alone predicts people",
        "predict agents people.csv --levels ladder --out agents.html",
        "predict agents people.csv --levels ladder --sample 100 --agents mcts mcts:simulations=200 clouded",
    )  # fmt: skip
    shared.add_people(parser)
    shared.add_parts(parser)
    parser.add_argument(
        "--agents", nargs="+", metavar="AGENT",
        help="name, name:parameter=value,... or module:attribute (default: every registered agent)",
    )  # fmt: skip
    parser.add_argument(
        "--attempts", type=positive, metavar="N", default=100,
        help="of each agent at each level, a multiple of 100 (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--sample", type=positive, metavar="N", help="only so many of the levels, drawn at random (default: all)"
    )
    parser.add_argument(
        "--split", default="random:5", metavar="SPLIT", help="see `predict test` (default: %(default)s)"
    )
    parser.add_argument("--seed", type=common.seed, default=0, help="of agents' attempts and of draws (default: 0)")
    shared.add_source(parser)
    shared.add_cache(parser)
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write a page (.html)")
    common.add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Let every agent play, predict people by it, and rank; 1 where one could not be tried."""
    with shared.working(options):
        from agents import registry
        from experiments.prediction import split_of
        from experiments.prediction.single import try_alone

        case = shared.case_of(options)
        tasks, people = _sampled(case, options)
        split = split_of(options.split, len(tasks))
        with shared.cache_of(options) as cache:
            found, failed = try_alone(
                options.agents or registry.known(), tasks, people, split, options.attempts, options.seed, cache,
                lambda name: print(f"trying {name}", file=sys.stderr),
            )  # fmt: skip
    if options.out and found:
        from experiments.report.predictors import predictors_page

        command = shared.command("agents", *_words(options))
        results.write_page(predictors_page(found, failed, split, shared.source_of(options), command), options.out)
    if options.json:
        common.print_json({"agents": [_row(one) for one in found], "failed": [one._asdict() for one in failed]})
    else:
        _print(found, failed)
        if options.out and found:
            print(f"page: {options.out}")
    return int(bool(failed))


def _sampled(case: shared.Case, options: argparse.Namespace) -> tuple[tuple[Task, ...], Any]:
    """Some of the levels, drawn at random, in their order."""
    import numpy as np

    size = len(case.tasks)
    if not options.sample or options.sample >= size:
        return case.tasks, case.people
    some = np.sort(np.random.default_rng(options.seed).permutation(size)[: options.sample])
    return tuple(case.tasks[n] for n in some), case.people.at(some)


def _words(options: argparse.Namespace) -> list[Any]:
    words = [options.people, *(word for name in options.levels for word in ("--levels", name))]
    words += ["--agents", *options.agents] if options.agents else []
    words += ["--sample", options.sample] if options.sample else []
    words += ["--source", options.source] if options.source else []
    return [*words, "--attempts", options.attempts, "--split", options.split, "--seed", options.seed]


def _print(found: list[Predictor], failed: list[Unfit]) -> None:
    from experiments.report import duration

    head = ("agent", "MAE", "95 % interval", "inside 95 %", "SD(kappa)", "Spearman", "own success", "an attempt")
    if found:
        common.print_table([head, *[(*_figures(one), duration(one.seconds)) for one in found]])
        floor = 100 * found[0].measured.floor
        print(f"\n{found[0].measured.levels:,} levels; noise floor of the MAE {floor:.2f} pp")
    for one in failed:
        print(f"error: {common.plain(one.sentence)}")


def _figures(one: Predictor) -> tuple[str, ...]:
    m = one.measured
    return (
        one.agent, f"{100 * m.mae.value:.2f} pp", f"{100 * m.mae.low:.2f} to {100 * m.mae.high:.2f}",
        f"{1 - m.outside.value:.1%}", f"{m.kappa:.2f}", f"{m.spearman.value:.3f}", f"{one.success:.1%}",
    )  # fmt: skip


def _row(one: Predictor) -> dict[str, Any]:
    m = one.measured
    return {
        "agent": one.agent, "weights": one.weights, "mae": results.as_json(m.mae), "inside": 1 - m.outside.value,
        "width": m.width, "kappa": m.kappa, "spearman": results.as_json(m.spearman), "floor": m.floor,
        "levels": m.levels, "success": one.success, "attempts": one.attempts, "seconds": one.seconds,
    }  # fmt: skip
