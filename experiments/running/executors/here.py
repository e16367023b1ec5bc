"""Where shards are played: here, one after the other, or (beside this file) elsewhere."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Generator, Hashable, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, Protocol

import jax

from experiments.running import jobs as work
from experiments.running.events import Event, Stopped
from experiments.running.jobs import Job, Table


class ExecutorError(RuntimeError):
    """An executor that cannot work at all, with the sentence that says why."""


class Failure(NamedTuple):
    """A job that failed, and the sentence that says why. final: whether it would fail again."""

    sentence: str
    final: bool = False


Answer = tuple[Job, Any]
"""A job and its result, or a `Failure`."""

Answers = Generator[Answer, None, None]

Told = Callable[[Job | None, Event | None], None]
"""Told what happens to a job, on the thread that asks for answers; and (None, None) while nothing does, now and then.
It may raise `Stopped`, which ends the work."""

PAUSE = 0.2
"""Seconds after which a silence is told."""


class Executor(Protocol):
    """Does jobs. workers: how many at a time."""

    @property
    def workers(self) -> int: ...

    def run(self, jobs: deque[Job], told: Told) -> Answers:
        """Do the jobs in about their order, and those that are added to them before the next answer is asked for."""
        ...


@dataclass(frozen=True)
class InProcess:
    """Does jobs here. An agent that hangs cannot be stopped."""

    workers: int = 1

    def run(self, jobs: deque[Job], told: Told) -> Answers:
        """Do them one after the other, those of one program together."""
        table, last = Table(), None
        while jobs:
            job = next((job for job in jobs if job.program == last), jobs[0])
            jobs.remove(job)
            last = job.program
            yield job, answer(job, table, partial(told, job))


@dataclass(frozen=True)
class Devices:
    """Does jobs on several devices of this process, such as GPUs, each of which has a thread of its own.

    devices: by default all that JAX finds
    """

    devices: tuple[jax.Device, ...] | None = None

    @property
    def workers(self) -> int:
        return len(self.devices or jax.devices())

    def run(self, jobs: deque[Job], told: Told) -> Answers:
        """Hand the jobs out; what their threads say comes to this one through a queue."""
        free = [_Hand(device) for device in self.devices or jax.devices()]
        said: SimpleQueue[tuple[Job, Event | _Done]] = SimpleQueue()
        busy: dict[int, _Hand] = {}
        stop = threading.Event()
        with ThreadPoolExecutor(len(free)) as pool:
            try:
                while jobs or busy:
                    while jobs and free:
                        job = jobs.popleft()
                        hand = busy[id(job)] = free.pop()
                        pool.submit(hand.do, job, said, stop)
                    try:
                        job, word = said.get(timeout=PAUSE)
                    except Empty:
                        told(None, None)
                        continue
                    if isinstance(word, _Done):
                        free.append(busy.pop(id(job)))
                        yield job, word.answer
                    else:
                        told(job, word)
            finally:
                stop.set()


class _Done(NamedTuple):
    """The last that a thread says of a job."""

    answer: Any


@dataclass
class _Hand:
    """A device, and what is kept for its jobs."""

    device: jax.Device
    table: Table = field(default_factory=Table)

    def do(self, job: Job, said: SimpleQueue[tuple[Job, Event | _Done]], stop: threading.Event) -> None:
        """Do a job on a thread of its own."""

        def told(event: Event) -> None:
            if stop.is_set():
                raise Stopped
            said.put((job, event))

        with jax.default_device(self.device), contextlib.suppress(Stopped):
            said.put((job, _Done(answer(job, self.table, told))))


def answer(job: Job, table: Table, told: work.Told) -> Any:
    """What a job gives, or the failure that it ends in: whatever an agent does, the work goes on."""
    try:
        return job.do(table, told)
    except (Exception, SystemExit) as error:
        return Failure(sentence_of(error), type(error).__name__ == "AgentError")


def sentence_of(error: BaseException) -> str:
    """An error in one sentence: its words alone where they are meant for people."""
    said = " ".join(str(error).split())[:MOST_WORDS]
    kind = type(error).__name__
    return said if kind in SPEAKING and said else f"{kind}: {said}" if said else kind


SPEAKING = ("AgentError", "PolicyError")
"""Errors that are sentences."""

MOST_WORDS = 500
"""Characters of an error that are shown: compilers write pages."""


def next_job(jobs: deque[Job], last: Hashable, others: Set[Hashable], home: str) -> Job:
    """Take the job that suits a worker best: one whose program it has, else one whose program no other has.

    home: of what the worker has let in, "" for nothing; a job of another one may cost it a new start
    """

    def worse(job: Job) -> int:
        has, free, same = job.program == last, job.program not in others, job.home == home
        ways = (has and same, free and same, has and not home, free, same, True)
        return ways.index(True)

    if not jobs:
        raise IndexError("there is no job")
    job = min(jobs, key=worse)
    jobs.remove(job)
    return job
