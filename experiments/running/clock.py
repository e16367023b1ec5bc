"""Wall-clock time without JAX's compiling: what playing took."""

from __future__ import annotations

import threading
import time
from types import TracebackType

from jax import monitoring

PARTS = "/jax/core/compile/"
"""Events whose names begin so tell how long a part of compiling took, at its end; they may lie within each other."""


class PlayClock:
    """Measures a `with` block: `seconds` that it took, less those in which its thread compiled."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._spans: list[tuple[float, float]] = []

    def __enter__(self) -> PlayClock:
        self._thread, self._started = threading.get_ident(), time.perf_counter()
        monitoring.register_event_duration_secs_listener(self._heard)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        monitoring.unregister_event_duration_listener(self._heard)
        self.seconds = time.perf_counter() - self._started - _length(self._spans)

    def _heard(self, event: str, duration_secs: float, **kwargs: str | int) -> None:
        del kwargs
        if event.startswith(PARTS) and threading.get_ident() == self._thread:
            now = time.perf_counter()
            self._spans.append((max(now - duration_secs, self._started), now))


def _length(spans: list[tuple[float, float]]) -> float:
    """The length of the union of the spans."""
    total, end = 0.0, float("-inf")
    for start, stop in sorted(spans):
        total += max(stop - max(start, end), 0.0)
        end = max(end, stop)
    return total
