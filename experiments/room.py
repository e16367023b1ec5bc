"""Memory between two programs: what compiling left behind goes back, and programs that are not needed any more go."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from pathlib import Path

import jax

LIMIT = 1 << 29
"""Bytes of a process beyond which compiled programs are forgotten before another one is made."""

MEMORY = Path("/proc/self/statm")


def make_room(limit: int = LIMIT) -> bool:
    """Forget all compiled programs if this process takes more than `limit` bytes; whether that was so."""
    give_back()
    crowded = memory() > limit
    if crowded:
        jax.clear_caches()  # type: ignore[no-untyped-call]
        give_back()
    return crowded


def memory() -> int:
    """Bytes that this process takes of the machine's memory; 0 where the system does not tell."""
    try:
        return int(MEMORY.read_text(encoding="utf-8").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


def give_back() -> None:
    """Return freed memory to the system, which glibc keeps: compiling a rich game frees more than half a gigabyte."""
    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
