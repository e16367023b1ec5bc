"""Success on levels that nobody trained on, against the number of those that were: 10, 100, 800 of `ladder`.

    python -m scripts.make_generalisation runs/generalisation --train 10 100 800 --steps 49152
    python -m scripts.make_generalisation runs/generalisation

The first command learns on so many levels of four of the fifths of `ladder` (`folds(5)[0]`), drawn at random, each time
with the same budget; the second one lets the last weights of each, and the random, heuristic and greedy players, play
levels of the other fifth, those of the leaderboard, and `tour`, and prints the table of docs/generalisation.md. Both go
on where they were broken off.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from crush_gym import load_pack
from experiments.results.task import Task
from experiments.running.evaluation import evaluate
from experiments.statistics import Interval, bootstrap, mean, normalised
from experiments.training import train
from scripts.make_leaderboard import levels_of

ATTEMPTS, SEED = 20, 1_000_000
"""Of each player at each level that it is tested on; no training uses the seed."""

ZERO, ONE = "random", "heuristic"
PLAYERS = (ZERO, ONE, "greedy")

PARTS = ("ladder", "tour")


def main() -> None:
    """Learn, or test what was learned."""
    parser = argparse.ArgumentParser(prog="python -m scripts.make_generalisation", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--train", nargs="+", type=int, default=[], metavar="N", help="learn on so many levels")
    parser.add_argument("--steps", type=int, default=49_152, help="moves that each learns from")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for number in options.train:
        learn(options.folder, number, options.steps, options.seed)
    if not options.train:
        print(table(tested(options.folder)))


def learn(folder: Path, number: int, steps: int, seed: int) -> None:
    """Learn on so many levels, or go on with it."""
    run = folder / f"levels-{number}"
    if (run / "state.safetensors").exists():
        train(resume=run)
        return
    folder.mkdir(parents=True, exist_ok=True)
    levels = folder / f"ladder-{number}.json"
    known = load_pack("ladder").folds(5)[0][0]
    (known if number == len(known) else known.split(number / len(known))[0]).save(levels)
    train(str(levels), run, steps=steps, every=steps, seed=seed)


def tested(folder: Path) -> dict[str, dict[str, list[list[bool]]]]:
    """Whether attempts were won, by player and part, [levels][attempts]."""
    runs = sorted(folder.glob("levels-*"), key=lambda run: int(run.name.rpartition("-")[2]))
    names = {f"policy:{run / 'last.safetensors'}:blind=True": run.name.rpartition("-")[2] for run in runs}
    tasks = {part: levels_of(part) for part in PARTS}
    everything = [task for some in tasks.values() for task in some]
    found: dict[str, dict[str, list[list[bool]]]] = {}
    for player in (*PLAYERS, *names):
        rows = evaluate(player, everything, ATTEMPTS, SEED, store=folder / "tested.sqlite", games=1)
        if rows.errors:
            raise SystemExit(str(rows.errors[0]))
        won: dict[str, list[bool]] = defaultdict(list)
        for row in rows.rows:
            won[row.task].append(row.won)
        found[names.get(player, player)] = {part: _of(tasks[part], won) for part in PARTS}
    return found


def _of(tasks: Sequence[Task], won: Mapping[str, list[bool]]) -> list[list[bool]]:
    return [won[task.identity] for task in tasks]


def table(found: Mapping[str, Mapping[str, Sequence[Sequence[bool]]]]) -> str:
    """In Markdown: success with its interval over levels, and the same normalised by random and heuristic play."""
    lines = ["| levels learned on |" + "".join(f" {part}: success | normalised |" for part in PARTS)]
    lines.append("|---|" + "---|---|" * len(PARTS))
    ends = {part: [float(np.mean(found[player][part])) for player in (ZERO, ONE)] for part in PARTS}
    for name, parts in found.items():
        cells = []
        for part in PARTS:
            rate: Interval = bootstrap(parts[part], mean, seed=0, over_levels=True)
            scaled = float(normalised(rate.value, *ends[part]))
            cells += [f"{rate.value:.3f} ({rate.low:.3f} to {rate.high:.3f})", f"{scaled:.2f}"]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
