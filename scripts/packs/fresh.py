"""Levels that nobody has looked at, to judge predictions by once: `python -m scripts.make_packs fresh`.

They are not a pack that ships: whoever tunes something to them takes other seeds the next time.
"""

from __future__ import annotations

from pathlib import Path

from crush_gym.generator import FEATURES, KINDS, generate
from crush_gym.generator.dice import Dice
from crush_gym.levels import Level, LevelPack

LEVELS = 100
FIRST_SEED = 2_100_000

FILE = Path("results/fresh.json")


def make() -> None:
    """Write them to a file of results."""
    FILE.parent.mkdir(exist_ok=True)
    LevelPack([level(n) for n in range(LEVELS)], "fresh").save(FILE)
    print(FILE)


def level(n: int) -> Level:
    """The n-th: kinds in turn, up to three features; the heuristic player shall win 10 to 80 attempts of 100."""
    seed, kind = FIRST_SEED + n, KINDS[n % len(KINDS)]
    dice = Dice("fresh", kind, seed)
    features = dice.shuffled(FEATURES)[: dice.between(0, 3)]
    size = dice.between(7, 9), dice.between(7, 9)
    return generate(seed, kind, features, size, success=dice.between(10, 80) / 100, name=f"fresh {n + 1}")
