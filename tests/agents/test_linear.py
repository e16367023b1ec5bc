"""The linear policy for playouts: its probabilities, its weights as traits, and how they are learned."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from agents.linear import NAMES, Linear, learned
from agents.registry import make
from agents.testing import check_agent
from crush_gym import Game, Level, LevelPack
from crush_gym.keys import player_key
from crush_gym.move_values import by_action, move_values
from crush_gym.runtime import Board

JELLY = {
    "name": "jelly", "colours": 4, "moves": 5, "goals": {"jelly": "all"},
    "board": ["? ? ?' ? ?", "? ? ?' ? ?", "? ? ? ? ?", "? ? ? ? ?", "? ? ? ? ?"],
}  # fmt: skip

DRAWN = 4000


def test_draws_moves_by_the_exponential_of_a_weighted_sum() -> None:
    game = Game(rules="combo", shape=(5, 5), colours=4, moves=5)
    state = game.reset(jax.random.split(jax.random.key(3), 1))
    policy = Linear(gain=0.0, value=0.3).bind(game)
    assert policy.logits is not None and game.level is not None
    board = Board.of(game.spec, state.planes).awake()
    values = np.asarray(by_action(game.spec, board.fence(move_values(board, state.books))))[:, 0]
    expected = np.exp(0.3 * values) * np.asarray(game.legal(state))[..., 0]
    many = jax.tree.map(lambda x: np.repeat(x, DRAWN, axis=-1), state)
    keys = player_key(jax.random.split(jax.random.key(0), DRAWN))
    drawn = np.asarray(policy.act(policy.params, keys, (), many, game.level)[0])
    np.testing.assert_allclose(np.bincount(drawn, minlength=40) / DRAWN, expected / expected.sum(), atol=0.03)

    weights = dict(zip(NAMES, (np.zeros(DRAWN), np.repeat([0.3, 5.0], DRAWN // 2)), strict=True))
    memory = policy.start(policy.params, keys, many, game.level, weights)
    other = np.asarray(policy.act(policy.params, keys, memory, many, game.level)[0])
    half = DRAWN // 2
    assert (other[:half] == drawn[:half]).all()  # each attempt has weights of its own
    assert (values[other[half:]] >= values[drawn[half:]]).mean() > 0.9


def test_keeps_the_protocol_and_its_name() -> None:
    check_agent(make("linear"))
    assert make("linear:gain=0.5").name == "linear:gain=0.5"


@pytest.mark.slow
def test_learns_weights_that_win() -> None:
    told: list[str] = []
    weights = learned(LevelPack([Level.from_dict(JELLY)]), rounds=3, candidates=16, each=64, tell=told.append)
    first, last = (float(line.split("success ")[1].split(",")[0]) for line in (told[0], told[-1]))
    assert last >= first and weights[1] > 0.1
