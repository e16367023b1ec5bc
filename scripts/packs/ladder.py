"""The ladder: a thousand generated levels, families of growing richness one after another."""

from __future__ import annotations

import numpy as np

from crush_gym.levels import Level, LevelPack
from scripts.packs import thesis
from scripts.packs.families import FAMILIES
from scripts.packs.files import write_compact, write_record
from scripts.packs.spreading import ATTEMPTS, FRESH_SEEDS, choose, named

LEVELS_OF_A_FAMILY = 125


def make() -> None:
    """Write the ladder, and the early and late levels of the thesis, which the same games play."""
    ladder: list[Level] = []
    early: list[Level] = []
    late: list[Level] = []
    won: dict[str, list[float]] = {"ladder": [], "early": [], "late": []}
    for f, family in enumerate(FAMILIES):
        few = thesis.EARLY[f] or thesis.LATE[f]
        (many, some), (won_many, won_some) = choose(family, ((0, LEVELS_OF_A_FAMILY), (100_000, few)))
        ladder += many
        won["ladder"] += won_many.round(3).tolist()
        (early if thesis.EARLY[f] else late).extend(some)
        won["early" if thesis.EARLY[f] else "late"] += won_some.round(3).tolist()
        print(family.name, np.quantile(won_many, np.arange(1, 10) / 10).round(2), flush=True)
    pack = LevelPack(named(ladder, "ladder"), "ladder")
    write_compact(pack)
    about = {"player": "heuristic", "attempts": ATTEMPTS, "first_seed": FRESH_SEEDS}
    families = [{"name": family.name, "levels": LEVELS_OF_A_FAMILY} for family in FAMILIES]
    write_record("ladder", about | {"hash": pack.content_hash(), "families": families, "won": won["ladder"]})
    thesis.write([*named(early, "early"), *named(late, "late")], about | {"early": won["early"], "late": won["late"]})
    for name, shares in won.items():
        print(name, np.quantile(shares, np.arange(1, 10) / 10).round(3))
