"""How long a level takes the heuristic player, or how much it scores there: an estimate that needs no rollout.

The logarithm of the median is a sum of weights times the logarithms of the level's traits. The weights, for
each kind of level, are in `effort.json`, fitted by `python -m scripts.make_packs effort` to generated levels
that the heuristic player has played; so is by how much attempts at one level differ, and how far the estimate is
off (`error`, of the logarithm, as a root mean square over the levels that it was fitted to).
"""

from __future__ import annotations

import json
import math
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np

from crush_gym.levels import Level
from crush_gym.traits import traits_of

SCORED = ("moves", "timed")
"""Kinds whose goal is a score; what is estimated is the score, and for the other kinds the moves to a win."""

PRODUCTS = (("lines", "colours"), ("lines", "seconds"))
"""Traits that matter more where another is large: candies fall into runs by themselves, again and again."""


def inputs(level: Level, kind: str) -> dict[str, float]:
    """What the weights of this kind are for, by name."""
    left_out = ("score goal",) if kind in SCORED else ("score goal", "moves", "seconds")
    logs = {name: math.log1p(value) for name, value in traits_of(level).items() if name not in left_out}
    products = {f"{a} x {b}": logs[a] * logs[b] for a, b in PRODUCTS if a in logs and b in logs}
    return {"one": 1.0, **logs, **products}


def estimate(level: Level, kind: str, success: float) -> float:
    """The moves in which, or the score that, so large a share of attempts reaches."""
    fitted = _fitted()[kind]
    given = inputs(level, kind)
    median = sum(weight * given[name] for name, weight in fitted["weights"].items())
    share = 1.0 - success if kind in SCORED else success
    return math.exp(median + float(np.interp(share, fitted["shares"], fitted["spread"])))


@lru_cache(maxsize=1)
def _fitted() -> dict[str, Any]:
    text = (resources.files("crush_gym.generator") / "effort.json").read_text("utf-8")
    fitted: dict[str, Any] = json.loads(text)
    return fitted
