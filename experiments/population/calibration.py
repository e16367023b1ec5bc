"""Bringing a family's numbers to where its players do as people did, on the tuning levels and by the same estimators.

Four numbers are sought, each by the aggregate that it moves most, with the others where they are: the mean of skill by
the median level's success rate, the spread of skill by the SD of players, the leaning by that of players from level to
level, the share that gives up by the shares cleared. Each round draws players anew from one seed, lets them play, and
moves all four; the random numbers are the same in all rounds, so that little noise is left in what a move brings.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.people import Log, Summary, summarise
from experiments.population import published
from experiments.population.families import numbers_of
from experiments.population.people import Makeup, Spread, draw
from experiments.population.playing import log_of_pairs, pairs_of
from experiments.population.tuning import tuning_levels
from experiments.results.task import Task
from experiments.running.evaluation import evaluate

TOLERANCE = 0.024
"""Of standard deviations, the standard error of the published one; the logit of the median rate and the logarithm of
giving up may be three times as far off."""

MOST_ROUNDS = 12

STEP = 0.6
"""Share of the way that each number goes in a round: all four move all four aggregates, and whole steps swing."""


class CalibrationError(RuntimeError):
    """A calibration that cannot be finished, with the sentence that says why."""


class Found(NamedTuple):
    """What players did on the tuning levels. median: of the levels' success rates; giving_up: see `given_up`."""

    median: float
    player: float
    player_level: float
    giving_up: float


TARGET = Found(
    median=statistics.median(level.rate for level in published.LEVELS),
    player=(published.PLAYER.value + published.PLAYER_FIRST) / 2,
    player_level=(published.PLAYER_LEVEL.value + published.PLAYER_LEVEL_FIRST) / 2,
    giving_up=0.0,
)
"""What is sought: between what all attempts and what those up to the first win say; the last is found by `wanted`."""


def given_up(rates: Sequence[float], cleared: Sequence[float]) -> float:
    """The share that gives up after a lost attempt, were all players alike: the mean over levels.

    Of players who win with probability p and else give up with h, a share p / (p + (1 - p) h) clears the level.
    """
    shares = [p * (1 - c) / (c * (1 - p)) for p, c in zip(rates, cleared, strict=True) if 0 < p < 1 and c > 0]
    return float(np.mean(shares))


def wanted() -> Found:
    """What the numbers are moved towards."""
    levels = published.LEVELS
    return TARGET._replace(giving_up=given_up([level.rate for level in levels], [level.cleared for level in levels]))


def found_of(summary: Summary) -> Found:
    """The aggregates of what players did."""
    differences = summary.differences
    if differences is None:
        raise CalibrationError(f"the calibration needs to know how much players differ: {summary.unknown}")
    low, high = _range()
    near = [level for level in summary.levels if low <= level.rate.value <= high]
    return Found(
        median=statistics.median(level.rate.value for level in summary.levels),
        player=differences.player.value,
        player_level=differences.player_level.value,
        giving_up=given_up([level.rate.value for level in near], [level.cleared for level in near]),
    )


def _range() -> tuple[float, float]:
    """Levels as hard as those of the published ones, which shares of players are compared on."""
    rates = [level.rate for level in published.LEVELS]
    return min(rates) / 1.5, max(rates)


def moved(makeup: Makeup, found: Found, target: Found) -> Makeup:
    """The numbers after a round."""
    slope = found.player / makeup.skill.sd  # logits that a unit of skill brings, about
    variance = makeup.leaning**2 + STEP * (target.player_level**2 - found.player_level**2) / slope**2
    harder = _logit(target.median) - _logit(found.median)
    return dataclasses.replace(
        makeup,
        skill=Spread(
            round(makeup.skill.mean + STEP * harder / slope, 3),
            round(makeup.skill.sd * (target.player / found.player) ** STEP, 3),
        ),
        leaning=round(math.sqrt(max(variance, 0.0)), 3),
        giving_up=round(makeup.giving_up * (target.giving_up / found.giving_up) ** STEP, 4),
    )


def _logit(rate: float) -> float:
    return math.log(rate / (1 - rate))


def near(found: Found, target: Found) -> bool:
    """Whether the search is over."""
    return (
        abs(_logit(found.median) - _logit(target.median)) < 3 * TOLERANCE
        and abs(found.player - target.player) < TOLERANCE
        and abs(found.player_level - target.player_level) < TOLERANCE
        and abs(math.log(found.giving_up / target.giving_up)) < 3 * TOLERANCE
    )


@dataclasses.dataclass(frozen=True)
class Search:
    """A calibration. folder: where its rounds are kept, from which it goes on where it was broken off."""

    family: str
    folder: Path
    players: int = 200
    seed: int = 20_000

    @property
    def file(self) -> Path:
        """The family's numbers with the rounds that led to them."""
        return self.folder / f"{self.family}.json"

    def run(self, told: Callable[[str], None]) -> dict[str, Any]:
        """Play rounds until players do as people did; what the family's file shall say."""
        self.folder.mkdir(parents=True, exist_ok=True)
        makeup, target = Makeup.of(numbers_of(self.family)["people"]), wanted()
        rounds: list[dict[str, Any]] = []
        for number in range(1, MOST_ROUNDS + 1):
            found = found_of(summarise(self.log(makeup, number)))
            rounds.append({"people": as_json(makeup), "found": _rounded(found)})
            told(f"family {self.family}, round {number}: {_rounded(found)}")
            if near(found, target):
                break
            makeup = moved(makeup, found, target)
        numbers = {**numbers_of(self.family), "people": rounds[-1]["people"]}
        numbers["calibration"] = {
            "levels": "experiments.population.tuning", "players": self.players, "seed": self.seed,
            "target": _rounded(target), "rounds": rounds,
        }  # fmt: skip
        return numbers

    def log(self, makeup: Makeup, number: int) -> Log:
        """What players of this makeup do on the tuning levels; attempts that were played before are not again."""
        people = draw(self.family, self.players, self.seed, makeup)
        tasks = [Task(level) for level in tuning_levels()]
        store = self.folder / f"{self.family}-{number}.sqlite"
        results = evaluate(
            people.agent, tasks, seed=self.seed, store=store, until_cleared=people.patience, traits=people.traits
        )
        if results.errors:
            raise CalibrationError(f"the calibration needs what could not be played: {results.errors[0]}")
        return log_of_pairs(pairs_of(results.rows, tasks), tasks)


def as_json(makeup: Makeup) -> dict[str, Any]:
    """A makeup as families' files have it."""
    values = makeup.__dict__.items()
    return {name: value._asdict() if isinstance(value, Spread) else value for name, value in values}


def _rounded(found: Found) -> dict[str, float]:
    return {name: round(value, 3) for name, value in found._asdict().items()}
