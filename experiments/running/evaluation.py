"""`evaluate`: agents play levels, and every attempt becomes one row, however the work was shared out or interrupted."""

from __future__ import annotations

import contextlib
import datetime
import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents import registry
from agents.protocol import Agent
from crush_gym import Level, LevelPack
from experiments.results.assignment import SEEDS, Task, tasks_of
from experiments.results.row import Row
from experiments.results.store import Store
from experiments.running.bar import Bar
from experiments.running.events import (
    Advanced,
    Event,
    Failed,
    Finished,
    Listener,
    Planned,
    ShardError,
    Stop,
    Stopped,
    Wanted,
)
from experiments.running.executors.here import Executor, Failure, InProcess
from experiments.running.grouping import MOST_GAMES, Group, grouped
from experiments.running.jobs import Job, Manner, Shard, Trial, cut, named
from experiments.running.series import FIRST, MOST, Players, players_of, series_of

Levels = str | Level | LevelPack | Task | Sequence[Any]
"""What `tasks_of` takes."""


@dataclass(frozen=True)
class Results:
    """The rows of all attempts that were asked for and are there, by agent, level and attempt as asked for.

    errors: what could not be played; stopped: whether the evaluation was told to stop before it was over
    """

    rows: tuple[Row, ...]
    errors: tuple[ShardError, ...]
    stopped: bool = False


def evaluate(
    agents: str | Agent | Sequence[str | Agent],
    levels: Levels,
    attempts: int = 100,
    seed: int = 0,
    executor: Executor | None = None,
    store: Store | str | os.PathLike[str] | None = None,
    *,
    until_cleared: int | Sequence[int] | NDArray[np.integer[Any]] | None = None,
    traits: Any = None,
    players: int | None = None,
    games: int = MOST_GAMES,
    listen: Listener | None = None,
    stop: Stop | None = None,
    progress: bool = True,
) -> Results:
    """Let every agent play every level so many times; what the store holds already is not played again.

    agents: names (see `agents.registry.make`) or agents; levels: see `experiments.results.assignment.tasks_of`
    executor: where it is played, here by default; store: a file, or None to keep the results in memory only
    until_cleared: every player tries every level until it is won, or given up after so many attempts (one number for
    all players, or one each); `attempts` does not count then, and rows tell the player
    traits: of these players, for a start that takes some: a tree of arrays that end in the players' axis. They belong
    to what an agent is: a store holds those of one population of an agent's name
    players: how many there are, where neither traits nor patience tell
    games: compiled games at most, for each rule set and agent
    listen: is told what happens (see `experiments.running.events`), on this thread
    stop: a `threading.Event`, say; soon after it is set, between two calls of the engine, the evaluation is over.
    Shards that are finished are kept, and the same call goes on from there
    progress: whether stderr shows how far it is

    A row depends on agent, level, seed and its attempt's number only. A name that no agent has is an `AgentError`. What
    an agent breaks becomes an error of the results and the rest goes on; a `StoreError` ends it, and what was entered
    before stays.
    """
    wanted = [agents] if isinstance(agents, str | Agent) else list(agents)
    tasks = tuple({task.identity: task for task in tasks_of(levels)}.values())
    crowd = None
    if until_cleared is not None:
        crowd = players_of(until_cleared, traits, players)
        attempts = crowd.number
    elif traits is not None or players is not None:
        raise ValueError("traits and players are for `until_cleared`: say after how many attempts players give up")
    _check(wanted, tasks, attempts, seed)
    with contextlib.ExitStack() as open_things:
        kept = open_things.enter_context(_opened(store))
        listeners: list[Listener] = [open_things.enter_context(Bar())] if progress else []
        listeners += [listen] if listen else []
        work = _Evaluation(tasks, attempts, seed, executor or InProcess(), kept, games, tuple(listeners), stop, crowd)
        work.run(wanted)
        return Results(tuple(work.rows()), tuple(work.errors), work.stopped)


def _check(wanted: Sequence[str | Agent], tasks: Sequence[Task], attempts: int, seed: int) -> None:
    for each in wanted:
        if not isinstance(each, str | Agent):
            raise TypeError(f"an agent is a name, or has `name` and `bind`; this is a {type(each).__name__}")
        if isinstance(each, str) and registry.is_known(each):
            registry.check(each)
    if not wanted or not tasks:
        raise ValueError(f"nothing to evaluate: there are {len(wanted)} agents and {len(tasks)} levels")
    if attempts < 1:
        raise ValueError(f"attempts must be at least 1, not {attempts}")
    if not 0 <= seed < SEEDS:
        raise ValueError(f"the seed must be a whole number from 0 to {SEEDS - 1}, not {seed}")


def _opened(store: Store | str | os.PathLike[str] | None) -> AbstractContextManager[Store]:
    return contextlib.nullcontext(store) if isinstance(store, Store) else Store(store)


@dataclass
class _Evaluation:
    """One call of `evaluate`."""

    tasks: tuple[Task, ...]
    attempts: int
    seed: int
    executor: Executor
    store: Store
    games: int
    listeners: tuple[Listener, ...]
    stop: Stop | None = None
    players: Players | None = None
    stopped: bool = False
    errors: list[ShardError] = field(default_factory=list)
    known: dict[str, Manner] = field(default_factory=dict)
    places: dict[int, str] = field(default_factory=dict)
    runs: dict[str, int] = field(default_factory=dict)
    told: Counter[int] = field(default_factory=Counter)

    def run(self, wanted: Sequence[str | Agent]) -> None:
        """Find out about the agents, then have what is missing played, and enter it shard by shard."""
        self.store.know(self.tasks)
        self._emit(Wanted(len(wanted) * self._whole))
        first = Group(self.tasks[:1])
        jobs: deque[Job] = deque(Trial(n, each, first) for n, each in enumerate(wanted))
        try:
            with contextlib.closing(self.executor.run(jobs, self._tell)) as answers:
                for job, answer in answers:
                    self._enter(job, answer, jobs)
                    self._tell(None, None)
        except Stopped:
            self.stopped = True

    @property
    def _whole(self) -> int:
        """The attempts of one agent."""
        return len(self.tasks) * self.attempts

    def _emit(self, event: Event) -> None:
        for listener in self.listeners:
            listener(event)

    def _tell(self, job: Job | None, event: Event | None) -> None:
        """Pass an event of a job on, and stop if that is wanted; attempts that only fill a shard up do not count."""
        if isinstance(event, Advanced) and job is not None:
            event = event._replace(attempts=min(event.attempts, job.attempts - self.told[id(job)]))
            self.told[id(job)] += event.attempts
        if event is not None:
            self._emit(event)
        if self.stop is not None and self.stop.is_set():
            raise Stopped

    def _enter(self, job: Job, answer: Any, jobs: deque[Job]) -> None:
        """What a job gave; the shards that follow from it are added to the jobs."""
        left = job.attempts - self.told.pop(id(job), 0)
        if isinstance(job, Trial) and not isinstance(answer, Failure):
            jobs.extend(self._shards(job, answer))
        elif isinstance(job, Shard):
            self._emit(Advanced(job.name, left, played=not isinstance(answer, Failure)))
            if not isinstance(answer, Failure):
                self.store.add(self.runs[job.name], answer)
                self._emit(Finished(job.label, tuple(answer)))
        if isinstance(answer, Failure):
            self._fail(job, answer)

    def _shards(self, trial: Trial, manner: Manner) -> Iterator[Shard]:
        """What is missing of an agent."""
        if manner.name in self.known:
            if self.known[manner.name].spec != manner.spec:
                self._fail(trial, Failure("another of the agents has the same name: give it one of its own"))
            else:
                self._emit(Advanced(manner.name, self._whole, played=False))
            return
        if self.players is not None and self._of_others(manner, self.players):
            said = "the store holds players of this agent with other traits: give the agent another name, or the store"
            self._fail(trial, Failure(said))
            return
        self.known[manner.name], self.places[trial.place] = manner, manner.name
        shards = list(self._missing(trial, manner))
        missing = sum(shard.attempts for shard in shards)
        self._emit(Planned(manner.name, missing, len({shard.label for shard in shards})))
        self._emit(Advanced(manner.name, self._whole - missing, played=False))
        if shards:
            self.runs[manner.name] = self.store.begin(self._about(manner))
        yield from shards

    def _missing(self, trial: Trial, manner: Manner) -> Iterator[Shard]:
        """What is to be played of an agent."""
        groups = grouped(self.tasks, self.games, self.attempts, manner.quick)
        if self.players is not None:
            rows = list(self.store.rows(manner.name, self.seed))
            for group in groups:
                yield from series_of(manner, trial.wanted, group, self.seed, self.players, rows)
            return
        done = self.store.done(manner.name, self.seed)
        parts = -(-self.executor.workers // len(groups))
        for group in groups:
            yield from cut(manner, trial.wanted, group, self.seed, self.attempts, done, parts)

    def _of_others(self, manner: Manner, players: Players) -> bool:
        """Whether runs of this agent's name were of players with other traits."""
        known = (run for run in self.store.runs().values() if run.get("agent", {}).get("name") == manner.name)
        return any(run.get("players", players.identity) != players.identity for run in known)

    def _about(self, manner: Manner) -> dict[str, Any]:
        """What belongs to all rows of this call."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        about = {"started": now, "agent": manner.spec, "seed": self.seed, "attempts": self.attempts}
        if self.players is not None:
            about["players"] = self.players.identity
        return about | manner.origin

    def _fail(self, job: Job, failure: Failure) -> None:
        if isinstance(job, Shard):
            used = sorted({task for task, _ in job.items})
            levels = tuple(job.group.tasks[n].name for n in used)
            error = ShardError(job.name, levels, job.attempts, failure.sentence, failure.final)
        elif isinstance(job, Trial):
            levels = tuple(task.name for task in self.tasks)
            error = ShardError(named(job.wanted), levels, self._whole, failure.sentence, failure.final)
            self._emit(Advanced(error.agent, self._whole, played=False))
        else:
            return
        self.errors.append(error)
        self._emit(Failed(error, job.label if isinstance(job, Shard) else None))

    def rows(self) -> Iterable[Row]:
        """All rows that were asked for."""
        order = {task.identity: n for n, task in enumerate(self.tasks)}
        for _, name in sorted(self.places.items()):
            asked = (r for r in self.store.rows(name, self.seed) if r.task in order and self._asked(r))
            yield from sorted(asked, key=lambda row: (order[row.task], row.attempt))

    def _asked(self, row: Row) -> bool:
        """Whether a row is one of those that this call is about."""
        if self.players is None:
            return row.attempt < self.attempts
        within = 0 <= row.player < self.players.number
        return within and row.attempt - FIRST - MOST * row.player < self.players.patience[row.player]
