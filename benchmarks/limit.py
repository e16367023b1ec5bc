"""Compile and run `limit.cpp`, the hand-written C++ yardstick for the plain game.

Alone: `python -m benchmarks.limit [threads] [seconds]`.
"""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TypedDict

ROOT = Path(__file__).resolve().parent.parent
SOURCE = Path(__file__).with_name("limit.cpp")
CACHE = ROOT / ".cache" / "limit"
COMPILERS = ("g++", "clang++", "c++")
# The compiler's own vectoriser packs single boards into wide registers, which costs a tenth of the speed.
FLAGS = ("-O3", "-march=native", "-fno-tree-vectorize", "-std=c++17", "-pthread")


class NoCompiler(RuntimeError):  # noqa: N818 - a circumstance, not a fault
    """There is no C++ compiler here, or it cannot build the yardstick."""


class LimitResult(TypedDict):
    """What one run of the yardstick prints."""

    threads: int
    boards: int
    moves: int
    seconds: float
    moves_per_s: float
    cleared_per_move: float
    mean_legal: float
    score_per_move: float
    shuffles: int


def run_limit(threads: int = 1, seconds: float = 3.0, seed: int = 1) -> LimitResult:
    """Play plain random games in C++ for a while; raises `NoCompiler` with a sentence when that cannot be."""
    done = subprocess.run(
        [str(build()), str(threads), str(seconds), str(seed)], check=True, capture_output=True, text=True
    )
    result: LimitResult = json.loads(done.stdout)
    return result


def check_limit() -> bool:
    """Whether the yardstick plays as a naive copy of the rules does, over some twenty thousand moves."""
    return subprocess.run([str(build()), "check"], capture_output=True).returncode == 0


def build() -> Path:
    """The compiled yardstick, made when its source, its flags or the compiler changed."""
    compiler = find_compiler()
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout
    made_from = "\n".join([SOURCE.read_text(encoding="utf-8"), *FLAGS, compiler, version])
    program = CACHE / f"limit-{hashlib.sha256(made_from.encode()).hexdigest()[:16]}"
    if not program.is_file():
        CACHE.mkdir(parents=True, exist_ok=True)
        unfinished = program.with_suffix(".new")
        command = [compiler, *FLAGS, str(SOURCE), "-o", str(unfinished)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            errors = [line for line in done.stderr.splitlines() if "error" in line] or ["no reason given"]
            raise NoCompiler(f"{Path(compiler).name} cannot build limit.cpp: {errors[0]}")
        unfinished.replace(program)
    return program


def find_compiler() -> str:
    """The first C++ compiler on the path."""
    for name in COMPILERS:
        found = shutil.which(name)
        if found is not None:
            return found
    raise NoCompiler(f"No C++ compiler was found ({', '.join(COMPILERS)}): the C++ figures are left out.")


def main() -> None:
    """Print one run as JSON."""
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 3.0
    try:
        print(json.dumps(run_limit(threads, seconds)))
    except NoCompiler as reason:
        sys.exit(str(reason))


if __name__ == "__main__":
    main()
