"""Fits what `generate` estimates a level's difficulty with: see `crush_gym.generator.effort`."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crush_gym.game import Game
from crush_gym.generator import FEATURES, KINDS, Trials, play
from crush_gym.generator.dice import Dice
from crush_gym.generator.effort import SCORED, inputs
from crush_gym.generator.making import draw_level
from crush_gym.generator.trials import MOST_MOVES
from crush_gym.levels import Level
from crush_gym.levels.files import write_file

TARGET = Path(__file__).resolve().parents[2] / "crush_gym" / "generator" / "effort.json"
LEVELS_OF_A_KIND = 160
ATTEMPTS = 48
SHARES = (0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98)
RIDGE = 1.0


def fit() -> None:
    """Generate levels of every kind, play them with far more moves than they will have, and write the fit."""
    levels = {kind: [_sample(kind, seed) for seed in range(LEVELS_OF_A_KIND)] for kind in KINDS}
    game = Game([level for some in levels.values() for level in some])
    fitted = {kind: _fit_kind(kind, some, play(some, range(ATTEMPTS), game=game)) for kind, some in levels.items()}
    write_file(TARGET, json.dumps(fitted, indent=1) + "\n")


def _sample(kind: str, seed: int) -> Level:
    """A level like those that people will ask for, with a limit that is none."""
    dice = Dice("effort", kind, seed)
    features = dice.shuffled(FEATURES)[: dice.between(0, 4)]
    size = (dice.between(7, 9), dice.between(6, 9))
    level = draw_level(seed, kind, features, size, dice.between(4, 6))
    if kind in SCORED:
        return dataclasses.replace(level, goal_score=np.array(1, np.int32))
    return dataclasses.replace(level, moves=np.array(MOST_MOVES, np.int32))


def _fit_kind(kind: str, levels: list[Level], trials: Trials) -> dict[str, Any]:
    """The weights for the median, and the spread of the attempts around it."""
    scored = kind in SCORED
    values = np.where(trials.won, trials.score if scored else trials.moves, 0.0 if scored else np.inf)
    kept = trials.won.mean(axis=1) >= 0.6
    quantiles = np.quantile(values[kept], SHARES, axis=1, method="closest_observation")
    logs = np.log(np.where(np.isfinite(quantiles) & (quantiles >= 1), quantiles, np.nan))
    median = logs[SHARES.index(0.5)]
    rows = [inputs(level, kind) for level, keep in zip(levels, kept, strict=True) if keep]
    weights = _ridge(rows, median)
    errors = np.array([sum(weights[name] * row[name] for name in weights) for row in rows]) - median
    error = float(np.sqrt(np.mean(errors**2)))
    print(f"{kind}: {kept.sum()} of {len(levels)} levels, error of the logarithm of the median {error:.3f}", flush=True)
    return {
        "weights": weights,
        "shares": list(SHARES),
        "spread": [round(float(x), 4) for x in np.nanmean(logs - median, axis=1)],
        "levels": int(kept.sum()),
        "error": round(error, 4),
    }


def _ridge(rows: list[dict[str, float]], wanted: NDArray[np.float64]) -> dict[str, float]:
    """Ridge regression on standardised inputs; the constant is free."""
    names = [name for name in rows[0] if name != "one" and len({row[name] for row in rows}) > 1]
    table = np.array([[row[name] for name in names] for row in rows])
    centre, scale = table.mean(axis=0), table.std(axis=0)
    table = (table - centre) / scale
    found = np.linalg.solve(table.T @ table + RIDGE * np.eye(len(names)), table.T @ (wanted - wanted.mean())) / scale
    constant = float(wanted.mean() - centre @ found)
    return {name: round(float(x), 4) for name, x in [("one", constant), *zip(names, found, strict=True)]}
