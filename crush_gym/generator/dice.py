"""A seeded source of decisions that is the same on every version of Python."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Everything is drawn from `random.Random.random`, whose values Python promises never to change."""

    def __init__(self, *seed: object) -> None:
        self._draw = random.Random(repr(seed)).random

    def share(self, low: float = 0.0, high: float = 1.0) -> float:
        """A number between the two, uniformly."""
        return low + (high - low) * self._draw()

    def between(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low + int(self._draw() * (high - low + 1))

    def pick(self, choices: Sequence[T]) -> T:
        """One of them, uniformly."""
        return choices[int(self._draw() * len(choices))]

    def happens(self, probability: float) -> bool:
        """True as often as said."""
        return self._draw() < probability

    def shuffled(self, things: Iterable[T]) -> list[T]:
        """The things in a random order; the order that they come in matters."""
        drawn = [(self._draw(), i, thing) for i, thing in enumerate(things)]
        return [thing for _, _, thing in sorted(drawn, key=lambda item: item[:2])]
