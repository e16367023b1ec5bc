"""`crush-gym bench`: the repository's benchmarks where they are, else a short measurement."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import crush_gym
from crush_gym.cli import common
from crush_gym.cli.common import CommandError, Subparsers, add_command, add_json


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, "bench", run, "measure how many moves a second each rule set plays", "bench --short", "bench --json"
    )
    parser.add_argument(
        "--short", action="store_true", help="some seconds only; else, in a checkout, all its benchmarks"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("results/bench"), metavar="FOLDER",
        help="where a checkout's benchmarks write (default: %(default)s)",
    )  # fmt: skip
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Measure and report."""
    root = repository()
    if root is None or options.short:
        return _short(options.json)
    print(f"Running all benchmarks of {root}, many minutes; `--short` takes seconds.", file=sys.stderr, flush=True)
    return _whole(root, options.out.absolute(), options.json)


def repository() -> Path | None:
    """The folder of the repository that this package is part of; None where it was installed without one."""
    root = Path(crush_gym.__file__).resolve().parent.parent
    return root if (root / "benchmarks" / "__main__.py").is_file() and (root / "pyproject.toml").is_file() else None


def _whole(root: Path, out: Path, as_json: bool) -> int:
    path = os.pathsep.join(filter(None, (str(root), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "benchmarks", "--out", str(out)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, stdout=sys.stderr if as_json else None)
    if done.returncode != 0:
        raise CommandError("the benchmarks failed: what they printed says why; `--short` needs nothing but JAX")
    if as_json:
        common.print_json(json.loads((out / "bench.json").read_text(encoding="utf-8")))
    return 0


def _short(as_json: bool) -> int:
    import jax

    from crush_gym.cli import probe

    os.environ["CRUSH_GYM_CACHE"] = "off"  # compiling is measured too
    speeds = []
    for rules in probe.RULES:
        print(f"measuring: {rules}", file=sys.stderr, flush=True)
        speeds.append(probe.measure(rules))
    device = str(jax.devices()[0].device_kind)
    if as_json:
        common.print_json({"device": device, "games": [dataclasses.asdict(speed) for speed in speeds]})
        return 0
    print(f"Random play on {device}, {os.cpu_count()} cores, {speeds[0].attempts:,} attempts of each game:\n")
    rows = [(s.rules, f"{s.moves_per_second:,.0f}", f"{s.compile_seconds:.1f} s") for s in speeds]
    common.print_table([("rules", "moves/s", "compiled in"), *rows])
    return 0
