"""From levels to predictions: the model's agents play what the cache does not hold, and the model says the rest."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from crush_gym.levels import Level
from experiments.features import Gathered, gather, usual_place
from experiments.features.gathering import Kept
from experiments.people import Log, Totals, spread_of_players
from experiments.prediction.data import People, PredictionError
from experiments.prediction.files import load
from experiments.prediction.model import Model
from experiments.prediction.predicting import Prediction, predict
from experiments.prediction.table import table_of
from experiments.results.task import Task
from experiments.statistics import Interval
from experiments.statistics.clusters import SPREAD

SHIPPED = "synthetic.json"
"""The model that ships, fitted on the synthetic population."""

SYNTHETIC = "the synthetic population, which no people are"
"""Its source."""


def is_reference(model: Model) -> bool:
    """Whether this is the model that ships."""
    return model.fitted.source == SYNTHETIC


@functools.lru_cache(maxsize=1)
def reference() -> Model:
    """The model that ships: of synthetic players, which no people are."""
    with resources.as_file(resources.files("experiments.prediction") / "models" / SHIPPED) as path:
        return load(path)


class Under(NamedTuple):
    """A level under a limit of moves: median success with its 95 % band. own: whether the level has this limit."""

    limit: int
    rate: Interval
    own: bool


@dataclass(frozen=True)
class Looked:
    """What a model says of levels, and what it looked at."""

    model: Model
    found: Gathered
    prediction: Prediction

    def versions(self, level: int, versions: Sequence[Level]) -> Prediction:
        """What the model says of other versions of one of the levels; see `table_of`."""
        tasks = tuple(replace(self.found.tasks[level], level=version) for version in versions)
        some = self.found._replace(tasks=tasks, played=(self.found.played[level],) * len(tasks))
        return predict(self.model, table_of(some, groups_of(self.model)))

    def most(self, level: int) -> int:
        """The most moves under which a level can be looked at; 0 where it has a clock."""
        return max(int(self.found.played[level].level.moves), 0)

    def curve(self, level: int, points: int = 12) -> list[Under]:
        """Success under about so many limits of moves, the level's own among them; nothing for a timed level."""
        own, most = int(self.found.tasks[level].level.moves), self.most(level)
        if most < 1:
            return []
        limits = sorted({own, *np.linspace(max(own // 3, 1), min(round(1.5 * own), most), points).round().astype(int)})
        said = self.versions(level, [with_moves(self.found.tasks[level].level, int(limit)) for limit in limits])
        band = said.band()
        return [
            Under(int(limit), Interval(float(said.median[n]), float(band.low[n]), float(band.high[n])), limit == own)
            for n, limit in enumerate(limits)
        ]


def with_moves(level: Level, moves: int) -> Level:
    """The level with another limit of moves."""
    return replace(level, moves=np.array(moves, np.int32))


def look(model: Model, tasks: Sequence[Task], cache: Kept = None, **options: Any) -> Looked:
    """Predict people's success on levels.

    Args:
        model: one whose recipe is known, such as `reference()`.
        tasks: the levels.
        cache: of agents' attempts; None: the one under the user's cache folder.
        options: of `experiments.features.gather`.
    """
    if model.recipe is None:
        raise PredictionError("this model does not say how its columns come from levels: fit it with `predict fit`")
    recipe = model.recipe
    found = gather(
        model.agents, tasks, recipe.attempts, recipe.seed, usual_place() if cache is None else cache, **options
    )
    for player, weights in zip(found.players, recipe.weights, strict=True):
        if player.weights != weights:
            raise PredictionError(
                f"the agent {player.name!r} has other weights than when the model was fitted: fit it again, or restore"
                " them"
            )
    return Looked(model, found, predict(model, table_of(found, groups_of(model))))


def groups_of(model: Model) -> tuple[str, ...]:
    """The groups of a model's covariates, in their order."""
    return tuple(dict.fromkeys(model.groups))


def people_of(people: Log | Totals) -> People:
    """People's results as a model is fitted on them."""
    counts = people.counts()
    spread = spread_of_players(people) if isinstance(people, Log) else SPREAD
    successes, attempts, players = (
        np.asarray(x, np.float64) for x in (counts.successes, counts.attempts, counts.players)
    )
    return People(successes, attempts, players, spread)


@dataclass(frozen=True)
class Comparison:
    """Which of two levels is harder for people. harder: its name; by: how much less of its attempts are won

    probability: that it is the harder one; low, high: 95 % limits of the difference
    """

    first: str
    second: str
    harder: str
    by: float
    low: float
    high: float
    probability: float
    source: str


def compare(first: Level | Task, second: Level | Task, model: Model | None = None, cache: Kept = None) -> Comparison:
    """Say which of two levels is harder for people, by how much, and how sure that is.

    Args:
        first, second: levels.
        model: by default the shipped one, of synthetic players.
        cache: see `look`.
    """
    model = model or reference()
    tasks = [level if isinstance(level, Task) else Task(level) for level in (first, second)]
    looked = look(model, tasks, cache, progress=False)
    said = looked.prediction
    chance = said.harder(0, 1)
    hard, easy = (0, 1) if chance >= 0.5 else (1, 0)
    difference = said.draws[:, easy] - said.draws[:, hard]
    low, high = np.quantile(difference, (0.025, 0.975))
    one, other = said.names
    return Comparison(
        one, other, said.names[hard], float(said.median[easy] - said.median[hard]), float(low), float(high),
        max(chance, 1 - chance), model.fitted.source,
    )  # fmt: skip
