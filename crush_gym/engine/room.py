"""Room for compiled programs.

XLA:CPU maps three pieces of memory for every kernel and Linux allows a process 65,530 of them: some forty
programs of a rich game. The next one would end the process with a segmentation fault.
"""

from __future__ import annotations

from pathlib import Path

import jax

MAPS = Path("/proc/self/maps")
MOST_MAPS = Path("/proc/sys/vm/max_map_count")


def make_room(share: float = 0.5) -> bool:
    """Forget all compiled programs if they take more than this share of the maps; whether that was so.

    What is still in use is compiled again when it is next called.
    """
    try:
        with MAPS.open("rb") as lines:
            crowded = sum(1 for _ in lines) > share * int(MOST_MAPS.read_text())
    except (OSError, ValueError):
        return False  # not Linux: no such limit is known
    if crowded:
        jax.clear_caches()  # type: ignore[no-untyped-call]
    return crowded
