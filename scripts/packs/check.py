"""How well `generate` meets the success that it is asked for, and whether what it makes can be won."""

from __future__ import annotations

import numpy as np

from crush_gym.game import Game
from crush_gym.generator import FEATURES, KINDS, generate, winnable
from crush_gym.generator.dice import Dice
from crush_gym.levels import Level

LEVELS_OF_A_KIND = 60
ATTEMPTS = 128
FIRST_SEED = 50_000
"""No level with such a seed had a part in the fit."""


def report() -> None:
    """Print, for each kind, the heuristic player's success over levels that were meant for a half."""
    levels = {kind: [_sample(kind, FIRST_SEED + i) for i in range(LEVELS_OF_A_KIND)] for kind in KINDS}
    game = Game([level for some in levels.values() for level in some])
    print("| kind | can be won | 1st quartile | median | 3rd quartile |\n|---|---|---|---|---|")
    for kind, some in levels.items():
        shares = winnable(some, ATTEMPTS, game=game)
        quartiles = " | ".join(f"{share:.2f}" for share in np.quantile(shares, (0.25, 0.5, 0.75)))
        print(f"| {kind} | {(shares > 0).sum()} of {len(some)} | {quartiles} |", flush=True)


def _sample(kind: str, seed: int) -> Level:
    dice = Dice("check", kind, seed)
    features = dice.shuffled(FEATURES)[: dice.between(0, 3)]
    return generate(seed, kind, features, (dice.between(7, 9), dice.between(7, 9)), name="")
