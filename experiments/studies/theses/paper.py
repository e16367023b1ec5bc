""" "Crushing Candy Crush" (two theses): the figures that their texts give of phases 1 and 2.

Their bar charts are lost; what the texts say of them is kept as sentences.
"""

from __future__ import annotations

from typing import NamedTuple

LEVELS = ("13", "77", "100")


class Space(NamedTuple):
    """Table 4.1. actions: mean number of legal moves of a position; depth; digits: log10 of the state space; won."""

    actions: float
    depth: int
    digits: int
    won: float


SPACES = {"13": Space(8.93, 21, 182, 0.02), "77": Space(13.94, 25, 103, 0.002), "100": Space(5.20, 20, 71, 0.0)}
RANDOM_ATTEMPTS = 10_000
HUMANS = {"13": 0.2083, "77": 0.0901, "100": 0.0493}

SECONDS_OF_A_SIMULATION = 0.15
"""On level 13, early or late in an attempt."""

WON, ATTEMPTS = 108, 200
"""Of level 13: 100 simulations a move, binary signal, random playouts."""


class Sweep(NamedTuple):
    """One line of table 4.2. setting: what the other parameters are; parameter: what is tried, and its values."""

    number: int
    setting: dict[str, object]
    parameter: str
    values: tuple[object, ...]
    found: str


GUIDED: dict[str, object] = {"signal": "binary", "playout": "heuristic"}
SCORED: dict[str, object] = {"signal": "score", "playout": "random"}

SWEEPS = (
    Sweep(1, GUIDED, "outcomes", (1, 3, 5, 10), "one outcome of an action slightly worse, else no difference"),
    Sweep(2, GUIDED, "exploration", (0.2, 0.4, 0.6, 0.8), "no consistent difference"),
    Sweep(3, SCORED, "exploration", (0.2, 0.4, 0.6, 0.8), "no consistent difference"),
    Sweep(4, GUIDED, "depth", (None, 1, 2, 3, 4), "little difference; a depth of one slightly better"),
    Sweep(5, SCORED, "depth", (None, 1, 2, 3), "little difference; a depth of one slightly better"),
    Sweep(6, {"playout": "random"}, "signal", ("binary", "partial", "score", "combined"),
          "binary worst; partial goals and the combination best"),
    Sweep(7, SCORED, "shrinking", (0.0, 0.25, 0.5, 0.75, 1.0), "0 and 1 worse than what lies between"),
    Sweep(8, {"signal": "score"}, "playout", ("random", "to-mast", "clouded", "heuristic"),
          "TO-MAST no better than random, clouded and heuristic better"),
)  # fmt: skip
