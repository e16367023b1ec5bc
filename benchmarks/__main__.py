"""`python -m benchmarks [--quick] [--out results/bench]`: every measurement in one run, as JSON, table and picture."""

import argparse
import datetime
import functools
import json
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path

import jax
import numpy as np

from benchmarks import environments, learners, ours, players, report
from benchmarks.limit import run_limit
from benchmarks.ours import Values
from benchmarks.report import Results
from benchmarks.tile_match import run_tile_match


def main() -> None:
    """Measure, writing the JSON after every part; then print and draw."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a check that everything runs, not a measurement")
    parser.add_argument("--out", type=Path, default=Path("results/bench"), help="the folder of what is written")
    options = parser.parse_args()
    os.environ["CRUSH_GYM_CACHE"] = "off"  # compiling is measured too, in processes that inherit this
    options.out.mkdir(parents=True, exist_ok=True)
    results: Results = {}
    for name, part in parts().items():
        print(f"measuring: {name}", file=sys.stderr, flush=True)
        results[name] = measured(part, options.quick)
        (options.out / "bench.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    finish(results, options.out)


def parts() -> dict[str, Callable[[bool], Values]]:
    """Every part of the run by name."""
    own = {**ours.PARTS, **environments.PARTS, **players.PARTS, **learners.PARTS}
    return {"machine": machine, "limit": limit, "tile-match": tile_match, **own}


def measured(part: Callable[[bool], Values], quick: bool) -> Values:
    """A part's values, or the sentence on its failure."""
    try:
        return part(quick)
    except Exception as reason:
        return {"all": ours.sentence(reason)}


def finish(results: Results, out: Path) -> None:
    """Print and write the table, and draw the picture."""
    table = report.markdown(results)
    print(table)
    (out / "bench.md").write_text(table, encoding="utf-8")
    try:
        report.draw(results, out / "bench.png")
    except Exception as reason:
        print(f"No picture was drawn: {type(reason).__name__}: {reason}", file=sys.stderr)


def machine(quick: bool) -> Values:
    """The hardware and the versions."""
    return {
        "CPU": cpu_model(),
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "device": str(jax.devices()[0].device_kind),
        "python": platform.python_version(),
        "jax": jax.__version__,
        "numpy": np.__version__,
        "date": datetime.date.today().isoformat(),
        "run": "quick: a check, not a measurement" if quick else "full",
    }


def cpu_model() -> str:
    """The processor's name."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def limit(quick: bool) -> Values:
    """Moves per second of the hand-written C++."""
    return {
        name: ours.guard(functools.partial(best_limit, threads, quick))
        for threads, name in ((1, "1 thread"), (2, "2 threads"))
    }


def best_limit(threads: int, quick: bool) -> float:
    """The best of some runs of the C++."""
    seconds = 0.3 if quick else 3.0
    return max(run_limit(threads=threads, seconds=seconds)["moves_per_s"] for _ in range(ours.repeats_for(quick)))


def tile_match(quick: bool) -> Values:
    """Moves per second of tile-match-gym, one environment and two side by side."""
    ways = [(specials, envs) for specials in (False, True) for envs in (0, 2)]
    return {
        f"{'all' if specials else 'no'} specials, {envs or 1} at a time": ours.guard(
            functools.partial(best_tile_match, specials, envs, quick)
        )
        for specials, envs in ways
    }


def best_tile_match(specials: bool, envs: int, quick: bool) -> float:
    """The best of some runs of tile-match-gym."""
    seconds = 0.5 if quick else 5.0
    runs = (run_tile_match(specials, envs=envs, seconds=seconds) for _ in range(ours.repeats_for(quick)))
    return float(max(run["moves_per_s"] for run in runs))


if __name__ == "__main__":
    main()
