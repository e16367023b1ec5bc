"""Synthetic people: players drawn from a family, each with traits and a patience."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.protocol import Agent
from experiments.population.families import numbers_of
from experiments.population.habit import Habit
from experiments.population.traits import Traits
from experiments.population.weighing import Weighing

AGENTS: dict[str, type[Weighing] | type[Habit]] = {"A": Weighing, "B": Habit}

MOST_PATIENCE = 200
"""Attempts after which everybody gives up."""

VARYING = ("skill", "haste", "goals", "specials")
"""Traits in which players differ."""


class Spread(NamedTuple):
    """A trait's normal distribution over players."""

    mean: float
    sd: float


@dataclass(frozen=True)
class Makeup:
    """What a population is made of.

    skill, haste, goals, specials: see `Traits`; leaning: the same for all players
    giving_up: the share of players who give up a level after their first, their second, ... lost attempt on it
    """

    skill: Spread
    haste: Spread
    goals: Spread
    specials: Spread
    leaning: float
    giving_up: float

    @classmethod
    def of(cls, numbers: dict[str, Any]) -> Makeup:
        """From what a family's file says."""
        spreads = {name: Spread(**numbers[name]) for name in VARYING}
        return cls(**spreads, leaning=numbers["leaning"], giving_up=numbers["giving_up"])


@dataclass(frozen=True)
class People:
    """Players of a family. traits: arrays [players]; patience: attempts after which each gives up, [players]."""

    family: str
    traits: Traits
    patience: npt.NDArray[np.int64]

    @property
    def agent(self) -> Agent:
        """What plays for all of them."""
        return AGENTS[self.family]()


def draw(family: str, players: int, seed: int = 0, makeup: Makeup | None = None) -> People:
    """Players of a family; the first of more players with the same seed are the same.

    Args:
        makeup: instead of what the family's file says.
    """
    if players < 1:
        raise ValueError(f"there must be at least 1 player, not {players}")
    makeup = makeup or Makeup.of(numbers_of(family)["people"])
    # A generator for each trait: one more player changes nothing about the others.
    generators = iter(np.random.SeedSequence([seed, ord(family)]).spawn(len(VARYING) + 2))
    traits: dict[str, Any] = {}
    for name in VARYING:
        spread: Spread = getattr(makeup, name)
        traits[name] = spread.mean + spread.sd * np.random.default_rng(next(generators)).standard_normal(players)
    number = np.random.default_rng(next(generators)).integers(0, 2**32, players, np.uint32)
    patience = np.random.default_rng(next(generators)).geometric(makeup.giving_up, players)
    floats = {name: values.astype(np.float32) for name, values in traits.items()}
    leaning = np.full(players, makeup.leaning, np.float32)
    return People(family, Traits(**floats, leaning=leaning, number=number), np.minimum(patience, MOST_PATIENCE))
