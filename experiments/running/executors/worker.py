"""What a process of `processes.py` does. Nothing is imported at the top that could start JAX's threads."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import Any

from experiments.running.events import Advanced, Event

READY, EVENT, DONE = "ready", "event", "done"
"""What a process says: it can work; what happens to its job; a job's result, or its failure."""

PAUSE = 0.5
"""Seconds between two words about how many attempts are over."""


def work(pipe: Connection, cores: frozenset[int] | None, known: Mapping[str, Any]) -> None:
    """Do jobs from the pipe until it closes, on these cores. known: what JAX is configured to."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the whole terminal; the first process decides
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _settle(cores)
    import jax

    for name, value in known.items():
        jax.config.update(name, value)  # type: ignore[no-untyped-call]
    from experiments.running.executors.here import Failure, answer, sentence_of
    from experiments.running.jobs import Table

    table = Table()
    pipe.send((READY, None))
    while True:
        try:
            job = pipe.recv()
        except (EOFError, OSError):
            return
        except Exception as error:  # what a stranger's agent does when it is unpickled
            pipe.send((DONE, Failure(f"the agent cannot be made in another process: {sentence_of(error)}")))
            continue
        pipe.send((DONE, answer(job, table, _Told(pipe))))


def _settle(cores: frozenset[int] | None) -> None:
    """Keep to these cores, with as many threads; and leave a GPU's memory to the others too."""
    if cores is not None and sys.platform != "win32" and sys.platform != "darwin":
        os.sched_setaffinity(0, cores)
        os.environ["NPROC"] = str(len(cores))  # by which XLA counts its threads
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


def _end_with_parent() -> None:
    """A process that is killed cannot end others; an agent that hangs would stay for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class _Told:
    """Says what happens, but not that each single attempt is over."""

    def __init__(self, pipe: Connection) -> None:
        self.pipe, self.over, self.last = pipe, 0, time.monotonic()

    def __call__(self, event: Event) -> None:
        if isinstance(event, Advanced):
            self.over += event.attempts
            if time.monotonic() - self.last < PAUSE:
                return
            event, self.over, self.last = event._replace(attempts=self.over), 0, time.monotonic()
        self.pipe.send((EVENT, event))
