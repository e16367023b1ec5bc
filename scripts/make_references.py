"""`make references`: let the reference players play every level that ships, and write crush_gym/references/*.json.

Attempts of equal seeds are equal, so a second run writes the same files. `python -m scripts.make_references tour
--attempts 50` makes some of them, or with fewer attempts. With `--store FILE`, a run that was broken off goes on there.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from crush_gym import load_pack
from crush_gym.envs import IDS
from crush_gym.levels.files import write_file
from crush_gym.references import FORMAT, GREEDY, LOOKAHEAD, PLAYERS, RANDOM
from experiments.results.row import Row
from experiments.running.evaluation import evaluate
from experiments.running.grouping import MOST_GAMES

FOLDER = Path(__file__).resolve().parent.parent / "crush_gym" / "references"
PACKS = ("basics", "tour", "thesis", "ladder")
RULES = ("points", "combo")

ATTEMPTS = {RANDOM: 200, GREEDY: 200, LOOKAHEAD: 50}
"""On each level; a look ahead takes a hundred times as long as the others."""

GAMES = {RANDOM: MOST_GAMES, GREEDY: MOST_GAMES, LOOKAHEAD: 2}
"""Compiled games for all levels of a pack at most: wide ones are slower, but compiling a look ahead takes a minute."""


def main() -> None:
    """Play and write what the command line names, all by default."""
    parser = argparse.ArgumentParser(prog="python -m scripts.make_references", description=__doc__)
    parser.add_argument("names", nargs="*", default=[*PACKS, *RULES], help="packs and rule sets")
    parser.add_argument("--attempts", type=int, help="on each level by each player (default: see ATTEMPTS)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--store", type=Path, help="keep all attempts there, and do not play those again")
    options = parser.parse_args()
    attempts = {player: options.attempts or ATTEMPTS[player] for player in PLAYERS}
    for name in options.names:
        rows: list[Row] = []
        for player in PLAYERS:
            results = evaluate(player, name, attempts[player], options.seed, store=options.store, games=GAMES[player])
            if results.errors:
                raise SystemExit(f"nothing was written for {name}: {results.errors[0]}")
            rows += results.rows
        value = references_of(name, rows, attempts, options.seed)
        write_file(FOLDER / f"{name}.json", written(value))


def references_of(name: str, rows: Sequence[Row], attempts: Mapping[str, int], seed: int) -> dict[str, Any]:
    """What a file holds. Of each level and player: [attempts won, mean score, standard deviation of the scores]."""
    levels: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for row in rows:
        levels.setdefault((row.level, row.task), {}).setdefault(row.agent, []).append(row)
    rules = name if name in RULES else "saga"
    return {
        "format": FORMAT,
        "name": name,
        "environment": next(id for id, known in IDS.items() if known == rules),
        "pack_hash": load_pack(name).content_hash() if rules == "saga" else "",
        "seed": seed,
        "attempts": dict(attempts),
        "versions": {package: metadata.version(package) for package in ("crush-gym", "jax")},
        "levels": [
            {"level": level, "task": task} | {player: summary(played[player], attempts[player]) for player in PLAYERS}
            for (level, task), played in levels.items()
        ],
    }


def summary(rows: Sequence[Row], attempts: int) -> list[float]:
    """Attempts won, and the mean score and its spread to a tenth."""
    if len(rows) != attempts:
        raise ValueError(f"{rows[0].agent} played {rows[0].level} {len(rows)} times, not {attempts}: two levels alike?")
    scores = np.array([row.score for row in rows], np.float64)
    return [sum(row.won for row in rows), round(float(scores.mean()), 1), round(float(scores.std()), 1)]


def written(value: dict[str, Any]) -> str:
    """As JSON with a level a line."""
    lines = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in value["levels"])
    head = json.dumps({key: part for key, part in value.items() if key != "levels"}, indent=1)
    return f'{head[:-2]},\n "levels": [\n{lines}\n ]\n}}\n'


if __name__ == "__main__":
    main()
