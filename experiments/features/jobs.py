"""The playing, cut up: each job is done on its own, anywhere, and again if need be, with the same records."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np

from agents.attempts import play
from agents.protocol import Agent, Policy
from crush_gym import Game, Stats
from experiments.features.recorder import Notes, recorded
from experiments.features.records import BLOCK, Record, record_of
from experiments.results.task import Task
from experiments.running.clock import CompileClock, PlayClock
from experiments.running.events import Advanced, Compiling, Program, Started
from experiments.running.grouping import Group, grouped
from experiments.running.jobs import Manner, Table, Told, Trial, attempt_keys, home_of, program_of

CALL, SLOW = 40 * BLOCK, 5 * BLOCK
"""Attempts of a job, for agents that play within `game.rollout` and, at most, for the others: one number, so that all
levels of a kind are played by one program."""

SIDE, COLOURS = 9, 6
"""Boards and colours that the games for all levels have room for."""

PLAIN = ("jelly", "locks", "marmalade", "drops")
"""What the narrower of these games can have. The other one can have everything."""


@dataclass(frozen=True)
class Wide(Group):
    """Levels in a game with room for all levels like them, whose programs serve for levels that come later."""

    mechanics: tuple[str, ...] | str = "all"

    @cached_property
    def identity(self) -> str:
        """Like a group's, with what the game can have."""
        return hashlib.sha256(f"{self.mechanics} {super().identity}".encode()).hexdigest()[:16]

    def game(self, known: Game | None = None) -> Game:
        """The game that plays all of them, unless their player has one of its own."""
        return wide(self.mechanics) if known is None else super().game(known)


def wide(mechanics: tuple[str, ...] | str) -> Game:
    """A game for all levels of the usual sizes with these mechanics."""
    return Game.covering((SIDE, SIDE), COLOURS, mechanics)


def arranged(tasks: Sequence[Task], attempts: int, quick: bool) -> tuple[Group, ...]:
    """Tasks in groups that one compiled game plays each. attempts: at each; quick: see `grouped`."""
    if not quick:
        return grouped(tasks, attempts=attempts, quick=False)
    groups: list[Group] = []
    left = list(tasks)
    for mechanics in (PLAIN, "all"):
        game = wide(mechanics)
        fits = [task.rules == "saga" and task.adjacency == "any" and game.accepts(task.level) for task in left]
        if any(fits):
            groups.append(Wide(tuple(task for task, fit in zip(left, fits, strict=True) if fit), mechanics))
        left = [task for task, fit in zip(left, fits, strict=True) if not fit]
    return (*groups, *(grouped(left, attempts=attempts) if left else ()))


class Introduced(NamedTuple):
    """What is known of an agent. weights: see `weights_of`; "" where it has none.

    shares: whether a program may be made for it and others together: it is one of ours, in any game
    """

    manner: Manner
    weights: str
    shares: bool = False


@dataclass(frozen=True)
class Introduction:
    """Find out about an agent, and by which numbers it plays."""

    trial: Trial

    @property
    def home(self) -> str:
        return self.trial.home

    @property
    def program(self) -> str:
        return self.trial.program

    attempts = 0

    def do(self, table: Table, told: Told) -> Introduced:
        """Make the agent and bind it to a game."""
        manner, group = self.trial.do(table, told), self.trial.group
        _, policy, _ = table.policy(program_of(manner.name, group), self.trial.wanted, group)
        own_game = getattr(table.agent(self.trial.wanted), "game", None)
        return Introduced(manner, weights_of(policy, self.home), manner.quick and not self.home and own_game is None)


def weights_of(policy: Policy, home: str) -> str:
    """Sixteen digits of the numbers that a player knows, and of the module's file where that is a stranger's."""
    digest, leaves = hashlib.sha256(), jax.tree.leaves(policy.params)
    for leaf in map(np.asarray, leaves):
        digest.update(f"{leaf.dtype}{leaf.shape}".encode() + np.ascontiguousarray(leaf).tobytes())
    found = find_spec(home) if home else None
    file = Path(found.origin) if found is not None and found.origin else None
    if file is not None and file.is_file():
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16] if leaves or file is not None else ""


Item = tuple[int, int, int]
"""The number of a task in its group, its first attempt, and how many, whole blocks."""


@dataclass(frozen=True)
class Recording:
    """Attempts of one agent at some tasks of a group.

    size: attempts that are played, the last one's first move again and again to fill up: each number of attempts would
    be compiled anew
    """

    name: str
    wanted: str | Agent
    group: Group
    seed: int
    items: tuple[Item, ...]
    size: int

    @property
    def home(self) -> str:
        return home_of(self.wanted)

    @property
    def program(self) -> Program:
        return program_of(self.name, self.group)

    @property
    def attempts(self) -> int:
        return sum(number for _, _, number in self.items)

    def do(self, table: Table, told: Told) -> list[tuple[str, int, Record]]:
        """Play the attempts: of each item the task's identity, the first attempt, and the record."""
        told(Started(self.program, self.attempts))
        with CompileClock(lambda seconds: told(Compiling(self.program, seconds))):
            return self._played(table, told)

    def _played(self, table: Table, told: Told) -> list[tuple[str, int, Record]]:
        game, policy, pack = table.policy(self.program, self.wanted, self.group)
        where = np.concatenate([np.full(number, task) for task, _, number in self.items])
        attempts = np.concatenate([np.arange(first, first + number) for _, first, number in self.items])
        where, attempts = (np.pad(x, (0, self.size - len(x)), "edge") for x in (where, attempts))
        words = np.array([int(task.identity[:8], 16) for task in self.group.tasks], np.uint32)
        keys = attempt_keys(jax.random.key(self.seed), words[where], attempts.astype(np.uint32))
        level = pack.stack(where)
        fill = np.arange(self.size) >= self.attempts  # these are over after one move
        level = dataclasses.replace(level, moves=np.where(fill, np.minimum(level.moves, 1), level.moves))
        with PlayClock() as clock:
            found = play(
                recorded(policy, game), game, keys, level,
                lambda over: told(Advanced(self.name, over)), memories=True,
            )  # fmt: skip
            stats, (_, notes) = jax.tree.map(np.asarray, found)
        return self._records(stats, Notes(*notes), clock.seconds / self.attempts)

    def _records(self, stats: Stats, notes: Notes, seconds: float) -> list[tuple[str, int, Record]]:
        """Item by item; the last results are those of what filled up."""
        found, start = [], 0
        for number, first, attempts in self.items:
            part = slice(start, start + attempts)
            some, own = Stats(*(x[part] for x in stats)), Notes(*(x[..., part] for x in notes))
            task = self.group.tasks[number]
            found.append((task.identity, first, record_of(task.level, some, own, seconds)))
            start += attempts
        return found


def cut(manner: Manner, wanted: str | Agent, group: Group, seed: int, missing: Sequence[Item]) -> list[Recording]:
    """What is missing at the tasks of a group, as jobs of one size."""
    most = CALL if manner.quick else min(SLOW, sum(number for _, _, number in missing))
    jobs: list[list[Item]] = []
    room = 0
    for task, first, number in missing:
        while number:
            if room == 0 or (room < number <= most):
                jobs.append([])
                room = most
            some = min(number, room)
            jobs[-1].append((task, first, some))
            first, number, room = first + some, number - some, room - some
    return [Recording(manner.name, wanted, group, seed, tuple(items), most) for items in jobs]
