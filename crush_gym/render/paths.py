"""Geometry: polygons with rounded corners, stars, and the outline of a board's floor."""

import math
from collections.abc import Sequence

from crush_gym.render.glyphs import number

Point = tuple[float, float]
Floor = tuple[tuple[bool, ...], ...]


def rounded(corners: Sequence[Point], radius: float) -> str:
    """A closed path through the corners, each cut off by `radius` and bent."""
    steps = []
    for i, corner in enumerate(corners):
        before, after = corners[i - 1], corners[(i + 1) % len(corners)]
        start, end = _towards(corner, before, radius), _towards(corner, after, radius)
        steps.append(f"{'L' if i else 'M'}{_pair(start)}Q{_pair(corner)} {_pair(end)}")
    return "".join(steps) + "Z"


def ring(count: int, radii: Sequence[float], centre: Point = (32, 32), turn: float = -90) -> list[Point]:
    """`count` points around a centre, their distances from it taken in turn from `radii`; turn: degrees."""
    points = []
    for i in range(count):
        angle = math.radians(turn + 360 * i / count)
        radius = radii[i % len(radii)]
        points.append((centre[0] + radius * math.cos(angle), centre[1] + radius * math.sin(angle)))
    return points


def outline(floor: Floor, side: float, radius: float) -> str:
    """The path around all floor cells of `side`, holes included; its corners are round."""
    return "".join(rounded([(x * side, y * side) for x, y in loop], radius) for loop in _loops(floor))


def _loops(floor: Floor) -> list[list[tuple[int, int]]]:
    """The corners of the floor's borders, each walked with the floor to the right."""
    ahead = _edges(floor)
    loops = []
    while ahead:
        first = start = min(ahead)
        direction = min(ahead[start])
        corners: list[tuple[int, int]] = []
        while True:
            ahead[start].remove(direction)
            if not ahead[start]:
                del ahead[start]
            end = (start[0] + direction[0], start[1] + direction[1])
            if end == first:
                break
            # Where two cells touch only at a corner, a right turn keeps to the cell walked along.
            right = (-direction[1], direction[0])
            onward = right if right in ahead[end] else min(ahead[end])
            if onward != direction:
                corners.append(end)
            start, direction = end, onward
        # A loop begins at its topmost leftmost point of all that are left: always a corner.
        loops.append([first, *corners])
    return loops


def _edges(floor: Floor) -> dict[tuple[int, int], set[tuple[int, int]]]:
    """Where each piece of border goes on from a corner (x, y) of the grid."""
    edges: dict[tuple[int, int], set[tuple[int, int]]] = {}

    def is_floor(r: int, c: int) -> bool:
        return 0 <= r < len(floor) and 0 <= c < len(floor[r]) and floor[r][c]

    for r, row in enumerate(floor):
        for c in range(len(row)):
            if not floor[r][c]:
                continue
            sides = (
                ((c, r), (1, 0), (-1, 0)),
                ((c + 1, r), (0, 1), (0, 1)),
                ((c + 1, r + 1), (-1, 0), (1, 0)),
                ((c, r + 1), (0, -1), (0, -1)),
            )
            for corner, direction, (down, right) in sides:
                if not is_floor(r + down, c + right):
                    edges.setdefault(corner, set()).add(direction)
    return edges


def _towards(start: Point, end: Point, distance: float) -> Point:
    share = distance / math.dist(start, end)
    return (start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share)


def _pair(point: Point) -> str:
    return f"{number(point[0])} {number(point[1])}"
