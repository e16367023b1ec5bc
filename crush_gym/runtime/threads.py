"""Calls of one compiled program side by side, each on a host thread of its own.

XLA:CPU splits every operation over the cores, which for operations of microseconds costs more than it
brings (measured: two cores are slower than one).
"""

from __future__ import annotations

import functools
import os
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax

Tree = Any


def cores() -> int:
    """How many CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_compiled: weakref.WeakSet[Callable[..., Any]] = weakref.WeakSet()
"""Programs that have run: the first call of one compiles it, which two threads would do at once, each for itself."""


def run_all(program: Callable[..., Tree], calls: Sequence[Callable[[], Tree]]) -> list[Tree]:
    """The results of the calls of a program, which run on as many threads as there are cores."""

    def finished(call: Callable[[], Tree]) -> Tree:
        return jax.block_until_ready(call())  # type: ignore[no-untyped-call]

    alone = len(calls) if cores() == 1 else int(program not in _compiled)
    done = [finished(call) for call in calls[:alone]]
    _compiled.add(program)
    return done + _side_by_side([functools.partial(finished, call) for call in calls[alone:]])


def _side_by_side(calls: Sequence[Callable[[], Tree]]) -> list[Tree]:
    """Their results; this thread takes its share of the calls, for waking another costs time."""
    results: list[Tree] = [None] * len(calls)
    waiting = iter(range(len(calls)))

    def work() -> None:
        for i in waiting:
            results[i] = calls[i]()

    helpers = [_helpers().submit(work) for _ in range(min(cores(), len(calls)) - 1)]
    work()
    for helper in helpers:
        if not helper.cancel():
            helper.result()
    return results


@functools.lru_cache(maxsize=1)
def _helpers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(cores(), thread_name_prefix="crush_gym")
