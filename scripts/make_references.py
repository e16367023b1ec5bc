"""`make references`: let random and greedy play every level that ships, and write crush_gym/references/*.json.

Attempts of equal seeds are equal, so a second run writes the same files. `python -m scripts.make_references tour
--attempts 50` makes some of them, or with fewer attempts.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from crush_gym import load_pack
from crush_gym.envs import IDS
from crush_gym.levels.files import write_file
from crush_gym.references import FORMAT, PLAYERS
from experiments.results.row import Row
from experiments.running.evaluation import evaluate

FOLDER = Path(__file__).resolve().parent.parent / "crush_gym" / "references"
PACKS = ("basics", "tour", "thesis", "ladder")
RULES = ("points", "combo")
ATTEMPTS = 200


def main() -> None:
    """Play and write what the command line names, all by default."""
    parser = argparse.ArgumentParser(prog="python -m scripts.make_references", description=__doc__)
    parser.add_argument("names", nargs="*", default=[*PACKS, *RULES], help="packs and rule sets")
    parser.add_argument("--attempts", type=int, default=ATTEMPTS, help="on each level by each player")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for name in options.names:
        results = evaluate(list(PLAYERS), name, options.attempts, options.seed)
        if results.errors:
            raise SystemExit(f"nothing was written for {name}: {results.errors[0]}")
        value = references_of(name, results.rows, options.attempts, options.seed)
        write_file(FOLDER / f"{name}.json", written(value))


def references_of(name: str, rows: Sequence[Row], attempts: int, seed: int) -> dict[str, Any]:
    """What a file holds. Of each level and player: [attempts won, mean score]."""
    levels: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        levels.setdefault(row.level, {}).setdefault(row.agent, []).append(row)
    rules = name if name in RULES else "saga"
    return {
        "format": FORMAT,
        "name": name,
        "environment": next(id for id, known in IDS.items() if known == rules),
        "pack_hash": load_pack(name).content_hash() if rules == "saga" else "",
        "seed": seed,
        "attempts": attempts,
        "versions": {package: metadata.version(package) for package in ("crush-gym", "jax")},
        "levels": [
            {"level": level} | {player: summary(played[player], attempts) for player in PLAYERS}
            for level, played in levels.items()
        ],
    }


def summary(rows: Sequence[Row], attempts: int) -> list[float]:
    """Attempts won, and the mean score to a tenth."""
    if len(rows) != attempts:
        raise ValueError(f"{rows[0].agent} played {rows[0].level} {len(rows)} times, not {attempts}: two levels alike?")
    return [sum(row.won for row in rows), round(sum(row.score for row in rows) / attempts, 1)]


def written(value: dict[str, Any]) -> str:
    """As JSON with a level a line."""
    lines = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in value["levels"])
    head = json.dumps({key: part for key, part in value.items() if key != "levels"}, indent=1)
    return f'{head[:-2]},\n "levels": [\n{lines}\n ]\n}}\n'


if __name__ == "__main__":
    main()
