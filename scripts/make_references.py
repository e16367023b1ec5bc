"""`make references`: let the reference players play every level that ships, and write crush_gym/references/*.json.

Attempts of equal seeds are equal, so a second run writes the same files. `python -m scripts.make_references tour
--attempts 50` makes some of them, or with fewer attempts. With `--store FILE`, a run that was broken off goes on there.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from crush_gym import Level, load_pack
from crush_gym.envs import IDS
from crush_gym.levels.files import write_file
from crush_gym.references import FORMAT, GREEDY, LOOKAHEAD, PLAYERS, RANDOM
from experiments.results.assignment import Task, tasks_of
from experiments.results.row import Row
from experiments.running.evaluation import evaluate
from experiments.running.grouping import MOST_GAMES

FOLDER = Path(__file__).resolve().parent.parent / "crush_gym" / "references"
PACKS = ("basics", "tour", "thesis", "ladder")
RULES = ("points", "combo")

ATTEMPTS = {RANDOM: 200, GREEDY: 200, LOOKAHEAD: 20}
"""On each level; a look ahead takes a hundred times as long as the others."""

GAMES = {RANDOM: MOST_GAMES, GREEDY: MOST_GAMES, LOOKAHEAD: 2}
"""Compiled games for all levels at most: wide ones are slower, but compiling a look ahead takes minutes."""

Rows = Mapping[tuple[str, str], Sequence[Row]]
"""By task and player."""


def main() -> None:
    """Play and write what the command line names, all by default."""
    parser = argparse.ArgumentParser(prog="python -m scripts.make_references", description=__doc__)
    parser.add_argument("names", nargs="*", default=[*PACKS, *RULES], help="packs and rule sets")
    parser.add_argument("--attempts", type=int, help="on each level by each player (default: see ATTEMPTS)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--store", type=Path, help="keep all attempts there, and do not play those again")
    options = parser.parse_args()
    tasks = {name: tasks_of(name) for name in options.names}
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for player in PLAYERS:
        some = [task for each in tasks.values() for task in each if player != LOOKAHEAD or not lasts(task.level)]
        attempts = options.attempts or ATTEMPTS[player]
        results = evaluate(player, some, attempts, options.seed, store=options.store, games=GAMES[player])
        if results.errors:
            raise SystemExit(f"nothing was written: {results.errors[0]}")
        for row in results.rows:
            found[row.task, player].append(row)
    for name, each in tasks.items():
        write_file(FOLDER / f"{name}.json", written(references_of(name, each, found, options.seed)))


def lasts(level: Level) -> bool:
    """Whether an attempt lasts for as long as there is time, because only points are asked for."""
    others = (level.goal_jelly, level.goal_cherry, level.goal_hazelnut, *np.ravel(level.orders))
    return int(level.seconds) > 0 and not any(int(number) > 0 for number in others)


def references_of(name: str, tasks: Sequence[Task], rows: Rows, seed: int) -> dict[str, Any]:
    """What a file holds. Of each level and player: attempts, how many were won, and mean and spread of the scores."""
    rules = name if name in RULES else "saga"
    return {
        "format": FORMAT,
        "name": name,
        "environment": next(id for id, known in IDS.items() if known == rules),
        "pack_hash": load_pack(name).content_hash() if rules == "saga" else "",
        "seed": seed,
        "versions": {package: metadata.version(package) for package in ("crush-gym", "jax")},
        "levels": [
            {"level": task.name, "task": task.identity}
            | {player: summary(rows[task.identity, player]) for player in PLAYERS if rows.get((task.identity, player))}
            for task in tasks
        ],
    }


def summary(rows: Sequence[Row]) -> list[float]:
    """Attempts, how many were won, and the scores' mean and standard deviation to a tenth."""
    scores = np.array([row.score for row in rows], np.float64)
    won = sum(row.won for row in rows)
    return [len(rows), won, round(float(scores.mean()), 1), round(float(scores.std()), 1)]


def written(value: dict[str, Any]) -> str:
    """As JSON with a level a line."""
    lines = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in value["levels"])
    head = json.dumps({key: part for key, part in value.items() if key != "levels"}, indent=1)
    return f'{head[:-2]},\n "levels": [\n{lines}\n ]\n}}\n'


if __name__ == "__main__":
    main()
