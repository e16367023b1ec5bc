"""What the commands that play do to keep the terminal readable."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from crush_gym.cli.program import INTERRUPTED

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


@contextlib.contextmanager
def interruptible(sentence: Callable[[], str]) -> Iterator[None]:
    """Within, Ctrl-C ends the process at once, with a sentence and exit code 130, whatever is being computed.

    Nothing is unwound: XLA compiles on threads that would crash where the interpreter ends before them, and Python
    hears of nothing while its first thread waits for them. Stores lose nothing by it. sentence: is called in a thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    woken, waker = socket.socketpair()
    waker.setblocking(False)
    threading.Thread(target=_leave_when, args=(woken, sentence), daemon=True).start()
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    pipe = signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
    try:
        yield
    except KeyboardInterrupt:  # of a player
        _leave(sentence)
    finally:
        signal.set_wakeup_fd(pipe)
        signal.signal(signal.SIGINT, before)
        waker.close()


def _leave_when(woken: socket.socket, sentence: Callable[[], str]) -> None:
    """Wait for Ctrl-C, or for the end."""
    with woken:
        while number := woken.recv(1):
            if number[0] == signal.SIGINT:
                _leave(sentence)


def _leave(sentence: Callable[[], str]) -> None:
    print(f"\ninterrupted: {sentence()}", file=sys.stderr, flush=True)
    os._exit(INTERRUPTED)


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
