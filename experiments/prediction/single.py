"""Agents by themselves: how well each of them alone predicts people, and what that costs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from experiments.features import Cache, FeatureError, gather
from experiments.features.gathering import Kept
from experiments.prediction.data import People
from experiments.prediction.measures import Measured, measure
from experiments.prediction.table import table_of
from experiments.prediction.testing import Split
from experiments.prediction.validation import held_out
from experiments.results.task import Task


class Predictor(NamedTuple):
    """An agent alone. success: its own, of all attempts; seconds: of an attempt's playing, on this machine

    weights: of the agent, "" where it has none
    """

    agent: str
    weights: str
    measured: Measured
    success: float
    attempts: int
    seconds: float


class Unfit(NamedTuple):
    """An agent that could not be tried, and why."""

    agent: str
    sentence: str


def try_alone(
    agents: Sequence[str],
    tasks: Sequence[Task],
    people: People,
    split: Split,
    attempts: int,
    seed: int = 0,
    cache: Kept = None,
    told: Callable[[str], None] = lambda name: None,
) -> tuple[list[Predictor], list[Unfit]]:
    """Predict people by each agent alone, on levels that were held out: the best first; and what could not be tried.

    Args:
        agents: names; see `agents.registry.make`.
        tasks, people: the levels, and people's results on them.
        split: which levels are held out.
        attempts: of each agent at each level.
        cache: of agents' attempts; see `gather`.
        told: hears the names of the agents before they play.
    """
    found, failed = [], []
    with cache if isinstance(cache, Cache) else Cache(cache) as kept:
        told(", ".join(agents))
        with contextlib.suppress(FeatureError):  # together by one program; who cannot be tried is told below
            gather(agents, tasks, attempts, seed, kept, refused=lambda name, why: None)
        for agent in agents:
            try:
                gathered = gather([agent], tasks, attempts, seed, kept)
            except FeatureError as error:
                failed.append(Unfit(agent, str(error)))
                continue
            levels = table_of(gathered)
            (player,), records = gathered.players, next(iter(gathered.records.values()))
            measured = measure(held_out(levels, people, split.folds, seed=seed), people.at(_places(split)), seed)
            success = float(levels.successes.sum() / levels.attempts.sum())
            seconds = float(np.mean([record.seconds for record in records.values()]))
            found.append(Predictor(player.name, player.weights, measured, success, attempts, seconds))
    return sorted(found, key=lambda one: one.measured.mae.value), failed


def _places(split: Split) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.sort(np.concatenate(split.folds))
