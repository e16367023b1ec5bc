"""What synthetic people do on the tuning levels, measured as real people's results are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from experiments.people import LevelResult, Log, Summary, summarise
from experiments.population import FAMILIES, People, draw
from experiments.population.playing import log_of_pairs, pairs_of
from experiments.population.tuning import tuning_levels
from experiments.results.task import Task
from experiments.running.evaluation import evaluate
from experiments.studies.setting import Setting, StudyError

PLAYERS, QUICK_PLAYERS, LEAST_PLAYERS = 500, 60, 20
QUICK_LEVELS = 12

HARD = (0.025, 0.06)
"""Success rates of levels that are about as hard as the two hardest published ones, of 4 %."""


class Likeness(NamedTuple):
    """What the players of a family did."""

    people: People
    log: Log
    summary: Summary


def measured(setting: Setting) -> dict[str, Likeness]:
    """Both families on the tuning levels; players are others than those of the calibration."""
    return {family: _measured(family, setting) for family in FAMILIES}


def _measured(family: str, setting: Setting) -> Likeness:
    levels = tuning_levels()[: QUICK_LEVELS if setting.quick else None]
    players = setting.sizes.get("players", QUICK_PLAYERS if setting.quick else PLAYERS)
    if players < LEAST_PLAYERS:
        raise StudyError(f"players must be at least {LEAST_PLAYERS}, who differ enough to be measured, not {players}")
    people = draw(family, players, setting.seed)
    tasks = [Task(level) for level in levels]
    # A store holds one population of an agent.
    store = setting.folder / f"population-{family}-{players}{'-quick' if setting.quick else ''}.sqlite"
    results = evaluate(
        people.agent, tasks, seed=setting.seed, store=store, until_cleared=people.patience, traits=people.traits
    )
    if results.errors:
        raise StudyError(f"the study needs what could not be played: {results.errors[0]}")
    log = log_of_pairs(pairs_of(results.rows, tasks), tasks)
    return Likeness(people, log, summarise(log, setting.seed))


class Hard(NamedTuple):
    """Levels about as hard as the hardest published ones, taken together. each: attempts a player."""

    levels: int
    rate: float
    each: float
    cleared: float
    to_clear: float
    to_clear_90: float


def hard(levels: Sequence[LevelResult]) -> Hard | None:
    """Means over such levels; None where there are none."""
    known = [level for level in levels if HARD[0] <= level.rate.value <= HARD[1]]
    if not known:
        return None

    def mean(values: Sequence[float]) -> float:
        return float(np.mean(values))

    return Hard(
        len(known), mean([level.rate.value for level in known]),
        mean([level.attempts / level.players for level in known]), mean([level.cleared for level in known]),
        mean([level.to_clear for level in known]), mean([level.to_clear_90 for level in known]),
    )  # fmt: skip
