"""Writing levels: from the arrays back to the dict of the file format, and that as readable JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from crush_gym import layout
from crush_gym.levels.goals import ALL_JELLY, NO_LIMIT
from crush_gym.levels.tokens import print_board

if TYPE_CHECKING:
    from crush_gym.levels.level import Level


def level_to_dict(level: Level, *, aligned: bool = True) -> dict[str, Any]:
    """Write a level as a dict of the file format, in a fixed order and without defaults.

    `aligned` puts the tokens of a column under one another; otherwise there are single blanks.
    """
    if np.ndim(level.height):
        raise ValueError("this is a stack of levels: expected one level, stack[..., i] of every array")
    rows = _board_rows(level)
    timed = int(level.seconds) >= 0
    entries = _cells(level.entries)
    written: dict[str, Any] = {
        "name": level.name or None,
        "colours": int(level.colours),
        "seconds" if timed else "moves": int(level.seconds if timed else level.moves),
        "goals": _goals(level) or None,
        "stars": _numbers(level.stars) if np.any(level.stars) else None,
        "board": _align(rows) if aligned else rows,
        "portals": _portals(level) or None,
        "entries": entries if entries != _default_entries(level) else None,
        "exits": _cells(level.exits) or None,
        "spawn": _spawn(level) or None,
        "spawn_candies": None if level.spawn_candies else False,
    }
    return {key: value for key, value in written.items() if value is not None}


def format_level(level: dict[str, Any], indent: str = "") -> str:
    """Format a level's dict as JSON: a line per key, the rows of the board below one another."""
    inner = indent + " "
    rows = f",\n{inner}         ".join(json.dumps(row, ensure_ascii=False) for row in level["board"])
    lines = [
        f'"board": [{rows}]' if key == "board" else f'"{key}": {json.dumps(value, ensure_ascii=False)}'
        for key, value in level.items()
    ]
    return "{" + f",\n{inner}".join(lines) + "}"


def format_pack(name: str, levels: Iterable[dict[str, Any]]) -> str:
    """Format a pack as JSON that people can read and edit."""
    listed = ",\n  ".join(format_level(level, "  ") for level in levels)
    return f'{{"name": {json.dumps(name, ensure_ascii=False)},\n "levels": [\n  {listed}\n ]}}\n'


def _board_rows(level: Level) -> list[str]:
    planes = dict(zip(layout.PLANES, np.asarray(level.start), strict=True))
    height, width = level.shape
    return print_board(planes, level.floor, height, width, unfilled=level.unfilled)


def _align(rows: list[str]) -> list[str]:
    """Put the tokens of a column under one another."""
    table = [row.split(" ") for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [" ".join(map(str.ljust, tokens, widths)).rstrip() for tokens in table]


def _goals(level: Level) -> dict[str, Any]:
    orders = dict(zip(layout.ORDERS, _numbers(level.orders), strict=True))
    goals = {
        "score": max(int(level.goal_score), 0),
        "jelly": ALL_JELLY if level.goal_jelly else "",
        "cherry": int(level.goal_cherry),
        "hazelnut": int(level.goal_hazelnut),
        "orders": {name: count for name, count in orders.items() if count},
    }
    return {name: goal for name, goal in goals.items() if goal}


def _spawn(level: Level) -> dict[str, dict[str, int]]:
    columns = (level.spawn, level.spawn_quota, level.spawn_on_board, level.spawn_every)
    spawn = {}
    for index, quota, on_board, every in zip(*map(_numbers, columns), strict=True):
        if index < 0:
            continue
        kind = layout.SPAWN_KINDS[index]
        counter = {"counter": int(level.spawn_counter)} if kind == "bomb" else {}
        limits = {"quota": (quota, NO_LIMIT), "on_board": (on_board, NO_LIMIT), "every": (every, 0)}
        spawn[kind] = counter | {key: n for key, (n, default) in limits.items() if n != default}
    return spawn


def _portals(level: Level) -> list[list[list[int]]]:
    return [[row[:2], row[2:]] for row in np.asarray(level.portals).tolist() if row[0] >= 0]


def _cells(words: Any) -> list[list[int]]:
    return [[r, c] for r, word in enumerate(_numbers(words)) for c in range(layout.MAX_SIDE) if word >> c & 1]


def _default_entries(level: Level) -> list[list[int]]:
    """List the entries that "top" stands for (rulebook 2)."""
    led_to = [leads_to for _, leads_to in _portals(level)]
    tops: dict[int, int] = {}
    for row, column in _cells(level.floor):
        tops.setdefault(column, row)
    return sorted([row, column] for column, row in tops.items() if [row, column] not in led_to)


def _numbers(array: Any) -> list[int]:
    numbers: list[int] = np.asarray(array).tolist()
    return numbers
