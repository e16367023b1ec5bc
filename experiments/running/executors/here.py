"""Where shards are played: here, one after the other, or (beside this file) elsewhere."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import jax

from experiments.running.jobs import Job, Table


class ExecutorError(RuntimeError):
    """An executor that cannot work at all, with the sentence that says why."""


class Failure(NamedTuple):
    """A job that failed, and the sentence that says why."""

    sentence: str


Answer = tuple[Job, Any]
"""A job and its result, or a `Failure`."""

Answers = Generator[Answer, None, None]

Told = Callable[[Job, int], None]
"""Told how many more attempts of a job are over."""


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
        """Do them one after the other."""
        table = Table()
        while jobs:
            job = jobs.popleft()
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
        """Hand the jobs out; how far one is is not told, since it is played on another thread."""
        del told
        free = [(device, Table()) for device in self.devices or jax.devices()]
        busy: dict[Future[Any], tuple[Job, tuple[jax.Device, Table]]] = {}
        with ThreadPoolExecutor(len(free)) as pool:
            while jobs or busy:
                while jobs and free:
                    job, hand = jobs.popleft(), free.pop()
                    busy[pool.submit(_on_device, job, *hand)] = job, hand
                for future in wait(busy, return_when=FIRST_COMPLETED).done:
                    job, hand = busy.pop(future)
                    free.append(hand)
                    yield job, future.result()


def _on_device(job: Job, device: jax.Device, table: Table) -> Any:
    with jax.default_device(device):
        return answer(job, table, lambda number: None)


def answer(job: Job, table: Table, told: Callable[[int], None]) -> Any:
    """What a job gives, or the failure that it ends in: whatever an agent does, the work goes on."""
    try:
        return job.do(table, told)
    except (Exception, SystemExit) as error:
        return Failure(sentence_of(error))


def sentence_of(error: BaseException) -> str:
    """An error in one sentence: its words alone where they are meant for people."""
    said = " ".join(str(error).split())[:MOST_WORDS]
    kind = type(error).__name__
    return said if kind in SPEAKING and said else f"{kind}: {said}" if said else kind


SPEAKING = ("AgentError", "PolicyError")
"""Errors that are sentences."""

MOST_WORDS = 500
"""Characters of an error that are shown: compilers write pages."""


def next_job(jobs: deque[Job], last: str | None, others: set[str | None]) -> Job:
    """Take the job that suits a worker best: one whose program it has, else one whose program no other has."""
    for suits in (lambda job: job.program == last, lambda job: job.program not in others, lambda job: True):
        for job in jobs:
            if suits(job):
                jobs.remove(job)
                return job
    raise IndexError("there is no job")
