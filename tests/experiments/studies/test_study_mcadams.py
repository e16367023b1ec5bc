"""McAdams' study: what is played, how it is compared, what the page says."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

from agents.beam import Beam
from crush_gym import sizes
from experiments.results.assignment import tasks_of
from experiments.results.store import Store
from experiments.statistics import welch
from experiments.studies.mcadams import claims, games, page, paper
from experiments.studies.mcadams.games import FULL, Legal, Measured, Plan, legal_moves, players_of
from experiments.studies.setting import STORE, Setting, mean_of

GAMES = 40


def fabricated(plan: Plan) -> Measured:
    """Scores that rise with the size, with depth, and from H1 to H2; no two players alike."""
    found, dice = Measured(plan), np.random.default_rng(0)
    for size in plan.sizes:
        found.legal[size] = Legal(paper.LEGAL_MOVES[size], 20.0)
        side = int(size.split("x")[0])
        found.scores[size, "random"] = dice.normal(80, 10, plan.games)
        for player in players_of(plan, size):
            centre = 80 + 4 * side + 5 * player.depth + 10 * (player.heuristic == "h2") - 3 * (player.ties == "off")
            found.scores[size, player.name] = dice.normal(centre, 10, plan.games)
    return found


def words(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", re.sub(r"<svg.*?</svg>", "", html, flags=re.S)))


def test_the_full_study_has_every_player_of_the_paper() -> None:
    assert FULL.games == 500 and FULL.sizes == ("5x5", "6x6", "7x7", "8x8", "9x9", "10x10", "10x5")
    for (size, depth), _ in paper.HEURISTICS.items():
        known = set(players_of(FULL, size))
        assert {Beam(depth, "h1"), Beam(depth, "h2")} <= known
    tall = set(players_of(FULL, paper.TALL))
    assert all({Beam(depth, "h1"), Beam(depth, "h1", ties="off")} <= tall for depth in paper.TIES)


def test_the_full_page_holds_the_papers_figures_beside_ours(tmp_path: Path) -> None:
    found = fabricated(FULL)
    text = words(page.page(found, Setting(False, tmp_path)).html())
    for size, t in paper.RANDOM_T.items():
        ours = welch(found.of(size, Beam(1, "h1")), found.of(size, "random")).t
        assert f"{size} t = {t} t = {ours:.3g}" in text
    assert "t = 3.439" in text and "14.31" in text and "crush-gym study mcadams --seed 0" in text
    assert "is positive and rises with the size" in text and "quick" not in text


def test_agreement_with_the_paper_is_told_in_words() -> None:
    rng = np.random.default_rng(1)
    high, low = rng.normal(12, 1, 50), rng.normal(10, 1, 50)
    better, worse, even = welch(high, low), welch(low, high), welch(low, low)
    claim = paper.Claim("H2", "> 99.9")
    told = claims._agreement
    assert told(claim, better) == "the same" and told(claim, worse) == "contrary"
    assert told(claim, even) == "only the paper is sure"
    assert told(paper.Claim("H1", "< 90"), even) == "neither is sure"
    assert told(paper.Claim("", "< 50"), better) == "only we are sure"


def test_means_have_students_limits() -> None:
    """Of 1, 2, 3: 2 with t(0.975, 2) = 4.302653 times 1 / sqrt(3)."""
    mean = mean_of(np.array([1.0, 2.0, 3.0]))
    assert mean.value == 2 and math.isclose(mean.high - 2, 4.302653 / math.sqrt(3), rel_tol=1e-6)
    assert math.isclose(2 - mean.low, mean.high - 2)


@pytest.mark.slow
def test_a_small_study_is_played_kept_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(games, "QUICK", Plan(GAMES, {"5x5": 1}, {}, 0))
    monkeypatch.setattr(sizes, "POSITIONS", (96, 96))
    setting = Setting(True, tmp_path, seed=3)
    text = words(page.study(setting).html())
    with Store(tmp_path / STORE) as store:
        rows = list(store.rows())
    assert {row.agent for row in rows} == {"random", "beam:depth=1", "beam:depth=1,heuristic=h1"}
    assert all(row.moves == 20 and row.seed == 3 for row in rows) and len(rows) == 3 * GAMES
    of = {name: [row.score for row in rows if row.agent == name] for name in ("random", "beam:depth=1,heuristic=h1")}
    assert np.mean(of["beam:depth=1,heuristic=h1"]) > np.mean(of["random"])
    assert f"R {np.mean(of['random']):.1f}" in text
    monkeypatch.setattr(games, "Game", None)  # nothing is played again
    monkeypatch.setattr(games, "legal_moves", lambda *_: Legal(3.0, 4.0))
    again = words(page.study(setting).html())
    assert f"R {np.mean(of['random']):.1f}" in again


def test_positions_of_random_games_have_as_many_moves_as_the_paper_counts() -> None:
    (task,) = tasks_of("points:5x5")
    known = legal_moves(task, GAMES, seed=0)
    assert abs(known.playing - paper.LEGAL_MOVES["5x5"]) < 0.3 < known.opening - known.playing
