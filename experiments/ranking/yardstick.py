"""One scale for all levels: on each, 0 is the random player and 1 a reference player."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from experiments.ranking.field import Field, PlayedTask, RankingError
from experiments.statistics import Array

RANDOM = "random"
"""The player that is 0 where it has results; elsewhere 0 is never winning, or no points."""

CLEARLY = 2.0
"""How many standard errors the 1 must lie above the 0."""


class Yardstick(NamedTuple):
    """A level's scale: success rates where it has goals, else mean scores. usable: the 1 lies clearly above the 0."""

    zero: float
    one: float
    usable: bool


def yardsticks(field: Field, reference: str | None = None) -> dict[str, Yardstick]:
    """The scale of each level by its identity.

    reference: the player that is 1; None: the best there is, always winning or the best player's mean score.
    """
    missing = [task.label for task in field.tasks if reference and (reference, task.identity) not in field.played]
    if missing:
        raise RankingError(
            f"the reference {reference!r} has no results, or too few, on {len(missing)} of the {len(field.tasks)} "
            f"levels, such as {missing[0]!r}: let it play them, or name another reference"
        )
    return {task.identity: _yardstick(field, task, reference) for task in field.tasks}


def _yardstick(field: Field, task: PlayedTask, reference: str | None) -> Yardstick:
    zero = field.values(RANDOM, task) if (RANDOM, task.identity) in field.played else np.zeros(2)
    if reference is not None:
        one = field.values(reference, task)
    elif task.goal:
        one = np.ones(2)
    else:
        one = max((field.values(agent, task) for agent in field.agents), key=lambda values: float(values.mean()))
    apart = float(one.mean() - zero.mean())
    error = float(np.hypot(_error(zero), _error(one)))
    return Yardstick(float(zero.mean()), float(one.mean()), apart > max(CLEARLY * error, 1e-12))


def _error(values: Array) -> float:
    """The standard error of a mean."""
    return float(values.std(ddof=1) / np.sqrt(values.size))
