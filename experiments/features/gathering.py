"""`gather`: agents' attempts at levels, played where the cache does not hold them yet."""

from __future__ import annotations

import contextlib
import os
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from agents.protocol import Agent
from experiments.features.among import Among
from experiments.features.cache import Cache, Player
from experiments.features.jobs import Introduced, Introduction, Item, Recording, arranged, cut
from experiments.features.records import BLOCK, Record, lifted
from experiments.results.task import Task
from experiments.running.bar import Bar
from experiments.running.events import Advanced, Event, Failed, Listener, Planned, ShardError, Stop, Stopped, Wanted
from experiments.running.executors.here import Executor, Failure, InProcess
from experiments.running.grouping import Group
from experiments.running.jobs import Job, Trial, named

Kept = Cache | str | os.PathLike[str] | None

Refused = Callable[[str, str], None]
"""Told of an agent that cannot be used: its name, and the sentence that says why."""


class FeatureError(ValueError):
    """Features that cannot be had, with the sentence that says why."""


class Gathered(NamedTuple):
    """Attempts of agents at levels.

    played: the levels as they were played, of each task as it was asked for
    attempts, seed: as they were asked for
    records: by agent's name, then by the identity of the level as it was played
    """

    tasks: tuple[Task, ...]
    played: tuple[Task, ...]
    players: tuple[Player, ...]
    attempts: int
    seed: int
    records: Mapping[str, Mapping[str, Record]]


def gather(
    agents: Sequence[str | Agent],
    tasks: Sequence[Task],
    attempts: int = 1000,
    seed: int = 0,
    cache: Kept = None,
    *,
    limits: Sequence[int] | None = None,
    lift: bool = True,
    refused: Refused | None = None,
    executor: Executor | None = None,
    listen: Listener | None = None,
    stop: Stop | None = None,
    progress: bool = True,
) -> Gathered:
    """Let every agent make so many attempts at every level, with more moves than the level gives.

    Args:
        agents: names (see `agents.registry.make`) or agents.
        tasks: the levels; they must ask for something.
        attempts: of each agent at each level, a multiple of `BLOCK`.
        seed: of the attempts' keys, which are those of `experiments.evaluate`.
        cache: a file or an open cache; None: nothing is kept.
        limits: of moves, under which each level will be looked at, where it is not its own.
        lift: whether attempts go on beyond these limits. Otherwise they have just the levels' own moves.
        refused: told of agents that cannot be used, which are left out then; None: they are a `FeatureError`.
        executor, listen, stop, progress: as for `experiments.evaluate`.

    Raises:
        FeatureError: an agent or a level that cannot be played. What was played before is in the cache.
        Stopped: where `stop` was set.
    """
    if attempts < BLOCK or attempts % BLOCK:
        raise FeatureError(f"attempts must be a multiple of {BLOCK}, not {attempts}")
    endless = [task.name for task in tasks if not asks(task)]
    if endless:
        raise FeatureError(f"nobody can win {endless[0]!r}, which asks for nothing: give it a goal")
    own = [int(task.level.moves) for task in tasks] if limits is None else list(limits)
    played = tuple(
        replace(task, level=lifted(task.level, limit)) if lift else task for task, limit in zip(tasks, own, strict=True)
    )
    with contextlib.ExitStack() as open_things:
        kept = open_things.enter_context(_opened(cache))
        listeners: list[Listener] = [open_things.enter_context(Bar())] if progress else []
        work = _Gathering(played, attempts, seed, kept, (*listeners, *([listen] if listen else [])), stop, refused)
        work.run(agents, executor or InProcess())
        return Gathered(tuple(tasks), played, tuple(work.players), attempts, seed, work.records())


def asks(task: Task) -> bool:
    """Whether a level asks for anything."""
    level = task.level
    others = level.goal_jelly or level.goal_cherry or level.goal_hazelnut or (level.orders > 0).any()
    return bool(others or level.goal_score > 0)


def _opened(cache: Kept) -> AbstractContextManager[Cache]:
    return contextlib.nullcontext(cache) if isinstance(cache, Cache) else Cache(cache)


@dataclass
class _Gathering:
    """One call of `gather`. tasks: as they are played."""

    tasks: tuple[Task, ...]
    attempts: int
    seed: int
    cache: Cache
    listeners: tuple[Listener, ...]
    stop: Stop | None
    refused: Refused | None
    introduced: dict[int, Introduced] = field(default_factory=dict)
    told: Counter[int] = field(default_factory=Counter)

    def run(self, wanted: Sequence[str | Agent], executor: Executor) -> None:
        """Find out about the agents, then have what is missing played, and enter it job by job."""
        unique = tuple({task.identity: task for task in self.tasks}.values())
        self._emit(Wanted(len(wanted) * len(unique) * self.attempts))
        if not wanted:
            return
        first = arranged(unique[:1], self.attempts, quick=True)[0]
        jobs: deque[Job] = deque(Introduction(Trial(n, each, first)) for n, each in enumerate(wanted))
        unknown = len(jobs)
        with contextlib.closing(executor.run(jobs, self._tell)) as answers:
            for job, answer in answers:
                self._enter(job, answer)
                if isinstance(job, Introduction):
                    unknown -= 1
                    if not unknown:
                        jobs.extend(self._missing(wanted, unique))
                self._tell(None, None)

    @property
    def players(self) -> list[Player]:
        """Of the agents, in the order in which they were asked for."""
        return [Player(found.manner.name, found.weights) for _, found in sorted(self.introduced.items())]

    def records(self) -> dict[str, dict[str, Record]]:
        """All that was asked for, from the cache."""
        levels = list(dict.fromkeys(task.identity for task in self.tasks))
        return {
            player.name: {
                level: record.first(self.attempts)
                for level, record in self.cache.records(player, self.seed, levels).items()
            }
            for player in self.players
        }

    def _enter(self, job: Job, answer: Any) -> None:
        """What a job gave."""
        if isinstance(answer, Failure):
            self._fail(job, answer)
        elif isinstance(job, Introduction):
            self.introduced[job.trial.place] = answer
            names = [found.manner.name for found in self.introduced.values()]
            if len(set(names)) < len(names):
                raise FeatureError(f"two of the agents are called {names[-1]!r}: name it once")
        elif isinstance(job, Recording):
            self._emit(Advanced(job.name, job.attempts - self.told.pop(id(job), 0)))
            player = next(player for player in self.players if player.name == job.name)
            self.cache.add(player, self.seed, answer)

    def _missing(self, wanted: Sequence[str | Agent], tasks: tuple[Task, ...]) -> list[Recording]:
        """What is to be played, group by group: agents that share programs come after each other there."""
        introduced = sorted(self.introduced.items())
        lacking = {n: self._lacking(self._known(found.manner.name, tasks)) for n, found in introduced}
        asked = self._shared(wanted, [n for n, found in introduced if found.shares and lacking[n]])
        jobs: list[Recording] = []
        for quick in (True, False):
            places = [n for n, found in introduced if found.manner.quick == quick]
            some = tuple(task for task in tasks if any(task.identity in lacking[n] for n in places))
            for group in arranged(some, self.attempts, quick) if some else ():
                for n in places:
                    jobs += cut(self.introduced[n].manner, asked[n], group, self.seed, _items(group, lacking[n]))
        self._plan(jobs, len(tasks))
        return jobs

    def _shared(self, wanted: Sequence[str | Agent], places: Sequence[int]) -> list[str | Agent]:
        """The agents; those in these places share a program, whatever the order in which they were asked for."""
        names = {n: found.manner.name for n, found in self.introduced.items()}
        together = sorted(places, key=lambda n: names[n])
        if len(together) < 2:
            return list(wanted)
        players = tuple(wanted[n] for n in together)
        return [
            Among(names[n], together.index(n), players) if n in together else agent for n, agent in enumerate(wanted)
        ]

    def _known(self, name: str, tasks: tuple[Task, ...]) -> dict[str, int]:
        """How many attempts of an agent there are, by level."""
        player = next(player for player in self.players if player.name == name)
        found = self.cache.records(player, self.seed, [task.identity for task in tasks])
        return {task.identity: found[task.identity].attempts if task.identity in found else 0 for task in tasks}

    def _lacking(self, known: Mapping[str, int]) -> dict[str, tuple[int, int]]:
        """By level, the first attempt that is missing and how many are."""
        return {level: (there, self.attempts - there) for level, there in known.items() if there < self.attempts}

    def _plan(self, jobs: Sequence[Recording], levels: int) -> None:
        for player in self.players:
            own = [job for job in jobs if job.name == player.name]
            missing = sum(job.attempts for job in own)
            self._emit(Planned(player.name, missing, len({job.program for job in own})))
            self._emit(Advanced(player.name, levels * self.attempts - missing, played=False))

    def _fail(self, job: Job, failure: Failure) -> None:
        if isinstance(job, Introduction):
            name = named(job.trial.wanted)
            said = f"the agent {name!r} cannot be used: {failure.sentence}"
            if self.refused is None:
                raise FeatureError(said)
            self._emit(Advanced(name, len({task.identity for task in self.tasks}) * self.attempts, played=False))
            self.refused(name, said)
            return
        assert isinstance(job, Recording)
        levels = tuple(job.group.tasks[number].name for number, _, _ in job.items)
        error = ShardError(job.name, levels, job.attempts, failure.sentence)
        self._emit(Failed(error, job.program))
        raise FeatureError(str(error))

    def _emit(self, event: Event) -> None:
        for listener in self.listeners:
            listener(event)

    def _tell(self, job: Job | None, event: Event | None) -> None:
        """Pass an event of a job on, and stop if that is wanted; attempts that only fill a job up do not count."""
        if isinstance(event, Advanced) and job is not None:
            event = event._replace(attempts=min(event.attempts, job.attempts - self.told[id(job)]))
            self.told[id(job)] += event.attempts
        if event is not None:
            self._emit(event)
        if self.stop is not None and self.stop.is_set():
            raise Stopped


def _items(group: Group, lacking: Mapping[str, tuple[int, int]]) -> list[Item]:
    return [(n, *lacking[task.identity]) for n, task in enumerate(group.tasks) if task.identity in lacking]
