"""A result: how one attempt of one agent on one task went."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """One attempt. (agent, task, seed, attempt) tells it apart from all others.

    agent: the agent's name, from which `agents.registry.make` makes it again
    task: `Task.identity`; level: the task's name, for people
    seed, attempt: its key is `tasks.attempt_key(seed, task, attempt)`
    outcome, reason: names from `crush_gym.OUTCOMES`, `crush_gym.REASONS`
    score, moves (made), moves_left (-1 in timed levels), waves, goals_left: as in `crush_gym.Stats`
    seconds: wall-clock time of the shard that it was played in, without compiling, divided by the shard's attempts
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
