"""Small levels that are played in a moment, and people whose success on them is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.special import expit

from experiments.features import Gathered
from experiments.results.assignment import tasks_of
from experiments.statistics import Array

AGENTS = ("inattentive", "inattentive:share=1")
ATTEMPTS = 100

TEXTS = tuple(
    f"combo:4x5:moves={moves},colours=3,goal={goal}"
    for moves in (5, 7, 9, 11, 13)
    for goal in (1500, 2500, 4000, 6000)
)  # fmt: skip
"""Twenty levels of one kind."""

TASKS = tasks_of(list(TEXTS))  # type: ignore[arg-type]


def truth(found: Gathered, seed: int = 0) -> Array:
    """People's true success rates: between the agents, and off by a bit on each level."""
    logits = []
    for task, played in zip(found.tasks, found.played, strict=True):
        records = [records[played.identity] for records in found.records.values()]
        rates = [(r.successes(int(task.level.moves)) + 0.5) / (r.attempts + 1) for r in records]
        logits.append(np.mean([np.log(rate / (1 - rate)) for rate in rates]))
    return np.asarray(expit(0.2 + 0.9 * np.array(logits) + 0.1 * np.random.default_rng(seed).normal(size=len(logits))))


def write_people(path: Path, names: list[str], rates: Array, players: int = 80, seed: int = 1) -> Path:
    """A file of players who try each level up to five times, until they win it."""
    rng = np.random.default_rng(seed)
    lines = ["player_id,dt,level,num_attempts,num_success"]
    for name, rate in zip(names, rates, strict=True):
        needed = rng.geometric(rate, players)
        lines += [f'{p},2020-01-01,"{name}",{min(n, 5)},{int(n <= 5)}' for p, n in enumerate(needed)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
