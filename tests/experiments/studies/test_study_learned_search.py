"""The study of searches with trained players: equal time, what is expected and what comes, and its page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments.statistics import Interval
from experiments.studies.learned_search import optimism, trees
from experiments.studies.learned_search.page import page
from experiments.studies.setting import Setting


def test_searches_get_as_many_simulations_as_the_plain_ones_time_allows() -> None:
    assert trees.simulations_for(0.02, 0.02) == trees.PLAIN
    assert trees.simulations_for(0.2, 0.02) == trees.PLAIN / 10
    assert trees.simulations_for(100.0, 0.02) == 1 and trees.simulations_for(1e-9, 0.02) == trees.MOST
    assert trees.Way("", "mcts").named(7) == "mcts:simulations=7"
    assert trees.Way("", "mcts:playout=clouded").named(7) == "mcts:simulations=7,playout=clouded"
    prior = trees.Way("", "mcts:prior=(policy:ppo-combo)").named(7)
    assert prior.startswith("mcts:simulations=7,prior=policy:ppo-combo:weights=")  # which are told in every row


def test_what_comes_is_counted_from_each_move_to_the_end_of_its_attempt() -> None:
    nothing = np.nan
    gained = np.array([[1.0, 2.0], [4.0, 0.0], [8.0, 0.0]])  # the second attempt has one move
    told = np.array([[[1.0, 1.0], [5.0, 3.0]], [[0.0, nothing], [8.0, nothing]], [[2.0, nothing], [8.0, nothing]]])
    found = optimism.summed(told, gained, 0.5)
    # 1 + 4/2 + 8/4 = 5, 4 + 8/2 = 8, 8; and 2
    assert found.came.value == pytest.approx((7 + 2) / 2) and found.guessed.value == pytest.approx(1.0)
    assert found.expected.value == pytest.approx((7 + 3) / 2) and found.over.value == pytest.approx(0.5)


def test_measurements_are_kept(tmp_path: Path) -> None:
    setting, asked = Setting(False, tmp_path), []

    def measure() -> dict[str, float]:
        asked.append(1)
        return {"x": 0.5}

    assert setting.kept("one", measure) == setting.kept("one", measure) == {"x": 0.5} and len(asked) == 1
    assert setting.kept("two", measure) == {"x": 0.5} and len(asked) == 2


def test_the_page_tells_all_of_it(tmp_path: Path) -> None:
    some, way = Interval(0.5, 0.4, 0.6), trees.WAYS[0]
    found = [trees.Result(way, 0.02, 100, (some,) * 3, some), trees.Result(trees.WAYS[1], 0.2, 10, (some,) * 3, some)]
    over = optimism.Optimism(Interval(900, 1, 2), Interval(1500, 1, 2), Interval(1000, 1, 2), Interval(500, 400, 600))
    text = page(found, {(optimism.GAMES[0], 16): over}, Setting(False, tmp_path)).html()
    assert "1,500" in text and "500 (400 to 600)" in text and "linear playouts" in text and "10.00" in text
