"""A small level that synthetic players clear or do not."""

from crush_gym import Level

ROWS = ["?' ? ? ? ?'", "? ?' ? ?' ?", "? ? ?'' ? ?", "? ?' ? ?' ?", "?' ? ? ? ?'"]
JELLY = 9
"""Cells with jelly."""


def small(number: int, moves: int) -> Level:
    """Jelly on five rows of five."""
    return Level.from_dict(
        {"name": f"small {number}", "colours": 4, "moves": moves, "goals": {"jelly": "all"}, "board": ROWS}
    )
