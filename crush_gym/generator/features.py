"""What can be laid on a generated board: one function for each feature."""

from __future__ import annotations

from collections.abc import Callable, Collection

from crush_gym import layout
from crush_gym.generator.dice import Dice
from crush_gym.generator.draft import Draft
from crush_gym.generator.shapes import Cell

LOCK, MARMALADE = ("[", "]"), ("{", "}")
STANDING = ("locks", "marmalade", "icing", "chocolate")
"""Features that stand fast; they share the room that there is for them."""

Lay = Callable[[Draft, Dice, float], None]
"""Lays one feature on the draft. The number says how much of it, 1.0 for a level that has nothing else."""


def lay(draft: Draft, dice: Dice, features: Collection[str]) -> None:
    """Lay all of the features, in the order of `FEATURES`, whatever order they are asked for in."""
    crowd = sum(name in features for name in STANDING)
    for name, feature in _LAY.items():
        if name in features:
            feature(draft, dice, crowd**-0.5 if name in STANDING else 1.0)


def _cells(draft: Draft, dice: Dice, low: float, high: float) -> int:
    return max(2, round(len(draft.ground.floor) * dice.share(low, high)))


def _deep(draft: Draft) -> set[Cell]:
    """Bare cells that may be shut off, away from the top rows, where a blocker would only starve the board."""
    top = draft.ground.size[0] // 4
    return {cell for cell in draft.bare & draft.ground.sheltered if cell[0] >= top}


def _cover(draft: Draft, dice: Dice, number: int, marks: str, patterns: tuple[str, ...]) -> None:
    for group in draft.choose(dice, number, _deep(draft), patterns):
        for cell in group:
            draft.covers[cell] = (marks[0], marks[1])


def _locks(draft: Draft, dice: Dice, amount: float) -> None:
    patterns = ("saltire", "cross", "columns", "chevron", "diamond", "bands")
    _cover(draft, dice, round(_cells(draft, dice, 0.08, 0.18) * amount), "[]", patterns)


def _marmalade(draft: Draft, dice: Dice, amount: float) -> None:
    patterns = ("corners", "low corners", "diamond", "smile", "ring")
    _cover(draft, dice, round(_cells(draft, dice, 0.06, 0.14) * amount), "{}", patterns)


def _icing(draft: Draft, dice: Dice, amount: float) -> None:
    """Highest where the pattern is densest."""
    number, highest = round(_cells(draft, dice, 0.08, 0.2) * amount), dice.between(1, 4)
    patterns = ("bottom", "columns", "chevron", "low corners", "smile", "ring", "centre")
    chosen = draft.choose(dice, number, _deep(draft), patterns)
    for i, group in enumerate(chosen):
        for cell in group:
            draft.items[cell] = f"I{highest - i * highest // len(chosen)}"


def _chocolate(draft: Draft, dice: Dice, amount: float) -> None:
    number = round(_cells(draft, dice, 0.03, 0.08) * amount)
    for group in draft.choose(dice, number, _deep(draft), ("bottom", "low corners", "centre", "checks")):
        for cell in group:
            draft.items[cell] = "C"


def _swirls(draft: Draft, dice: Dice, amount: float) -> None:
    number = round(_cells(draft, dice, 0.04, 0.1) * amount)
    for group in draft.choose(dice, number, draft.bare, ("checks", "bands", "ring", "saltire")):
        for cell in group:
            draft.items[cell] = "~"
    draft.spawn["swirl"] = {"quota": dice.between(4, 12), "on_board": max(2, number - 1), "every": dice.between(0, 2)}


def _specials(draft: Draft, dice: Dice, amount: float) -> None:
    """Candies of one group have one form, and neighbours another colour each."""
    del amount
    for i, group in enumerate(draft.choose(dice, 4, draft.bare, ("centre", "corners", "cross", "columns"))):
        form = dice.pick(("-", "|", "@", "*"))
        for j, cell in enumerate(group):
            letter = layout.COLOUR_LETTERS[(i + j) % draft.colours]
            draft.items[cell] = "*" if form == "*" else letter + form


def _tag(draft: Draft, dice: Dice, number: int, tag: str, patterns: tuple[str, ...]) -> None:
    for group in draft.choose(dice, number, draft.bare, patterns):
        for cell in group:
            draft.items[cell] = "?" + tag


def _bombs(draft: Draft, dice: Dice, amount: float) -> None:
    del amount
    counter = dice.between(12, 22)
    _tag(draft, dice, dice.between(1, 3), f"!{counter}", ("columns", "ring", "centre", "bands"))
    draft.spawn["bomb"] = {"counter": dice.between(12, 18), "on_board": dice.between(1, 3), "every": dice.between(3, 6)}


def _plus5(draft: Draft, dice: Dice, amount: float) -> None:
    del amount
    _tag(draft, dice, dice.between(2, 4), "+", ("corners", "columns", "diamond"))
    draft.spawn["plus5"] = {"quota": dice.between(3, 8), "on_board": 2, "every": dice.between(3, 6)}


def _drops(draft: Draft, dice: Dice, amount: float) -> None:
    del amount
    _tag(draft, dice, dice.between(4, 8), "$", ("diamond", "corners", "saltire", "checks"))
    draft.spawn["drop"] = {"quota": 20, "on_board": dice.between(2, 6), "every": dice.between(1, 3)}


def _jelly(draft: Draft, dice: Dice, amount: float) -> None:
    """One layer or two; two where the pattern is densest."""
    number = round(_cells(draft, dice, 0.15, 0.45) * amount)
    patterns = ("centre", "cross", "saltire", "ring", "diamond", "bottom", "columns", "checks", "edges", "chevron")
    chosen = draft.choose(dice, number, draft.ground.floor, patterns)
    double = dice.pick((0.0, 0.0, 0.3, 0.5))
    for i, group in enumerate(chosen):
        for cell in group:
            draft.jelly[cell] = 2 if i < double * len(chosen) else 1


def _ingredients(draft: Draft, dice: Dice, amount: float) -> None:
    """Some lie high up at the start, the others come later; all can fall straight to an exit."""
    del amount
    ground = draft.ground
    exits = ground.ends
    if dice.happens(0.5):
        half = ground.size[1] / 2
        middle = {cell for cell in exits if abs(cell[1] + 0.5 - half) <= half / 2}
        exits = frozenset(middle) or exits
    draft.exits = exits
    high = {cell for cell in draft.bare & ground.entries if ground.end_of(cell) in exits}
    alike = "none" if ground.symmetry == "none" else "mirror"  # upside down, they would lie where they must go
    kinds = dice.shuffled(("cherry", "hazelnut"))
    for i, group in enumerate(draft.choose(dice, 2, high, ("columns", "centre"), alike)):
        for cell in group[:2]:
            draft.items[cell] = "o" if kinds[i % 2] == "cherry" else "n"
    for kind in kinds[: dice.between(1, 2)]:
        draft.spawn[kind] = {"quota": dice.between(1, 2), "on_board": dice.between(1, 2), "every": dice.between(2, 4)}


_LAY: dict[str, Lay] = {
    "ingredients": _ingredients,
    "locks": _locks,
    "marmalade": _marmalade,
    "icing": _icing,
    "chocolate": _chocolate,
    "swirls": _swirls,
    "specials": _specials,
    "bombs": _bombs,
    "plus5": _plus5,
    "drops": _drops,
    "jelly": _jelly,
}

FEATURES = ("portals", *_LAY)
"""Everything that `generate` can be asked to put on a board."""
