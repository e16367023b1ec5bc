"""What a prediction is made of: agents' and people's results on levels, and what else is known of the levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from experiments.statistics import Array
from experiments.statistics.clusters import SPREAD, design_effect

Index = npt.NDArray[np.int64] | npt.NDArray[np.bool_] | Sequence[int]


class PredictionError(ValueError):
    """What cannot be fitted or predicted, with the sentence that says why."""


def _numbers(values: Any, shape: tuple[int, ...], what: str) -> Array:
    array = np.asarray(values, np.float64)
    if array.shape != shape:
        raise PredictionError(f"{what} must have the shape {shape}, not {array.shape}")
    return array


def _counts(successes: Any, attempts: Any, shape: tuple[int, ...], whose: str) -> tuple[Array, Array]:
    s, a = _numbers(successes, shape, f"successes of {whose}"), _numbers(attempts, shape, f"attempts of {whose}")
    if not (np.isfinite(a).all() and (s >= 0).all() and (s <= a).all()):
        raise PredictionError(f"successes of {whose} must be numbers from 0 to the attempts")
    return s, a


class Recipe(NamedTuple):
    """How levels became numbers, so that others can be made into such numbers too.

    attempts: of each agent at each level; seed: of their keys; weights: of the agents, "" where they have none
    """

    attempts: int
    seed: int
    weights: tuple[str, ...]


@dataclass(frozen=True)
class Levels:
    """Levels as a predictor sees them: how agents did on them, and what else is known.

    successes, attempts: [levels, agents]; attempts of 0: the agent has not played the level
    covariates: their names; values: [levels, covariates], NaN where unknown; groups: of each covariate, which group it
    belongs to: covariates of a group are shrunk alike
    recipe: where all this is known of
    """

    names: tuple[str, ...]
    agents: tuple[str, ...]
    successes: Array
    attempts: Array
    covariates: tuple[str, ...] = ()
    values: Array = field(default_factory=lambda: np.zeros((0, 0)))
    groups: tuple[str, ...] = ()
    recipe: Recipe | None = None

    def __post_init__(self) -> None:
        """Check what was given."""
        size = len(self.names)
        counts = _counts(self.successes, self.attempts, (size, len(self.agents)), "agents")
        values = np.zeros((size, 0)) if not self.covariates else self.values
        values = _numbers(values, (size, len(self.covariates)), "values of covariates")
        if np.isinf(values).any():
            raise PredictionError(
                f"the covariate {self.covariates[np.isinf(values).any(axis=0).argmax()]!r} is infinite"
            )
        groups = self.groups or ("covariates",) * len(self.covariates)
        if len(groups) != len(self.covariates):
            raise PredictionError(f"there are {len(self.covariates)} covariates, but groups of {len(groups)}")
        for names, what in ((self.names, "levels"), (self.agents, "agents"), (self.covariates, "covariates")):
            if len(set(names)) < len(names):
                raise PredictionError(
                    f"two {what} have the same name: {next(n for n in names if names.count(n) > 1)!r}"
                )
        for name, value in zip(
            ("successes", "attempts", "values", "groups"), (*counts, values, tuple(groups)), strict=True
        ):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.names)

    def at(self, index: Index) -> Levels:
        """Some of the levels."""
        chosen = np.arange(len(self))[index]
        return replace(
            self, names=tuple(self.names[i] for i in chosen), successes=self.successes[chosen],
            attempts=self.attempts[chosen], values=self.values[chosen],
        )  # fmt: skip

    def only(self, agents: Sequence[str] = (), groups: Sequence[str] = ()) -> Levels:
        """With these agents and these groups of covariates only."""
        which = [self.agents.index(name) for name in agents]
        recipe = self.recipe and self.recipe._replace(weights=tuple(self.recipe.weights[i] for i in which))
        columns = [i for i, group in enumerate(self.groups) if group in groups]
        return replace(
            self, agents=tuple(agents), successes=self.successes[:, which], attempts=self.attempts[:, which],
            covariates=tuple(self.covariates[i] for i in columns), values=self.values[:, columns],
            groups=tuple(self.groups[i] for i in columns), recipe=recipe,
        )  # fmt: skip


@dataclass(frozen=True)
class People:
    """How people did on levels, [levels]; attempts of 0: nobody played it. players: 0 where unknown.

    spread: how much players differ, see `experiments.statistics.clusters`
    """

    successes: Array
    attempts: Array
    players: Array
    spread: float = SPREAD

    def __post_init__(self) -> None:
        """Check what was given."""
        shape = np.shape(self.attempts)
        s, a = _counts(self.successes, self.attempts, shape, "people")
        players = _numbers(self.players, shape, "players")
        if len(shape) != 1 or not (self.spread >= 0 and np.isfinite(self.spread)):
            raise PredictionError("people need a number for every level, and a spread from 0 upwards")
        for name, value in (("successes", s), ("attempts", a), ("players", players)):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return self.attempts.size

    @property
    def rates(self) -> Array:
        """Observed success rates, NaN where nobody played, [levels]."""
        return np.divide(self.successes, self.attempts, out=np.full(len(self), np.nan), where=self.attempts > 0)

    @property
    def design_effects(self) -> Array:
        """How many times the binomial variance the rates have, [levels]."""
        smooth = (self.successes + 0.5) / (self.attempts + 1)
        return design_effect(smooth, self.attempts, self.players, self.spread)

    def at(self, index: Index) -> People:
        """Some of the levels."""
        chosen = np.arange(len(self))[index]
        return People(self.successes[chosen], self.attempts[chosen], self.players[chosen], self.spread)
