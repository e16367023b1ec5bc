"""What a player sees: the board, what is left to do, and what the keys do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crush_gym import Game, Level, State, render
from crush_gym.cli.common import folded
from crush_gym.cli.describe import counted, ordered
from crush_gym.render.terminal import SHAPES
from crush_gym.swaps import Cell

KEYS = "arrows or hjkl move   space picks, a direction swaps   ? hint   u undo   q quit"

ENDS = {
    "goals": "all goals are met",
    "moves": "no moves are left",
    "time": "no time is left",
    "bomb": "a candy bomb went off",
    "stuck": "no move is possible",
}
"""Reasons for an outcome in words."""


@dataclass
class View:
    """What is pointed at, and what is said."""

    title: str
    colour: bool = True
    cursor: Cell | None = (0, 0)
    picked: bool = False
    hint: tuple[Cell, ...] = ()
    message: str = ""


def draw(view: View, game: Game, level: Level, state: State, rows: Sequence[str]) -> list[str]:
    """The lines of one screen."""
    board = render.ansi(rows, level, colour=view.colour, cursor=view.cursor, hint=view.hint)
    picked = "picked: now a direction" if view.picked else ""
    return [
        view.title,
        f"{left(level, state)}   score {int(np.asarray(state.books.score)):,}",
        *folded("goals", goals(game, level, state, rows) or ["none"]),
        "",
        *board.splitlines(),
        "",
        view.message or picked,
        KEYS,
    ]


def left(level: Level, state: State) -> str:
    """The moves or the time that is left."""
    if level.seconds >= 0:
        return f"time left {max(int(state.books.time), 0) / 10:.1f} s"
    return f"moves left {max(int(state.books.moves), 0)}"


def goals(game: Game, level: Level, state: State, rows: Sequence[str]) -> list[str]:
    """What is still asked for, one phrase each; "done" where it is there."""
    books = state.books
    phrases = []
    if level.goal_score >= 0:
        score, asked = int(books.score), int(level.goal_score)
        phrases.append(f"score {score:,} of {asked:,}" if score < asked else f"score {asked:,} done")
    counts = []
    if level.goal_jelly:
        counts.append((sum(row.count("'") for row in rows), "layer of jelly", "jelly"))
    if level.goal_cherry > 0:
        counts.append((int(books.cherry), "cherry", "cherries"))
    if level.goal_hazelnut > 0:
        counts.append((int(books.hazelnut), "hazelnut", "hazelnuts"))
    phrases += [counted(count, one) if count > 0 else f"{many} done" for count, one, many in counts]
    asked_for = dict(zip(game.spec.orders, np.asarray(books.orders).tolist(), strict=True))
    return phrases + [
        ordered(count, name) if count > 0 else f"{SHAPES.get(name, name)} done" for name, count in asked_for.items()
    ]


def ending(outcome: str, reason: str) -> str:
    """How an attempt ended, in words."""
    why = ENDS.get(reason)
    return f"{outcome}: {why}" if why else outcome
