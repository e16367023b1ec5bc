"""`python -m tests.soak N [first seed]`: compare N random boards with the slow reference; stop at a difference."""

from __future__ import annotations

import itertools
import sys
import time
import traceback

from tests.differential import Arena
from tests.random_levels import KINDS, RARE_KINDS

BATCH = 256
BATCHES_PER_ARENA = 40
"""After so many batches of each kind its game is made anew, of other levels."""


def main(arguments: list[str]) -> int:
    """0 if all boards agree, 1 after the first difference."""
    wanted = int(arguments[0]) if arguments else 100_000
    seed = int(arguments[1]) if len(arguments) > 1 else 1000
    began, boards, turns = time.time(), 0, 0
    arenas: dict[str, Arena] = {}
    for batch in itertools.count(seed):
        for kind in (*KINDS, *RARE_KINDS):
            if boards >= wanted:
                print(f"\n{boards:,} boards and {turns:,} turns: no difference")
                return 0
            try:
                if kind.name not in arenas or (batch - seed) % BATCHES_PER_ARENA == 0:
                    arenas[kind.name] = Arena(kind, seed=batch)
                turns += arenas[kind.name].play(batch, BATCH)
            except Exception:
                traceback.print_exc()
                print(f"\nstopped: kind {kind.name!r}, batch seed {batch}, after {boards:,} boards", file=sys.stderr)
                return 1
            boards += BATCH
            _progress(boards, wanted, time.time() - began, kind.name)
    return 0


def _progress(boards: int, wanted: int, seconds: float, name: str) -> None:
    rate = boards / seconds
    left = max(wanted - boards, 0) / rate
    line = f"{boards:,} of {wanted:,} boards, {rate:.0f} a second, {left / 60:.1f} minutes left ({name})"
    print(f"\r{line:<100}", end="", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
