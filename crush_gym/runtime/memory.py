"""Room for compiled programs, and what compiling left behind.

XLA:CPU maps three pieces of memory for every kernel and Linux allows a process 65,530 of them: some forty
programs of a rich game. The next one would end the process with a segmentation fault.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from pathlib import Path

import jax

from crush_gym import sizes
from crush_gym.runtime import kept

MAPS = Path("/proc/self/maps")
MOST_MAPS = Path("/proc/sys/vm/max_map_count")
MEMORY = Path("/proc/self/statm")


def spare_maps(share: float = sizes.MAPS_SHARE) -> bool:
    """Forget all compiled programs if they take more than this share of the maps; whether that was so.

    What is still in use is compiled again when it is next called.
    """
    try:
        with MAPS.open("rb") as lines:
            crowded = sum(1 for _ in lines) > share * int(MOST_MAPS.read_text())
    except (OSError, ValueError):
        return False  # not Linux: no such limit is known
    if crowded:
        forget()
    return crowded


def spare_memory(limit: int = sizes.RESIDENT) -> bool:
    """Forget all compiled programs if this process takes more than `limit` bytes; whether that was so."""
    give_back()
    crowded = resident() > limit
    if crowded:
        forget()
        give_back()
    return crowded


def forget() -> None:
    """Let go of every compiled program."""
    kept.forget()
    jax.clear_caches()  # type: ignore[no-untyped-call]


def resident() -> int:
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
