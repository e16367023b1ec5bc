"""The tree search: trees by the rules of sparse UCT, values by the theses' formulas, and no sight of the future."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from agents.attempts import play
from agents.mcts import Found, Mcts
from agents.registry import make
from agents.search import drawing, returns
from agents.search.tree import ROOT
from crush_gym import Game, Level, State
from crush_gym.engine.board import Board
from crush_gym.keys import player_key
from crush_gym.levels import Level as LevelType
from crush_gym.move_values.choose import by_action
from crush_gym.move_values.goals import move_values

BOARDS, SIMULATIONS = 12, 40


@pytest.fixture(scope="module")
def game() -> Game:
    rows = [" ".join(["?"] * 5)] * 2 + [" ".join(["?'"] * 5)] * 3
    content = {"name": "small", "colours": 4, "moves": 6, "goals": {"jelly": "all"}, "board": rows}
    return Game(Level.from_dict(content))


def level_of(game: Game) -> LevelType:
    assert game.level is not None
    return game.level


def opening(game: Game, boards: int = BOARDS, seed: int = 0) -> tuple[jax.Array, State]:
    keys = jax.random.split(jax.random.key(seed), boards)
    return keys, game.reset(keys)


def searched(game: Game, agent: Mcts, boards: int = BOARDS, seed: int = 0) -> Found:
    keys, state = opening(game, boards, seed)
    searcher, own = agent.searcher(game), player_key(keys)
    return searcher.search(own, searcher.start((), own, state, level_of(game)), state, level_of(game))


@pytest.fixture(scope="module")
def found(game: Game) -> Found:
    return searched(game, Mcts(simulations=SIMULATIONS))


def trees_of(found: Found) -> list[dict[str, Any]]:
    """Each board's tree as NumPy arrays without the unused rows."""
    result = []
    for board in range(found.action.shape[0]):
        names = [name for name in found.tree._fields if name not in ("planes", "books", "prior")]
        one = {name: np.asarray(getattr(found.tree, name))[..., board] for name in names}
        for name, value in list(one.items()):
            if value.ndim:
                one[name] = value[: one["nodes" if name.startswith("node_") else "edges"]]
        result.append(one)
    return result


def test_every_simulation_adds_one_position_and_visits_add_up(found: Found) -> None:
    for tree in trees_of(found):
        assert tree["node_visits"][ROOT] == SIMULATIONS
        # A simulation that ends in a position where the attempt is over adds nothing.
        assert 2 <= tree["nodes"] <= SIMULATIONS + 1
        for edge in range(tree["edges"]):
            children = tree["node_edge"] == edge
            assert tree["node_visits"][children].sum() == tree["edge_visits"][edge]
            assert tree["node_total"][children].sum() == pytest.approx(tree["edge_total"][edge], abs=1e-4)
            assert 1 <= children.sum() <= 3
            if tree["edge_visits"][edge] >= 3:
                assert children.sum() == 3  # fewer than B outcomes: always a new one
        for node in range(1, tree["nodes"]):
            below = tree["edge_visits"][tree["edge_parent"] == node].sum()
            if tree["node_actions"][node]:
                assert tree["node_visits"][node] == 1 + below


def test_roots_try_every_legal_action_before_any_twice(game: Game, found: Found) -> None:
    _, state = opening(game)
    legal = np.asarray(game.legal(state))
    for board, tree in enumerate(trees_of(found)):
        tried = tree["edge_action"][tree["edge_parent"] == ROOT]
        assert sorted(tried) == sorted(np.flatnonzero(legal[:, board])) and len(set(tried)) == len(tried)
        assert tree["node_actions"][ROOT] == len(tried)
    assert legal[np.asarray(found.action), np.arange(BOARDS)].all()


def test_the_last_move_of_a_search_is_ucb1s(game: Game) -> None:
    """A search of n + 1 simulations is one of n, and one more below the action that UCB1 takes then."""
    c = 0.6
    shorter, longer = (searched(game, Mcts(simulations=n, exploration=c, signal="partial")) for n in (30, 31))
    for before, after in zip(trees_of(shorter), trees_of(longer), strict=True):
        mine = before["edge_parent"] == ROOT
        if mine.sum() < before["node_actions"][ROOT]:
            continue
        visits, total = (before[f"edge_{name}"].astype(float) for name in ("visits", "total"))
        ucb = np.where(mine, total / visits + c * np.sqrt(np.log(30) / visits), -np.inf)
        grown = after["edge_visits"][: len(visits)] - before["edge_visits"]
        assert np.flatnonzero(grown * mine).tolist() == [int(np.argmax(ucb))]


def test_values_are_the_theses_formulas() -> None:
    scores = np.array([[100, 5], [250, 5], [300, 5], [900, 5], [7000, 5]], np.int32)
    scope = returns.of_scores(jnp.asarray(scores), jnp.array([5, 5]))
    first, third = np.percentile(scores[:, 0], [25, 75])
    low, high = max(0.0, first - 1.5 * (third - first)), third + 1.5 * (third - first)
    assert [float(scope.low[0]), float(scope.high[0])] == pytest.approx([low, high])
    won, score = jnp.array([False, True]), jnp.array([800, 5])
    done = jnp.array([0.25, 1.0])
    knobs = {s: Mcts(signal=s, shrinking=0.5).knobs for s in returns.SIGNALS}
    found = {s: returns.value(each.weights, won, score, done, scope) for s, each in knobs.items()}
    ranked = (800 - low) / (high - low)
    expected = {"binary": 0.0, "partial": 0.125, "score": 0.5 * ranked, "combined": 0.25 * (0.25 + ranked)}
    for name, value in found.items():
        assert np.asarray(value).tolist() == pytest.approx([expected[name], 1.0])


def test_a_search_does_not_depend_on_its_neighbours(game: Game, found: Found) -> None:
    keys, state = opening(game)
    policy = Mcts(simulations=SIMULATIONS).bind(game)
    for board in (0, 7):
        alone = jax.tree.map(lambda x, b=board: x[..., b : b + 1], state)
        key = player_key(keys[board : board + 1])
        action, scope = policy.act((), key, policy.start((), key, alone, level_of(game)), alone, level_of(game))
        assert int(action[0]) == int(found.action[board])
        assert float(scope.low[0]) == float(found.scope.low[board])


def test_two_real_futures_one_search() -> None:
    """The same position and the same player's key, whatever the game's own key will bring: identical choices."""
    game = Game(rules="combo", shape=(5, 5), colours=4, moves=4)
    state = game.reset(jax.random.split(jax.random.key(0), 8))
    policy = Mcts(simulations=12).bind(game)
    own = jax.random.split(jax.random.key(99), 8)
    futures = [jax.random.split(jax.random.key(seed), 8) for seed in (1, 2)]
    action, _ = policy.act((), own, policy.start((), own, state, level_of(game)), state, level_of(game))
    boards = [game.step(future, state, action)[0] for future in futures]
    assert not np.array_equal(np.asarray(boards[0].planes), np.asarray(boards[1].planes))
    again, _ = policy.act((), own, policy.start((), own, state, level_of(game)), state, level_of(game))
    np.testing.assert_array_equal(np.asarray(action), np.asarray(again))
    # Within the search, a move leads to the position that the search's own key draws, not the game's.
    keys = jax.random.split(jax.random.key(3), 8)
    assert not np.array_equal(jax.random.key_data(player_key(keys)), jax.random.key_data(keys))


@pytest.mark.slow
def test_search_wins_more_than_random_play_and_than_its_own_playouts(game: Game) -> None:
    keys = jax.random.split(jax.random.key(7), 64)
    rates = [
        float(np.mean(play(make(name).bind(game), game, keys, level_of(game)).won))
        for name in ("random", "heuristic", "mcts:simulations=40")
    ]
    assert rates[2] >= rates[0] + 0.2 and rates[2] > rates[1]


@pytest.mark.parametrize(
    "parameters",
    [
        "playout=to-mast,signal=combined",
        pytest.param("playout=heuristic,depth=2,final=robust", marks=pytest.mark.slow),
        "beam=2,outcomes=1,final=robust-max,noise=0.1",
        pytest.param("streak=3,seconds=600,playout=clouded,signal=binary", marks=pytest.mark.slow),
    ],
)
def test_options_do_what_they_say(game: Game, parameters: str) -> None:
    agent = make(f"mcts:simulations=24,{parameters}")
    assert isinstance(agent, Mcts) and make(agent.name) == agent
    found = searched(game, agent)
    _, state = opening(game)
    assert np.asarray(game.legal(state))[np.asarray(found.action), np.arange(BOARDS)].all()
    for board, tree in enumerate(trees_of(found)):
        done = int(found.done[board])
        mine = tree["edge_parent"] == ROOT
        level = np.zeros(tree["nodes"], int)
        for node in range(1, tree["nodes"]):
            level[node] = level[tree["edge_parent"][tree["node_edge"][node]]] + 1
        outcomes = np.bincount(tree["node_edge"][1:], minlength=tree["edges"])
        assert outcomes.max() <= agent.outcomes
        if agent.depth is not None:
            assert level.max() <= agent.depth
        if agent.beam is not None:
            assert np.bincount(tree["edge_parent"]).max() <= agent.beam
        if agent.streak is None:
            assert 24 <= done <= (36 if agent.final == "robust-max" else 24)
        else:
            assert agent.streak <= done <= 24
        if agent.final == "robust":
            chosen = tree["edge_action"] == int(found.action[board])
            assert tree["edge_visits"][mine & chosen][0] == tree["edge_visits"][mine].max()


@pytest.mark.slow
def test_beam_tries_the_moves_of_highest_value(game: Game) -> None:
    _, state = opening(game)
    board = Board.of(game.spec, state.planes).awake()
    values = np.asarray(by_action(game.spec, move_values(board, state.books)))
    legal = np.asarray(game.legal(state))
    for lane, tree in enumerate(trees_of(searched(game, Mcts(simulations=8, beam=2)))):
        tried = values[tree["edge_action"][tree["edge_parent"] == ROOT], lane]
        ranked = np.sort(values[legal[:, lane], lane])[::-1]
        assert sorted(tried)[::-1] == ranked[: len(tried)].tolist()


def test_time_stops_a_search(game: Game) -> None:
    found = searched(game, Mcts(simulations=SIMULATIONS, seconds=0.0))
    assert (np.asarray(found.done) == SIMULATIONS // 20).all()  # it looks at the clock twenty times


def test_noise_is_a_softmax_of_the_values(game: Game) -> None:
    calm = searched(game, Mcts(simulations=SIMULATIONS, noise=1e-6))
    wild = searched(game, Mcts(simulations=SIMULATIONS, noise=50.0))
    quiet = searched(game, Mcts(simulations=SIMULATIONS))
    np.testing.assert_array_equal(np.asarray(calm.action), np.asarray(quiet.action))
    assert (np.asarray(wild.action) != np.asarray(quiet.action)).any()


def test_wrong_parameters_are_refused_in_a_sentence(game: Game) -> None:
    for text in ("simulations=0", "signal=best", "shrinking=2", "final=first", "exploration=-1", "depth=0"):
        with pytest.raises(ValueError, match=text.split("=")[0]):
            make(f"mcts:{text}")
    with pytest.raises(ValueError, match="cannot play playouts"):
        Mcts(playout="mcts").bind(game)


def test_a_search_is_drawn_with_all_its_nodes_and_marks_wins(found: Found) -> None:
    tree = trees_of(found)[0]
    svg = drawing.svg(found.tree, 0, "a search of <forty>")
    assert svg.count("<circle") == tree["nodes"] and svg.count("<line") == tree["nodes"] + tree["edges"] - 1
    assert "&lt;forty&gt;" in svg
    wins = int((tree["node_wins"] > 0).sum())
    assert svg.count(f'stroke="{drawing.WON}" stroke-width="1.5"') == wins
