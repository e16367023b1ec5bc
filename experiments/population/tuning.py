"""The levels that the synthetic population is calibrated on, and on which nothing is ever tested.

They are generated, by a rule: level n has the seed FIRST_SEED + n, which no level that ships has, the recipe n modulo
their number, and a limit or goal score that the heuristic player is estimated to reach in as many attempts as people
did on level n of `PEOPLES`, modulo their number.
"""

from __future__ import annotations

from typing import NamedTuple

from crush_gym import Level
from crush_gym.generator import generate

FIRST_SEED = 7_000_000
LEVELS = 40


class Recipe(NamedTuple):
    """A kind of level, and what lies on its board."""

    kind: str
    features: tuple[str, ...] = ()
    size: tuple[int, int] = (9, 9)


RECIPES = (
    Recipe("moves", ("specials",)),
    Recipe("jelly", (), (8, 8)),
    Recipe("orders", ("drops",), (7, 9)),
    Recipe("ingredients", ("portals",)),
    Recipe("jelly", ("locks", "marmalade")),
    Recipe("orders", ("icing", "swirls"), (9, 8)),
    Recipe("timed", ("bombs", "plus5")),
    Recipe("mixed", ("chocolate", "icing", "ingredients")),
)
"""What `ladder`'s families are like, taken in turn."""

WISHES = (0.62, 0.09, 0.37, 0.04, 0.28, 0.52, 0.14, 0.42, 0.08, 0.19, 0.43, 0.04, 0.52, 0.11, 0.10)
"""Success rates of people on fifteen levels of a match-three game (see `experiments.population.published`), mixed."""


def tuning_levels() -> list[Level]:
    """All of them."""
    return [_level(n) for n in range(LEVELS)]


def _level(n: int) -> Level:
    recipe = RECIPES[n % len(RECIPES)]
    return generate(
        FIRST_SEED + n, recipe.kind, recipe.features, recipe.size, success=WISHES[n % len(WISHES)], name=f"tuning {n}"
    )
