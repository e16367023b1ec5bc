"""Reading one level: a dict becomes the arrays of a `Level`, or a report of all that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crush_gym import layout
from crush_gym.levels.board import Board, read_board
from crush_gym.levels.cells import WORD_ROWS
from crush_gym.levels.errors import LevelError, Problem, Report, show
from crush_gym.levels.goals import NO_LIMIT, Goals, Spawn, Supply, check_supply, read_goals, read_spawns
from crush_gym.levels.places import Places, read_places
from crush_gym.levels.values import Object, read_flag, read_number, read_object, read_text

LEVEL_KEYS = (
    "name",
    "colours",
    "moves",
    "seconds",
    "goals",
    "stars",
    "board",
    "portals",
    "entries",
    "exits",
    "spawn",
    "spawn_candies",
)
MIN_COLOURS = 2
MOST_SECONDS = 100_000_000
"""Time is kept in deciseconds (rulebook 10), which must fit an int32."""

Leaves = dict[str, NDArray[np.generic]]


@dataclass(frozen=True)
class Fields:
    """The parts of a level that are not on its board; -1 and zeros where they are missing."""

    colours: int
    moves: int
    seconds: int
    stars: list[int]
    spawn_candies: bool


def level_from_dict(value: object) -> tuple[str, Leaves]:
    """Read a level's name and arrays, or raise one `LevelError` with everything that is wrong."""
    if isinstance(value, dict) and "levels" in value and "board" not in value:
        raise LevelError("this is a pack of levels, not one level: read it with load_pack")
    found: list[Problem] = []
    level = read_level(value, found, "")
    if level is None:
        raise LevelError(found)
    return level


def read_level(value: object, found: list[Problem], label: str) -> tuple[str, Leaves] | None:
    """Read a level's name and arrays, or add to `found` and return None.

    `label` is what a level without a name is called in problems.
    """
    name = value.get("name") if isinstance(value, dict) else None
    report = Report(name if isinstance(name, str) and name else label, found)
    before = len(found)
    level = read_object(report, "a level", value, LEVEL_KEYS, ("colours", "board"))
    if level is None:
        return None
    title = read_text(report, "name", level.get("name", ""))
    leaves = _read_parts(report, level)
    return None if len(found) > before or title is None else (title, leaves)


def _read_parts(report: Report, level: Object) -> Leaves:
    """Read everything but the name; what is returned is only right if nothing was reported."""
    fields = _read_fields(report, level)
    before = len(report.found)
    goals = read_goals(report, level.get("goals", {}), fields.colours)
    spawns = read_spawns(report, level.get("spawn", {}))
    board = read_board(report, level["board"], fields.colours) if "board" in level else None
    if board is None:
        return {}
    places = read_places(report, level, board)
    if len(report.found) > before:
        return {}
    check_supply(report, goals, Supply(board, places, spawns))
    return _leaves(fields, board, places, goals, spawns)


def _read_fields(report: Report, level: Object) -> Fields:
    # With a wrong number of colours the board is still read, as if it had all of them.
    colours = read_number(report, "colours", level.get("colours", MIN_COLOURS), MIN_COLOURS, layout.MAX_COLOURS)
    limits = [name for name in ("moves", "seconds") if name in level]
    if len(limits) != 1:
        held = "both" if limits else "neither"
        report.add(f"a level has either moves or seconds, this one has {held}: expected exactly one")
    moves, seconds = NO_LIMIT, NO_LIMIT
    if "moves" in level:
        moves = read_number(report, "moves", level["moves"], 1) or 0
    if "seconds" in level:
        seconds = read_number(report, "seconds", level["seconds"], 1, MOST_SECONDS) or 0
    candies = read_flag(report, "spawn_candies", level.get("spawn_candies", True))
    stars = _read_stars(report, level["stars"]) if "stars" in level else [0, 0, 0]
    return Fields(colours or layout.MAX_COLOURS, moves, seconds, stars, bool(candies))


def _read_stars(report: Report, value: object) -> list[int]:
    if not isinstance(value, (list, tuple)) or len(value) != 3:
        report.add(f"stars must be a list of 3 scores, not {show(value)}")
        return []
    stars = [read_number(report, f"stars[{i}]", score, 1) or 0 for i, score in enumerate(value)]
    if all(stars) and stars != sorted(stars):
        report.add(f"stars must not fall: expected {sorted(stars)}, not {stars}")
    return stars


def _leaves(fields: Fields, board: Board, places: Places, goals: Goals, spawns: list[Spawn]) -> Leaves:
    """Write a level without mistakes as the arrays that `Level` describes."""
    words = board.words()
    leaves: Leaves = {
        "height": np.array(board.height, np.int32),
        "width": np.array(board.width, np.int32),
        "colours": np.array(fields.colours, np.int32),
        "floor": words[WORD_ROWS.index("floor")],
        "entries": _cell_words(places.entries),
        "exits": _cell_words(places.exits),
        "portals": _portal_rows(places),
        "start": words[: len(layout.PLANES)],
        "unfilled": words[WORD_ROWS.index("unfilled")],
        "moves": np.array(fields.moves, np.int32),
        "seconds": np.array(fields.seconds, np.int32),
        "stars": np.array(fields.stars, np.int32),
        "spawn_candies": np.array(fields.spawn_candies, np.bool_),
        **_goal_leaves(goals),
        **_spawn_leaves(spawns),
    }
    for leaf in leaves.values():
        leaf.setflags(write=False)  # a level is a value: nobody may change it under another's feet
    return leaves


def _goal_leaves(goals: Goals) -> Leaves:
    return {
        "goal_score": np.array(goals.score or NO_LIMIT, np.int32),
        "goal_jelly": np.array(goals.jelly, np.bool_),
        "goal_cherry": np.array(goals.cherry, np.int32),
        "goal_hazelnut": np.array(goals.hazelnut, np.int32),
        "orders": np.array([goals.orders.get(name, 0) for name in layout.ORDERS], np.int32),
    }


def _spawn_leaves(spawns: list[Spawn]) -> Leaves:
    padded = spawns + [Spawn("")] * (len(layout.SPAWN_KINDS) - len(spawns))
    kinds = [layout.SPAWN_KINDS.index(spawn.kind) if spawn.kind else -1 for spawn in padded]
    return {
        "spawn": np.array(kinds, np.int8),
        "spawn_quota": np.array([spawn.quota for spawn in padded], np.int32),
        "spawn_on_board": np.array([spawn.on_board for spawn in padded], np.int32),
        "spawn_every": np.array([spawn.every for spawn in padded], np.int32),
        "spawn_counter": np.array(max(spawn.counter for spawn in padded), np.int32),
    }


def _cell_words(cells: Iterable[tuple[int, int]]) -> NDArray[np.uint16]:
    words = [0] * layout.MAX_SIDE
    for row, column in cells:
        words[row] |= 1 << column
    return np.array(words, np.uint16)


def _portal_rows(places: Places) -> NDArray[np.int8]:
    rows = np.full((layout.MAX_PORTALS, 4), -1, np.int8)
    for i, (entrance, leads_to) in enumerate(places.portals.items()):
        rows[i] = (*entrance, *leads_to)
    return rows
