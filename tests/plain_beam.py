"""McAdams' heuristics and his search as one would write them by hand, for one board of tokens and one position."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

Board = list[list[str]]
Cell = tuple[int, int]


def kind(token: str) -> str:
    """plain, h, v, wrapped or bomb."""
    return "bomb" if token == "*" else {"-": "h", "|": "v", "@": "wrapped"}.get(token[1:], "plain")


def colour(token: str) -> str:
    return "" if token == "*" else token[0]


class Sight:
    """A board with its questions."""

    def __init__(self, rows: list[str]) -> None:
        self.board = [row.split() for row in rows]
        self.height, self.width = len(self.board), len(self.board[0])

    def cells(self) -> Iterator[Cell]:
        return ((r, c) for r in range(self.height) for c in range(self.width))

    def token(self, cell: Cell) -> str:
        r, c = cell
        return self.board[r][c] if 0 <= r < self.height and 0 <= c < self.width else ""

    def beside(self, cell: Cell, steps: tuple[Cell, ...] = ((0, 1), (1, 0), (0, -1), (-1, 0))) -> list[str]:
        found = [self.token((cell[0] + r, cell[1] + c)) for r, c in steps]
        return [token for token in found if token and token not in ("_", "#")]

    def area(self, token: str) -> Fraction:
        return Fraction({"h": self.width, "v": self.height, "wrapped": 9}[kind(token)])

    def alike(self, wanted: str) -> list[str]:
        return [t for cell in self.cells() if (t := self.token(cell)) not in ("_", "#") and colour(t) == wanted]

    def turned(self, token: str) -> Fraction:
        """A colour bomb beside a special candy: what the others of its colour clear."""
        each = Fraction(9) if kind(token) == "wrapped" else Fraction(self.height + self.width, 2)
        return (len(self.alike(colour(token))) - 1) * each

    def pair(self, one: str, other: str) -> int:
        wrapped = [kind(one), kind(other)].count("wrapped")
        return (self.height + self.width, 3 * (self.height + self.width), 25)[wrapped]


def by_text(rows: list[str]) -> Fraction:
    """H2's structure by piece."""
    sight, total = Sight(rows), Fraction(0)
    for cell in sight.cells():
        token, beside = sight.token(cell), sight.beside(cell)
        if token in ("_", "#"):
            continue
        if kind(token) == "plain":
            total += any(colour(t) == colour(token) for t in beside)
        elif kind(token) == "bomb":
            total += max((_of_bomb(sight, t) for t in beside), default=Fraction(0))
        else:
            if any(kind(t) == "plain" and colour(t) == colour(token) for t in beside):
                total += sight.area(token) / 3
            for group in (("h", "v"), ("wrapped",)):
                met = [t for t in beside if kind(t) in group]
                total += sight.pair(token, met[0]) if met else 0
            total += sight.turned(token) if "*" in beside else 0
    return total


def _of_bomb(sight: Sight, token: str) -> Fraction:
    if token == "*":
        return Fraction(sight.height * sight.width)
    if kind(token) != "plain":
        return sight.turned(token)
    same = sight.alike(colour(token))
    return sum((Fraction(1) if kind(t) == "plain" else sight.area(t) for t in same), Fraction(0))


def by_pseudocode(rows: list[str]) -> Fraction:
    """H2's structure by pairs of a piece and the one to its right or below it."""
    sight, total = Sight(rows), Fraction(0)
    for cell in sight.cells():
        one = sight.token(cell)
        for other in sight.beside(cell, ((0, 1), (1, 0))) if one not in ("_", "#") else []:
            if kind(one) == "bomb":
                total += _met(sight, other)
            elif kind(one) == "plain":
                total += colour(one) == colour(other)
            elif kind(other) == "bomb":
                total += _met(sight, one)
            elif kind(other) != "plain":
                total += sight.pair(one, other)
            elif colour(one) == colour(other):
                total += sight.area(one) / 3
    return total


def _met(sight: Sight, token: str) -> Fraction:
    if token == "*":
        return Fraction(sight.height * sight.width)
    return sight.turned(token) if kind(token) != "plain" else Fraction(len(sight.alike(colour(token))) - 1)


class Position(NamedTuple):
    """What the search asks of a position. over: no move can be made any more; moves: from the top left, action and
    mean row; state: whatever `after` needs."""

    score: int
    made: int
    over: bool
    rows: list[str]
    moves: list[tuple[int, Fraction]]
    state: Any


def best_action(position: Position, after: Callable[[Position, int], Position], agent: Any) -> int:
    """The action that the beam player chooses, where the future is certain."""
    kept = _children(position, position, after, agent, 1)
    return int(_sorted(kept, agent)[0][2]) if kept else -1


def _children(
    parent: Position, root: Position, after: Callable[[Position, int], Position], agent: Any, level: int
) -> list[Any]:
    """(final value, mean row, action) of the children that are kept, in the order of the moves."""
    made = [(action, row, after(parent, action)) for action, row in parent.moves]
    if agent.variant == "pseudocode":
        full = [(_final(child, root, after, agent, level), row, action) for action, row, child in made]
        return _kept(full, agent, (agent.depth - level + 1) ** 2)
    first = [(_value(child, root, agent), row, action) for action, row, child in made]
    width = agent.depth**2
    for _ in range(level - 1):
        width = math.isqrt(width)
    by_action = {action: child for action, _, child in made}
    return [
        (_final(by_action[action], root, after, agent, level), row, action)
        for _, row, action in _kept(first, agent, width)
    ]


def _sorted(children: list[Any], agent: Any) -> list[Any]:
    if agent.ties == "mean-row":
        return sorted(reversed(children), key=lambda child: (child[0], child[1]), reverse=True)
    return sorted(children, key=lambda child: child[0], reverse=True)


def _kept(children: list[Any], agent: Any, width: int) -> list[Any]:
    chosen = _sorted(children, agent)[:width]
    return [child for child in children if child in chosen]


def _final(child: Position, root: Position, after: Any, agent: Any, level: int) -> Fraction:
    value = _value(child, root, agent)
    below = _children(child, root, after, agent, level + 1) if level < agent.depth else []
    if not below:
        return value
    return (value + sum(final for final, _, _ in below) / len(below)) / 2


def _value(child: Position, root: Position, agent: Any) -> Fraction:
    if agent.heuristic == "h1":
        return Fraction(child.score, child.made)
    if agent.variant == "pseudocode":
        return child.score - root.score + by_pseudocode(child.rows)
    return child.score - root.score + (0 if child.over else by_text(child.rows))
