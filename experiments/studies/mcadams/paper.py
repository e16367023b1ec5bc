""" "Approximating Optimal Strategy in Match-Three Puzzle Games" (G. McAdams): the figures that its text gives.

Its graphs are lost: mean scores are not among them.
"""

from __future__ import annotations

from typing import NamedTuple

SIZES = ("5x5", "6x6", "7x7", "8x8", "9x9", "10x10")
TALL = "10x5"
"""Rows and columns of the boards; the tall one is for the test of how ties are broken."""

DEPTHS = {"5x5": 3, "6x6": 3, "7x7": 3, "8x8": 4, "9x9": 4, "10x10": 4, TALL: 3}
"""Greatest depth that was tried."""

GAMES = 500
"""Of each player."""

LEGAL_MOVES = {"5x5": 3.28, "6x6": 4.99, "7x7": 7.72, "8x8": 10.59, "9x9": 14.31, "10x10": 18.96, TALL: 7.284}
"""Mean number for an arbitrary position."""

RANDOM_T = {"5x5": 14.59, "6x6": 20.623, "7x7": 26.131, "8x8": 28.634, "9x9": 32.540, "10x10": 36.756}
"""Welch's t of S.H1.1 against random play."""


class Claim(NamedTuple):
    """Which of two players was found better, "" where neither; with what confidence in percent; t where it is given."""

    better: str
    confidence: str
    t: float | None = None


HEURISTICS = {
    ("5x5", 1): Claim("H2", "< 90"), ("5x5", 2): Claim("H1", "< 90"), ("5x5", 3): Claim("H1", "> 98"),
    ("6x6", 1): Claim("H2", "> 99.9"), ("6x6", 2): Claim("H1", "> 98"), ("6x6", 3): Claim("", "< 50"),
    ("7x7", 1): Claim("H2", "> 99.9"), ("7x7", 2): Claim("", "< 50"), ("7x7", 3): Claim("", "< 50"),
    ("8x8", 1): Claim("H2", "> 99.9"), ("8x8", 2): Claim("", "< 50"), ("8x8", 3): Claim("", "< 50"),
    ("8x8", 4): Claim("H2", "< 80"),
    ("9x9", 1): Claim("H2", "> 99.9"), ("9x9", 2): Claim("H2", "> 98"), ("9x9", 3): Claim("H2", "< 95"),
    ("9x9", 4): Claim("H2", "> 99.9"),
    ("10x10", 1): Claim("H2", "> 99.9"), ("10x10", 2): Claim("H2", "> 99.9"), ("10x10", 3): Claim("H2", "> 99.9"),
    ("10x10", 4): Claim("H2", "> 99.9"),
}  # fmt: skip
"""H1 against H2, by size and depth."""

TIES = {
    1: Claim("sorted", "> 99.9", 3.439), 2: Claim("sorted", "< 98"), 3: Claim("", "< 50"),
}  # fmt: skip
"""Ties broken downwards against not, with H1 on the tall board, by depth."""
