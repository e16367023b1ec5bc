"""The look ahead, against a loop over the game's own `step`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from agents.lookahead import Lookahead, rounds
from agents.registry import make
from agents.search import cores
from agents.search.futures import Measure
from agents.testing import check_agent
from crush_gym import Game, Level, State
from crush_gym.keys import attempt_key, move_key, player_key

BOARDS = 24
JUDGE = "tests.agents.players:Judge"


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


def worths(
    game: Game, own: jax.Array, state: State, samples: int, depth: int, then: str, discount: float, points: float = 0.0
) -> np.ndarray[Any, Any]:
    """Mean worth of futures that go on, each a loop over `step`: float64[actions, boards], -inf: not legal."""
    mask = np.asarray(game.legal(state))
    found = np.where(mask, 0.0, -np.inf)
    for action in np.flatnonzero(mask.any(axis=1)):
        for n in range(samples):
            key = attempt_key(attempt_key(own, n), int(action))
            after, turn = game.step(key, state, np.full(BOARDS, action))
            total = np.asarray(turn.score, np.float64)
            for move in range(1, depth + 1):
                mine = move_key(key, after.books.made)
                chosen = game.random_action(mine, after)
                if then != "random":
                    chosen = game.choose(then, player_key(mine), after)
                after, turn = game.step(mine, after, np.where(np.asarray(game.legal(after)).any(axis=0), chosen, 0))
                total += discount**move * np.asarray(turn.score)
            # An attempt that is over has no legal moves, so that this judge expects nothing of it.
            total += discount ** (depth + 1) * points * np.asarray(game.legal(after)).sum(axis=0)
            found[action] += np.where(mask[action], total / samples, 0)
    return found


def late(game: Game, moves: int) -> tuple[jax.Array, State]:
    """Positions after some random moves, so that futures come to the attempts' ends."""
    own, state = opening(game)
    for _ in range(moves):
        keys = move_key(own, state.books.made)
        state, _ = game.step(keys, state, game.random_action(keys, state))
    return own, state


@pytest.mark.parametrize(
    ("name", "moves", "depth", "then", "discount", "points"),
    [
        ("depth=3,discount=0.5", 4, 3, "random", 0.5, 0.0),
        ("value=(tests.agents.players:Judge:points=40,counts=score)", 3, 0, "random", 0.5, 40.0),
        (f"depth=1,then=clouded,discount=0.75,value={JUDGE}", 4, 1, "clouded", 0.75, 10.0),
    ],
)
def test_futures_go_on_with_moves_and_with_what_a_player_expects_after_them(
    game: Game, name: str, moves: int, depth: int, then: str, discount: float, points: float
) -> None:
    own, state = late(game, moves)
    policy = make(f"lookahead:considered=40,samples=2,{name}").bind(game)
    action = np.asarray(policy.act(policy.params, own, (), state, game.level)[0])
    expected = worths(game, own, state, 2, depth, then, discount, points)
    assert np.allclose(expected[action, np.arange(BOARDS)], expected.max(axis=0), atol=0.01)
    shallow = worths(game, own, state, 2, 0, then, discount)
    assert (shallow[action, np.arange(BOARDS)] < shallow.max(axis=0)).any(), "what comes later decides somewhere"


def test_halving_spends_about_the_same_and_keeps_the_better_half(game: Game) -> None:
    agent = make("lookahead:considered=5,samples=12,halving=True")
    own, state = opening(game)
    policy = agent.bind(game)
    action = np.asarray(policy.act(policy.params, own, (), state, game.level)[0])
    expected = gains(game, own, state, 3)
    assert expected[action, np.arange(BOARDS)].mean() > 1.2 * expected[expected >= 0].mean()
    spent = [moves * samples for moves, samples in rounds(16, 12, halving=True)]
    assert [moves for moves, _ in rounds(16, 12, halving=True)] == [16, 8, 4, 2] and abs(sum(spent) - 16 * 12) <= 16


@pytest.mark.parametrize("worth", ["score", "progress"])
@pytest.mark.parametrize("futures", [1, 8, 300, 100_000])
def test_sums_of_futures_do_not_run_over(worth: str, futures: int) -> None:
    most = {"score": 20_000, "progress": 2}[worth]
    for fractions in (False, True):
        grains = Measure.of(worth, futures, fractions).grains
        assert most * grains * futures < 2**31 and (
            grains > 1 or (worth == "score" and (futures > 2**8 or not fractions))
        )


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


def test_other_numbers_of_futures_and_another_look_ahead_compile_nothing(game: Game) -> None:
    own, state = opening(game)
    first, actions = cores._program.cache_info().misses, set()
    for samples in (5, 7, 5):
        policy = make(f"lookahead:considered=40,samples={samples}").bind(game)
        actions.add(tuple(np.asarray(policy.act(policy.params, own, (), state, game.level)[0]).tolist()))
    assert cores._program.cache_info().misses == first + 1 and len(actions) == 2


def test_deep_futures_of_few_boards_and_many_are_alike(game: Game) -> None:
    check_agent(make("lookahead:considered=6,samples=2,depth=1,value=tests.agents.players:Judge"), game)


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
        ("lookahead:depth=-1", "depth must be from 0"),
        ("lookahead:discount=1.5", "discount must be from 0 to 1"),
        ("lookahead:discount=0.5", "discount=0.5 does nothing without a depth or a value"),
        ("lookahead:then=greedy", "then='greedy' does nothing without a depth"),
        ("lookahead:depth=1,then=mcts", "then='mcts' must be an agent in pure JAX"),
        ("lookahead:value=greedy", "value='greedy' must be an agent that knows what positions are worth"),
        ("lookahead:value=(tests.agents.players:Judge:counts=progress)", "counts in progress: say worth=progress"),
        ("lookahead:value=(tests.agents.players:Judge:remembers=True)", "remembers something"),
    ],
)
def test_what_makes_no_sense_is_refused(game: Game, name: str, said: str) -> None:
    own, state = opening(game)
    with pytest.raises(ValueError, match=said):
        policy = make(name).bind(game)
        policy.act(policy.params, own, (), state, game.level)
