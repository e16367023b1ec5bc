"""What the commands that play do to keep the terminal readable."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

ALARMS = "TF_CPP_MIN_LOG_LEVEL"
"""What XLA's C++ reads, when it is loaded, to know how much to say on stderr."""


def quiet_xla() -> None:
    """Keep XLA's alarms, such as "Very slow compile?", out of the bar's line; failures are exceptions all the same."""
    if "jax" not in sys.modules:
        os.environ.setdefault(ALARMS, "3")  # only what ends the process


@contextlib.contextmanager
def players_print_to_stderr() -> Iterator[None]:
    """Within, what is printed, and what processes write that are started, goes to stderr: stdout is for the result."""
    stdout = sys.stdout
    stdout.flush()
    with contextlib.redirect_stdout(sys.stderr):
        try:
            kept = os.dup(1)
        except OSError:  # there is none
            yield
            return
        os.dup2(2, 1)
        try:
            yield
        finally:
            stdout.flush()  # of whoever has kept it
            os.dup2(kept, 1)
            os.close(kept)


def safe_in(store: Path) -> str:
    """What an interrupted command tells of its store."""
    from experiments.results.store import Store, StoreError

    if not store.exists():
        return "nothing was played yet"
    try:
        with Store(store) as known:
            found = f"{len(known):,} results are"
    except StoreError:
        found = "what was finished is"
    return f"{found} safe in {str(store)!r}; the same command goes on from there"
