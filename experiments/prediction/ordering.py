"""Levels to order: generated, or tuned, so that people's predicted success lies where it is wished.

The generator knows nothing of models: what makes a level from a seed is handed in.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from crush_gym import layout
from crush_gym.generator import generate
from crush_gym.generator.trials import only_score
from crush_gym.levels import Level
from experiments.features import BLOCK
from experiments.features.gathering import Kept
from experiments.features.records import LIFTED
from experiments.prediction.data import PredictionError
from experiments.prediction.looking import Looked, look, reference, with_moves
from experiments.prediction.model import Model
from experiments.prediction.predicting import Prediction
from experiments.results.task import Task
from experiments.statistics import Array

Make = Callable[[int], Level | Task]
"""Makes a level from a seed."""

MOVES = range(5, 61)
"""Limits of moves that levels are given."""

DRAWN = 2.0
"""Levels that are drawn for each one that is wished, at first."""

ROUNDS = 4
"""How often more are drawn while too few are good enough."""

ENOUGH = 0.9
"""A level is good enough with so large a share of the probability that a perfectly centred one would have."""

SEARCHING = 3 * BLOCK
"""Attempts of each agent while levels are searched for."""

SEARCHED, CHECKED = 1, 2
"""Added to the model's seed: attempts by which a level is chosen are not those by which it is judged."""

CLOCKS = range(15, 125, 5)
GOALS = np.arange(0.4, 2.5, 0.1)
"""Seconds that a level with a clock is tried with, and factors of what is ordered."""


CLOSE = 0.05
"""A tuned level is as wished if people's success is within so much of it."""

LIMIT, GOAL = "limit", "goal"


class Wish(NamedTuple):
    """Success rates of people, from `low` to `high`."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """In the middle on the logit scale."""
        logits = [np.log(rate / (1 - rate)) for rate in self]
        return float(1 / (1 + np.exp(-sum(logits) / 2)))


@dataclass(frozen=True)
class Ordered:
    """A level and what the model says of it, by attempts that it was not chosen by.

    success: the median; low, high: the 95 % band; probability: that people's success lies in the wish
    """

    level: Level
    success: float
    low: float
    high: float
    probability: float


class Tuned(NamedTuple):
    """A level with another limit or goal. changed: what, in words; before, after: what the model says of both.

    Their probabilities are those that people's success lies within `CLOSE` of what was wished.
    """

    changed: str
    before: Ordered
    after: Ordered


def wish_of(low: float, high: float) -> Wish:
    """A wish, refused where it is none."""
    if not 0 < low < high < 1:
        raise PredictionError(f"a difficulty is a range of success rates between 0 and 1, not {low:g} to {high:g}")
    return Wish(low, high)


# ---------------------------------------------------------------------------------- generate


def generate_to(
    wish: tuple[float, float],
    count: int = 1,
    kind: str = "jelly",
    features: Sequence[str] = (),
    *,
    make: Make | None = None,
    model: Model | None = None,
    seed: int = 0,
    cache: Kept = None,
    **options: Any,
) -> list[Ordered]:
    """Levels whose success for people lies in the wish, as probably as the model allows: the most probable first.

    Args:
        wish: from which success rate to which.
        count: how many levels.
        kind, features: see `crush_gym.generate`.
        make: makes a level from a seed, instead of `generate` with these. Its limit of moves, or where there is a
            clock its goal score, will be set.
        model: by default the one that ships, of synthetic players.
        seed: of the first level that is drawn; then come the next numbers.
        cache: of agents' attempts; see `look`.
        options: of `experiments.features.gather`.
    """
    wanted, model = wish_of(*wish), model or reference()
    if count < 1:
        raise PredictionError(f"there must be at least 1 level, not {count}")
    make = make or (lambda number: generate(number, kind, features))
    hopeful = _perfect(model, wanted) * ENOUGH
    found: list[Ordered] = []
    for _ in range(ROUNDS):
        missing = count - sum(one.probability >= hopeful for one in found)
        if missing <= 0:
            break
        numbers = range(seed, seed := seed + max(round(DRAWN * missing), 3))
        chosen = _searched([_task(make(number)) for number in numbers], wanted, model, cache, **options)
        best = sorted(chosen, key=lambda pair: -pair[0])[: round(1.25 * missing) + 1]
        found += _checked([task for _, task in best], wanted, model, cache, **options)
    return sorted(found, key=lambda one: -one.probability)[:count]


def _perfect(model: Model, wish: Wish) -> float:
    """The probability of a level in the middle of the wish, of which all is known but what the model leaves open."""
    rng = np.random.default_rng(0)
    open_ = np.hypot(model.sigma, model.other_people)
    logits = np.log(wish.middle / (1 - wish.middle)) + open_ * rng.standard_normal(4000)
    rates = 1 / (1 + np.exp(-logits))
    return float(((rates >= wish.low) & (rates <= wish.high)).mean())


def _task(level: Level | Task) -> Task:
    return level if isinstance(level, Task) else Task(level)


def _searched(tasks: Sequence[Task], wish: Wish, model: Model, cache: Kept, **options: Any) -> list[tuple[float, Task]]:
    """Each level with the limit, or goal score, that makes the wish most probable, by few attempts; how probable."""
    few = _with_attempts(model, SEARCHING, SEARCHED)
    looked = look(few, tasks, cache, limits=[round(max(MOVES) / LIFTED)] * len(tasks), **options)
    found = []
    for n, task in enumerate(tasks):
        versions = versions_of(looked, n)
        chances = _probabilities(looked.versions(n, versions), wish)
        best = int(np.argmax(chances))
        found.append((float(chances[best]), replace(task, level=versions[best])))
    return found


def _checked(tasks: Sequence[Task], wish: Wish, model: Model, cache: Kept, **options: Any) -> list[Ordered]:
    """What the model says of levels by attempts that nothing was chosen by."""
    said = look(_with_attempts(model, None, CHECKED), tasks, cache, **options).prediction
    band, chances = said.band(), said.probability(*wish)
    return [
        Ordered(task.level, *(float(x[n]) for x in (said.median, band.low, band.high, chances)))
        for n, task in enumerate(tasks)
    ]


def _with_attempts(model: Model, attempts: int | None, more: int) -> Model:
    """The model with another number of attempts of its agents, and other ones."""
    recipe = model.recipe
    if recipe is None:
        raise PredictionError("this model does not say how its columns come from levels: fit it with `predict fit`")
    return replace(model, recipe=recipe._replace(attempts=attempts or recipe.attempts, seed=recipe.seed + more))


def versions_of(looked: Looked, n: int) -> list[Level]:
    """What a level can be made without playing it again: other limits of moves, or with a clock, other goal scores."""
    level, most = looked.found.tasks[n].level, looked.most(n)
    if most:
        return [with_moves(level, moves) for moves in MOVES if moves <= most / LIFTED]
    if not only_score(level):
        return [level]
    return [with_score(level, goal) for goal in goals_between(looked, n)]


def goals_between(looked: Looked, n: int) -> list[int]:
    """Round goal scores that agents reach now and then."""
    played = looked.found.played[n].identity
    scores = np.concatenate([records[played].score for records in looked.found.records.values()])
    low, high = np.quantile(scores, (0.02, 0.995))
    return sorted({max(100, int(round(goal, -2))) for goal in np.geomspace(max(low, 100), max(high, 200), 40)})


def with_score(level: Level, goal: int) -> Level:
    """The level with another goal score."""
    return dataclasses.replace(level, goal_score=np.array(goal, np.int32))


def _probabilities(said: Prediction, wish: Wish) -> Array:
    """That success lies in the wish, [levels], by the normal distribution of its logit: smooth, unlike the draws'."""
    limits = [np.log(rate / (1 - rate)) for rate in wish]
    low, high = (ndtr((limit - said.logit) / said.error) for limit in limits)
    return np.asarray(high - low, np.float64)


# ---------------------------------------------------------------------------------- tune


def tune_to(
    level: Level | Task,
    success: float,
    change: str = LIMIT,
    *,
    model: Model | None = None,
    cache: Kept = None,
    **options: Any,
) -> Tuned:
    """The level with another limit or another goal, so that people's success is about as wished.

    Args:
        level: which one.
        success: of people.
        change: "limit", its moves or seconds; "goal", its goal score where that is all it asks for, or what it orders.
        model, cache, options: see `generate_to`.
    """
    model = model or reference()
    if not 0.01 <= success <= 0.99:
        raise PredictionError(f"a difficulty is a success rate from 0.01 to 0.99, not {success:g}")
    if change not in (LIMIT, GOAL):
        raise PredictionError(f"what is changed is {LIMIT!r} or {GOAL!r}, not {change!r}")
    wish = Wish(max(success - CLOSE, 1e-6), min(success + CLOSE, 1 - 1e-6))
    task = _task(level)
    versions, said = _tried(task, change, model, cache, **options)
    chosen = replace(task, level=versions[int(np.argmin(np.abs(said.logit - np.log(success / (1 - success)))))])
    before, after = _checked([task, chosen], wish, model, cache, **options)
    return Tuned(told_change(task.level, chosen.level), before, after)


def _tried(task: Task, change: str, model: Model, cache: Kept, **options: Any) -> tuple[list[Level], Prediction]:
    """Versions of the level, and what few attempts say of them."""
    level = task.level
    few, own = _with_attempts(model, SEARCHING, SEARCHED), int(level.moves)
    read_off = own > 0 if change == LIMIT else only_score(level)
    if read_off:
        limits = [max(own, round(max(MOVES) / LIFTED))] if change == LIMIT else None
        looked = look(few, [task], cache, limits=limits, lift=change == LIMIT, **options)
        if change == GOAL:
            versions = [with_score(level, goal) for goal in goals_between(looked, 0)]
        else:
            versions = [with_moves(level, moves) for moves in range(min(MOVES), max(limits or [0]) + 1)]
        return versions, looked.versions(0, versions)
    versions = _timed(level) if change == LIMIT else _with_orders(level)
    return versions, look(few, [replace(task, level=version) for version in versions], cache, **options).prediction


def _timed(level: Level) -> list[Level]:
    return [dataclasses.replace(level, seconds=np.array(seconds, np.int32)) for seconds in CLOCKS]


def _with_orders(level: Level) -> list[Level]:
    """The level with fewer and with more of all that it orders."""
    orders = np.asarray(level.orders)
    if not (orders > 0).any():
        raise PredictionError(
            f"the goals of {level.name!r} lie on its board: only its limit can be changed (change={LIMIT!r})"
        )
    tables = {tuple(np.where(orders > 0, np.maximum(np.round(orders * f), 1), orders).astype(int)) for f in GOALS}
    return [dataclasses.replace(level, orders=np.array(table, orders.dtype)) for table in sorted(tables)]


def told_change(before: Level, after: Level) -> str:
    """What was changed, in words."""
    found = [
        f"{name} {int(old)} to {int(new)}"
        for name, old, new in (
            ("moves", before.moves, after.moves), ("seconds", before.seconds, after.seconds),
            ("goal score", before.goal_score, after.goal_score),
            *((f"order of {n}", a, b) for n, a, b in zip(layout.ORDERS, before.orders, after.orders, strict=True)),
        )
        if int(old) != int(new)
    ]  # fmt: skip
    return ", ".join(found) or "nothing"
