"""A result: how one attempt of one agent on one task went."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Row(NamedTuple):
    """One attempt. (agent, task, seed, attempt) tells it apart from all others.

    agent: the agent's name, from which `agents.registry.make` makes it again
    task: `Task.identity`; level: the task's name, for people
    seed, attempt: its key is `experiments.results.task.attempt_key(seed, task, attempt)`
    outcome, reason: names from `crush_gym.OUTCOMES`, `crush_gym.REASONS`
    score, moves (made), moves_left (-1 in timed levels), waves, goals_left: as in `crush_gym.Stats`
    seconds: wall-clock time of the shard that it was played in, without compiling, divided by the shard's attempts
    player: which member of a population played it, -1 where nobody in particular did

    The store's tables, its view and the exports have these columns in this order. A new one comes last, with a default
    for the rows that older stores hold (see `experiments.results.tables`).
    """

    agent: str
    task: str
    level: str
    seed: int
    attempt: int
    won: bool
    outcome: str
    reason: str
    score: int
    moves: int
    moves_left: int
    waves: int
    goals_left: int
    seconds: float
    player: int = -1


KEY = ("agent", "task", "seed", "attempt")
"""The columns that tell a row apart from all others."""


def without_goals(rows: Iterable[Row]) -> set[str]:
    """The tasks whose attempts just end, which nobody can win: there are no success rates of them."""
    return {row.task for row in rows if row.outcome == "ended"}
