"""`crush-gym predict fit`: a model of people's success, from their results on some levels."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crush_gym.cli import common
from crush_gym.cli.common import Subparsers, add_command
from experiments.commands import results
from experiments.commands.predict import shared

if TYPE_CHECKING:
    from experiments.commands.predict.shared import Case
    from experiments.prediction import Model, Moved

FEW_LEVELS, FEW_PLAYERS = 50, 50
"""With fewer of either, a fit starts from the model that ships."""

SHIPPED, NOTHING = "shipped", "nothing"

SHOWN = 12
"""Coefficients in the terminal, at most."""


def register(parts: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        parts, "fit", run, "fit a model of people's success on levels",
        "predict fit people.csv --levels ladder --out model.json",
        "predict fit people.csv --levels ladder --without 1/5 --out model.json",
        "predict fit people.csv --levels mine.json --agents random clouded greedy --out model.json",
    )  # fmt: skip
    shared.add_people(parser)
    shared.add_parts(parser)
    shared.add_recipe(parser)
    parser.add_argument(
        "--start", metavar="MODEL",
        help=f"the model to start from: {SHIPPED}, {NOTHING}, or a file (default: {SHIPPED} where fewer than "
        f"{FEW_LEVELS} levels have people, or they are fewer than {FEW_PLAYERS} players, else {NOTHING})",
    )  # fmt: skip
    shared.add_source(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the model's file (.json)")
    common.add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Play, fit, write the model, and say what it is made of."""
    with shared.working(options):
        from experiments.prediction import fit, moved, save

        case = shared.case_of(options)
        start = _start(options, case)
        levels = shared.table(options, case.tasks, start)
        source = shared.source_of(options)
        model = fit(
            levels, case.people, start=start, source=source, watched=shared.watched(options),
            other_people=options.other_people,
        )  # fmt: skip
        change = None if start is None else moved(start, model, levels)
        save(model, options.out)
    if options.json:
        common.print_json(_report(model, start, change, case, options))
    else:
        _print(model, start, change, case)
        print(f"model: {options.out}")
    return 0


def _start(options: argparse.Namespace, case: Case) -> Model | None:
    """The model to start from."""
    from experiments.prediction import load, reference

    if options.start == NOTHING:
        return None
    if options.start not in (None, SHIPPED):
        return load(Path(options.start))
    few = len(case.tasks) < FEW_LEVELS or (case.players is not None and case.players < FEW_PLAYERS)
    agents = tuple(options.agents)
    if options.start is None and not (few and agents in (shared.AGENTS, reference().agents)):
        return None  # other agents have no model to start from
    return reference()


def _print(model: Model, start: Model | None, change: Moved | None, case: Case) -> None:
    from experiments.report import percent

    print(f"{model.fitted.levels:,} levels with people, {model.fitted.attempts:,} attempts of theirs")
    print(f"what is left open of each level: a standard deviation of {model.sigma:.2f} logits")
    if start is not None and change is not None:
        print(f"start: a model of {start.fitted.source}; predictions moved by {percent(change.rate)} on average")
    print()
    common.print_table([("what a logit of success is made of", "coefficient", "error"), *_coefficients(model)])
    print()
    for problem in case.reading.problems:
        print(problem.sentence)


def _coefficients(model: Model) -> list[tuple[str, str, str]]:
    """The intercept, the agents, and the largest of the others, in standard deviations of their columns."""
    import numpy as np

    names, agents = ("intercept", *model.agents, *model.covariates), 1 + len(model.agents)
    errors = np.sqrt(np.diag(model.covariance))
    others = agents + np.argsort(-np.abs(model.coefficients[agents:]), kind="stable")
    used = [i for i in (*range(agents), *others) if errors[i] > 0][:SHOWN]
    return [(names[i], f"{model.coefficients[i]:+.3f}", f"{errors[i]:.3f}") for i in used]


def _report(
    model: Model, start: Model | None, change: Moved | None, case: Case, options: argparse.Namespace
) -> dict[str, Any]:
    names = ("intercept", *model.agents, *model.covariates)
    return {
        "model": str(options.out), **shared.about(model), "sigma": model.sigma, "spread": model.spread,
        "coefficients": dict(zip(names, model.coefficients.tolist(), strict=True)),
        "start": start and start.fitted.source, "moved": change and change.rate,
        "problems": results.problems(case.reading),
    }  # fmt: skip
