"""Families of generated levels, from plain to rich; each is played by one compiled game."""

from __future__ import annotations

from dataclasses import dataclass

from crush_gym.generator import generate
from crush_gym.generator.dice import Dice
from crush_gym.levels import Level


@dataclass(frozen=True)
class Family:
    """Levels with some mechanics in common.

    kinds: taken in turn; always: features of every level; more: features of which later levels have more
    """

    name: str
    kinds: tuple[str, ...]
    always: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    colours: tuple[int, int] = (4, 6)

    def draw(self, seed: int, place: float) -> Level:
        """A level. place: from 0 for the family's first to 1 for its last, which is the largest and the richest."""
        dice = Dice("family", self.name, seed)
        kind = self.kinds[seed % len(self.kinds)]
        number = round(place * len(self.more) * 0.6 + dice.share(0, 0.4) * len(self.more))
        features = (*self.always, *dice.shuffled(self.more)[:number])
        least = 7 if "portals" in features else 6
        size = tuple(min(9, max(least, round(6 + 3 * place + dice.share(-1, 1)))) for _ in range(2))
        colours = dice.between(*self.colours)
        return generate(seed, kind, features, (size[0], size[1]), colours=colours, name="")


FAMILIES = (
    Family("open", ("moves",), (), ("specials",)),
    Family("jelly", ("jelly",), (), ("specials",)),
    Family("orders", ("orders",), (), ("specials", "drops")),
    Family("orchard", ("ingredients",), (), ("portals", "specials")),
    Family("locked", ("jelly", "orders", "mixed"), ("locks",), ("marmalade", "specials", "drops")),
    Family("frozen", ("orders", "jelly", "ingredients"), ("icing",), ("swirls", "locks", "specials")),
    Family("ticking", ("timed", "moves", "orders"), ("bombs",), ("plus5", "swirls", "drops", "locks"), (5, 6)),
    Family(
        "everything",
        ("mixed", "jelly", "orders", "ingredients"),
        ("chocolate",),
        ("portals", "icing", "locks", "marmalade", "swirls", "bombs", "ingredients", "specials"),
        (4, 6),
    ),
)
