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

from agents.protocol import Agent
from crush_gym import Level, LevelPack
from experiments.results.assignment import SEEDS, Task, tasks_of
from experiments.results.row import Row
from experiments.results.store import Store
from experiments.running.executors.here import Executor, Failure, InProcess
from experiments.running.grouping import MOST_GAMES, Group, grouped
from experiments.running.jobs import Job, Manner, Shard, Trial, cut, named
from experiments.running.progress import Progress

Levels = str | Level | LevelPack | Task | Sequence[Any]
"""What `tasks_of` takes."""


@dataclass(frozen=True)
class ShardError:
    """Attempts that were not played, and why. levels: names, in order."""

    agent: str
    levels: tuple[str, ...]
    attempts: int
    sentence: str

    def __str__(self) -> str:
        where = self.levels[0] if len(self.levels) == 1 else f"{len(self.levels)} levels"
        return f"{self.agent} on {where}, {self.attempts:,} attempts: {self.sentence}"


@dataclass(frozen=True)
class Results:
    """The rows of all attempts that were asked for and are there, by agent, level and attempt as asked for."""

    rows: tuple[Row, ...]
    errors: tuple[ShardError, ...]


def evaluate(
    agents: str | Agent | Sequence[str | Agent],
    levels: Levels,
    attempts: int = 100,
    seed: int = 0,
    executor: Executor | None = None,
    store: Store | str | os.PathLike[str] | None = None,
    *,
    games: int = MOST_GAMES,
    progress: bool = True,
) -> Results:
    """Let every agent play every level so many times; what the store holds already is not played again.

    agents: names (see `agents.registry.make`) or agents; levels: see `experiments.results.assignment.tasks_of`
    executor: where it is played, here by default; store: a file, or None to keep the results in memory only
    games: compiled games at most, for each rule set and agent; progress: whether stderr shows how far it is

    A row depends on agent, level, seed and its attempt's number only. What an agent breaks becomes an error of the
    results and the rest goes on; a `StoreError` ends it, and what was entered before stays.
    """
    wanted = [agents] if isinstance(agents, str | Agent) else list(agents)
    tasks = tuple({task.identity: task for task in tasks_of(levels)}.values())
    _check(wanted, tasks, attempts, seed)
    with _opened(store) as kept:
        bar = Progress(len(wanted) * len(tasks) * attempts, shown=progress)
        work = _Evaluation(tasks, attempts, seed, executor or InProcess(), kept, games, bar)
        try:
            work.run(wanted)
        finally:
            bar.close()
        return Results(tuple(work.rows()), tuple(work.errors))


def _check(wanted: Sequence[str | Agent], tasks: Sequence[Task], attempts: int, seed: int) -> None:
    for each in wanted:
        if not isinstance(each, str | Agent):
            raise TypeError(f"an agent is a name, or has `name` and `bind`; this is a {type(each).__name__}")
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
    bar: Progress
    errors: list[ShardError] = field(default_factory=list)
    known: dict[str, Manner] = field(default_factory=dict)
    places: dict[int, str] = field(default_factory=dict)
    runs: dict[str, int] = field(default_factory=dict)
    told: Counter[int] = field(default_factory=Counter)

    def run(self, wanted: Sequence[str | Agent]) -> None:
        """Find out about the agents, then have what is missing played, and enter it shard by shard."""
        self.store.know(self.tasks)
        first = Group(self.tasks[:1])
        jobs: deque[Job] = deque(Trial(n, each, first) for n, each in enumerate(wanted))
        with contextlib.closing(self.executor.run(jobs, self._tell)) as answers:
            for job, answer in answers:
                if isinstance(answer, Failure):
                    self._fail(job, answer)
                elif isinstance(job, Trial):
                    jobs.extend(self._shards(job, answer))
                elif isinstance(job, Shard):
                    self.store.add(self.runs[job.name], answer)
                self.bar.advance(job.attempts - self.told.pop(id(job), 0))

    def _tell(self, job: Job, number: int) -> None:
        """More attempts of a job are over; those that only fill it up do not count."""
        number = min(number, job.attempts - self.told[id(job)])
        self.told[id(job)] += number
        self.bar.advance(number)

    def _shards(self, trial: Trial, manner: Manner) -> Iterator[Shard]:
        """What is missing of an agent."""
        whole = len(self.tasks) * self.attempts
        if manner.name in self.known:
            self.bar.total -= whole
            if self.known[manner.name].spec != manner.spec:
                self._fail(trial, Failure("another of the agents has the same name: give it one of its own"))
            return
        self.known[manner.name], self.places[trial.place] = manner, manner.name
        done = self.store.done(manner.name, self.seed)
        groups = grouped(self.tasks, self.games, self.attempts, manner.quick)
        parts = -(-self.executor.workers // len(groups))
        shards = [
            shard
            for group in groups
            for shard in cut(manner, trial.wanted, group, self.seed, self.attempts, done, parts)
        ]
        self.bar.advance(whole - sum(shard.attempts for shard in shards), played=False)
        if shards:
            self.runs[manner.name] = self.store.begin(self._about(manner))
        yield from shards

    def _about(self, manner: Manner) -> dict[str, Any]:
        """What belongs to all rows of this call."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        return {"started": now, "agent": manner.spec, "seed": self.seed, "attempts": self.attempts} | manner.origin

    def _fail(self, job: Job, failure: Failure) -> None:
        if isinstance(job, Shard):
            used = sorted({task for task, _ in job.items})
            levels = tuple(job.group.tasks[n].name for n in used)
            self.errors.append(ShardError(job.name, levels, job.attempts, failure.sentence))
        elif isinstance(job, Trial):
            whole = len(self.tasks) * self.attempts
            levels = tuple(task.name for task in self.tasks)
            self.errors.append(ShardError(named(job.wanted), levels, whole, failure.sentence))
            self.bar.advance(whole, played=False)

    def rows(self) -> Iterable[Row]:
        """All rows that were asked for."""
        order = {task.identity: n for n, task in enumerate(self.tasks)}
        for _, name in sorted(self.places.items()):
            asked = (r for r in self.store.rows(name, self.seed) if r.task in order and r.attempt < self.attempts)
            yield from sorted(asked, key=lambda row: (order[row.task], row.attempt))
