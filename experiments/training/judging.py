"""How weights are judged while they learn: by the harness, on attempts of their own, never by training's returns."""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from agents.learning.inputs import Inputs
from agents.learning.learner import Learner
from agents.learning.networks import Architecture
from agents.protocol import Policy
from agents.trained import policy_of
from crush_gym import Game, Level
from experiments.results.row import Row, without_goals
from experiments.results.task import Task
from experiments.running.evaluation import evaluate
from experiments.training.plan import JUDGED_SEED, Plan, asks_for_more_than_points

__all__ = ["Judgement", "judged", "shown"]

FEWEST = 8
"""Attempts at a level: where a pack has too many levels for that, it is judged by some, evenly spaced."""


class Judgement(NamedTuple):
    """How weights did. success: mean over the levels that can be won, NaN where none can; score: mean over levels.

    attempts: that they played, which may be none; likeness: to recorded moves, see `agents.learning.likeness`
    """

    success: float = math.nan
    score: float = math.nan
    attempts: int = 0
    likeness: Mapping[str, float] = MappingProxyType({})

    def value(self, metric: str) -> float:
        """By which they are compared."""
        return self.numbers[metric]

    @property
    def numbers(self) -> dict[str, float]:
        """All of it by name."""
        return {"success": self.success, "score": self.score, **self.likeness}


def shown(metric: str, value: float) -> str:
    """A judgement's number for people."""
    named = {"success": f"success {value:.1%}", "top1": f"top-1 {value:.1%}"}
    return named.get(metric, f"mean score {value:,.0f}")


@dataclass(frozen=True, eq=False)
class _Learning:
    """Weights that are still learning, as an agent."""

    architecture: Architecture
    inputs: Inputs
    weights: Any = field(repr=False)
    name: str = "what is learned"

    def bind(self, game: Game) -> Policy:
        return policy_of(game, self.architecture, self.inputs, self.weights)


def judged(plan: Plan, learner: Learner, weights: Any) -> Judgement:
    """Play the plan's attempts on its levels, always the same ones, and look at recorded moves that were kept back.

    Only the first call compiles.
    """
    likeness = learner.examined(weights)
    if not plan.tasks:
        return Judgement(likeness=likeness)
    number = max(1, min(len(plan.tasks), plan.attempts // FEWEST))
    tasks = [ending(plan.tasks[n]) for n in np.linspace(0, len(plan.tasks) - 1, number).round().astype(int)]
    each = max(1, plan.attempts // number)
    agent = _Learning(learner.architecture, learner.inputs, weights)
    results = evaluate(agent, tasks, each, JUDGED_SEED, games=1, progress=False)
    if results.errors:
        raise RuntimeError(str(results.errors[0]))
    return judgement(results.rows)._replace(likeness=likeness)


def ending(task: Task) -> Task:
    """The task, or, where points against the clock are all that is asked for, one with as many moves as seconds.

    Who plays such a level well gains time without end, and would never be judged.
    """
    level = task.level.to_dict()
    if "seconds" not in level or asks_for_more_than_points(task):
        return task
    level["moves"] = level.pop("seconds")
    return dataclasses.replace(task, level=Level.from_dict(level))


def judgement(rows: Sequence[Row]) -> Judgement:
    """What rows say of their player."""
    endless, won, scores = without_goals(rows), defaultdict(list), defaultdict(list)
    for row in rows:
        scores[row.task].append(row.score)
        if row.task not in endless:
            won[row.task].append(row.won)
    success = float(np.mean([np.mean(each) for each in won.values()])) if won else float("nan")
    return Judgement(success, float(np.mean([np.mean(each) for each in scores.values()])), len(rows))
