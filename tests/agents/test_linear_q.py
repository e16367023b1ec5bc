"""CandyCrush.ai's features against a loop over cells and steps; fits against what they must come to; their files."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from agents import linear_q, network_q
from agents.q_learning import function, learning
from agents.q_learning.features import DISCOUNT, EPISODES, MOVES, NAMES, RETURN, Features
from agents.q_learning.function import Function, Layer, Params, q_values
from agents.q_learning.learning import Args, Seen
from agents.registry import make
from agents.testing import check_agent
from crush_gym import Game, State
from crush_gym.keys import attempt_key, move_key, player_key
from crush_gym.runtime import randomness
from crush_gym.swaps import swap_of

BOARDS, SIDE = 12, 5


@pytest.fixture(scope="module")
def game() -> Game:
    return Game(rules="combo", shape=(SIDE, SIDE), colours=4, moves=6)


def opening(game: Game) -> tuple[jax.Array, State]:
    keys = jax.random.split(jax.random.key(5), BOARDS)
    return player_key(keys), game.reset(keys)


# ------------------------------------------------------------------ the features


@pytest.fixture(scope="module")
def known(game: Game) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], jax.Array, State]:
    own, state = opening(game)
    phi, mask = Features(game.spec, NAMES).of((), randomness.key_bits(own), state, game.level)
    return np.asarray(phi), np.asarray(mask), own, state


def test_features_are_those_of_the_paper(game: Game, known: Any) -> None:
    phi, mask, _, state = known
    assert phi.shape == (24, game.actions, BOARDS) and NAMES.index(RETURN) == 4
    for board, rows in enumerate(game.text(state)):
        cells = np.array([row.split() for row in rows])
        for action in np.flatnonzero(mask[:, board]):
            expected = np.delete(features_of(cells, action, mask[:, board].sum()), 4)
            assert np.array_equal(np.delete(phi[:, action, board], 4), expected), (board, action)


def features_of(cells: np.ndarray[Any, Any], action: int, legal: int) -> np.ndarray[Any, Any]:
    """All but the sampled return, in the paper's order, by looking at every cell."""
    swap = swap_of(action, cells.shape)
    (row, column), (other_row, other_column) = swap.cells
    swapped = cells.copy()
    swapped[row, column], swapped[other_row, other_column] = cells[other_row, other_column], cells[row, column]
    most = [max(list(line).count(colour) for colour in line) for line in (*cells, *cells.T)]
    lines = [*most[:SIDE], *[0] * (9 - SIDE), *most[SIDE:], *[0] * (9 - SIDE)]
    cleared = np.zeros(cells.shape, bool)
    for r in range(SIDE):
        for c in range(SIDE - 2):
            cleared[r, c : c + 3] |= len(set(swapped[r, c : c + 3])) == 1
            cleared[c : c + 3, r] |= len(set(swapped[c : c + 3, r])) == 1
    return np.array([row, other_row, column == other_column, legal, 0, cleared.sum(), *lines], np.float32)


def test_the_fifth_is_the_median_return_of_episodes_that_begin_with_the_move(game: Game, known: Any) -> None:
    phi, mask, own, state = known
    actions = [int(a) for a in np.flatnonzero(mask.any(axis=1))[:3]]
    for action in actions:
        returns = []
        for sample in range(EPISODES):
            key = attempt_key(attempt_key(own, sample), action)
            after, turn = game.step(key, state, np.full(BOARDS, action))
            total = np.asarray(turn.score, np.float64)
            for move in range(1, MOVES):
                mine = move_key(key, after.books.made)
                after, turn = game.step(mine, after, np.asarray(game.random_action(mine, after)))
                total += DISCOUNT**move * np.asarray(turn.score)
            returns.append(total)
        expected = np.median(returns, axis=0)[mask[action]]
        assert np.allclose(phi[NAMES.index(RETURN), action, mask[action]], expected, atol=0.01)
        assert len(np.unique(expected)) > 1


# ------------------------------------------------------------------ fits


def seen(moves: int = 300, features: int = 3, legal: int = 4) -> Seen:
    """Positions with random features, of which some lead to others."""
    rng = np.random.default_rng(1)
    after = np.where(rng.random(moves) < 0.7, rng.permutation(moves), -1)
    mask = np.arange(legal)[:, None] < rng.integers(1, legal + 1, moves)
    phi = rng.normal(size=(features, legal, moves)).astype(np.float32)
    chosen = rng.integers(0, mask.sum(axis=0))
    reward = (phi[:, chosen, np.arange(moves)].T @ [30, -20, 10] + 100 + rng.normal(size=moves)).astype(np.float32)
    return Seen(phi, mask, chosen, reward, after)


def start(features: int = 3) -> Params:
    nothing = np.zeros(features, np.float32)
    return Params(nothing, nothing + 1, (Layer(nothing[:, None], nothing[:1]),))


def target_of(data: Seen, params: Params) -> np.ndarray[Any, Any]:
    values = np.where(data.legal, np.asarray(q_values(params, jnp.asarray(data.phi))), -np.inf).max(axis=0)
    return data.reward + DISCOUNT * np.where(data.after >= 0, values[data.after], 0.0)


def test_least_squares_stay_where_targets_of_their_own_leave_them() -> None:
    data = seen()
    params = linear_q.solved(linear_q.Args(stays=1e-9), start(), data)
    error = target_of(data, params) - np.asarray(q_values(params, jnp.asarray(data.made)))
    assert np.abs(data.made @ error).max() < 0.1 and abs(error.sum()) < 0.1
    assert np.abs(error).mean() < 60 < np.abs(data.reward).mean()


def test_the_papers_steps_go_from_move_to_move() -> None:
    data, rate = seen(moves=40), 1e-3
    weights = np.zeros(3)
    for n in range(40):
        best = max(weights @ data.phi[:, k, data.after[n]] for k in range(4) if data.legal[k, data.after[n]])
        target = data.reward[n] + DISCOUNT * (best if data.after[n] >= 0 else 0.0)
        weights -= rate * (weights @ data.made[:, n] - target) * data.made[:, n]
    found = linear_q.stepped(linear_q.Args(fit="steps", step=rate, passes=1), start(), data)
    assert np.allclose(found.layers[0].weights[:, 0], weights, rtol=1e-4) and np.abs(weights).min() > 0.01


def test_the_network_learns_what_a_line_cannot() -> None:
    rng = np.random.default_rng(2)
    phi = rng.normal(size=(2, 1, 2000)).astype(np.float32)
    one = np.zeros(2000, int)
    data = Seen(phi, np.ones((1, 2000), bool), one, 100 * np.abs(phi[0, 0]), one - 1)
    line = linear_q.solved(linear_q.Args(), start(2), data)
    args = network_q.Args(passes=60, rate=1e-2)
    layers = (Layer(rng.normal(size=(2, 10)).astype(np.float32), np.zeros(10, np.float32)),
              Layer(rng.normal(size=(10, 1)).astype(np.float32), np.zeros(1, np.float32)))  # fmt: skip
    net = network_q.fitted(args, start(2)._replace(layers=layers), data)

    def error(params: Params) -> float:
        return float(np.abs(np.asarray(q_values(params, jnp.asarray(data.made))) - data.reward).mean())

    assert error(net) < 10 < 40 < error(line)


# ------------------------------------------------------------------ play, and files


@pytest.mark.parametrize("explore", ["epsilon", "softmax"])
def test_exploring_makes_legal_moves_and_the_best_ones_more_often(explore: str) -> None:
    values = np.tile(np.array([[300.0], [100.0], [900.0], [500.0]]), 4000)
    legal = np.array([[True], [True], [False], [True]]) & np.ones(4000, bool)
    chosen = learning.explored(values, legal, Args(explore=explore, temperature=200.0), np.random.default_rng(0))
    share = np.bincount(chosen, minlength=4) / 4000
    expected = {"epsilon": [1 / 6, 1 / 6, 0, 4 / 6], "softmax": np.exp([1.5, 0.5, -np.inf, 2.5])}[explore]
    assert np.allclose(share, np.array(expected) / np.sum(expected), atol=0.03)


def test_learning_is_seeded_and_gives_a_file_that_plays(game: Game, tmp_path: Path) -> None:
    args = linear_q.Args(games=4, rounds=2, returns=False, seed=3)
    once, again = (linear_q.train(game, args) for _ in range(2))
    assert once.text() == again.text() and once.text() != linear_q.train(game, dataclasses.replace(args, seed=4)).text()
    once.save(tmp_path / "mine.json")
    agent = make(f"linear-q:weights={tmp_path / 'mine.json'}")
    assert make(agent.name) == agent and ",digest=" in agent.name
    check_agent(agent, game)
    again.save(tmp_path / "mine.json")
    made = json.loads((tmp_path / "mine.json").read_text(encoding="utf-8"))
    (tmp_path / "mine.json").write_text(json.dumps(made | {"made": {}}), encoding="utf-8")
    function.find.cache_clear()
    with pytest.raises(ValueError, match="are others now"):
        make(agent.name)


def test_what_a_game_was_like_is_seen_in_order(game: Game) -> None:
    seen, scores = learning.play(game, start(23), Args(games=5, rounds=1, returns=False), 0)
    assert seen.chosen.size == 5 * 6 and (seen.after == -1).sum() == 5
    assert seen.reward.sum() == scores.sum()
    assert np.array_equal(seen.after[:5], np.arange(5, 10))
    rows = np.arange(seen.chosen.size)
    assert seen.legal[seen.chosen, rows].all() and (seen.phi[NAMES.index("legal moves"), 0] == seen.legal.sum(0)).all()


@pytest.mark.parametrize("name", ["linear-q", "network-q", "linear-q:weights=paper"])
def test_weights_that_ship_play(game: Game, name: str) -> None:
    check_agent(make(name), game)


def test_every_file_that_ships_says_how_it_was_made() -> None:
    for agent in ("linear-q", "network-q"):
        assert {"", "blind"} <= set(function.ships(agent))
        for weights in function.ships(agent):
            known = function.find(agent, weights).function
            assert known.made["command"].startswith(f"python -m agents.{agent.replace('-', '_')} --out")
            assert (RETURN in known.features) == (weights != "blind") and len(known.features) in (23, 24)


def test_blind_weights_judge_positions_for_a_look_ahead(game: Game) -> None:
    policy = make("linear-q:weights=blind").bind(game)
    state = opening(game)[1]
    value = np.asarray(policy.value(policy.params, (), state, game.level))
    phi, mask = Features(game.spec, tuple(n for n in NAMES if n != RETURN)).of((), None, state, game.level)
    expected = np.where(np.asarray(mask), np.asarray(q_values(policy.params, phi)), -np.inf).max(axis=0)
    assert policy.worth == "score" and np.allclose(value, expected)
    assert "linear-q:weights=blind" in make("lookahead:samples=1,value=(linear-q:weights=blind)").name
    with pytest.raises(ValueError, match="must be an agent in pure JAX"):
        make("lookahead:value=linear-q").bind(game)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": 2}, "it is of format 2"),
        ({"features": ["upper row", "luck"]}, r"is of features \['luck'\]"),
        ({"mean": [0.0]}, "do not fit its 2 features"),
        ({"layers": []}, "do not fit its 2 features"),
        ({"layers": [{"weights": [[1.0, 2.0], [1.0, 2.0]], "bias": [0.0, 0.0]}]}, "do not fit"),
        ({"scale": [1.0, float("nan")]}, "all finite"),
        ({"scale": None}, "expected numbers in 1 axes"),
    ],
)
def test_files_that_are_wrong_are_refused_in_a_sentence(change: dict[str, Any], said: str) -> None:
    value = Function(("upper row", "lower row"), start(2)).text()
    assert function.load(value, "a file").features == ("upper row", "lower row")
    with pytest.raises(ValueError, match=said):
        function.load(json.dumps(json.loads(value) | change), "a file")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("linear-q:weights=none", "linear-q has no weights 'none': there are 'blind', 'paper', 'softmax', ''"),
        ("network-q:weights=nowhere/x.json", "'nowhere/x.json' cannot be read: No such file"),
        ("linear-q:digest=0", "their digest is"),
    ],
)
def test_weights_that_are_not_there_are_refused(name: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make(name)


def test_large_boards_are_refused() -> None:
    with pytest.raises(ValueError, match="boards up to 9x9, and this one is 10x5"):
        make("linear-q").bind(Game(rules="points", shape=(10, 5)))
