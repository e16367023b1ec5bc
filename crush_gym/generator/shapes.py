"""Shapes of boards: silhouettes that someone could have drawn, and organic ones from a cellular automaton."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from crush_gym.generator.dice import Dice

Cell = tuple[int, int]
Size = tuple[int, int]
Form = Callable[[float, float, float], bool]
"""(y, x, k) -> whether a cell is floor; y and x run from -1 to 1 over the board, k in 0..1 varies the form."""

SYMMETRIES = ("mirror", "rotation", "both", "none")
"""Left and right alike; the same after half a turn; both; neither."""

_LEAST_ROOM = 9
"""Cells of the smallest part of a board that is worth keeping."""

_BOTH: dict[str, Form] = {
    "full": lambda y, x, k: True,
    "round": lambda y, x, k: abs(y * y * y) + abs(x * x * x) <= 1.0 + 0.38 * k,
    "diamond": lambda y, x, k: abs(y) + abs(x) <= 1.15 + 0.35 * k,
    "hexagon": lambda y, x, k: abs(x) + 0.6 * abs(y) <= 1.1 + 0.2 * k,
    "hourglass": lambda y, x, k: abs(x) <= 0.5 + 0.2 * k + 0.6 * y * y,
    "bowtie": lambda y, x, k: abs(y) <= 0.5 + 0.2 * k + 0.6 * x * x,
    "plus": lambda y, x, k: min(abs(y), abs(x)) <= 0.4 + 0.2 * k,
    "ring": lambda y, x, k: max(abs(y), abs(x)) > 0.15 + 0.15 * k,
    "windows": lambda y, x, k: not (0.3 < abs(y) < 0.6 and 0.3 < abs(x) < 0.6),
    "pillars": lambda y, x, k: not (0.3 < abs(x) < 0.5 and abs(y) < 0.3 + 0.4 * k),
    "notches": lambda y, x, k: not (abs(x) > 0.8 and abs(y) < 0.25 + 0.3 * k),
    "waist": lambda y, x, k: not (abs(x) < 0.15 and abs(y) > 0.6 - 0.2 * k),
    "halves": lambda y, x, k: abs(x) > 0.13 or abs(y) < 0.3 * k,
}
_MIRROR: dict[str, Form] = {
    "heart": lambda y, x, k: not (abs(x) < 0.13 and y < -0.75) and abs(x) <= 1.3 - 1.1 * max(0.0, y - 0.1 * k),
    "arch": lambda y, x, k: not (abs(x) < 0.3 + 0.2 * k and y > 0.3),
    "funnel": lambda y, x, k: abs(x) <= 1.05 - (0.45 + 0.2 * k) * max(0.0, y + 0.2),
    "pyramid": lambda y, x, k: abs(x) <= 0.85 + 0.15 * k + 0.45 * y,
    "crown": lambda y, x, k: not (y < -0.4 - 0.2 * k and 0.2 < abs(x) < 0.6),
    "cup": lambda y, x, k: not (abs(x) < 0.3 and y < -0.4 - 0.2 * k),
}
_ROTATION: dict[str, Form] = {
    "stairs": lambda y, x, k: not (x * y > 0 and abs(x) > 0.5 - 0.1 * k and abs(y) > 0.6 - 0.1 * k),
    "bars": lambda y, x, k: not (0.25 < abs(y) < 0.5 and (x if y > 0 else -x) > -0.2 + 0.3 * k),
    "blades": lambda y, x, k: not (abs(x) > 0.7 and (y if x > 0 else -y) > 0.1 + 0.3 * k),
}
_FITS = {"mirror": _BOTH | _MIRROR, "rotation": _BOTH | _ROTATION, "both": _BOTH, "none": {}}

SHAPES = ("organic", *_BOTH, *_MIRROR, *_ROTATION)
"""Names of all shapes."""


def shapes_for(symmetry: str) -> tuple[str, ...]:
    """Shapes that have a symmetry; any is good where none is asked for."""
    return SHAPES if symmetry == "none" else ("organic", *_FITS[symmetry])


def images(cell: Cell, size: Size, symmetry: str) -> frozenset[Cell]:
    """The cell and those that the symmetry makes equal to it."""
    (row, column), (height, width) = cell, size
    mirrored, turned = (row, width - 1 - column), (height - 1 - row, width - 1 - column)
    upside_down = (height - 1 - row, column)
    also = {"mirror": [mirrored], "rotation": [turned], "both": [mirrored, turned, upside_down], "none": []}
    return frozenset([cell, *also[symmetry]])


def orbits(cells: Iterable[Cell], size: Size, symmetry: str) -> list[tuple[Cell, ...]]:
    """The cells in groups of equal ones, each in reading order; groups that are not whole are left out."""
    there = set(cells)
    groups = {tuple(sorted(images(cell, size, symmetry))) for cell in there}
    return sorted(group for group in groups if there.issuperset(group))


def where(cell: Cell, size: Size) -> tuple[float, float]:
    """The middle of a cell as y and x from -1 to 1."""
    (row, column), (height, width) = cell, size
    return (2 * row + 1 - height) / height, (2 * column + 1 - width) / width


def draw_floor(dice: Dice, size: Size, shape: str, symmetry: str) -> frozenset[Cell]:
    """The floor of a board: at least half of it, every cell in a line of three."""
    cells = [(row, column) for row in range(size[0]) for column in range(size[1])]
    forms = _BOTH | _MIRROR | _ROTATION
    for _ in range(12):
        k = dice.share()
        if shape == "organic":
            floor = _grown(dice, size, symmetry)
        else:
            floor = {cell for cell in cells if forms[shape](*where(cell, size), k)}
        floor = tidy(floor)
        if 2 * len(floor) >= len(cells):
            return frozenset(floor)
    return frozenset(cells)


def tidy(floor: Iterable[Cell]) -> set[Cell]:
    """Without cells that are in no line of three, and without parts too small to play in."""
    kept = set(floor)
    while True:
        in_lines = {cell for cell in kept if _in_line(cell, kept)}
        in_rooms = {cell for room in _rooms(in_lines) if len(room) >= _LEAST_ROOM for cell in room}
        if in_rooms == kept:
            return kept
        kept = in_rooms


def _in_line(cell: Cell, floor: set[Cell]) -> bool:
    row, column = cell
    lines = ([(row, column + d) for d in range(-2, 3)], [(row + d, column) for d in range(-2, 3)])
    return any(floor.issuperset(line[i : i + 3]) for line in lines for i in range(3))


def _rooms(floor: set[Cell]) -> list[set[Cell]]:
    """The parts of a floor that hang together."""
    left, rooms = set(floor), []
    for start in sorted(floor):
        if start not in left:
            continue
        room, edge = {start}, [start]
        while edge:
            row, column = edge.pop()
            for cell in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
                if cell in left and cell not in room:
                    room.add(cell)
                    edge.append(cell)
        left -= room
        rooms.append(room)
    return rooms


def _grown(dice: Dice, size: Size, symmetry: str) -> set[Cell]:
    """A cellular automaton: random cells, alike where the symmetry says so, smoothed twice."""
    height, width = size
    cells = [(row, column) for row in range(height) for column in range(width)]
    density = dice.share(0.62, 0.78)
    floor = {cell for group in orbits(cells, size, symmetry) for cell in group if dice.happens(density)}
    floor = {cell for cell in cells if images(cell, size, symmetry) & floor}
    for _ in range(2):
        floor = {cell for cell in cells if _crowd(cell, floor, size) >= 5.0}
    return floor


def _crowd(cell: Cell, floor: set[Cell], size: Size) -> float:
    """How many of a cell and its eight neighbours are floor; those beyond the edge count three fifths."""
    (row, column), (height, width) = cell, size
    around = [(row + r, column + c) for r in (-1, 0, 1) for c in (-1, 0, 1)]
    outside = sum(not (0 <= r < height and 0 <= c < width) for r, c in around)
    return sum(near in floor for near in around) + 0.6 * outside
