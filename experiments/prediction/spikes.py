"""Levels of a pack that are much harder, or much easier, than those around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from experiments.prediction.predicting import Prediction

AROUND = 5
"""How many levels before, and how many after, a level is compared with."""

LEAST = 0.8
"""Logits by which a spike differs from what is usual around it, at least: at 50 %, 30 % or 70 %."""

SURE = 0.9
"""How probable it is that it is harder, or easier, than the middle one of those around it, at least."""


class Spike(NamedTuple):
    """A level that stands out. place: in the pack; harder: than those around it, else easier

    around: the median success of those; probability: that the level really is harder, or easier, than that
    """

    place: int
    harder: bool
    around: float
    probability: float


def spikes(said: Prediction) -> tuple[Spike, ...]:
    """Those of the levels, in their order, that stand out."""
    found = []
    for place in range(len(said.names)):
        near = [n for n in range(place - AROUND, place + AROUND + 1) if n != place and 0 <= n < len(said.names)]
        if len(near) < 3:
            continue
        draws = np.median(said.draws[:, near], axis=1)
        around = float(np.median(said.median[near]))
        away = float(said.logit[place] - np.median(said.logit[near]))
        chance = float((said.draws[:, place] < draws).mean())
        if abs(away) >= LEAST and max(chance, 1 - chance) >= SURE:
            found.append(Spike(place, away < 0, around, max(chance, 1 - chance)))
    return tuple(found)


def names_of(found: Sequence[Spike], said: Prediction) -> dict[str, Spike]:
    """Spikes by their levels' names."""
    return {said.names[spike.place]: spike for spike in found}
