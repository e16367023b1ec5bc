"""`make model`: let synthetic players of both families play `ladder`, and fit the model that ships on what they did.

Runs that were broken off go on in `--folder`. Attempts of equal seeds are equal, so a second run writes the same file.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

from crush_gym.cli.program import main as crush_gym
from crush_gym.support import write_bytes

MODEL = Path(__file__).resolve().parent.parent / "experiments" / "prediction" / "models"

PLAYERS, SEEDS = 80, {"A": 11, "B": 12}
"""Of each family; a player tries a level until it is won or given up."""


def main() -> None:
    """Play, put both families into one file, and fit."""
    parser = argparse.ArgumentParser(prog="python -m scripts.make_prediction_model", description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("results/prediction-model"))
    parser.add_argument("--cache", default=None, help="of agents' attempts (default: the user's)")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    from experiments.prediction.looking import SHIPPED, SYNTHETIC

    rows: list[list[str]] = []
    for family, seed in SEEDS.items():
        file = options.folder / f"{family}.csv"
        run("population", "play", "ladder", "--players", PLAYERS, "--family", family, "--seed", seed, "--out", file)
        head, *own = csv.reader(file.read_text(encoding="utf-8").splitlines())
        rows += [[f"{family}{player}", *rest] for player, *rest in own]
    people = options.folder / "people.csv"
    text = "\n".join(",".join(row) for row in [head, *rows]) + "\n"
    write_bytes(people, text.encode())
    MODEL.mkdir(exist_ok=True)
    cache = ["--cache", options.cache] if options.cache else []
    run(
        "predict", "fit", people, "--levels", "ladder", "--start", "nothing", "--source", SYNTHETIC,
        "--other-people", 0, *cache,
        "--out", MODEL / SHIPPED,
    )  # fmt: skip


def run(*words: object) -> None:
    """One command of `crush-gym`; its failure is ours."""
    if status := crush_gym([str(word) for word in words]):
        raise SystemExit(status)


if __name__ == "__main__":
    main()
