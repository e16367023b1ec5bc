"""Shards on several processes, each on its own cores; what hangs or breaks is ended and costs its shard only."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from typing import Any

import jax

from experiments.running.executors import worker
from experiments.running.executors.here import (
    PAUSE,
    Answer,
    Answers,
    ExecutorError,
    Failure,
    Told,
    next_job,
    sentence_of,
)
from experiments.running.jobs import Job

BOOT = 300.0
"""Seconds that a process may take to start, importing JAX."""

CACHE = ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs")
"""What of JAX's configuration the processes take over."""


@dataclass(frozen=True)
class Processes:
    """Does jobs on processes of their own. What a stranger's module does to its process, only its own agents feel.

    time_limit: seconds that a job may take, compiling included; then its process is ended
    """

    workers: int = 2
    time_limit: float | None = None

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise ValueError(f"there must be at least one process, not {self.workers}")
        if self.time_limit is not None and not self.time_limit > 0:
            raise ValueError(f"the time limit must be more than 0 seconds, not {self.time_limit}")

    def run(self, jobs: deque[Job], told: Told) -> Answers:
        """Hand the jobs out; when no more answers are asked for, the processes are ended."""
        crew = [_Worker(cores) for cores in shares(self.workers)]
        try:
            while jobs or any(one.job for one in crew):
                for one in crew:
                    if jobs and one.job is None:
                        others = {other.program for other in crew if other is not one}
                        yield from one.give(next_job(jobs, one.program, others, one.home))
                told(None, None)
                for one in self._heard(crew):
                    yield from one.listen(told)
        finally:
            for one in crew:
                one.end()

    def _heard(self, crew: list[_Worker]) -> Iterator[_Worker]:
        """The workers that say something, or end, or are ended because they took too long; waits a little for them."""
        busy = [one for one in crew if one.job]
        limits = [one.limit(self.time_limit) for one in busy]
        patience = min(max(min(limits, default=0.0) - time.monotonic(), 0), PAUSE)
        speaking = wait([one.pipe for one in busy if one.pipe], patience)
        for one, limit in zip(busy, limits, strict=True):
            if one.pipe in speaking:
                yield one
            elif limit <= time.monotonic():
                one.overdue = True
                yield one


class _Worker:
    """One process, started when there is a first job for it, and again after it was ended."""

    def __init__(self, cores: frozenset[int] | None) -> None:
        self.cores = cores
        self._idle()

    def _idle(self) -> None:
        self.process: Any = None
        self.pipe: Connection | None = None
        self.job: Job | None = None
        self.program: Hashable = None
        self.home = ""
        self.ready = self.overdue = False
        self.since = 0.0

    def give(self, job: Job) -> Iterator[Answer]:
        """Hand out a job; an answer only if that fails."""
        try:
            letter = ForkingPickler.dumps(job)
        except Exception as error:  # of the agent's own pickling, so anything
            yield job, Failure(f"the agent cannot be sent to another process ({sentence_of(error)}): give its name")
            return
        spoilt = self.home not in ("", job.home)  # a stranger's module may have changed anything in it
        if self.process is None or not self.process.is_alive() or spoilt:
            self._start()
        assert self.pipe is not None
        self.job, self.program, self.home, self.since = job, job.program, job.home, time.monotonic()
        with contextlib.suppress(OSError):  # it has just ended: `listen` finds out
            self.pipe.send_bytes(letter)

    def _start(self) -> None:
        self.end()
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        known = {name: jax.config.values[name] for name in CACHE}
        self.process = context.Process(target=worker.work, args=(theirs, self.cores, known), daemon=True)
        self.process.start()
        theirs.close()

    def limit(self, seconds: float | None) -> float:
        """When it will have taken too long, by the monotonic clock."""
        return self.since + (BOOT if not self.ready else float("inf") if seconds is None else seconds)

    def listen(self, told: Told) -> Iterator[Answer]:
        """Hear what it says; an answer if the job is over."""
        assert self.pipe is not None and self.job is not None
        job = self.job
        try:
            if self.overdue:
                raise TimeoutError
            kind, value = self.pipe.recv()
        except (EOFError, OSError) as error:
            late = isinstance(error, TimeoutError)
            started, sentence = self.ready, self._obituary(late)
            self.end()
            if not started:
                raise ExecutorError(f"a process could not be started: {sentence}; {ADVICE}") from None
            yield job, Failure(sentence)
            return
        if kind == worker.READY:
            self.ready, self.since = True, time.monotonic()
        elif kind == worker.EVENT:
            told(job, value)
        else:
            self.job = None
            yield job, value

    def _obituary(self, late: bool) -> str:
        """Why the process is no more."""
        if late:
            return f"no answer within {time.monotonic() - self.since:.0f} seconds: it was ended"
        self.process.join(5)
        code = self.process.exitcode
        if code is not None and code < 0:
            name = signal.Signals(-code).name
            return f"its process was ended by {name}" + (" (is there enough memory?)" if name == "SIGKILL" else "")
        return f"its process ended itself with exit code {code}"

    def end(self) -> None:
        """End the process, whatever it is doing."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process.close()
        if self.pipe is not None:
            self.pipe.close()
        self._idle()


ADVICE = (
    'a script that uses processes must start them under `if __name__ == "__main__":`, since each of them imports it'
)


def shares(workers: int) -> list[frozenset[int] | None]:
    """The cores of each worker: as even as can be, at least one; None where the system does not let us choose."""
    if not hasattr(os, "sched_setaffinity"):
        return [None] * workers
    cores = sorted(os.sched_getaffinity(0))
    size = len(cores)
    if workers >= size:
        return [frozenset({cores[n % size]}) for n in range(workers)]
    return [frozenset(cores[n * size // workers : (n + 1) * size // workers]) for n in range(workers)]
