"""One scale for all levels: on each, 0 is the random player and 1 a reference player."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crush_gym import references
from experiments.ranking.field import Field, PlayedTask, RankingError
from experiments.statistics import Array

RANDOM, LOOKAHEAD = references.SCALE
"""The players that are 0 and 1, unless another one is named."""

CLEARLY = 2.0
"""How many standard errors the 1 must lie above the 0."""

APART = 0.1
"""By how much the success rate of the 1 must lie above that of the 0 where both are players: less would be noise."""

SHIPPED, PLAYED, BEST, NAMED = "shipped", "played", "best", "named"
"""Where a scale comes from: `crush_gym.references`; these players' results here; winning always, or the best mean
score here; a player that was named."""


class Yardstick(NamedTuple):
    """A level's scale: success rates where it has goals, else mean scores.

    usable: the 1 lies clearly above the 0; origin: one of the above
    """

    zero: float
    one: float
    usable: bool
    origin: str


class End(NamedTuple):
    """One end of a scale. error: its standard error."""

    value: float
    error: float

    @classmethod
    def of(cls, values: Array) -> End:
        """The mean of what was measured here."""
        return cls(float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size)))


def yardsticks(field: Field, reference: str | None = None) -> dict[str, Yardstick]:
    """The scale of each level by its identity.

    reference: the player that is 1. None: random play is 0 and `LOOKAHEAD` 1, by the results that ship of the levels
    that ship, else by these players' results here; where those are not there or do not differ, 1 is always winning, or
    the best player's mean score.
    """
    missing = [task.label for task in field.tasks if reference and (reference, task.identity) not in field.played]
    if missing:
        raise RankingError(
            f"the reference {reference!r} has no results, or too few, on {len(missing)} of the {len(field.tasks)} "
            f"levels, such as {missing[0]!r}: let it play them, or name another reference"
        )
    if reference is not None:
        return {
            task.identity: _between(_zero(field, task), _end(field, reference, task), NAMED) for task in field.tasks
        }
    return {task.identity: _usual(field, task) for task in field.tasks}


def _usual(field: Field, task: PlayedTask) -> Yardstick:
    known = references.of_task(task.identity)
    if known is not None and LOOKAHEAD in known:
        scale = _between(_shipped(known[RANDOM], task), _shipped(known[LOOKAHEAD], task), SHIPPED)
    elif all((player, task.identity) in field.played for player in references.SCALE):
        scale = _between(_end(field, RANDOM, task), _end(field, LOOKAHEAD, task), PLAYED)
    else:
        return _to_the_best(field, task)
    return scale if scale.usable and not (task.goal and scale.one - scale.zero < APART) else _to_the_best(field, task)


def _to_the_best(field: Field, task: PlayedTask) -> Yardstick:
    if task.goal:
        return _between(_zero(field, task), End(1.0, 0.0), BEST)
    return _between(_zero(field, task), max(_end(field, agent, task) for agent in field.agents), BEST)


def _between(zero: End, one: End, origin: str) -> Yardstick:
    error = float(np.hypot(zero.error, one.error))
    return Yardstick(zero.value, one.value, one.value - zero.value > max(CLEARLY * error, 1e-12), origin)


def _zero(field: Field, task: PlayedTask) -> End:
    """The random player, by its results here or those that ship; else never winning, or no points."""
    if (RANDOM, task.identity) in field.played:
        return _end(field, RANDOM, task)
    known = references.of_task(task.identity)
    return End(0.0, 0.0) if known is None else _shipped(known[RANDOM], task)


def _end(field: Field, agent: str, task: PlayedTask) -> End:
    return End.of(field.values(agent, task))


def _shipped(known: references.Reference, task: PlayedTask) -> End:
    if not task.goal:
        return End(known.score, known.spread / known.attempts**0.5)
    return End(known.success, (known.success * (1 - known.success) / known.attempts) ** 0.5)
