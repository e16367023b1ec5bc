"""Wall-clock time without JAX's compiling: what playing took; and word of the compiling."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType

from jax import monitoring

PARTS = "/jax/core/compile/"
"""Events whose names begin so tell that a part of compiling begins, and how long it took; parts lie within others."""

LAST = f"{PARTS}backend_compile_duration"
"""The last part of a program's compiling."""


class CompileClock:
    """Measures how much of a `with` block its thread compiled, in seconds.

    told: hears None when compiling begins, and all `seconds` so far when a program can run
    """

    def __init__(self, told: Callable[[float | None], None] | None = None) -> None:
        self._told = told or (lambda seconds: None)
        self._spans: list[tuple[float, float]] = []
        self._depth, self._compiling = 0, False

    @property
    def seconds(self) -> float:
        """So far."""
        return _length(self._spans)

    def __enter__(self) -> CompileClock:
        self._thread, self._started = threading.get_ident(), time.perf_counter()
        monitoring.register_scalar_listener(self._began)
        monitoring.register_event_duration_secs_listener(self._ended)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        monitoring.unregister_scalar_listener(self._began)
        monitoring.unregister_event_duration_listener(self._ended)

    def _began(self, event: str, value: float | int, **kwargs: str | int) -> None:
        del value, kwargs
        if not self._concerns(event):
            return
        self._depth += 1
        if not self._compiling:
            self._compiling = True
            self._told(None)

    def _ended(self, event: str, duration_secs: float, **kwargs: str | int) -> None:
        del kwargs
        if not self._concerns(event):
            return
        now = time.perf_counter()
        self._spans.append((max(now - duration_secs, self._started), now))
        self._depth = max(self._depth - 1, 0)  # what began before the block is not counted
        if event == LAST and self._compiling and self._depth == 0:
            self._compiling = False
            self._told(self.seconds)

    def _concerns(self, event: str) -> bool:
        return event.startswith(PARTS) and threading.get_ident() == self._thread


class PlayClock:
    """Measures a `with` block: `seconds` that it took, less those in which its thread compiled."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._compiling = CompileClock()

    def __enter__(self) -> PlayClock:
        self._compiling.__enter__()
        self._started = time.perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._compiling.__exit__(kind, error, trace)
        self.seconds = time.perf_counter() - self._started - self._compiling.seconds


def _length(spans: list[tuple[float, float]]) -> float:
    """The length of the union of the spans."""
    total, end = 0.0, float("-inf")
    for start, stop in sorted(spans):
        total += max(stop - max(start, end), 0.0)
        end = max(end, stop)
    return total
