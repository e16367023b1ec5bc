"""What a generated level asks for, and how much of it (rulebook 2 and 11)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from crush_gym import layout
from crush_gym.generator.dice import Dice
from crush_gym.generator.draft import Draft
from crush_gym.generator.features import LOCK

KINDS = ("moves", "jelly", "ingredients", "timed", "orders", "mixed")
"""The kinds of level (rulebook 11); a level's goals and its limit make it one of them."""

PARTS = {"moves": (), "jelly": ("jelly",), "ingredients": ("ingredients",), "timed": (), "orders": ()}
"""What the board of each kind must hold for its goals; for "mixed" see `parts_of`."""


def parts_of(kind: str, features: Collection[str]) -> tuple[str, ...]:
    """The goals that a kind has besides a score: of a mixed level two of jelly, ingredients and orders."""
    if kind != "mixed":
        return ("orders",) if kind == "orders" else PARTS[kind]
    parts = tuple(name for name in ("jelly", "ingredients") if name in features) or ("jelly",)
    return parts if len(parts) == 2 else (*parts, "orders")


def draw_goals(draft: Draft, dice: Dice, kind: str, features: Collection[str]) -> dict[str, Any]:
    """Goals as a level file has them; a score, which depends on the limit, comes later."""
    goals: dict[str, Any] = {}
    parts = parts_of(kind, features)
    if "jelly" in parts:
        goals["jelly"] = "all"
    if "ingredients" in parts:
        goals |= _ingredients(draft)
    if "orders" in parts:
        goals["orders"] = _orders(draft, dice, 2 if kind == "orders" else 1)
    return goals


def _ingredients(draft: Draft) -> dict[str, int]:
    """All that can ever be there."""
    found = {}
    for kind, token in (("cherry", "o"), ("hazelnut", "n")):
        lying = sum(item == token for item in draft.items.values())
        number = lying + draft.spawn.get(kind, {}).get("quota", 0)
        if number:
            found[kind] = number
    return found


def _orders(draft: Draft, dice: Dice, number: int) -> dict[str, int]:
    """Blockers that are there first, then colours and specials."""
    blockers = dice.shuffled(_blockers(draft).items())[:1]
    letters = layout.COLOUR_LETTERS[: draft.colours]
    wanted = dict(blockers)
    per_colour = dice.between(10, 30)
    for letter in dice.shuffled(letters)[: dice.between(1, number)]:
        wanted[letter] = per_colour
    if dice.happens(0.4):
        name, most = dice.pick((("striped", 5), ("wrapped", 2), ("striped+striped", 1), ("striped+wrapped", 1)))
        wanted[name] = dice.between(1, most)
    return {name: wanted[name] for name in layout.ORDERS if name in wanted}


def _blockers(draft: Draft) -> dict[str, int]:
    """Blockers that can be ordered and how many there are."""
    tokens = list(draft.items.values())
    counts = {
        "swirl": tokens.count("~") + draft.spawn.get("swirl", {}).get("quota", 0) // 2,
        "icing": sum(token[0] == "I" for token in tokens),
        "chocolate": tokens.count("C"),
        "lock": sum(marks == LOCK for marks in draft.covers.values()),
    }
    return {name: count for name, count in counts.items() if count}
