"""Shards on the machines of a Ray cluster (extra `ray`)."""

from __future__ import annotations

import importlib
import time
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from experiments.running.events import Event
from experiments.running.executors.here import (
    PAUSE,
    Answers,
    ExecutorError,
    Failure,
    Told,
    answer,
    next_job,
    sentence_of,
)
from experiments.running.jobs import Job, Table


@dataclass(frozen=True)
class OnRay:
    """Does jobs on Ray actors, each on so many CPUs and GPUs; a crashed or late one is replaced.

    address: of the cluster; None for the one that Ray finds, or a new one on this machine
    time_limit: seconds that a job may take, compiling and waiting for a free machine included
    """

    workers: int = 2
    time_limit: float | None = None
    address: str | None = None
    cpus: float = 1
    gpus: float = 0

    def run(self, jobs: deque[Job], told: Told) -> Answers:
        """Hand the jobs out; an actor is made when there is a first job for it."""
        ray = _ray()
        ray.init(address=self.address, ignore_reinit_error=True, log_to_driver=False)
        hand = ray.remote(num_cpus=self.cpus, num_gpus=self.gpus, max_concurrency=2)(Hand)
        crew = [_Place() for _ in range(self.workers)]
        busy: dict[Any, tuple[_Place, Job, float]] = {}
        news = _News(ray)
        try:
            while jobs or busy:
                taken = [place for place, _, _ in busy.values()]
                for place in crew:
                    if jobs and place not in taken:
                        others = {other.program for other in crew if other is not place}
                        job = next_job(jobs, place.program, others, place.home)
                        busy[place.give(ray, hand, job)] = place, job, time.monotonic()
                told(None, None)
                for future in self._over(ray, busy):
                    place, job, _ = busy.pop(future)
                    result, lost = self._result(ray, future)
                    if lost:
                        place.leave(ray)
                    yield job, result
                for place, job, _ in busy.values():
                    for event in news.of(place.actor):
                        told(job, event)
        finally:
            for place in crew:
                place.leave(ray)

    def _over(self, ray: Any, busy: dict[Any, tuple[_Place, Job, float]]) -> list[Any]:
        """The jobs that are done or took too long; waits a little for the first."""
        oldest = min(busy, key=lambda future: busy[future][2])
        limit = float("inf") if self.time_limit is None else busy[oldest][2] + self.time_limit
        patience = min(max(limit - time.monotonic(), 0.0), PAUSE)
        ready, _ = ray.wait(list(busy), num_returns=1, timeout=patience)
        return ready or ([oldest] if time.monotonic() >= limit else [])

    def _result(self, ray: Any, future: Any) -> tuple[Any, bool]:
        """What a job gave, and whether its actor is lost."""
        try:
            return ray.get(future, timeout=0), False
        except ray.exceptions.GetTimeoutError:
            return Failure(f"no answer within {self.time_limit:g} seconds: it was ended"), True
        except Exception as error:  # whatever Ray says when a machine or an actor is gone
            return Failure(f"its Ray actor failed: {sentence_of(error)}"), True


@dataclass(eq=False)
class _Place:
    """Where one actor after the other works. program, home: of its last job."""

    actor: Any = None
    program: Hashable = None
    home: str = ""

    def give(self, ray: Any, hand: Any, job: Job) -> Any:
        """Hand out a job, to a new actor where there is none or another stranger's module may have changed it."""
        if self.home not in ("", job.home):
            self.leave(ray)
        self.actor, self.program, self.home = self.actor or hand.remote(), job.program, job.home
        return self.actor.do.remote(job)

    def leave(self, ray: Any) -> None:
        """End the actor."""
        if self.actor is not None:
            ray.kill(self.actor)
        self.actor, self.program, self.home = None, None, ""


class Hand:
    """What a Ray actor is; `news` is asked for while it does a job."""

    def __init__(self) -> None:
        self.table = Table()
        self.events: deque[Event] = deque()

    def do(self, job: Job) -> Any:
        """Do a job."""
        self.events.clear()
        return answer(job, self.table, self.events.append)

    def news(self) -> list[Event]:
        """What has happened to its job since this was last asked."""
        return [self.events.popleft() for _ in range(len(self.events))]


class _News:
    """Asks actors for news without waiting: one that is not there yet, or no more, says nothing."""

    def __init__(self, ray: Any) -> None:
        self.ray = ray
        self.asked: dict[int, Any] = {}

    def of(self, actor: Any) -> list[Event]:
        """What the actor answered to the last question; and the next question."""
        question = self.asked.get(id(actor))
        if question is None:
            self.asked[id(actor)] = actor.news.remote()
            return []
        ready, _ = self.ray.wait([question], num_returns=1, timeout=0)
        if not ready:
            return []
        del self.asked[id(actor)]
        try:
            events: list[Event] = self.ray.get(question)
        except Exception:  # what is wrong with the actor is seen where its answer is read
            return []
        return events


def _ray() -> Any:
    try:
        return importlib.import_module("ray")
    except ImportError:
        raise ExecutorError("Ray is not installed: pip install 'crush-gym[ray]'") from None
