"""Runs, their seats, what they make, what they pay (rulebook sections 3, 4, 9 and 12)."""

from collections.abc import Sequence
from dataclasses import dataclass

from .board import Board, Cell
from .items import Item
from .level import Level


@dataclass(frozen=True)
class Run:
    colour: int
    horizontal: bool
    cells: tuple[Cell, ...]
    """From the left or the top."""

    def __len__(self) -> int:
        return len(self.cells)


def matchable_colours(board: Board) -> dict[Cell, int]:
    """The colour of every floor cell as runs see it: 0 where nothing is matchable."""
    return {cell: item.colour if board.is_matchable(cell) else 0 for cell, item in board.items.items()}


def find_runs(level: Level, board: Board) -> list[Run]:
    """Section 4: all maximal straight lines of at least 3 matchable cells of one colour."""
    colours = matchable_colours(board)
    runs: list[Run] = []
    for horizontal, line in level.lines():
        stretch: list[Cell] = []
        for cell in line:
            colour = colours.get(cell, 0)
            if stretch and colour != colours[stretch[0]]:
                _keep_if_run(runs, colours, horizontal, stretch)
                stretch = []
            if colour:
                stretch.append(cell)
        _keep_if_run(runs, colours, horizontal, stretch)
    return runs


def _keep_if_run(runs: list[Run], colours: dict[Cell, int], horizontal: bool, stretch: list[Cell]) -> None:
    if len(stretch) >= 3:
        runs.append(Run(colours[stretch[0]], horizontal, tuple(stretch)))


def lies_on_run(colours: dict[Cell, int], cell: Cell) -> bool:
    """Is this cell in a run, seen from the cell: 3 or more of its colour in its row or column?"""
    colour = colours[cell]
    if colour == 0:
        return False
    across = 1 + _same_colour(colours, cell, colour, 0, -1) + _same_colour(colours, cell, colour, 0, 1)
    if across >= 3:
        return True
    return 1 + _same_colour(colours, cell, colour, -1, 0) + _same_colour(colours, cell, colour, 1, 0) >= 3


def _same_colour(colours: dict[Cell, int], cell: Cell, colour: int, down: int, right: int) -> int:
    """How many cells of the colour follow one another in one direction, the cell itself not counted."""
    count = 0
    row, col = cell
    while colours.get((row + down, col + right)) == colour:
        count += 1
        row, col = row + down, col + right
    return count


def find_crossings(runs: Sequence[Run]) -> set[Cell]:
    """Section 4: cells in a horizontal and a vertical run."""
    across = {cell for run in runs if run.horizontal for cell in run.cells}
    upright = {cell for run in runs if not run.horizontal for cell in run.cells}
    return across & upright


def find_seat(run: Run, crossings: set[Cell], swapped: Sequence[Cell]) -> Cell:
    """Section 4: the swapped cell, else the first crossing, else the middle."""
    for cell in run.cells:
        if cell in swapped:
            return cell
    for cell in run.cells:
        if cell in crossings:
            return cell
    return run.cells[(len(run) - 1) // 2]


def wrapped_makers(runs: Sequence[Run], swapped: Sequence[Cell]) -> dict[Cell, int]:
    """Section 4: crossings that are the seat of both their runs, both shorter than 5 -> colour."""
    crossings = find_crossings(runs)
    makers: dict[Cell, int] = {}
    seats: list[Cell] = []
    for run in runs:
        if len(run) < 5:
            seat = find_seat(run, crossings, swapped)
            if seat in seats:
                makers[seat] = run.colour
            seats.append(seat)
    return makers


def striped_by(run: Run) -> Item:
    """Section 4: the stripes are perpendicular to the run."""
    return Item("striped-v" if run.horizontal else "striped-h", run.colour)


def made_in_saga(runs: Sequence[Run], swapped: Sequence[Cell]) -> dict[Cell, Item]:
    """Section 4: what the runs of one wave make, by seat."""
    crossings = find_crossings(runs)
    made: dict[Cell, Item] = {}
    for run in runs:
        if len(run) == 4 and not crossings.intersection(run.cells):
            made[find_seat(run, crossings, swapped)] = striped_by(run)
    for cell, colour in wrapped_makers(runs, swapped).items():
        made[cell] = Item("wrapped", colour)
    for run in runs:
        if len(run) >= 5:
            made[find_seat(run, crossings, swapped)] = Item("colour bomb")
    return made


def made_in_points(runs: Sequence[Run]) -> dict[Cell, Item]:
    """Section 12, Points: every run of 4 a striped, of 5+ a colour bomb, at its leftmost / topmost cell.

    Where seats meet, a colour bomb beats a striped, and the horizontal run's striped the vertical's.
    """
    made: dict[Cell, Item] = {}
    for horizontal in (False, True):
        for run in runs:
            if len(run) == 4 and run.horizontal == horizontal:
                made[run.cells[0]] = striped_by(run)
    for run in runs:
        if len(run) >= 5:
            made[run.cells[0]] = Item("colour bomb")
    return made


def made_by_runs(rules_name: str, runs: Sequence[Run], swapped: Sequence[Cell]) -> dict[Cell, Item]:
    if rules_name == "saga":
        return made_in_saga(runs, swapped)
    if rules_name == "points":
        return made_in_points(runs)
    return {}


def run_points(run: Run) -> int:
    """Section 9: run of 3 / 4 / 5 or more."""
    return {3: 60, 4: 120}.get(len(run), 200)


def points_of_runs(rules_name: str, runs: Sequence[Run], swapped: Sequence[Cell], wave: int) -> int:
    """What the runs of one wave pay (sections 9 and 12)."""
    if rules_name == "points" or not runs:
        return 0
    if rules_name == "combo":
        longest = max(len(run) for run in runs)
        return (10 * longest * longest - 10 * longest) * wave
    crossings = find_crossings(runs)
    wrapped = wrapped_makers(runs, swapped)
    points = 200 * len(wrapped)
    for run in runs:
        if len(run) >= 5 or find_seat(run, crossings, swapped) not in wrapped:
            points += run_points(run)
    return points * wave
