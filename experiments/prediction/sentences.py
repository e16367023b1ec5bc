"""What a prediction says of a level, in sentences for people."""

from __future__ import annotations

import numpy as np

from crush_gym.traits import TRAITS, traits_of
from experiments.prediction.looking import Looked
from experiments.report import counted, percent
from experiments.report.words import rate_of
from experiments.statistics import Interval

FILE = "file: "
"""What covariates of the level's file begin with."""

SHOWN = 4


def headline(looked: Looked, n: int) -> str:
    """Success with its band and the mean."""
    said, band = looked.prediction, looked.prediction.band()
    value, limits = rate_of(Interval(float(said.median[n]), float(band.low[n]), float(band.high[n])))
    mean = percent(float(said.mean[n]))
    return f"{said.names[n]}: people win {value} of their attempts (95 % band {limits}, mean {mean})"


def compared(looked: Looked, n: int) -> tuple[str, ...]:
    """How it compares with the levels that the model was fitted on."""
    rates = np.array(looked.model.fitted.rates)
    if not rates.size:
        return ()
    harder = float((rates > looked.prediction.median[n]).mean())
    others = counted(rates.size, "level")
    if harder >= 0.5:
        return (f"It is harder than {percent(harder)} of the {others} that the model was fitted on.",)
    return (f"It is easier than {percent(1 - harder)} of the {others} that the model was fitted on.",)


def movers(looked: Looked, n: int) -> list[tuple[str, float]]:
    """What moves the logit of success, compared with the mean of the fitted levels: the most first.

    Columns of one agent count together: its success, and its success with fewer and more moves.
    """
    model, sums = looked.model, dict[str, float]()
    for name, value in zip((*model.agents, *model.covariates), looked.prediction.parts[n], strict=True):
        agent = next((agent for agent in model.agents if name == agent or name.startswith(f"{agent} with ")), None)
        label = f"how {agent} does" if agent else name.removeprefix(FILE) if name.startswith(FILE) else name
        sums[label] = sums.get(label, 0.0) + float(value)
    return sorted(((name, value) for name, value in sums.items() if value), key=lambda pair: -abs(pair[1]))


def unusual(looked: Looked, n: int) -> tuple[str, ...]:
    """What keeps the prediction from being taken at its word."""
    said, model = looked.prediction, looked.model
    if not said.far[n]:
        return ()
    strange = [name.removeprefix(FILE) for name in said.odd[n]]
    new = [name for name in strange if name in TRAITS and _never(looked, name) and _has(looked, n, name)]
    parts = []
    if new:
        parts.append(f"no level that the model was fitted on has {_listed(new)}")
    rest = [name for name in strange if name not in new]
    if rest:
        parts.append(f"outside of what those had: {_listed(rest)}")
    why = "; ".join(parts) or "what it holds is usual, but not together"
    wider = f"{said.widened[n]:.1f} times"
    return (f"Unlike the {counted(model.fitted.levels, 'level')} of the fit, so the band is {wider} as wide: {why}.",)


def _never(looked: Looked, trait: str) -> bool:
    """Whether no level of the fit had this."""
    model = looked.model
    column = len(model.agents) + model.covariates.index(f"{FILE}{trait}")
    return bool(model.scales.high[column] <= 0)


def _has(looked: Looked, n: int, trait: str) -> bool:
    return traits_of(looked.found.tasks[n].level)[trait] > 0


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"
