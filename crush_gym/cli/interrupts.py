"""Ctrl-C, also while XLA compiles."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import NoReturn

INTERRUPTED = 130
"""The exit code, as a shell would give it."""

NOTHING_KEPT = "nothing was kept; the same command begins anew"


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


def leave_at_once(number: int = signal.SIGINT, frame: object = None) -> NoReturn:
    """What a command's process does on Ctrl-C where nothing else is said: an import may swallow a KeyboardInterrupt."""
    os._exit(INTERRUPTED)


@contextlib.contextmanager
def raising() -> Iterator[None]:
    """Within, Ctrl-C is a KeyboardInterrupt, for what has something to tidy up."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
