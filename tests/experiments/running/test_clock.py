"""Playing is timed without the compiling that the first call of a program does."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import jax
import numpy as np
import pytest
from jax import monitoring

from experiments.running.clock import PARTS, PlayClock


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


def test_a_real_program_is_compiled_outside_the_time() -> None:
    def slow(x: jax.Array) -> jax.Array:
        for n in range(300):
            x = x * np.float32(n) + jax.numpy.sin(x)
        return x

    started = time.perf_counter()
    with PlayClock() as clock:
        jax.jit(slow)(np.float32(1)).block_until_ready()
    assert clock.seconds < 0.5 * (time.perf_counter() - started)
