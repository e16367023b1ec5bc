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
from crush_gym.cli.interrupts import NOTHING_KEPT, interruptible

KINDS = ("cpu", "gpu", "tpu")
BOARDS = 65_536


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, "bench", run, "measure how many moves a second each rule set plays", "bench --short",
        "bench --json", "bench --devices gpu",
    )  # fmt: skip
    parser.add_argument(
        "--short", action="store_true", help="some seconds only; else, in a checkout, all its benchmarks"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("results/bench"), metavar="FOLDER",
        help="where a checkout's benchmarks write (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--devices", metavar="KIND", choices=KINDS,
        help="measure on all devices of a kind (%(choices)s), and print a block to paste into an issue",
    )  # fmt: skip
    parser.add_argument(
        "--boards", type=int, metavar="N",
        help=f"with --devices: how many are played side by side (default: {BOARDS:,})",
    )  # fmt: skip
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Measure and report."""
    if options.devices is not None:
        with interruptible(lambda: NOTHING_KEPT):
            return _on_devices(options.devices, BOARDS if options.boards is None else options.boards, options.json)
    if options.boards is not None:
        raise CommandError("--boards goes with --devices: say which, such as --devices gpu")
    root = repository()
    if root is None or options.short:
        with interruptible(lambda: NOTHING_KEPT):
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


def _on_devices(kind: str, boards: int, as_json: bool) -> int:
    import jax

    from crush_gym.cli import probe

    try:
        devices = jax.devices(kind)
    except RuntimeError:
        raise CommandError(
            f"JAX finds no {kind} here: `crush-gym doctor` tells what is installed"
            + (", and `pip install 'crush-gym[cuda]'` brings what an NVIDIA GPU needs" if kind == "gpu" else "")
        ) from None
    if boards < 1 or boards % len(devices):
        raise CommandError(
            f"--boards must be a positive multiple of {len(devices)}, the number of devices, not {boards}"
        )
    os.environ["CRUSH_GYM_CACHE"] = "off"  # compiling is measured too
    speeds = []
    for rules in probe.RULES:
        print(f"measuring: {rules}", file=sys.stderr, flush=True)
        speeds.append(probe.measure_boards(rules, boards, devices))
    about = {
        "crush_gym": crush_gym.__version__,
        "jax": jax.__version__,
        "devices": f"{len(devices)} x {devices[0].device_kind}",
        "platform": " ".join(str(devices[0].client.platform_version).split()),
    }
    if as_json:
        common.print_json({**about, "games": [dataclasses.asdict(speed) for speed in speeds]})
        return 0
    print(f"Random play by `crush-gym bench --devices {kind} --boards {boards}`:\n")
    print("\n".join(f"- {name}: {value}" for name, value in about.items()))
    print("\n| rules | boards | moves/s | compiled in |\n|---|---|---|---|")
    for s in speeds:
        print(f"| {s.rules} | {s.attempts:,} | {s.moves_per_second:,.0f} | {s.compile_seconds:.1f} s |")
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
