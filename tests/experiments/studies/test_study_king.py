"""The study of King's network as a predictor: its sizes, its levels, and its page beside the paper's table II."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from experiments.prediction import Levels, People, fit
from experiments.prediction.measures import measure
from experiments.prediction.validation import forecast_of
from experiments.results.row import Row
from experiments.studies.king.measuring import FULL, QUICK, Measured, Played, Result, levels_of, sizes_of
from experiments.studies.king.page import page
from experiments.studies.setting import Setting, StudyError


def row(attempt: int, won: bool) -> Row:
    ends = {"outcome": "won" if won else "lost", "reason": "none"}
    return Row("a", "t", "level", 0, attempt, won, **ends, score=10 * attempt, moves=attempt, moves_left=0, waves=0,
               goals_left=0, seconds=0.0)  # fmt: skip


def result(agent: str, attempts: int, family: str) -> Result:
    rng = np.random.default_rng(attempts)
    ease = rng.normal(size=60)
    wins = rng.binomial(attempts, expit(ease)).astype(float)
    levels = Levels(tuple(f"l{n}" for n in range(60)), ("agent",), wins[:, None], np.full((60, 1), attempts, float))
    people = People(rng.binomial(200, expit(ease - 0.5)).astype(float), np.full(60, 200.0), np.full(60, 50.0))
    fits, tests = np.arange(48), np.arange(48, 60)
    forecast = forecast_of(fit(levels.at(fits), people.at(fits)), levels.at(tests), people.at(tests))
    own = people.at(tests)
    return Result(agent, attempts, family, 48, family == "A", measure(forecast, own), forecast, own)


def test_levels_are_evenly_spaced_and_sizes_are_checked(tmp_path: Path) -> None:
    assert [task.name for task in levels_of(1000)][:2] == ["ladder 1", "ladder 2"]
    assert [task.name for task in levels_of(4)] == ["ladder 1", "ladder 334", "ladder 667", "ladder 1000"]
    assert sizes_of(Setting(True, tmp_path)) == QUICK and sizes_of(Setting(False, tmp_path)) == FULL
    with pytest.raises(StudyError, match="levels must be from 15 to 1,000, not 3"):
        sizes_of(Setting(True, tmp_path, sizes={"levels": 3}))


def test_few_attempts_are_the_first_ones() -> None:
    played = Played("x", {4: [row(2, True), row(0, False), row(1, True)], 2: [row(0, True)]})
    successes, attempts = played.rates(2)
    assert successes.tolist() == [1.0, 1.0] and attempts.tolist() == [1.0, 2.0]  # levels in their order


def test_the_page_has_table_two_and_says_whom_the_network_imitates(tmp_path: Path) -> None:
    kinds = [("CNN, likeliest move", FULL.attempts), ("CNN, likeliest move", FULL.few), ("CNN, sampled", FULL.attempts),
             ("CNN, sampled", FULL.few), ("MCTS, 200 simulations", FULL.searches)]  # fmt: skip
    one = result(*kinds[0], "A")
    results = tuple(
        one._replace(agent=agent, attempts=attempts, family=family, clone=family == "A")
        for family in "AB" for agent, attempts in kinds
    )  # fmt: skip
    played = {"people": [row(1, True), row(3, False)]}
    personas = {"beginner": np.array([0.1, 0.5, 0.9]), "expert": np.array([0.2, 0.6, 0.95])}
    text = page(Measured(FULL, 1234, (0.4, 0.2), results, personas, played), Setting(False, tmp_path)).html()
    for said in (
        "paper: MCTS (CCS)",
        "5.4 %",
        "family A, imitated",
        "family B",
        "1,234 moves",
        "the network predicts better",
    ):
        assert said in text
    assert text.count("not decided") == 6  # all are the same here
    assert "family B, imitated" not in text and "This is less" not in text
