"""What a level fixes (rulebook sections 1, 2 and 7): cells, feeders, goals, spawning."""

from collections.abc import Mapping, Sequence
from typing import Any

from .board import Cell


class Level:
    """A valid level-file object, made ready to play."""

    def __init__(self, source: Mapping[str, Any]) -> None:
        rows = [line.split() for line in source["board"]]
        self.height = len(rows)
        self.width = len(rows[0])
        self.colours: int = source["colours"]
        self.moves: int | None = source.get("moves")
        self.goals: dict[str, Any] = {name: goal for name, goal in source.get("goals", {}).items() if goal != {}}
        """What is asked for; `"orders": {}` asks for nothing."""
        self.spawn: dict[str, dict[str, int]] = dict(source.get("spawn", {}))
        self.spawn_candies: bool = source.get("spawn_candies", True)
        self.time: int | None = None
        """The starting time in deciseconds, in timed levels (section 10)."""
        if "seconds" in source:
            self.time = int(source["seconds"] * 10)

        self.cells = [(row, col) for row in range(self.height) for col in range(self.width) if rows[row][col] != "#"]
        """The floor cells in reading order."""
        self.floor = set(self.cells)
        self.portals = {_cell(start): _cell(end) for start, end in source.get("portals", [])}
        """Portal entrance -> portal exit."""
        self.exits = {_cell(pair) for pair in source.get("exits", [])}
        self.entries = self._entries(source.get("entries", "top"))
        self.feeder = self._feeders()
        """Cell -> the cell it takes from in step 1 of settling."""

    def _entries(self, listed: str | Sequence[Sequence[int]]) -> list[Cell]:
        """Section 2: "top" is the topmost floor cell of each column unless a portal leads to it."""
        if not isinstance(listed, str):
            return sorted(_cell(pair) for pair in listed)
        tops = []
        for col in range(self.width):
            column = [cell for cell in self.cells if cell[1] == col]
            if column and column[0] not in self.portals.values():
                tops.append(column[0])
        return sorted(tops)

    def _feeders(self) -> dict[Cell, Cell]:
        """Section 7, step 1: the portal that leads here, else the floor cell directly above."""
        feeders = {end: start for start, end in self.portals.items()}
        for row, col in self.cells:
            above = (row - 1, col)
            if (row, col) not in feeders and above in self.floor and above not in self.portals:
                feeders[(row, col)] = above
        return feeders

    def pairs(self) -> list[tuple[Cell, Cell]]:
        """Section 3: the pair of neighbours of every action, by its number."""
        across = [((r, c), (r, c + 1)) for r in range(self.height) for c in range(self.width - 1)]
        down = [((r, c), (r + 1, c)) for r in range(self.height - 1) for c in range(self.width)]
        return across + down

    def lines(self) -> list[tuple[bool, list[Cell]]]:
        """All rows (True) and columns (False) of the board, voids included."""
        rows = [(True, [(r, c) for c in range(self.width)]) for r in range(self.height)]
        columns = [(False, [(r, c) for r in range(self.height)]) for c in range(self.width)]
        return rows + columns


def _cell(pair: Sequence[int]) -> Cell:
    return (int(pair[0]), int(pair[1]))
