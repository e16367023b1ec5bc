"""Players for tests of the harness, which its processes import too: plain NumPy, and what players do wrong."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

from agents.protocol import Memory, Policy
from agents.registry import name_of
from crush_gym import Game, Level, State
from experiments.running.events import Advanced
from experiments.running.jobs import Table, Told

Do = Callable[[np.ndarray], Any]
"""From the legal moves bool[actions, boards] to what the policy answers."""


def plain(game: Game, do: Do) -> Policy:
    """A policy in plain NumPy, of a function."""

    def act(params: Any, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[Any, Memory]:
        return do(np.asarray(game.legal(state))), memory

    return Policy(act, traceable=False)


@dataclass(frozen=True)
class Player:
    """A player by the name of what it does."""

    does: str = "lowest"
    note: str = ""

    @property
    def name(self) -> str:
        return name_of("tests.experiments.players:Player", self)

    def bind(self, game: Game) -> Policy:
        if self.note:
            Path(self.note).write_text(str(os.getpid()), encoding="utf-8")
        if self.does == "unbound":
            raise RuntimeError("no weights\nfor this game")
        if self.does == "ponders":
            time.sleep(3600)
        return plain(game, globals()[self.does])


def lowest(legal: np.ndarray) -> np.ndarray:
    return legal.argmax(0)


def raises(legal: np.ndarray) -> np.ndarray:
    raise ZeroDivisionError("a stranger's mistake")


def nan(legal: np.ndarray) -> np.ndarray:
    return np.full(legal.shape[1], np.nan)


def illegal(legal: np.ndarray) -> np.ndarray:
    return legal.argmin(0)


def leaves(legal: np.ndarray) -> np.ndarray:
    raise SystemExit("bye")


class Twin:
    """Another player that goes by the name of the first."""

    name = Player().name

    def bind(self, game: Game) -> Policy:
        return plain(game, lowest)


class Unsendable:
    """A player that cannot be pickled."""

    name = "unsendable"

    def __init__(self) -> None:
        self.hidden = lambda: None

    def bind(self, game: Game) -> Policy:
        return plain(game, lowest)


@dataclass(frozen=True)
class Errand:
    """A job for an executor that plays nothing. does: "rest", "die", "starve", "device", "fail" or "report"."""

    does: str
    number: int = 0
    program: str = ""
    attempts: int = 1
    home: str = ""

    def do(self, table: Table, told: Told) -> tuple[int, int, list[int]]:
        if self.does == "rest":
            time.sleep(3600)
        if self.does == "die":
            os._exit(7)
        if self.does == "starve":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.does == "device":
            time.sleep(0.05)
            return jax.numpy.zeros(3).devices().pop().id  # type: ignore[return-value]
        if self.does == "fail":
            raise ZeroDivisionError("a stranger's mistake")
        told(Advanced(self.does, 1))
        return self.number, os.getpid(), sorted(os.sched_getaffinity(0))
