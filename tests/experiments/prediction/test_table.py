"""From attempts and files to a model's numbers: against definitions written out, and the attempts themselves."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from crush_gym import Level, load_pack, traits_of
from experiments.features import Gathered, Player, Record
from experiments.features.records import BLOCK, lifted
from experiments.people import log_of
from experiments.prediction import (
    Levels,
    PredictionError,
    Recipe,
    calibration,
    examine,
    fit,
    forecast_of,
    load,
    measure,
    people_of,
    predict,
    save,
    split_of,
    table_of,
)  # fmt: skip
from experiments.prediction.table import SHARES, unique, units
from experiments.results.task import Task
from experiments.statistics import design_effect
from tests.experiments.prediction.worlds import World

BOARD = {"name": "board", "colours": 4, "moves": 20, "board": ["? ?' ?''", "? ? ?", "? ? ?"]}
JELLY = Task(Level.from_dict({**BOARD, "goals": {"jelly": "all", "orders": {"a": 5}, "score": 900}}))
CLOCK = {name: value for name, value in BOARD.items() if name != "moves"} | {"name": "timed", "seconds": 40}
TIMED = Task(Level.from_dict({**CLOCK, "goals": {"score": 1000}}))


def record(seed: int, n: int = 2 * BLOCK) -> Record:
    """Attempts that win after 10 to 40 moves, and sometimes end in a bomb."""
    rng = np.random.default_rng(seed)
    won = rng.integers(10, 41, n).astype(np.int32)
    over = np.where(rng.random(n) < 0.1, rng.integers(5, 41, n), 0).astype(np.int32)
    score, left = rng.integers(0, 3000, n).astype(np.int32), rng.integers(0, 8, n).astype(np.int32)
    paths = np.sort(rng.random((n // BLOCK, 6, 20)), axis=2).astype(np.float32) * 1000
    return Record(np.where(over > 0, 0, won), over, score, left, paths, np.full((n // BLOCK, 2), 7.0, np.float32), 0.1)


def gathered(task: Task, records: list[Record]) -> Gathered:
    """Attempts of agents at a level."""
    played = replace(task, level=lifted(task.level))
    names = [f"agent {n}" for n in range(len(records))]
    by_name = {name: {played.identity: one} for name, one in zip(names, records, strict=True)}
    return Gathered((task,), (played,), tuple(Player(name, "") for name in names), records[0].attempts, 0, by_name)


def logit(wins: int, n: int) -> float:
    return math.log((wins + 0.5) / (n - wins + 0.5))


def test_success_and_its_curve_are_counted_by_moves() -> None:
    records = [record(0), record(1)]
    levels = table_of(gathered(JELLY, records), ("curve",))
    assert levels.agents == ("agent 0", "agent 1") and levels.recipe == Recipe(200, 0, ("", ""))
    for n, one in enumerate(records):
        wins = [int(((one.won > 0) & (one.won <= limit)).sum()) for limit in (20, *(round(20 * s) for s in SHARES))]
        assert (levels.successes[0, n], levels.attempts[0, n]) == (wins[0], 200)
        expected = [logit(other, 200) - logit(wins[0], 200) for other in wins[1:]]
        assert levels.values[0, 4 * n : 4 * n + 4] == pytest.approx(expected)
    assert levels.covariates[:2] == ("agent 0 with 70% of the moves", "agent 0 with 85% of the moves")
    other = replace(JELLY, level=dataclasses.replace(JELLY.level, moves=np.array(26, np.int32)))
    again = table_of(gathered(JELLY, records)._replace(tasks=(other,)))
    assert again.successes[0, 0] == ((records[0].won > 0) & (records[0].won <= 26)).sum()


def test_ingredients_count_as_their_share_of_the_kinds_of_goals() -> None:
    board = {**BOARD, "board": ["o ? ?", "? ? ?", "? ? ?"], "exits": [[2, 0]]}
    for goals, share in (({"cherry": 1}, 1.0), ({"cherry": 1, "score": 900}, 0.5), ({"orders": {"a": 5}}, 0.0)):
        task = Task(Level.from_dict({**board, "goals": goals}))
        levels = table_of(gathered(task, [record(0)]), ("ingredients",))
        assert (levels.covariates, levels.values.tolist()) == (("ingredients among the goals",), [[share]])


def test_the_bend_is_the_square_of_agents_mean_logit() -> None:
    records = [record(0), record(1)]
    levels = table_of(gathered(JELLY, records), ("bend",))
    logits = [logit(int(wins), 200) for wins in levels.successes[0]]
    assert levels.values[0] == pytest.approx([np.mean(logits) ** 2])
    found = gathered(JELLY, records)
    del found.records["agent 1"][found.played[0].identity]  # type: ignore[attr-defined]
    assert table_of(found, ("bend",)).values[0, 0] == pytest.approx(logits[0] ** 2)


def test_scores_goals_boards_and_files_are_what_they_say() -> None:
    one = record(2)
    levels = table_of(gathered(JELLY, [one]), ("scores", "goals", "board", "file"))
    value = dict(zip(levels.covariates, levels.values[0], strict=True))
    middle = one.paths.mean(axis=0)[:, 9]  # after 20 of 40 moves
    assert value["score of agent 0, all attempts"] == pytest.approx(math.log((middle[0] + 1) / 900))
    assert units(JELLY.level) == 3 + 5
    assert value["what is left of agent 0, the best 5 %"] == pytest.approx(middle[5] / 8)
    assert value["legal moves of agent 0"] == pytest.approx(math.log(7.1))
    assert value["shuffles of agent 0"] == pytest.approx(math.log(8))
    traits = traits_of(JELLY.level)
    assert [value[f"file: {name}"] for name in traits] == pytest.approx([math.log1p(x) for x in traits.values()])
    with pytest.raises(PredictionError, match="no group 'colour'"):
        table_of(gathered(JELLY, [one]), ("colour",))


def test_a_clock_has_no_other_limits_but_other_goals() -> None:
    one = record(3)._replace(won=np.zeros(200, np.int32), over=np.zeros(200, np.int32))
    one = one._replace(won=np.where(one.score >= 1000, 9, 0).astype(np.int32))
    found = gathered(TIMED, [one])
    levels = table_of(found, ("curve", "scores"))
    assert np.isnan(levels.values[0, :4]).all() and levels.successes[0, 0] == (one.score >= 1000).sum()
    best = np.sort(one.score.reshape(2, 100), axis=1)[:, ::-1]
    assert levels.values[0, 5] == pytest.approx(math.log((best[:, :15].mean() + 1) / 1000))
    harder = replace(TIMED, level=dataclasses.replace(TIMED.level, goal_score=np.array(2000, np.int32)))
    assert table_of(found._replace(tasks=(harder,))).successes[0, 0] == (one.score >= 2000).sum()


def test_names_tell_levels_apart() -> None:
    assert unique(["a", "b", "a", ""]) == ("a (1)", "b", "a (2)", "level (1)")


def test_an_agent_without_attempts_is_unknown() -> None:
    found = gathered(JELLY, [record(0), record(1)])
    del found.records["agent 1"][found.played[0].identity]  # type: ignore[attr-defined]
    levels = table_of(found, ("curve", "goals", "board"))
    assert levels.attempts.tolist() == [[200, 0]] and np.isnan(levels.values[0, 4:8]).all()


def test_the_spread_of_players_is_that_of_the_file() -> None:
    """Half of the players win always and half never: five times the binomial variance with five attempts each."""
    level, player = np.repeat([0, 1, 2], 200), np.tile(np.arange(200), 3)
    people = people_of(log_of([f"l{n}" for n in level], player, np.full(600, 5), np.where(player % 2, 5, 0)))
    assert people.players.tolist() == [200] * 3 and people.rates.tolist() == [0.5] * 3
    assert people.design_effects == pytest.approx(np.full(3, 5), rel=0.02)
    assert design_effect(0.5, 1000, 200, people.spread) == pytest.approx(5, rel=0.02)


# ---------------------------------------------------------------------------------- fits with what is watched


WORLD = World()


def test_watched_covariates_predict_nothing_but_tell_what_is_unusual() -> None:
    levels, people, _ = WORLD.play(200, 240, seed=1)
    watching = fit(levels, people, watched=("covariates",))
    without = fit(levels.only(levels.agents), people)
    assert watching.coefficients[:5] == pytest.approx(without.coefficients, abs=1e-6)
    assert (watching.coefficients[5:] == 0).all() and watching.sigma == pytest.approx(without.sigma)
    strange = replace(levels, values=levels.values + np.array([0, 9.0, 0]))
    said, usual = (predict(watching, each) for each in (strange, levels))
    assert said.far.all() and said.odd[0] == ("x1",) and said.logit == pytest.approx(usual.logit)
    again = fit(levels, people, start=watching)
    assert (again.coefficients[5:] == 0).all() and abs(again.coefficients[1:5] - watching.coefficients[1:5]).max() < 0.1


def test_a_model_remembers_where_its_numbers_come_from(tmp_path: Path) -> None:
    levels, people, _ = WORLD.play(40, 240, seed=2)
    recipe = Recipe(1000, 7, ("", "ab", "", ""))
    model = fit(replace(levels, recipe=recipe), people)
    save(model, tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.recipe == recipe and len(again.fitted.rates) == 40 and again.fitted == model.fitted
    assert list(again.fitted.rates) == sorted(again.fitted.rates)
    assert replace(levels, recipe=recipe).only(["b"]).recipe == Recipe(1000, 7, ("ab",))
    content = json.loads((tmp_path / "model.json").read_text())
    for damage in ({"weights": ["x"]}, {"seed": -1}, {"attempts": "many"}):
        (tmp_path / "model.json").write_text(json.dumps(content | {"recipe": {**content["recipe"], **damage}}))
        with pytest.raises(PredictionError, match=next(iter(damage))):
            load(tmp_path / "model.json")


# ---------------------------------------------------------------------------------- tests of models


def test_splits_are_read_and_cover_what_they_say() -> None:
    assert [fold.size for fold in split_of("random:5", 103).folds] == [21, 21, 21, 20, 20]
    assert [fold.tolist() for fold in split_of("blocks:2", 5).folds] == [[0, 1, 2], [3, 4]]
    assert split_of("first:3", 5).folds[0].tolist() == [3, 4]
    for text, sentence in (("thirds", "not 'thirds'"), ("first:5", "leave none"), ("blocks:9", "cut into 9")):
        with pytest.raises(PredictionError, match=sentence):
            split_of(text, 5)


def test_a_model_is_tried_on_what_it_was_not_fitted_on_beside_simpler_ones() -> None:
    levels, people, _ = WORLD.play(240, 240, seed=3)
    named: list[str] = []
    found = examine(levels, people, split_of("first:200", 240), told=named.append)
    assert named == ["the model", "constant", *(f"{a} alone" for a in "abcd"), "covariates alone"]
    early, late = range(200), range(200, 240)
    model = fit(levels.at(early), people.at(early))
    by_hand = measure(forecast_of(model, levels.at(late), people.at(late)), people.at(late))
    assert found.entrants[0].measured == by_hand and len(found.people) == 40
    assert found.entrants[0].calibrated is None and found.entrants[0].measured.mae < found.entrants[1].measured.mae


def test_other_people_are_predicted_by_models_that_never_saw_them() -> None:
    levels, people, _ = WORLD.play(250, 240, seed=4)
    others = replace(WORLD, intercept=0.2)
    _, shifted, _ = others.play(250, 240, seed=4)
    found = examine(levels, people, split_of("random:5", 250), tested=shifted, others=False).entrants[0]
    assert found.measured.bias < -0.1  # they find everything easier
    assert found.measured.outside.value > 0.3
    assert found.calibrated is not None and found.calibrated.outside < 0.12


def test_calibration_holds_its_share_and_says_so_only_with_enough_levels() -> None:
    levels, people, _ = WORLD.play(300, 240, seed=5)
    model = fit(levels.at(range(100)), people.at(range(100)))
    test, tested = levels.at(range(100, 300)), people.at(range(100, 300))
    overconfident = replace(model, sigma=model.sigma / 3)
    before = measure(forecast_of(overconfident, test, tested), tested)
    after = calibration(forecast_of(overconfident, test, tested), tested)
    assert before.outside.value > 0.12 and after.outside < 0.08 and after.levels == 100 and after.draws == 20
    with pytest.raises(PredictionError, match="too few to measure"):
        calibration(forecast_of(model, test, tested), tested, levels=150)


def test_traits_of_a_real_pack_make_columns() -> None:
    pack = load_pack("basics")
    tasks = tuple(Task(level) for level in pack if level.goal_jelly)
    found = Gathered(tasks, tasks, (), 0, 0, {})
    levels = table_of(found, ("file",))
    assert isinstance(levels, Levels) and levels.values.shape == (len(tasks), len(levels.covariates))
    assert np.isfinite(levels.values).all()
