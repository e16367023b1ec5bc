"""`crush-gym train`: let a player learn levels, and keep it in a file that plays everywhere."""

from __future__ import annotations

import argparse
import math
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crush_gym.cli import common
from crush_gym.cli.common import CommandError, Subparsers, UsageError, add_command
from crush_gym.cli.interrupts import interruptible
from experiments.commands.terminal import quiet_xla

if TYPE_CHECKING:
    from experiments.training.plan import Plan
    from experiments.training.run import Finished, Moment

PAUSE = 15.0
"""Seconds between two lines where there is no terminal."""


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, "train", run, "let a player learn levels, and keep its weights in a file",
        "train ppo --levels basics/jelly --minutes 5 --out jelly",
        "train ppo --levels combo --steps 500000 --set rate=0.0005 --network edge:layers=4",
        "train ppo --levels combo --seeds 3 --sweep rates.json --out rates",
        "train pqn --levels combo --minutes 5 --out combo",
        "train imitation --pairs moves --network king --set rate=0.0005 --out imitator",
        "train --resume jelly --minutes 10",
        "evaluate policy:jelly/best.safetensors greedy --levels basics/jelly",
    )  # fmt: skip
    parser.add_argument(
        "algorithm", nargs="?", help="ppo, dqn, pqn, ...; `crush-gym train ppo --help-settings` lists its settings"
    )
    parser.add_argument(
        "--levels",
        action="append",
        metavar="LEVELS",
        help="as of `evaluate`; several are learned together by one network",
    )
    parser.add_argument(
        "--pairs", metavar="FOLDER",
        help="recorded moves to learn from, by imitation: `crush-gym record` writes some; with --levels, weights are "
        "judged by playing these, too",
    )  # fmt: skip
    parser.add_argument("--steps", type=number, metavar="N", help="moves to learn from (default: 1,000,000)")
    parser.add_argument("--minutes", type=float, metavar="M", help="stop after so many; `--resume` goes on")
    parser.add_argument("--seed", type=common.seed, help="of everything random (default: 0)")
    parser.add_argument("--seeds", type=number, metavar="N", help="so many runs, one after the other, each in a folder")
    parser.add_argument(
        "--sweep", type=Path, metavar="FILE",
        help='runs that differ: a JSON list such as [{"name": "slow", "settings": {"rate": 0.0003}}, ...]',
    )  # fmt: skip
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder of the run (default: runs/ALGORITHM-LEVELS)")
    parser.add_argument("--resume", type=Path, metavar="DIR", help="go on with the run in this folder")
    parser.add_argument(
        "--network",
        metavar="NAME",
        help="edge, resnet, king or mlp, with arguments: edge:layers=4 (default: the algorithm's own)",
    )
    parser.add_argument("--reward", metavar="NAME", help="score, progress or win (default: as the levels' goals ask)")
    parser.add_argument(
        "--no-preview", action="store_true", help="do not show the network what each move brings by itself"
    )
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the algorithm")
    parser.add_argument("--every", type=number, metavar="N", help="moves between two judgements by the harness")
    parser.add_argument(
        "--attempts", type=number, metavar="N", help="of each judgement, over all levels (default: 400)"
    )
    parser.add_argument("--help-settings", action="store_true", help="list the settings of the algorithm, and end")


def number(text: str) -> int:
    """Read a whole number from 1 upwards, such as 500000, 500_000 or 5e5."""
    try:
        value = float(text.replace(",", "").replace("_", ""))
    except ValueError:
        value = 0.0
    if value < 1 or value != value // 1 or value > 1e12:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 upwards, not {text!r}")
    return int(value)


def run(options: argparse.Namespace) -> int:
    """Train, and say what came of it; 1 where it diverged."""
    quiet_xla()
    try:
        from agents.learning import files  # noqa: F401 - says what is not installed
        from agents.learning.algorithms import ALGORITHMS, AlgorithmError, algorithm, settings_from
        from experiments.training.plan import PlanError
        from experiments.training.run import read_plan
    except ImportError as missing:
        raise CommandError(_extra(missing)) from None
    try:
        if options.help_settings:
            return _list_settings(options.algorithm or "ppo")
        if options.resume is not None:
            _nothing_else(options)
            return _report([_one(options, options.resume, read_plan(options.resume))])
        if options.algorithm is None or not (options.levels or options.pairs):
            raise UsageError(
                "say what learns and on what: crush-gym train ALGORITHM --levels LEVELS "
                f"(algorithms: {', '.join(ALGORITHMS)})"
            )
        plan = _plan(options) | {"settings": settings_from(options.set, options.algorithm)}
        learner = algorithm(options.algorithm)[0]
        if plan["preview"] and not learner.previews and not learner.from_pairs:
            print(f"{options.algorithm}: the network is not shown what moves bring by themselves", file=sys.stderr)
        return _report(_all(options, plan))
    except AlgorithmError as error:
        raise UsageError(str(error)) from None
    except PlanError as error:
        raise CommandError(str(error)) from None
    except ImportError as missing:
        raise CommandError(_extra(missing)) from None


def _extra(missing: ImportError) -> str:
    said = str(missing)
    return (
        said
        if "pip install" in said
        else f"learning needs {missing.name}, which is not installed: pip install 'crush-gym[learn]'"
    )


def _plan(options: argparse.Namespace) -> dict[str, Any]:
    """The fields of the plan that were given."""
    names = ("steps", "seed", "network", "reward", "every", "attempts", "pairs")
    given = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    return given | {"algorithm": options.algorithm, "levels": options.levels or [], "preview": not options.no_preview}


def _nothing_else(options: argparse.Namespace) -> None:
    """A run goes on with its own plan."""
    fixed = (
        "algorithm",
        "levels",
        "pairs",
        "steps",
        "seed",
        "seeds",
        "sweep",
        "out",
        "network",
        "reward",
        "every",
        "attempts",
        "set",
        "no_preview",
    )
    given = [name for name in fixed if getattr(options, name)]
    if given:
        shown = given[0] if given[0] == "algorithm" else "--" + given[0].replace("_", "-")
        raise UsageError(f"--resume goes on with the run's own plan: leave {shown} out")


def _all(options: argparse.Namespace, plan: dict[str, Any]) -> list[Finished]:
    """One run, or those of several seeds and of a file. The same command goes on with several that were broken off."""
    from experiments.training.many import plans_of, read_sweep
    from experiments.training.plan import PlanError
    from experiments.training.run import CONFIG

    source = options.levels or [Path(options.pairs).resolve().name]
    folder = options.out or Path("runs") / _slug(f"{options.algorithm}-{'-'.join(source)}")
    variants = [{}] if options.sweep is None else read_sweep(options.sweep)
    wanted = plans_of(plan, folder, options.seeds or 1, variants)
    if len(wanted) == 1 and (folder / CONFIG).exists():
        raise PlanError(f"{str(folder)!r} holds a run already: go on with it by --resume, or choose another folder")
    return [_one(options, *run) for run in wanted]


def _one(options: argparse.Namespace, folder: Path, plan: Plan) -> Finished:
    """One run."""
    from experiments.training.run import STATE, carried_out

    def kept() -> str:
        there = (folder / STATE).exists()
        return f"crush-gym train --resume {folder} goes on" if there else "nothing was learned yet"

    with interruptible(kept), _Line(folder) as line:
        return carried_out(plan, folder, options.minutes, line)


class _Line:
    """How far a run is: a line that changes on a terminal, else a line now and then. On stderr."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.terminal, self.last = folder, sys.stderr.isatty(), -1e9

    def __enter__(self) -> _Line:
        return self

    def __exit__(self, *ended: object) -> None:
        if self.terminal and self.last >= 0:
            print(file=sys.stderr)

    def __call__(self, moment: Moment) -> None:
        """Told before the first call of the learner, and after each."""
        if not moment.metrics:
            self._write(f"{self.folder}: compiling")
            return
        if not self.terminal and moment.seconds - self.last < PAUSE and moment.steps < moment.of:
            return
        self.last = moment.seconds
        played = moment.metrics.get("play/return")
        left = max(0, moment.of - moment.steps)
        parts = [f"{1 - left / moment.of:4.0%}  {moment.steps:,} moves", f"{moment.steps_per_second:,.0f}/s"]
        parts += [f"return {played:,.2f}"] if played is not None and played == played else []
        if moment.judgement is not None:
            numbers = moment.judgement.numbers
            metric = next(name for name in ("top1", "success", "score") if not math.isnan(numbers.get(name, math.nan)))
            parts.append(f"judged {numbers[metric]:.1%}" if metric != "score" else f"judged {numbers[metric]:,.0f}")
        parts.append(f"{_minutes(left / max(moment.steps_per_second, 1e-9))} left")
        self._write("  ".join(parts))

    def _write(self, text: str) -> None:
        if self.terminal:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r{text[:width]:<{width}}", end="", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)


def _minutes(seconds: float) -> str:
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"


def _report(runs: list[Finished]) -> int:
    """What came of the runs."""
    from experiments.training.judging import shown as in_words
    from experiments.training.run import BEST

    for done in runs:
        if done.why == "diverged":
            print(
                f"{done.folder}: learning broke down (NaN) after {done.steps:,} moves; the last good weights are kept."
            )
            print("  Try a smaller rate, or a smaller norm.")
            continue
        shown = "not judged yet"
        if done.best is not None:
            shown = f"best {in_words(done.metric, done.best)}"
        print(f"{done.folder}: {done.steps:,} moves, {shown}")
        if done.why in ("minutes", "stopped"):
            print(f"  go on: crush-gym train --resume {done.folder}")
        if done.best is not None:
            print(f"  rank it: crush-gym evaluate policy:{done.folder / BEST} random greedy --levels ...")
    return int(any(done.why == "diverged" for done in runs))


def _list_settings(algorithm: str) -> int:
    """The settings with their defaults and meanings."""
    import dataclasses

    from agents.learning.algorithms import algorithm as find
    from agents.learning.algorithms import meanings

    _, settings = find(algorithm)
    said = meanings(settings)
    rows = [(f.name, str(f.default), said.get(f.name, "")) for f in dataclasses.fields(settings)]
    common.print_table([("setting", "default", "meaning"), *rows], left=(0, 2))
    return 0


def _slug(text: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in text)[:80]
