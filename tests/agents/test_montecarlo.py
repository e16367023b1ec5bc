"""The player with values on the fly: what it learns, what it explores, its futures, and batches."""

from __future__ import annotations

from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from agents.attempts import play
from agents.montecarlo import MonteCarlo
from agents.registry import make
from crush_gym import Game, State
from crush_gym.keys import player_key

BOARDS = 48


@pytest.fixture(scope="module")
def game() -> Game:
    """CandyCrush.ai's game on a small board."""
    return Game(rules="combo", shape=(5, 5), colours=4, moves=3)


@pytest.fixture(scope="module")
def keys() -> jax.Array:
    return jax.random.split(jax.random.key(1), BOARDS)


@pytest.fixture(scope="module")
def start(game: Game, keys: jax.Array) -> State:
    return game.reset(keys)


def acts(agent: MonteCarlo, game: Game, keys: jax.Array, state: State) -> np.ndarray:
    assert game.level is not None
    return np.asarray(agent.bind(game).act((), keys, (), state, game.level)[0])


def test_it_finds_the_move_with_the_best_mean_score(game: Game, keys: jax.Array, start: State) -> None:
    """With one move left, exploring widely: near the best of the means of many trials of each move."""
    last = start._replace(books=start.books._replace(moves=jnp.ones_like(start.books.moves)))
    mask = np.asarray(game.legal(last))
    trials = [jax.random.split(jax.random.key(100 + n), BOARDS) for n in range(12)]
    gains = np.stack([
        np.mean([np.asarray(game.step(key, last, jnp.full(BOARDS, a))[1].score) for key in trials], axis=0)
        if mask[a].any() else np.zeros(BOARDS)
        for a in range(len(mask))
    ])  # fmt: skip
    chosen = acts(MonteCarlo(episodes=80, epsilon=1.0), game, player_key(keys), last)
    assert mask[chosen, np.arange(BOARDS)].all()
    got, best = gains[chosen, np.arange(BOARDS)].mean(), np.where(mask, gains, 0).max(0).mean()
    average = ((gains * mask).sum(0) / mask.sum(0)).mean()
    assert got > average + 0.7 * (best - average)


def test_without_exploration_it_keeps_the_first_random_move(game: Game, start: State) -> None:
    """Only one move ever has a value then; which one is uniform among the legal ones."""
    one = jax.tree.map(lambda x: np.repeat(x[..., :1], BOARDS, axis=-1), start)
    counts: Counter[int] = Counter()
    for seed in range(8):
        keys = jax.random.split(jax.random.key(seed), BOARDS)
        chosen = acts(MonteCarlo(episodes=3, epsilon=0.0), game, keys, one)
        assert np.array_equal(chosen, acts(MonteCarlo(episodes=1, epsilon=1.0), game, keys, one))
        counts.update(chosen.tolist())
    legal = np.flatnonzero(np.asarray(game.legal(one))[:, 0])
    assert set(counts) == set(legal.tolist())
    expected = 8 * BOARDS / len(legal)
    assert sum((counts[a] - expected) ** 2 / expected for a in legal) < 3 * len(legal) + 10


def test_episodes_begin_at_random_as_often_as_epsilon_says(
    game: Game, keys: jax.Array, start: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each first move is either the best known one, or uniform: with k legal moves, other ones with
    probability epsilon (1 - 1/k)."""
    firsts, step = [], Game.step

    def watched(self: Game, key: jax.Array, state: State, action: jax.Array, level: object) -> object:
        firsts.append(np.asarray(action))
        return step(self, key, state, action, level)  # type: ignore[arg-type]

    monkeypatch.setattr(Game, "step", watched)
    agent = MonteCarlo(episodes=9, epsilon=0.5)
    acts(agent, game, player_key(keys), start)
    several = np.asarray(game.legal(start)).sum(0) > 1
    second = (firsts[1] != firsts[0])[several]
    number = np.asarray(game.legal(start)).sum(0)[several]
    expected = (0.5 * (1 - 1 / number)).sum()
    assert len(firsts) == 9 and abs(second.sum() - expected) < 3.5 * np.sqrt(len(number) / 4)


def test_many_boards_play_as_each_alone(game: Game, keys: jax.Array, start: State) -> None:
    agent = MonteCarlo(episodes=4)
    together = acts(agent, game, player_key(keys), start)
    for i in (0, 7):
        alone = acts(agent, game, player_key(keys[i]), jax.tree.map(lambda x, i=i: x[..., i], start))
        assert int(alone) == together[i]
    folded = jax.tree.map(lambda x: x.reshape(*x.shape[:-1], 6, 8), start)
    assert np.array_equal(acts(agent, game, player_key(keys).reshape(6, 8), folded), together.reshape(6, 8))


def test_same_keys_same_choices_and_other_keys_other_episodes(game: Game, keys: jax.Array, start: State) -> None:
    agent = MonteCarlo(episodes=4)
    first = acts(agent, game, player_key(keys), start)
    assert np.array_equal(first, acts(agent, game, player_key(keys), start))
    assert not np.array_equal(first, acts(agent, game, keys, start))


def test_whole_attempts_score_more_than_random_ones(game: Game, keys: jax.Array, start: State) -> None:
    assert game.level is not None
    smart = play(MonteCarlo(episodes=12).bind(game), game, keys, game.level)
    simple = [game.rollout(jax.random.split(jax.random.key(n), BOARDS), start)[1].score for n in range(8)]
    assert (np.asarray(smart.moves) == 3).all()
    assert np.mean(smart.score) > 1.1 * np.mean(simple)


def test_a_finished_board_gets_no_move(game: Game, keys: jax.Array, start: State) -> None:
    over, _ = game.rollout(keys, start)
    assert over is not None
    assert (acts(MonteCarlo(episodes=4), game, player_key(keys), over) == -1).all()


@pytest.mark.parametrize("text", ["montecarlo:episodes=0", "montecarlo:epsilon=1.5"])
def test_wrong_parameters_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"must be (at least 1|from 0 to 1)"):
        make(text)


def test_names_make_the_same_player_again() -> None:
    assert MonteCarlo().name == "montecarlo"
    assert make("montecarlo:episodes=5,epsilon=0.5") == MonteCarlo(5, 0.5)
