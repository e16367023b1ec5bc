"""The look ahead, against a loop over the game's own `step`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from agents.lookahead import Lookahead, rounds
from agents.registry import make
from agents.testing import check_agent
from crush_gym import Game, Level, State
from crush_gym.keys import player_key

BOARDS = 24


@pytest.fixture(scope="module")
def game() -> Game:
    return Game(rules="combo", shape=(5, 5), colours=4, moves=6)


def opening(game: Game) -> tuple[jax.Array, State]:
    keys = jax.random.split(jax.random.key(3), BOARDS)
    return player_key(keys), game.reset(keys)


def gains(game: Game, own: jax.Array, state: State, samples: int) -> np.ndarray[Any, Any]:
    """Points of `samples` futures of every legal move, each a call of `step`: int64[actions, boards], -1: not legal."""
    mask = np.asarray(game.legal(state))
    found = np.where(mask, 0, -1).astype(np.int64)
    for action in np.flatnonzero(mask.any(axis=1)):
        for n in range(samples):
            fold = jax.vmap(lambda k, n=n, a=int(action): jax.random.fold_in(jax.random.fold_in(k, n), a))
            _, turn = game.step(fold(own), state, np.full(BOARDS, action))
            found[action] += np.where(mask[action], np.asarray(turn.score), 0)
    return found


def test_it_makes_the_move_whose_futures_bring_most(game: Game) -> None:
    own, state = opening(game)
    policy = Lookahead(considered=40, samples=3).bind(game)
    action = np.asarray(policy.act(policy.params, own, (), state, game.level)[0])
    expected = gains(game, own, state, 3)
    best = expected.max(axis=0)
    assert (expected[action, np.arange(BOARDS)] == best).all()
    assert len(np.unique(best)) > 3


def test_halving_spends_about_the_same_and_keeps_the_better_half(game: Game) -> None:
    from agents.registry import make as made

    agent = made("lookahead:samples=12,halving=True")
    assert isinstance(agent, Lookahead)
    own, state = opening(game)
    policy = agent.bind(game)
    action = np.asarray(policy.act(policy.params, own, (), state, game.level)[0])
    expected = gains(game, own, state, 3)
    assert expected[action, np.arange(BOARDS)].mean() > 1.3 * expected[expected >= 0].mean()
    search = type("S", (), {"halving": True, "considered": 16, "samples": 12})()
    spent = [moves * samples for moves, samples in rounds(search)]
    assert [moves for moves, _ in rounds(search)] == [16, 8, 4, 2] and abs(sum(spent) - 16 * 12) <= 16


def test_progress_is_what_a_future_does_of_the_goals() -> None:
    rows = ["?'' ?' ? ? ?", "?' ? ?' ? ?", "? ? ? ?' ?", "?' ? ? ? ?''", "? ? ?' ? ?"]
    level = Level.from_dict({"name": "j", "colours": 4, "moves": 5, "goals": {"jelly": "all"}, "board": rows})
    game = Game(level)
    own, state = opening(game)
    policy = Lookahead(considered=40, samples=1, worth="progress").bind(game)
    action = np.asarray(policy.act(policy.params, own, (), state, level)[0])
    mask, left = np.asarray(game.legal(state)), np.full((game.actions, BOARDS), 99)
    for number in np.flatnonzero(mask.any(axis=1)):
        fold = jax.vmap(lambda k, a=int(number): jax.random.fold_in(jax.random.fold_in(k, 0), a))
        after, _ = game.step(fold(own), state, np.full(BOARDS, number))
        left[number] = np.where(mask[number], np.asarray(game.stats(after).goals_left), 99)
    assert (left[action, np.arange(BOARDS)] == left.min(axis=0)).all() and left.min() < 7


def test_few_boards_and_many_choose_alike(game: Game) -> None:
    check_agent(make("lookahead:considered=6,samples=2"), game)


def test_nothing_legal_is_no_move(game: Game) -> None:
    own, state = opening(game)
    over = state._replace(books=state.books._replace(outcome=jnp.full_like(state.books.outcome, 2)))
    policy = Lookahead(considered=4, samples=1).bind(game)
    assert (np.asarray(policy.act(policy.params, own, (), over, game.level)[0]) == -1).all()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("lookahead:samples=0", "samples must be from 1"),
        ("lookahead:worth=fame", "worth must be one of score, progress"),
    ],
)
def test_what_makes_no_sense_is_refused(name: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make(name)
