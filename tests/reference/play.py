"""States, rules, scripted randomness, and what is remembered while one move is played."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from .board import Board, Cell
from .level import Level


class Draws(Protocol):
    """Scripted randomness, handed in by the caller; every method returns an int."""

    def spawn_colour(self, row: int, col: int, k: int, colours: int) -> int:
        """Colour index 0..colours-1 for the k-th spawn of this move at this entry."""

    def bomb_colour(self, row: int, col: int, round_number: int, choices: int) -> int:
        """Index into the ascending list of colours present."""

    def chocolate(self, choices: int) -> int:
        """Index among the candidate cells in reading order."""

    def shuffle(self, row: int, col: int, attempt: int) -> int:
        """A sort value for that cell in that attempt."""

    def recolour(self, row: int, col: int, attempt: int, colours: int) -> int:
        """New colour index 0..colours-1 for that cell in that attempt."""


@dataclass(frozen=True)
class Rules:
    name: str = "saga"
    """"saga", "points" or "combo" (section 12)."""
    adjacency: str = "any"
    """"any" or "runs" (section 5)."""


@dataclass
class State:
    """A game between two moves. Treat it as a value: `step` returns a new one."""

    board: Board
    moves_left: int | None
    time_left: int | None
    """Deciseconds, in timed levels."""
    ingredients_left: dict[str, int]
    orders_left: dict[str, int]
    spawned: dict[str, int]
    last_spawn: dict[str, int] = field(default_factory=dict)
    """Spawn kind -> number of the move that last spawned it (the start is move 0)."""
    score: int = 0
    moves_made: int = 0
    drops: int = 0
    bonus: bool = False
    """Timed levels: the next untagged plain candy to spawn carries +5."""
    outcome: str = "playing"
    reason: str = "none"
    shuffles: int = 0
    """Shuffles so far, the start's included."""

    @property
    def goals_left(self) -> dict[str, int | dict[str, int]]:
        left: dict[str, int | dict[str, int]] = dict(self.ingredients_left)
        if self.orders_left:
            left["orders"] = dict(self.orders_left)
        left["jelly"] = self.board.jelly_layers()
        return left

    def copy(self) -> "State":
        return replace(
            self,
            board=self.board.copy(),
            ingredients_left=dict(self.ingredients_left),
            orders_left=dict(self.orders_left),
            spawned=dict(self.spawned),
            last_spawn=dict(self.last_spawn),
        )


@dataclass(frozen=True)
class Turn:
    """What one call of `step` did."""

    score: int = 0
    waves: int = 0
    cleared: int = 0
    """Candies and colour bombs cleared by hits, plus the two consumed by a combo."""
    illegal: bool = False
    reshuffled: bool = False
    outcome: str = "playing"
    reason: str = "none"


@dataclass
class Play:
    """One move (or the start) as it is being played; `state` is changed in place."""

    level: Level
    rules: Rules
    draws: Draws
    state: State
    wave: int = 0
    """The number of the wave being played, from 1."""
    round_number: int = 0
    """Rounds of this move so far, over all waves."""
    cleared: int = 0
    chocolate_removed: bool = False
    reshuffled: bool = False
    spawns: dict[Cell, int] = field(default_factory=dict)
    """Spawns of this move at each entry."""

    @property
    def board(self) -> Board:
        return self.state.board


@dataclass
class Opening:
    """What a wave's round 0 hits, and what follows from it by more than firing."""

    area: set[Cell] = field(default_factory=set)
    run_cells: set[Cell] = field(default_factory=set)
    second: Callable[[Board], set[Cell]] | None = None
    """Striped + wrapped: what round 1 hits besides."""
    leaves_fused5: Cell | None = None
    """Wrapped + wrapped: T."""
    nothing_fires: bool = False
    """Colour bomb + colour bomb."""
