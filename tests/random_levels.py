"""Random levels with any mix of the rulebook's mechanics, as dicts of the file format."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from crush_gym.levels import Level, LevelError

Cell = tuple[int, int]
LETTERS = "abcdefg"

EVERYTHING = frozenset({
    "void", "lock", "marmalade", "icing", "chocolate", "swirl", "ingredient", "jelly", "bomb", "plus5", "drop",
    "special", "empty", "portal", "entries", "dry", "timed", "orders", "unfilled", "spawn",
})  # fmt: skip
"""Names of what a kind of level may hold."""

ORDER_NAMES = (
    "striped", "wrapped", "bomb", "striped+striped", "striped+wrapped", "wrapped+wrapped", "bomb+striped",
    "bomb+wrapped", "bomb+bomb", "swirl", "icing", "chocolate", "lock",
)  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """What the levels played by one compiled game have in common."""

    name: str
    mechanics: frozenset[str] = frozenset()
    rules: str = "saga"
    adjacency: str = "any"
    largest: tuple[int, int] = (9, 9)
    colours: tuple[int, ...] = (2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 7)


class Dice(random.Random):
    """A seeded source of decisions."""

    def happens(self, probability: float) -> bool:
        return self.random() < probability


def random_level(dice: Dice, kind: Kind) -> tuple[dict[str, Any], Level]:
    """A valid level of the kind, as a dict and as a `Level`."""
    while True:
        content = _Draft(dice, kind).content()
        for goals in (content["goals"], _score_alone(content["goals"]), {}):
            content["goals"] = goals
            try:
                return content, Level.from_dict(content)
            except LevelError:
                continue


def _score_alone(goals: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in goals.items() if name == "score"}


class _Draft:
    """One level in the making; what it has is decided first, then each cell."""

    def __init__(self, dice: Dice, kind: Kind) -> None:
        self.dice, self.kind = dice, kind
        self.height, self.width = (self._side(most) for most in kind.largest)
        self.colours = dice.choice(kind.colours)
        self.has = {name for name in sorted(kind.mechanics) if dice.happens(0.6)}
        self.share = {name: dice.choice((0.03, 0.08, 0.08, 0.15, 0.3)) for name in sorted(EVERYTHING)}
        self.quiet = dice.happens(0.6)
        self.unfilled = dice.choice((0.0, 0.5, 1.0, 1.0)) if "unfilled" in self.has else 0.0
        self.rows: list[list[str]] = []
        self.floor: list[Cell] = []

    def _side(self, most: int) -> int:
        low = 2 if self.dice.happens(0.2) else 5
        high = most if self.dice.happens(0.2) else min(most, 9)
        return self.dice.randint(min(low, high), high)

    def _some(self, name: str) -> bool:
        return name in self.has and self.dice.happens(self.share[name])

    def content(self) -> dict[str, Any]:
        """The level; its goals may turn out to be impossible."""
        self._board()
        content: dict[str, Any] = {"name": "random", "colours": self.colours, "goals": self._goals()}
        content |= self._limit() | {"board": [" ".join(row) for row in self.rows]}
        content |= self._places()
        if "spawn" in self.has:
            content["spawn"] = self._spawn()
        if "dry" in self.has and self.dice.happens(0.5):
            content["spawn_candies"] = False
        return content

    def _limit(self) -> dict[str, int]:
        if "timed" in self.has and self.dice.happens(0.7):
            return {"seconds": self.dice.choice((3, 5, 8, 60))}
        return {"moves": self.dice.choice((1, 2, 3, 5, 8, 30))}

    # ------------------------------------------------------------------------------------ cells

    def _board(self) -> None:
        for r in range(self.height):
            self.rows.append([])
            for c in range(self.width):
                self.rows[r].append(self._token(r, c))
        self.floor = [(r, c) for r, row in enumerate(self.rows) for c, token in enumerate(row) if token != "#"]

    def _token(self, r: int, c: int) -> str:
        if self._some("void"):
            return "#"
        jelly = self.dice.choice(("'", "''")) if self._some("jelly") else ""
        if self._some("empty"):
            return "_" + jelly
        item = self._item(r, c)
        if self._some("lock"):
            item = f"[{item}]"
        elif self._some("marmalade"):
            item = f"{{{item}}}"
        return item + jelly

    def _item(self, r: int, c: int) -> str:
        dice = self.dice
        if self._some("icing"):
            return f"I{dice.randint(1, 5)}"
        if self._some("chocolate"):
            return "C"
        if self._some("swirl"):
            return "~"
        if self._some("ingredient"):
            return dice.choice("on")
        if self._some("special") and dice.happens(0.2):
            return "*"
        if dice.happens(self.unfilled):
            return "?" + self._tag()
        colour = self._colour(r, c)
        return colour + (dice.choice("-|@") if self._some("special") else self._tag())

    def _tag(self) -> str:
        if self._some("bomb"):
            return f"!{self.dice.choice((1, 2, 3, 5, 9, 99))}"
        if self._some("plus5"):
            return "+"
        return "$" if self._some("drop") else ""

    def _colour(self, r: int, c: int) -> str:
        """Any colour, or on a quiet board one that completes no run with the two above or to the left."""
        letters = list(LETTERS[: self.colours])
        if self.quiet:
            rows = self.rows
            left = {rows[r][c - i].strip("[]'")[:1] for i in (1, 2)} if c > 1 else set("12")
            above = {rows[r - i][c].strip("[]'")[:1] for i in (1, 2)} if r > 1 else set("12")
            wrong = {letter for near in (left, above) if len(near) == 1 for letter in near}
            letters = [letter for letter in letters if letter not in wrong] or letters
        return self.dice.choice(letters)

    # ----------------------------------------------------------------------------------- places

    def _places(self) -> dict[str, Any]:
        places: dict[str, Any] = {}
        portals = self._portals() if "portal" in self.has else {}
        if portals:
            places["portals"] = [[list(start), list(end)] for start, end in portals.items()]
        if "entries" in self.has:
            places["entries"] = [list(cell) for cell in self._entries(set(portals.values()))]
        if "ingredient" in self.has:
            places["exits"] = [list(cell) for cell in self._exits()]
        return places

    def _portals(self) -> dict[Cell, Cell]:
        """Up to four links between different cells, chains among them; loops are refused by the reader."""
        ends = self.dice.sample(self.floor, min(len(self.floor) // 2 * 2, 2 * self.dice.randint(1, 4)))
        if self.dice.happens(0.5):
            ends.sort(key=lambda cell: -cell[0])
        return dict(zip(ends[::2], ends[1::2], strict=True))

    def _entries(self, led_to: set[Cell]) -> list[Cell]:
        """Some of the cells that nothing feeds."""
        floor = set(self.floor)
        possible = [cell for cell in self.floor if (cell[0] - 1, cell[1]) not in floor and cell not in led_to]
        return [cell for cell in possible if self.dice.happens(0.8)]

    def _exits(self) -> list[Cell]:
        """Cells with nothing below, and a few others."""
        floor = set(self.floor)
        bottom = [cell for cell in self.floor if (cell[0] + 1, cell[1]) not in floor]
        return sorted({cell for cell in bottom if self.dice.happens(0.7)}
                      | {cell for cell in self.floor if self.dice.happens(0.04)})  # fmt: skip

    # --------------------------------------------------------------------------- spawns and goals

    def _spawn(self) -> dict[str, dict[str, int]]:
        kinds = [name for name in ("swirl", "bomb", "plus5", "drop") if name in self.has]
        if "ingredient" in self.has:
            kinds += ["cherry", "hazelnut"]
        kinds = self.dice.sample(kinds, self.dice.randint(0, min(3, len(kinds))))
        return {kind: self._limits(kind) for kind in kinds}

    def _limits(self, kind: str) -> dict[str, int]:
        dice = self.dice
        limits = {} if kind != "bomb" else {"counter": dice.choice((1, 2, 3, 9, 99))}
        if dice.happens(0.7):
            limits["quota"] = dice.randint(0, 6)
        if dice.happens(0.7):
            limits["on_board"] = dice.randint(0, 3)
        if dice.happens(0.5):
            limits["every"] = dice.randint(0, 3)
        if kind in ("cherry", "hazelnut") and "quota" not in limits and not limits.get("every"):
            limits["quota"] = dice.randint(1, 6)  # or they could be spawned and collected for ever
        return limits

    def _goals(self) -> dict[str, Any]:
        dice, goals = self.dice, dict[str, Any]()
        if dice.happens(0.3):
            goals["score"] = dice.choice((1, 60, 1000, 20_000))
        if "jelly" in self.has and dice.happens(0.7):
            goals["jelly"] = "all"
        if "ingredient" in self.has:
            goals |= {kind: dice.randint(1, 2) for kind in ("cherry", "hazelnut") if dice.happens(0.4)}
        if "orders" in self.has:
            goals["orders"] = self._orders()
        return goals

    def _orders(self) -> dict[str, int]:
        possible = [*LETTERS[: self.colours], *ORDER_NAMES]
        if self.kind.rules != "saga":
            possible = [*LETTERS[: self.colours], "striped", "bomb", "striped+striped"]
        asked = self.dice.sample(possible, self.dice.randint(1, 4))
        held = {"swirl": "~", "icing": "I", "chocolate": "C", "lock": "["}
        cells = [token for row in self.rows for token in row]
        most = {name: sum(mark in token for token in cells) for name, mark in held.items()}
        wanted = {name: self.dice.randint(1, min(20, most.get(name, 20) or 1)) for name in asked}
        return {name: number for name, number in wanted.items() if most.get(name, 1)}


KINDS = (
    Kind("everything", EVERYTHING),
    Kind("plain", frozenset({"unfilled", "special"})),
    Kind("points", frozenset({"unfilled", "void"}), rules="points", largest=(10, 10)),
    Kind("combo", frozenset({"unfilled", "void"}), rules="combo"),
    Kind("only runs strike beside", EVERYTHING - {"unfilled", "timed", "orders"}, adjacency="runs", largest=(7, 7)),
    Kind("blockers", frozenset({"void", "lock", "icing", "jelly", "special"}), largest=(8, 8)),
    Kind("deliveries", frozenset({"ingredient", "swirl", "portal", "void", "entries", "spawn", "dry"})),
    Kind("tags", frozenset({"bomb", "plus5", "drop", "timed", "spawn", "orders"}), largest=(7, 9)),
)
"""Kinds of level for `make test`: each is one compiled game."""

RARE_KINDS = (
    Kind("large", EVERYTHING, largest=(16, 16)),
    Kind("two colours", EVERYTHING, largest=(6, 6), colours=(2,)),
    Kind("points with blockers", EVERYTHING - {"orders"}, rules="points", largest=(8, 8)),
    Kind("combo with blockers", EVERYTHING - {"orders", "special"}, rules="combo", largest=(8, 8)),
    Kind("only runs strike beside, everything", EVERYTHING, adjacency="runs"),
    Kind("small", EVERYTHING, largest=(4, 4)),
    Kind("chocolate and marmalade", frozenset({"chocolate", "marmalade", "unfilled", "orders"})),
    Kind("sweets", frozenset({"special", "jelly", "swirl", "empty"})),
)
"""More of them, for `make soak`."""
