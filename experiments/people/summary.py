"""All that a file of people's results says: level by level, and how much levels and players differ."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from experiments.people.crossed import Crossed, crossed
from experiments.people.data import Log, Totals
from experiments.people.errors import PeopleError
from experiments.people.levels import LevelResult, level_results

MOST_PAIRS = 200_000
"""Players and levels are told apart from so many pairs at most, of players drawn at random: more tell no more."""


class Summary(NamedTuple):
    """What people did.

    levels: those with people; differences: standard deviations of levels and players, or None with the reason in
    `unknown`; drawn: of how many players they are
    """

    levels: tuple[LevelResult, ...]
    players: int
    differences: Crossed | None
    unknown: str
    drawn: int


def summarise(people: Log | Totals, seed: int = 0, *, players: int | None = None) -> Summary:
    """Summarise a log or totals. players: intervals as they would be with so many players on each level."""
    levels = level_results(people, seed, players=players)
    if isinstance(people, Totals):
        return Summary(levels, 0, None, "totals of levels do not tell players apart", 0)
    sample = _some(people, seed)
    drawn = len(np.unique(sample.player))
    try:
        return Summary(levels, people.player_count, crossed(sample), "", drawn)
    except PeopleError as error:
        return Summary(levels, people.player_count, None, str(error), drawn)


def _some(people: Log, seed: int) -> Log:
    """All players, or as many drawn at random as have `MOST_PAIRS` together."""
    if people.attempts.size <= MOST_PAIRS:
        return people
    order = np.random.default_rng(seed).permutation(people.player_count)
    pairs = np.cumsum(np.bincount(people.player, minlength=people.player_count)[order])
    return people.of_players(order[pairs <= MOST_PAIRS])
