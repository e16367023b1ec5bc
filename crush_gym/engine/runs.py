"""Runs and what they make (rulebook 4)."""

from __future__ import annotations

from typing import NamedTuple

from crush_gym.engine.bits import ONES, Keep, Mask, Plane, Step, Word, any_of, flood, look
from crush_gym.engine.board import Board
from crush_gym.engine.spec import Spec

ACROSS: Step = (0, 1)
DOWN: Step = (1, 0)


class Lines(NamedTuple):
    """The runs of one direction. Each field is a plane.

    links: cells of a run whose next cell (to the right, below) belongs to it too
    cells: all cells of the runs
    starts: their leftmost or topmost cells
    four, five: starts of runs of at least 4 and at least 5
    """

    links: Plane
    cells: Plane
    starts: Plane
    four: Plane
    five: Plane


class Runs(NamedTuple):
    across: Lines
    down: Lines

    @property
    def directed(self) -> tuple[tuple[Lines, Step], tuple[Lines, Step]]:
        """Both, each with the direction in which it is counted."""
        return (self.across, ACROSS), (self.down, DOWN)

    @property
    def cells(self) -> Plane:
        return self.across.cells | self.down.cells


class Made(NamedTuple):
    """What the runs of a wave make: one plane each, and the run starts that a wrapped replaces (section 9)."""

    bomb: Plane
    striped_h: Plane
    striped_v: Plane
    wrapped: Plane | None
    paid_by_wrapped: tuple[Plane, Plane] | None


def ahead(x: Plane, step: Step, n: int = 1) -> Plane:
    """What stands n cells further along the direction."""
    return look(x, step[0] * n, step[1] * n)


def back(x: Plane, step: Step, n: int = 1) -> Plane:
    """What stands n cells before, along the direction."""
    return look(x, -step[0] * n, -step[1] * n)


def same_colour(colours: Plane, matchable: Plane, rows: int, columns: int) -> Plane:
    """Cells that hold a matchable candy of the same colour as the cell (rows, columns) away."""
    differs = any_of(list(colours ^ look(colours, rows, columns)))
    return matchable & look(matchable, rows, columns) & ~differs


def lines(same: Plane, step: Step) -> Lines:
    """Runs of at least three, from the cells whose next cell has the same colour."""
    three = same & ahead(same, step)
    before = back(same, step)
    starts = three & ~before
    links = three | (same & before)
    four = starts & ahead(same, step, 2)
    five = four & ahead(same, step, 3)
    return Lines(links, links | back(links, step), starts, four, five)


def find_runs(board: Board, where: Mask | int = ONES) -> Runs:
    """All maximal straight lines of at least three on the boards of the mask."""
    matchable = board.matchable & Word(where) if isinstance(where, int) else board.matchable & where
    same = board.fence(tuple(same_colour(board.colours, matchable, *step) for step in (ACROSS, DOWN)))
    return board.fence(Runs(lines(same[0], ACROSS), lines(same[1], DOWN)))


def length(spec: Spec, step: Step) -> int:
    """The longest that a run can be in this direction."""
    return spec.width if step == ACROSS else spec.height


def middles(spec: Spec, run: Lines, step: Step) -> Plane:
    """Cell number floor((L-1)/2) of every run of at least four."""
    longest = length(spec, step)
    if longest < 3:
        return run.cells
    reach = {2: run.links & ahead(run.links, step)}  # starts with at least n links ahead
    found = []
    for m in range(1, (longest - 1) // 2 + 1):
        n = 2 * m + 2
        reach[n] = reach[n - 2] & ahead(reach[2], step, n - 2)
        found.append(back(run.starts & reach[n - 2] & ~reach[n], step, m))
    return any_of(found)


def long_cells(spec: Spec, run: Lines, step: Step, fence: Keep) -> Plane:
    """Cells of runs of five or more."""
    return flood(run.five, run.links, step, length(spec, step) - 1, fence)


def seats(spec: Spec, run: Lines, step: Step, crossings: Plane, swapped: Plane, fence: Keep) -> Plane:
    """The seat of every run: the swapped cell, else the first crossing, else the middle."""
    longest = length(spec, step) - 1
    behind = back(run.links, step)  # cells whose cell before is of the same run
    reverse = (-step[0], -step[1])
    swaps = swapped & run.cells
    marks = swaps | crossings
    after_swap = flood(swaps, run.links, step, longest, fence)
    after_mark = flood(marks, run.links, step, longest, fence)
    before_swap = flood(swaps, behind, reverse, longest, fence)
    before_mark = flood(marks, behind, reverse, longest, fence)
    after_swap, after_mark, before_swap, before_mark = fence((after_swap, after_mark, before_swap, before_mark))
    first_swap = swaps & ~back(swaps & run.links, step)
    first_crossing = crossings & ~back(after_mark & run.links, step) & ~after_swap & ~before_swap
    return first_swap | first_crossing | (middles(spec, run, step) & ~after_mark & ~before_mark)


def uncrossed_fours(run: Lines, step: Step, crossings: Plane) -> Plane:
    """Cells of runs of exactly four without a crossing."""
    crossed = any_of(ahead(crossings, step, n) for n in range(4))
    return spread(run.four & ~run.five & ~crossed, step, 4)


def spread(starts: Plane, step: Step, n: int) -> Plane:
    """Each start and the n - 1 cells after it."""
    return any_of(back(starts, step, k) for k in range(n))


def starts_with(seat: Plane, run: Lines, step: Step) -> Plane:
    """Starts of runs of three or four that hold a cell of `seat`."""
    near = any_of(ahead(seat, step, n) for n in range(3))
    return run.starts & (near | (run.four & ahead(seat, step, 3)))


def saga_makes(board: Board, runs: Runs, swapped: Plane) -> Made:
    """Section 4, whole. swapped: the two swapped cells in the first wave of a move that is no combo."""
    spec, fence = board.spec, board.fence
    crossings = fence(runs.across.cells & runs.down.cells)
    seat_h, seat_v = (seats(spec, run, step, crossings, swapped, fence) for run, step in runs.directed)
    long_h, long_v = (long_cells(spec, run, step, fence) for run, step in runs.directed)
    four_h, four_v = (uncrossed_fours(run, step, crossings) for run, step in runs.directed)
    wrapped = crossings & seat_h & seat_v & ~long_h & ~long_v
    bomb = (seat_h & long_h) | (seat_v & long_v)
    wrapped, bomb = fence((wrapped, bomb))
    paid_h, paid_v = (starts_with(wrapped, run, step) for run, step in runs.directed)
    return Made(bomb, seat_v & four_v, seat_h & four_h, wrapped, (paid_h, paid_v))


def points_makes(runs: Runs) -> Made:
    """Section 12: the seat is the first cell of a run, and crossings do not matter."""
    bomb = runs.across.five | runs.down.five
    striped_v = runs.across.four & ~runs.across.five & ~bomb
    striped_h = runs.down.four & ~runs.down.five & ~bomb & ~striped_v
    return Made(bomb, striped_h, striped_v, None, None)
