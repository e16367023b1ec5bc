"""Whether episodes that somebody hands in can have come about by playing: their cells, their counts, their ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import jax
import numpy as np

from crush_gym import layout
from crush_gym.engine.books import WAVE_TIME
from crush_gym.engine.settling import MOST_WAVES
from crush_gym.engine.spec import Spec
from crush_gym.engine.state import (
    BOMB,
    ENDED,
    GOALS,
    LOST,
    MOVES,
    NO_REASON,
    PLAYING,
    STUCK,
    TIME,
    WON,
    Books,
)
from crush_gym.engine.turn import MOVE_TIME
from crush_gym.envs.task import MOST_ILLEGAL, Lanes
from crush_gym.levels import Level
from crush_gym.levels.cells import WORD_ROWS, decode, encode, to_codes
from crush_gym.levels.tokens import TokenError, parse_token
from crush_gym.levels.values import MOST

ENDS = {
    (PLAYING, NO_REASON), (WON, GOALS), (ENDED, MOVES), (ENDED, TIME), (LOST, MOVES), (LOST, TIME), (LOST, BOMB),
    (LOST, STUCK),
}  # fmt: skip
"""Outcomes with their reasons."""

NEEDS = {"*": "colour bomb", "~": "swirl", "o": "ingredient", "n": "ingredient", "F": "wrapped"}
FORMS = {"-": "striped", "|": "striped", "@": "wrapped"}
"""Mechanics without which items and forms of candies are nothing."""


def nonsense(spec: Spec, lanes: Lanes, levels: Sequence[Level]) -> str:
    """What cannot be, of the first lane where something is so; "" where all is well. lanes: on the host."""
    lanes = jax.tree.map(np.asarray, lanes)
    wrong = ~((lanes.level >= 0) & (lanes.level < len(levels)))
    if wrong.any():
        return f"lane {wrong.argmax()} plays level {lanes.level[wrong.argmax()]} of {len(levels)}"
    wrong = (lanes.episode < 0) | (lanes.streak < 0) | (lanes.streak > MOST_ILLEGAL)
    if wrong.any():
        return f"lane {wrong.argmax()} is in no possible episode"
    for number in np.unique(lanes.level):
        which = np.flatnonzero(lanes.level == number)
        planes, books = jax.tree.map(lambda x, which=which: x[..., which], lanes.state)
        found = _cells(spec, planes, levels[number], which) or _counts(spec, books, levels[number], which)
        if found:
            return found
    return ""


def _cells(spec: Spec, planes: Any, level: Level, which: Any) -> str:
    """What a cell holds that no token says. planes: uint16[planes, H, lanes]."""
    words = np.zeros((len(WORD_ROWS), spec.height, len(which)), np.int64)
    for name, plane in zip(spec.planes, planes, strict=True):
        words[WORD_ROWS.index(name)] = plane
    words[WORD_ROWS.index("floor")] = np.asarray(level.floor)[: spec.height, None]
    if (outside := words.max(axis=(0, 1)) >> spec.width).any():
        return f"lane {which[outside.argmax()]} has something beside its board"
    boards = to_codes(np.moveaxis(words, 2, 1).reshape(len(WORD_ROWS), -1), spec.width)
    for code, first in zip(*np.unique(boards, return_index=True), strict=True):
        if not _is_sound(spec, int(code), int(level.colours)):
            lane, cell = divmod(int(first), spec.height * spec.width)
            row, column = divmod(cell, spec.width)
            return f"lane {which[lane]} has in row {row}, column {column} what no cell can hold"
    return ""


def _is_sound(spec: Spec, code: int, colours: int) -> bool:
    """Whether a token says all that a cell's bits say, and the game knows what it says."""
    cell = decode(code)
    try:
        known = parse_token(str(cell), colours, within_turn=True)
    except TokenError:
        return False
    item = str(cell).strip("[]{}'")
    needed = {NEEDS.get(item[0], ""), FORMS.get(item[1:2], "")} - {""}
    return encode(known) == code and needed <= spec.mechanics


def _counts(spec: Spec, books: Books, level: Level, which: Any) -> str:
    """What is counted as it cannot be, or an end that is none."""
    for name, values, least, most in _bounds(spec, jax.tree.map(lambda x: x.astype(np.int64), books), level):
        wrong = ((values < least) | (values > most)).reshape(-1, len(which)).any(axis=0)
        if wrong.any():
            return f"lane {which[wrong.argmax()]} has an impossible number as its {name}"
    for lane, end in zip(which, zip(books.outcome.tolist(), books.reason.tolist(), strict=True), strict=True):
        if end not in ENDS:
            return f"lane {lane} has an outcome that does not go with its reason"
    return ""


def _bounds(spec: Spec, books: Books, level: Level) -> Iterator[tuple[str, Any, Any, Any]]:
    """What is counted, by name, with the least and the most that it can be."""
    made, playing = books.made, books.outcome == PLAYING
    start = 10 * int(level.seconds) if level.seconds > 0 else -1
    most_moves = int(level.moves) if level.moves > 0 else MOST
    used = MOVE_TIME * made + WAVE_TIME * books.waves
    listed = level.spawn[: spec.spawn_kinds] >= 0
    quota = np.where(level.spawn_quota < 0, MOST, level.spawn_quota)[: spec.spawn_kinds]
    orders = np.array([level.orders[layout.ORDERS.index(name)] for name in spec.orders], np.int64)
    yield "moves made", made, 0, np.where(playing, most_moves - int(level.moves > 0), most_moves)
    yield "moves left", books.moves, int(level.moves) - made, int(level.moves) - made
    yield "waves", books.waves, 0, MOST_WAVES * (made + 1)
    yield "time left", books.time, start - used, start
    yield "score", books.score, 0, MOST
    yield "cherries left", books.cherry, 0, int(level.goal_cherry)
    yield "hazelnuts left", books.hazelnut, 0, int(level.goal_hazelnut)
    yield "orders left", books.orders, 0, orders[:, None]
    yield "items spawned", books.spawned, 0, np.where(listed, quota, 0)[:, None]
    yield "last spawns", books.last_spawn, -1, made
    yield "sugar drops", books.drops, 0, MOST
    yield "bonus", books.bonus, 0, 1
    yield "shuffles", books.shuffles, 0, made + 1
