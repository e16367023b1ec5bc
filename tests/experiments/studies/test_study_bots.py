"""The theses' phases 3 and 4: figures against closed forms, and pages that show theirs beside ours."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments.studies.setting import Setting, StudyError
from experiments.studies.theses.bots import PHASES, TESTER, TESTERS, Measured, sizes_of
from experiments.studies.theses.bots_page import page

PEOPLE = np.array([0.0, 0.2, 0.5, 0.8])


def measured(number: int) -> Measured:
    """A heuristic that always wins a tenth more, and others that win half as much as people."""
    players = {name: PEOPLE / 2 for name in PHASES[number].told} | {"heuristic": PEOPLE + 0.1}
    if PHASES[number].testers:
        players[TESTER] = np.stack([PEOPLE + 0.05 * n for n in range(TESTERS)])
    return Measured(PHASES[number], ("a", "b", "c", "d"), 50, PEOPLE, players)


def test_deltas_are_differences_and_trends_their_slopes() -> None:
    found = measured(3)
    assert found.delta("heuristic") == pytest.approx(0.1) and found.trend("heuristic") == pytest.approx(0)
    assert found.delta("B1") == pytest.approx(-PEOPLE / 2) and found.trend("B1") == pytest.approx(-0.5)


def test_adjusted_deltas_are_in_standard_deviations_of_an_attempt() -> None:
    found = measured(4)
    # The level that nobody wins is left out: its attempts have no deviation.
    assert found.adjusted("heuristic") == pytest.approx(0.1 / np.array([0.4, 0.5, 0.4]))
    assert found.adjusted(TESTER).size == TESTERS * 3 and found.delta(TESTER).size == TESTERS * 4
    assert found.delta(TESTER).mean() == pytest.approx(0.05)


@pytest.mark.parametrize(("number", "told"), [(3, "+42.9 ± 19.0 points"), (4, "-1.29")])
def test_pages_have_the_theses_figures_beside_ours(number: int, told: str, tmp_path: Path) -> None:
    text = page(measured(number), Setting(False, tmp_path)).html()
    assert "synthetic players" in text and "+10.0 ± 0.0 points" in text
    assert told in text or f"{float(told):+.1f}" in text
    assert "another hand-made value of moves" in text and f"; the theses had {PHASES[number].levels} levels" in text
    assert ("Adjusted delta" in text) == (number == 4) and ("play tester" in text) == (number == 4)


def test_levels_and_attempts_may_be_fewer_than_in_the_theses(tmp_path: Path) -> None:
    assert sizes_of(PHASES[3], Setting(False, tmp_path)) == (48, 50)
    assert sizes_of(PHASES[4], Setting(False, tmp_path, sizes={"attempts": 20})) == (50, 20)
    with pytest.raises(StudyError, match="levels must be from 2 to 48, not 49"):
        sizes_of(PHASES[3], Setting(False, tmp_path, sizes={"levels": 49}))


def test_the_bots_are_those_of_the_theses_tables() -> None:
    assert PHASES[3].bots == {
        "B1": "mcts:simulations=50", "B2": "mcts", "B3": "mcts:playout=heuristic", "heuristic": "heuristic",
    }  # fmt: skip
    assert PHASES[4].bots["B4"] == "mcts:simulations=150" and PHASES[3].levels == 48 and PHASES[4].levels == 50
