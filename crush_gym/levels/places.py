"""Reading portals, entries and exits: the fixed cells of a board (rulebook 1, 2 and 7)."""

from __future__ import annotations

from dataclasses import dataclass

from crush_gym import layout
from crush_gym.levels.board import Board
from crush_gym.levels.errors import Report, show
from crush_gym.levels.values import Cells, Object, read_cell, read_list

Place = tuple[int, int]
Portals = dict[Place, Place]
"""From each entrance to its exit, in reading order of the entrances."""

TOP = "top"
_MOST_CELLS = layout.MAX_SIDE**2


@dataclass(frozen=True)
class Places:
    """Where things come in, go through and go out."""

    portals: Portals
    entries: Cells
    exits: Cells


def read_places(report: Report, level: Object, board: Board) -> Places:
    """Read a level's portals, entries and exits; what is wrong is reported and left out."""
    portals = _read_portals(report, level.get("portals", []), board)
    entries = top_entries(board, portals)
    asked = level.get("entries", TOP)
    if not (isinstance(asked, str) and asked == TOP):
        entries = _read_entries(report, asked, board, portals)
    exits = _read_cells(report, "exits", level.get("exits", []), board)
    return Places(portals, entries, exits)


def top_entries(board: Board, portals: Portals) -> Cells:
    """Find the topmost floor cell of each column unless a portal leads to it: the default entries."""
    columns = range(board.width)
    tops = [next((r for r in range(board.height) if board.cells[r][c].floor), None) for c in columns]
    led_to = set(portals.values())
    return sorted((r, c) for c, r in enumerate(tops) if r is not None and (r, c) not in led_to)


def _read_entries(report: Report, value: object, board: Board, portals: Portals) -> Cells:
    """Read a list of entries: nothing may feed them (rulebook 1)."""
    if isinstance(value, str):
        report.add(f'entries must be "{TOP}" or a list of cells, not {show(value)}')
        return []
    led_to = {leads_to: entrance for entrance, leads_to in portals.items()}
    entries = _read_cells(report, "entries", value, board)
    for row, column in entries:
        if (row, column) in led_to:
            source = list(led_to[row, column])
            report.add(f"the portal from {source} leads to this entry: expected nothing to feed it", row, column)
        elif board.is_floor(row - 1, column):
            report.add("the floor above feeds this entry: expected void or the edge above it", row, column)
    return entries


def _read_cells(report: Report, what: str, value: object, board: Board) -> Cells:
    """Read a list of different floor cells; they come back in reading order."""
    listed = read_list(report, what, value, "cells", _MOST_CELLS)
    cells: set[Place] = set()
    for i, item in enumerate(listed or ()):
        cell = _read_floor(report, f"{what}[{i}]", item, board)
        if cell in cells:
            report.add(f"{what}[{i}] is listed twice", *cell)
        elif cell is not None:
            cells.add(cell)
    return sorted(cells)


def _read_floor(report: Report, what: str, value: object, board: Board) -> Place | None:
    cell = read_cell(report, what, value, board.height, board.width)
    if cell is not None and not board.is_floor(*cell):
        report.add(f"{what} is a void: expected a floor cell", *cell)
        return None
    return cell


def _read_portals(report: Report, value: object, board: Board) -> Portals:
    """Read a list of links; a cell is at most one end of one (rulebook 1)."""
    listed = read_list(report, "portals", value, "portals", layout.MAX_PORTALS)
    before = len(report.found)
    portals: Portals = {}
    ends: set[Place] = set()
    for i, item in enumerate(listed or ()):
        if not isinstance(item, (list, tuple)) or len(item) != 2:
            report.add(f"portals[{i}] must be two cells [[row, column], [row, column]], not {show(item)}")
            continue
        pair = [_read_floor(report, f"portals[{i}][{k}]", end, board) for k, end in enumerate(item)]
        for k, end in enumerate(pair):
            if end is not None and end in ends:
                report.add(f"portals[{i}][{k}] is an end of two portals: expected at most one", *end)
            elif end is not None:
                ends.add(end)
        if pair[0] is not None and pair[1] is not None:
            portals[pair[0]] = pair[1]
    if len(report.found) == before:
        _check_loops(report, board, portals)
    return dict(sorted(portals.items()))


def _check_loops(report: Report, board: Board, portals: Portals) -> None:
    """Refuse portals from whose exit things fall back into their entrance (rulebook 2)."""
    in_loops: set[Place] = set()
    for entrance, leads_to in portals.items():
        path = _way_down(board, portals, entrance)
        if path[-1] == entrance and entrance not in in_loops:
            in_loops.update(path)
            report.add(
                f"the portal from {list(entrance)} to {list(leads_to)} feeds itself: what it drops"
                " comes back to it; expected every way down to end",
                *entrance,
            )


def _way_down(board: Board, portals: Portals, start: Place) -> list[Place]:
    """List the cells that what leaves `start` falls through, up to the last one or to `start` again.

    Every cell has at most one feeder (rulebook 7.1), so a way that meets itself does so at its start.
    """
    led_to = set(portals.values())
    path = [portals[start]]
    while path[-1] != start:
        row, column = path[-1]
        below = (row + 1, column)
        if path[-1] in portals:
            path.append(portals[path[-1]])
        elif board.is_floor(*below) and below not in led_to:
            path.append(below)
        else:
            break
    return path
