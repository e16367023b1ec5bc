"""Measure tile-match-gym 1.0.6 under uniformly random legal moves, in an environment of its own.

It needs an older numpy than ours, hence the second environment. Alone: `python -m benchmarks.tile_match`.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from scripts.setup import PIP_INSTALL, ask, last_line, pythons, venv_python

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".cache" / "tile-match-venv"
DRIVER = Path(__file__).with_name("tile_match_driver.py")
REQUIREMENTS = ("tile-match-gym==1.0.6", "numpy<1.27", "gymnasium>=1.4,<2")
SERIES = ((3, 11), (3, 12), (3, 10), (3, 9))  # what its numba runs on

Result = dict[str, Any]


class NoPeer(RuntimeError):  # noqa: N818 - a circumstance, not a fault
    """tile-match-gym cannot be installed here."""


def run_tile_match(
    specials: bool = False, envs: int = 0, seconds: float = 5.0, games: int = 1, **settings: int | str
) -> Result:
    """Play it for a while (`envs`: 0 for one plain environment); settings are the driver's options."""
    options: dict[str, object] = {
        "specials": "all" if specials else "none",
        "envs": envs,
        "seconds": seconds,
        "games": games,
        **settings,
    }
    arguments = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    done = subprocess.run([str(environment()), str(DRIVER), *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise NoPeer(f"tile-match-gym does not run here: {last_line(done.stderr)}")
    result: Result = json.loads(done.stdout)
    return result


def external_check(games: int = 200) -> Result:
    """8x8, 4 colours, no specials, 50 random legal moves: `cleared_per_game` is known as 472, SD 64."""
    return run_tile_match(rows=8, columns=8, colours=4, moves=50, games=games, seconds=0.0)


def environment() -> Path:
    """The interpreter of its environment, which is made on first use; raises `NoPeer` with a sentence."""
    python = venv_python(VENV)
    finished = VENV / "finished"
    if finished.is_file() and finished.read_text() == "\n".join(REQUIREMENTS) and ask(python):
        return python
    print(f"making {VENV.relative_to(ROOT)} for {REQUIREMENTS[0]}", file=sys.stderr)
    run([find_python(), "-m", "venv", "--clear", str(VENV)])
    run([str(python), *PIP_INSTALL, *REQUIREMENTS])
    finished.write_text("\n".join(REQUIREMENTS))
    return python


def find_python() -> str:
    """An interpreter that its dependencies still support."""
    found = {python.version[:2]: python.path for python in reversed(list(pythons()))}
    for series in SERIES:
        if series in found:
            return found[series]
    raise NoPeer("tile-match-gym needs Python 3.9 to 3.12 and none was found: its figures are left out.")


def run(command: list[str]) -> None:
    """Run a step of the installation."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise NoPeer(f"tile-match-gym could not be installed: {last_line(done.stderr)}")


def main() -> None:
    """Print every measurement, a line of JSON each."""
    try:
        for specials in (False, True):
            print(json.dumps(run_tile_match(specials)), flush=True)
            print(json.dumps(run_tile_match(specials, envs=2)), flush=True)
        print(json.dumps(external_check()), flush=True)
    except NoPeer as reason:
        sys.exit(str(reason))


if __name__ == "__main__":
    main()
