"""Levels to order: limits that centre them, probabilities that fresh attempts give, and what was changed in words."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest

from crush_gym import Level
from experiments.features import Cache, gather
from experiments.prediction import (
    Model,
    People,
    PredictionError,
    compare,
    fit,
    generate_to,
    look,
    table_of,
    tune_to,
)  # fmt: skip
from experiments.prediction.ordering import told_change, versions_of
from experiments.prediction.spikes import spikes
from experiments.results.task import Task
from tests.experiments.prediction.small import AGENTS, ATTEMPTS, TASKS, truth

WISH = (0.25, 0.4)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cache]:
    with Cache(tmp_path_factory.mktemp("ordering") / "cache.sqlite") as cache:
        yield cache


@pytest.fixture(scope="module")
def model(cache: Cache) -> Model:
    found = gather(AGENTS, TASKS, ATTEMPTS, 0, cache, progress=False)
    attempts = np.full(len(TASKS), 400.0)
    rates = np.random.default_rng(0).binomial(400, truth(found)).astype(float)
    people = People(rates, attempts, attempts, 0.0)
    return fit(table_of(found, ("curve", "file")), people, watched=("file",), source="simulated")


def make(seed: int) -> Task:
    """A level of another goal score for each seed, far too easy or far too hard under its own limit."""
    rng = np.random.default_rng(seed)
    level = dataclasses.replace(
        TASKS[0].level, name=f"made {seed}", goal_score=np.array(rng.integers(10, 60) * 100, np.int32)
    )
    return Task(dataclasses.replace(level, moves=np.array(10, np.int32)), "combo")


def test_levels_to_order_lie_in_the_wish_with_the_probability_that_is_told(model: Model, cache: Cache) -> None:
    found = generate_to(WISH, 3, make=make, model=model, seed=5, cache=cache, progress=False)
    assert len(found) == 3 and [one.probability for one in found] == sorted(
        (o.probability for o in found), reverse=True
    )
    limits = {int(one.level.moves) for one in found}
    assert len(limits) > 1 or limits != {10}
    for one in found:
        assert one.low < WISH[1] and one.high > WISH[0] and one.probability > 0.3
    fresh = look(model, [Task(one.level, "combo") for one in found], cache, progress=False).prediction
    assert ((fresh.median > 0.2) & (fresh.median < 0.46)).all()  # by attempts that the search never saw


def test_a_tuned_level_has_another_limit_and_is_as_hard_as_wished(model: Model, cache: Cache) -> None:
    found = tune_to(TASKS[2], 0.5, model=model, cache=cache, progress=False)
    assert found.changed == f"moves 5 to {int(found.after.level.moves)}" and found.before.level is TASKS[2].level
    assert abs(found.after.success - 0.5) < 0.12 < abs(found.before.success - 0.5)
    assert found.after.probability > found.before.probability
    goal = tune_to(TASKS[10], 0.5, "goal", model=model, cache=cache, progress=False)
    assert goal.changed.startswith("goal score 4000 to ") and int(goal.after.level.moves) == 9
    assert abs(goal.after.success - 0.5) < 0.12


def test_what_cannot_be_ordered_is_refused(model: Model, cache: Cache) -> None:
    with pytest.raises(PredictionError, match=r"not 0.4 to 0.25"):
        generate_to((0.4, 0.25), model=model, cache=cache)
    with pytest.raises(PredictionError, match="at least 1 level"):
        generate_to(WISH, 0, model=model, cache=cache)
    with pytest.raises(PredictionError, match=r"not 1\.2"):
        tune_to(TASKS[0], 1.2, model=model, cache=cache)
    with pytest.raises(PredictionError, match="'limit' or 'goal', not 'colours'"):
        tune_to(TASKS[0], 0.5, "colours", model=model, cache=cache)
    board = {"name": "x", "colours": 3, "moves": 9, "goals": {"jelly": "all"}, "board": ["?' ? ?"] * 3}
    with pytest.raises(PredictionError, match="goals of 'x' lie on its board"):
        tune_to(Level.from_dict(board), 0.5, "goal", model=model, cache=cache)
    plain = dataclasses.replace(model, recipe=None)
    with pytest.raises(PredictionError, match="fit it with `predict fit`"):
        look(plain, TASKS[:1], cache)


def test_changes_are_told_in_words() -> None:
    level = Level.from_dict(
        {"name": "x", "colours": 4, "moves": 9, "goals": {"orders": {"a": 8}}, "board": ["? ? ?"] * 3}
    )
    orders = np.array(level.orders)
    orders[orders == 8] = 6
    assert told_change(level, dataclasses.replace(level, orders=orders)) == "order of a 8 to 6"
    assert told_change(level, level) == "nothing"


def test_versions_of_a_level_are_limits_up_to_what_was_played(model: Model, cache: Cache) -> None:
    looked = look(model, TASKS[:1], cache, limits=[40], progress=False)
    assert [int(level.moves) for level in versions_of(looked, 0)] == list(range(5, 41))
    curve = looked.curve(0)
    assert [point.own for point in curve].count(True) == 1 and curve[0].rate.value < curve[-1].rate.value


def test_of_two_levels_the_harder_is_told_with_a_probability(model: Model, cache: Cache) -> None:
    hard, easy = TASKS[3], TASKS[16]
    found = compare(easy, hard, model, cache)
    assert (
        found.harder == hard.name and found.probability > 0.95 and found.by > 0.1 and found.low < found.by < found.high
    )
    same = compare(hard, hard, model, cache)
    assert same.by == 0 and same.probability < 0.75


def test_a_level_that_stands_out_is_found(model: Model, cache: Cache) -> None:
    order = np.argsort(look(model, TASKS, cache, progress=False).prediction.median)
    alike, hardest = [TASKS[n] for n in order[10:14]], TASKS[order[0]]
    found = spikes(look(model, [*alike[:2], hardest, *alike[2:]], cache, progress=False).prediction)
    assert [(spike.place, spike.harder) for spike in found] == [(2, True)] and found[0].probability > 0.9
