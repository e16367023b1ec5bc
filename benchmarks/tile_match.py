"""Measure tile-match-gym 1.0.6 under uniformly random legal moves, in an environment of its own.

It needs an older numpy than ours, hence the second environment. Alone: `python -m benchmarks.tile_match`.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.second_venv import NotHere, SecondVenv
from scripts.setup import last_line

DRIVER = Path(__file__).with_name("tile_match_driver.py")
VENV = SecondVenv(
    "tile-match-venv", "tile-match-gym", ("tile-match-gym==1.0.6", "numpy<1.27", "gymnasium>=1.4,<2"),
    series=((3, 11), (3, 12), (3, 10), (3, 9)), note="tile-match-gym needs an older numpy than ours",
)  # fmt: skip
"""Of the versions of Python that its numba runs on."""

Result = dict[str, Any]


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
    done = subprocess.run([str(VENV.python()), str(DRIVER), *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise NotHere(f"tile-match-gym does not run here: {last_line(done.stderr)}")
    result: Result = json.loads(done.stdout)
    return result


def external_check(games: int = 200) -> Result:
    """8x8, 4 colours, no specials, 50 random legal moves: `cleared_per_game` is known as 472, SD 64."""
    return run_tile_match(rows=8, columns=8, colours=4, moves=50, games=games, seconds=0.0)


def main() -> None:
    """Print every measurement, a line of JSON each."""
    try:
        for specials in (False, True):
            print(json.dumps(run_tile_match(specials)), flush=True)
            print(json.dumps(run_tile_match(specials, envs=2)), flush=True)
        print(json.dumps(external_check()), flush=True)
    except NotHere as reason:
        sys.exit(str(reason))


if __name__ == "__main__":
    main()
