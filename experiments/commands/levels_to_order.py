"""`crush-gym levels generate --difficulty`, and `levels tune`: levels of the difficulty for people that is wished."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crush_gym.cli import common, generate
from crush_gym.cli.common import CommandError, Subparsers, UsageError, add_command
from experiments.commands.predict import shared
from experiments.commands.terminal import quiet_xla

if TYPE_CHECKING:
    from experiments.prediction import Ordered, Tuned

MOST = 500
"""Levels to order at a time."""


def register(parts: Subparsers) -> None:
    """Give `levels generate` the option `--difficulty`, and add `levels tune`."""
    making = parts.choices["generate"]
    plain = making.get_default("run")
    making.add_argument(
        "--difficulty", type=wish, metavar="LOW..HIGH",
        help="success of people that is wished, such as 0.25..0.35: levels are searched for whose predicted success "
        "lies there with the highest probability, instead of --success",
    )  # fmt: skip
    shared.add_model(making)
    making.set_defaults(run=lambda options: plain(options) if options.difficulty is None else order(options))

    tuning = add_command(
        parts, "tune", tune, "change a level's limit or goal so that people's success is as wished",
        "levels tune my-level.json --difficulty 0.3 --out tuned.json",
        "levels tune pack.json/Bridge --difficulty 0.5 --change goal --out bridge.json",
    )  # fmt: skip
    tuning.add_argument("level", metavar="LEVEL", help="a file, or PACK/LEVEL")
    tuning.add_argument(
        "--difficulty", type=success, required=True, metavar="P", help="success of people, 0.01 to 0.99"
    )
    tuning.add_argument(
        "--change", choices=("limit", "goal"), default="limit",
        help="limit: its moves or seconds; goal: its goal score where that is all it asks for, or what it orders "
        "(default: limit)",
    )  # fmt: skip
    shared.add_model(tuning)
    tuning.add_argument("--out", type=Path, metavar="FILE", help="the level to write; it must be new")
    common.add_json(tuning)


def success(text: str) -> float:
    """Read a success rate."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"expected a success rate between 0 and 1, such as 0.3, not {text!r}")
    return value


def wish(text: str) -> tuple[float, float]:
    """Read a range of success rates."""
    low, dots, high = text.partition("..")
    if not dots or success(low) >= success(high):
        raise argparse.ArgumentTypeError(f"expected a range of success rates, such as 0.25..0.35, not {text!r}")
    return success(low), success(high)


def order(options: argparse.Namespace) -> int:
    """Search, check, write and report."""
    if not 1 <= options.count <= MOST:
        raise UsageError(f"with --difficulty, --count must be from 1 to {MOST}, not {options.count}")
    _check_new(options.out)
    quiet_xla()
    generate.made(options, options.seed)  # wrong options are refused before anything is played
    with shared.working(options):
        from crush_gym.levels import LevelPack
        from experiments.prediction import generate_to

        model = shared.model_of(options)
        with shared.cache_of(options) as cache:
            found = generate_to(
                options.difficulty, options.count, make=lambda seed: generate.made(options, seed), model=model,
                seed=options.seed, cache=cache,
            )  # fmt: skip
        pack = LevelPack([one.level for one in found], options.out.stem)
    common.saved(lambda: pack.save(options.out), options.out)
    if options.json:
        common.print_json([{**_row(one), "model": shared.about(model)} for one in found])
        return 0
    low, high = options.difficulty
    head = ("level", "limit", "success", "95 % band", f"in {low:g}..{high:g}")
    common.print_table([head, *map(_line, found)], left=(0,))
    expected = sum(one.probability for one in found)
    print(f"\nof these {len(found):,} levels, about {expected:.0f} lie in the wish: each with its probability")
    print(shared.told(model))
    print(f"pack: {options.out}")
    return 0


def tune(options: argparse.Namespace) -> int:
    """Search, check, write and report."""
    if options.out:
        _check_new(options.out)
    with shared.working(options):
        tasks = shared.tasks_of([options.level])
        if len(tasks) != 1:
            raise UsageError(f"{options.level!r} names {len(tasks)} levels: say which one, as in PACK/LEVEL")
        if (tasks[0].rules, tasks[0].adjacency) != ("saga", "any"):
            raise UsageError(f"{options.level!r} is no level file: simple games have no limits to tune")
        from experiments.prediction import tune_to

        model = shared.model_of(options)
        with shared.cache_of(options) as cache:
            found = tune_to(tasks[0].level, options.difficulty, options.change, model=model, cache=cache)
    if options.out:
        common.saved(lambda: _save(found, options.out), options.out)
    if options.json:
        report = {"changed": found.changed, "before": _row(found.before), "after": _row(found.after)}
        common.print_json({**report, "level": found.after.level.to_dict(), "model": shared.about(model)})
    else:
        _print(found, options)
        print(shared.told(model))
    return 0


def _check_new(path: Path) -> None:
    if path.exists():
        raise CommandError(f"{str(path)!r} is there already: name another file, or remove that one")


def _save(found: Tuned, path: Path) -> None:
    from crush_gym.levels import LevelPack

    LevelPack([found.after.level], path.stem).save(path)


def _print(found: Tuned, options: argparse.Namespace) -> None:
    rows = [(name, *_line(one)[1:]) for name, one in (("before", found.before), ("after", found.after))]
    common.print_table([("", "limit", "success", "95 % band", f"within 5 pp of {options.difficulty:g}"), *rows])
    print(f"\nchanged: {found.changed}")
    print(f"level: {options.out}" if options.out else "not written: `--out FILE` writes it")


def _line(one: Ordered) -> tuple[str, ...]:
    from crush_gym.cli import describe
    from experiments.report import percent

    band = f"{percent(one.low)} to {percent(one.high)}"
    return one.level.name, describe.limit(one.level), percent(one.success), band, percent(one.probability)


def _row(one: Ordered) -> dict[str, Any]:
    numbers = {name: round(getattr(one, name), 5) for name in ("success", "low", "high", "probability")}
    return {"level": one.level.name, "moves": int(one.level.moves), "goal_score": int(one.level.goal_score), **numbers}
