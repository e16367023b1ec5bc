"""Playing is timed without the compiling that the first call of a program does."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import jax
import numpy as np
import pytest
from jax import monitoring

from experiments.running.clock import LAST, PARTS, CompileClock, PlayClock


def compiling(seconds: float) -> None:
    """What JAX says at the end of a part of compiling."""
    monitoring.record_event_duration_secs(f"{PARTS}backend_compile_duration", seconds)


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A time that only passes when the test says so."""
    time = [50.0]
    monkeypatch.setattr("experiments.running.clock.time", SimpleNamespace(perf_counter=lambda: time[0]))
    return time


def test_what_was_compiled_does_not_count_and_nothing_counts_twice(now: list[float]) -> None:
    with PlayClock() as clock:
        now[0] += 0.3
        compiling(0.1)
        compiling(0.2)  # the first part lies within it
        monitoring.record_event_duration_secs("/jax/compilation_cache/compile_time_saved_sec", 100.0)
    assert clock.seconds == pytest.approx(0.1)


def test_compiling_before_the_block_or_on_another_thread_counts_as_playing(now: list[float]) -> None:
    with PlayClock() as clock:
        now[0] += 0.1
        other = threading.Thread(target=compiling, args=(0.05,))
        other.start()
        other.join()
    assert clock.seconds == pytest.approx(0.1)
    with PlayClock() as clock:
        now[0] += 0.1
        compiling(1000.0)
    assert clock.seconds == 0
    now[0] += 1
    compiling(0.5)
    assert clock.seconds == 0


def test_whoever_listens_is_told_when_compiling_begins_and_when_a_program_can_run(now: list[float]) -> None:
    told: list[float | None] = []

    def part(name: str, seconds: float, *within: str) -> None:
        monitoring.record_scalar(PARTS + name, now[0])
        now[0] += seconds
        for other in within:
            part(other, 1.0)
        monitoring.record_event_duration_secs(PARTS + name, seconds + len(within))

    compiled = LAST.removeprefix(PARTS)
    with CompileClock(told.append) as clock:
        part("jaxpr_trace_duration", 2.0, compiled)  # a constant was computed on the way
        part(compiled, 3.0)
        now[0] += 100
        part(compiled, 4.0)
        assert told == [None, 6.0, None, 10.0] and clock.seconds == 10.0
    part(compiled, 1.0)
    assert len(told) == 4


def test_a_real_program_says_so_once(now: list[float]) -> None:
    told: list[float | None] = []
    value = np.float32(1)
    program = jax.jit(lambda x: jax.numpy.sin(x) + 1)
    with CompileClock(told.append):
        program(value).block_until_ready()
        program(value).block_until_ready()
    assert len(told) == 2 and told[0] is None and told[1] is not None


def test_a_real_program_is_compiled_outside_the_time() -> None:
    def slow(x: jax.Array) -> jax.Array:
        for n in range(300):
            x = x * np.float32(n) + jax.numpy.sin(x)
        return x

    started = time.perf_counter()
    with PlayClock() as clock:
        jax.jit(slow)(np.float32(1)).block_until_ready()
    assert clock.seconds < 0.5 * (time.perf_counter() - started)
