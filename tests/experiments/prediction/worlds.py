"""Simulated worlds: agents and people whose logits on levels are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from experiments.prediction import Levels, People
from experiments.statistics import Array

EASE = np.array([-2.4, -0.5, 0.2, 1.0])
OWN = np.array([0.5, 0.5, 0.65, 0.9])
"""Agents' mean logits, and how far each goes its own way from level to level."""

LEVEL = 1.7
"""Standard deviation of what all agents have in common."""


@dataclass(frozen=True)
class World:
    """logit p of people = intercept + agents' logits @ slopes + covariates @ effects + a normal effect of the level."""

    slopes: tuple[float, ...] = (0.3, 0.4, 0.1, -0.05)
    effects: tuple[float, ...] = (0.1, -0.15, 0.0)
    intercept: float = -0.8
    sigma: float = 0.3
    attempts: int = 200

    def play(self, size: int, people: int, seed: int, tag: str = "level") -> tuple[Levels, People, Array]:
        """Levels with agents' counts, people's counts (`people` attempts each, coin tosses), and true logits."""
        rng = np.random.default_rng(seed)
        agents = len(self.slopes)
        logits = EASE[:agents] + rng.normal(0, LEVEL, (size, 1)) + OWN[:agents] * rng.normal(size=(size, agents))
        values = rng.normal(size=(size, len(self.effects)))
        truth = self.intercept + logits @ self.slopes + values @ self.effects + rng.normal(0, self.sigma, size)
        levels = Levels(
            tuple(f"{tag} {number}" for number in range(size)), tuple("abcd"[:agents]),
            rng.binomial(self.attempts, expit(logits)), np.full(logits.shape, self.attempts),
            tuple(f"x{number}" for number in range(len(self.effects))), values,
        )  # fmt: skip
        attempts = np.full(size, people)
        return levels, People(rng.binomial(attempts, expit(truth)), attempts, attempts, spread=0.0), truth
