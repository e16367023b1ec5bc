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

READY, PLAYED, DONE = "ready", "played", "done"
"""What a process says: it can work; so many more attempts are over; a job's result, or its failure."""

PAUSE = 0.5
"""Seconds between two words about how far a job is."""


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

    table, word = Table(), _Word(pipe)
    pipe.send((READY, None))
    while True:
        try:
            job = pipe.recv()
        except (EOFError, OSError):
            return
        except Exception as error:  # what a stranger's agent does when it is unpickled
            pipe.send((DONE, Failure(f"the agent cannot be made in another process: {sentence_of(error)}")))
            continue
        pipe.send((DONE, answer(job, table, word)))


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


class _Word:
    """Says how many attempts are over, but not for each."""

    def __init__(self, pipe: Connection) -> None:
        self.pipe, self.number, self.last = pipe, 0, time.monotonic()

    def __call__(self, number: int) -> None:
        self.number += number
        if time.monotonic() - self.last >= PAUSE:
            self.pipe.send((PLAYED, self.number))
            self.number, self.last = 0, time.monotonic()
