"""The player that makes the move which certainly brings most."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

from agents.attempts import play
from agents.foresight import Foresight
from agents.protocol import bound
from agents.registry import make
from crush_gym import Game, Level

BOARD = ["? ? ? ?"] * 5


@pytest.fixture(scope="module")
def game() -> Game:
    return Game(
        Level.from_dict(
            {"name": "x", "colours": 4, "moves": 9, "goals": {"orders": {"a": 12, "b": 12}}, "board": BOARD}
        )
    )


@pytest.mark.parametrize("worth", ["score", "progress"])
def test_no_other_move_brings_more_by_itself(game: Game, worth: str) -> None:
    keys = jax.random.split(jax.random.key(0), 64)
    state, policy = game.reset(keys), bound(Foresight(worth), game)
    action = np.asarray(game.act(policy, keys, game.start(policy, keys, state), state)[0])
    brings: Any = jax.tree.map(np.asarray, game.preview(state))
    sole = 0
    for board, chosen in enumerate(action):
        legal = np.flatnonzero(brings.legal[:, board])
        gains = {
            int(a): (brings.goals[:, a, board].sum() if worth == "progress" else 0, brings.score[a, board], a)
            for a in legal
        }
        assert chosen == max(gains, key=lambda a: gains[a])
        sole += chosen != max(legal)
    assert sole > 32


def test_it_gets_more_points_than_greedy_and_its_name_makes_it_again(game: Game) -> None:
    assert make("foresight:worth=progress").name == "foresight:worth=progress" and make("foresight").name == "foresight"
    with pytest.raises(ValueError, match="worth must be one of score, progress, not 'points'"):
        Foresight("points")
    free = Level.from_dict({"name": "y", "colours": 4, "moves": 9, "goals": {"score": 10**7}, "board": BOARD})
    keys = jax.random.split(jax.random.key(1), 512)
    means = {
        name: float(play(bound(make(name), game), game, keys, free, move_by_move=True).score.mean())
        for name in ("greedy", "foresight")
    }
    assert means["foresight"] > 1.1 * means["greedy"]
