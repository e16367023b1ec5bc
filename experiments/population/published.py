"""What real players did on 15 levels of a match-three game: aggregates of a public teaching data set of its company.

Their layouts are not known, so nothing here can be played. It is what a synthetic population is made alike to.
"""

from __future__ import annotations

from typing import NamedTuple

from experiments.statistics import Interval


class PublishedLevel(NamedTuple):
    """One level. cleared: the share of players who ever won it; design_effect: of its rate, over players."""

    players: int
    attempts: int
    successes: int
    cleared: float
    design_effect: float

    @property
    def rate(self) -> float:
        """Successes over attempts, those after the first win included."""
        return self.successes / self.attempts

    @property
    def each(self) -> float:
        """Attempts a player."""
        return self.attempts / self.players


LEVELS = (
    PublishedLevel(665, 1322, 818, 0.944, 2.16),
    PublishedLevel(669, 1285, 666, 0.930, 1.32),
    PublishedLevel(666, 1546, 662, 0.919, 1.38),
    PublishedLevel(697, 1893, 705, 0.915, 1.34),
    PublishedLevel(1186, 6937, 634, 0.492, 1.53),
    PublishedLevel(662, 1591, 668, 0.897, 3.50),
    PublishedLevel(951, 4526, 614, 0.589, 2.05),
    PublishedLevel(1829, 15816, 641, 0.329, 1.30),
    PublishedLevel(1207, 8241, 670, 0.518, 1.49),
    PublishedLevel(868, 3282, 617, 0.666, 2.32),
    PublishedLevel(982, 5575, 603, 0.580, 2.83),
    PublishedLevel(1102, 6868, 659, 0.573, 1.17),
    PublishedLevel(678, 1327, 686, 0.922, 1.63),
    PublishedLevel(834, 2772, 777, 0.771, 1.86),
    PublishedLevel(2821, 30374, 1157, 0.384, 1.23),
)
"""In the game's order."""

TO_CLEAR = {8: (5, 18), 15: (7, 23)}
"""Of two levels, counted from 1: attempts of those who cleared it, the median and what 90 % needed at most."""

PLAYER = Interval(0.594, 0.547, 0.641)
PLAYER_LEVEL = Interval(0.566, 0.503, 0.629)
"""Standard deviations on the logit scale, with 95 % intervals: of players, and of players from level to level."""

PLAYER_FIRST, PLAYER_LEVEL_FIRST = 0.617, 0.383
"""The same without attempts after a player's first win. Synthetic people make none."""
