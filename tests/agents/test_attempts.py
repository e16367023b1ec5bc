"""Whole attempts by any policy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from agents.attempts import PolicyError, merged, play
from agents.first import First
from agents.protocol import Memory, Policy
from crush_gym import Game, LevelPack, State, Stats
from crush_gym.engine import randomness
from crush_gym.keys import PLAYER, player_key
from crush_gym.levels import Level
from crush_gym.policies import of_function
from crush_gym.runtime.lockstep import legal

LEVELS = [
    {"name": "short", "colours": 4, "moves": 3, "goals": {}, "board": ["? ? ? ? ?"] * 5},
    {"name": "low", "colours": 4, "moves": 7, "goals": {"score": 300}, "board": ["? ? ? ?"] * 3},
    {"name": "score", "colours": 3, "moves": 9, "goals": {"score": 5000}, "board": ["? ? ? ? ?"] * 4},
]
ATTEMPTS = 11


@pytest.fixture(scope="module")
def pack() -> LevelPack:
    return LevelPack.from_dict({"name": "three", "levels": LEVELS})


@pytest.fixture(scope="module")
def game(pack: LevelPack) -> Game:
    return Game(pack, rules="combo")


@pytest.fixture(scope="module")
def keys() -> jax.Array:
    return jax.random.split(jax.random.key(2), ATTEMPTS)


@pytest.fixture(scope="module")
def levels(pack: LevelPack) -> Level:
    """Another level from attempt to attempt."""
    return pack.stack(np.arange(ATTEMPTS) % 3)


@pytest.fixture(scope="module")
def policy(game: Game) -> Policy:
    """A player that uses its keys: the first legal action from a random one on."""

    def choose(bits: jax.Array, state: State, level: Level) -> jax.Array:
        start = randomness.below(randomness.draw(bits, randomness.PASS, 0, 0), game.actions)
        order = (jnp.arange(game.actions, dtype=jnp.uint32)[:, None] - start) % game.actions
        return jnp.argmin(jnp.where(legal(game.spec, state), order, game.actions), axis=0).astype(jnp.int32)

    return of_function(choose)


@dataclass
class Watched:
    """A policy played move by move, on so many lanes; it counts its moves and keeps the keys that it was given."""

    game: Game
    inner: Policy
    lanes: int = ATTEMPTS
    seen: list[tuple[Any, ...]] = field(default_factory=list)

    def policy(self) -> Policy:
        return Policy(self.act, self.start, traceable=False, lanes=self.lanes)

    def start(self, params: Any, key: jax.Array, state: State, level: Level) -> Memory:
        return {"moves": jnp.zeros(key.shape, jnp.int32), "key": np.asarray(jax.random.key_data(key)).T}

    def act(self, params: Any, key: jax.Array, memory: Any, state: State, level: Level) -> tuple[jax.Array, Memory]:
        action = self.game.choose(self.inner, key, state, level)
        made, outcome = np.asarray(state.books.made), np.asarray(state.books.outcome)
        self.seen.append((np.asarray(jax.random.key_data(key)), memory["key"], made, outcome == 0))
        assert (np.asarray(memory["moves"])[outcome == 0] == made[outcome == 0]).all()
        return action, {"moves": memory["moves"] + 1, "key": memory["key"]}


def test_refilled_lanes_all_at_once_and_rollouts_give_the_same(
    policy: Policy, game: Game, keys: jax.Array, levels: Level
) -> None:
    rolled = play(policy, game, keys, levels)
    assert set(rolled.moves) == {3, 7, 9} and len(set(rolled.score)) > 5 and set(rolled.outcome) == {1, 2, 3}
    for lanes in (4, ATTEMPTS):
        stepped = play(Watched(game, policy, lanes).policy(), game, keys, levels)
        for name, one, other in zip(Stats._fields, rolled, stepped, strict=True):
            np.testing.assert_array_equal(one, other, name)


def test_what_players_remember_at_the_end_is_told_whichever_way_they_play(
    policy: Policy, game: Game, keys: jax.Array, levels: Level
) -> None:
    """Counters of moves and of points before each move, of three attempts at a time on lanes that refill."""

    def start(params: Any, key: jax.Array, state: State, level: Level) -> Memory:
        return {"moves": jnp.zeros_like(state.books.made), "scores": jnp.zeros((2, *state.books.made.shape), jnp.int32)}

    def act(params: Any, key: jax.Array, memory: Any, state: State, level: Level) -> tuple[jax.Array, Memory]:
        action, _ = policy.act(params, key, (), state, level)
        made, score = state.books.made, state.books.score
        scores = jnp.where(jnp.array([[1], [2]]) == made, score, memory["scores"])
        return action, {"moves": memory["moves"] + 1, "scores": scores}

    stats, rolled = play(Policy(act, start), game, keys, levels, memories=True)
    again, stepped = play(Policy(act, start, traceable=False, lanes=3), game, keys, levels, memories=True)
    assert (np.asarray(rolled["moves"]) == stats.moves).all() and set(stats.moves) == {3, 7, 9}
    assert (stats.score == again.score).all() and (np.diff(rolled["scores"], axis=0) >= 0).all()
    for name in rolled:
        np.testing.assert_array_equal(rolled[name], stepped[name], name)
    assert play(policy, game, keys, levels, memories=True)[1] == ()
    assert game.rollout(keys, level=levels, policy="random", attempts=ATTEMPTS, memories=True)[2] == ()
    with pytest.raises(ValueError, match="say how many"):
        game.rollout(keys, level=levels, memories=True)


def test_one_level_for_all_attempts(policy: Policy, pack: LevelPack, game: Game, keys: jax.Array) -> None:
    stats = play(Watched(game, policy, 4).policy(), game, keys, pack["short"])
    assert (stats.moves == 3).all() and (stats.moves_left == 0).all() and len(stats.won) == ATTEMPTS


def test_players_have_keys_of_their_own(policy: Policy, game: Game, keys: jax.Array, levels: Level) -> None:
    watched = Watched(game, policy, 4)
    play(watched.policy(), game, keys, levels)

    def words(key: jax.Array) -> tuple[int, ...]:
        return tuple(np.asarray(jax.random.key_data(key)).tolist())

    starts = {words(jax.random.fold_in(key, PLAYER)): key for key in keys}
    for key, start, made, playing in watched.seen:
        for lane in np.flatnonzero(playing):
            attempt = starts[tuple(start[:, lane].tolist())]
            move = jax.random.fold_in(attempt, int(made[lane]))
            assert tuple(key[lane].tolist()) == words(jax.random.fold_in(move, PLAYER))


def test_own_keys_of_any_arrangement() -> None:
    keys = jax.random.split(jax.random.key(0), (2, 3))
    assert player_key(keys).shape == (2, 3)
    assert (player_key(keys)[1, 2] == player_key(keys[1, 2])) and (
        player_key(keys[1, 2]) == jax.random.fold_in(keys[1, 2], PLAYER)
    )


def test_progress_counts_every_attempt_once(policy: Policy, game: Game, keys: jax.Array, levels: Level) -> None:
    for way in (policy, Watched(game, policy, 4).policy()):
        told: list[int] = []
        play(way, game, keys, levels, told.append)
        assert sum(told) == ATTEMPTS


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda boards: np.zeros(boards + 1, int), r"shape \(5,\) for 4 boards, expected \(4,\)"),
        (lambda boards: np.zeros(boards), "float64 as actions: whole numbers are expected"),
        (lambda boards: np.full(boards, np.nan), "NaN as actions"),
        (lambda boards: np.full(boards, -1), "action -1, which is not legal, as move 1 of an attempt"),
        (lambda boards: np.full(boards, 2**32 + 1, np.int64), "action 4294967297, which is not legal"),
    ],
)
def test_policies_that_answer_nonsense(answer: Any, said: str, game: Game, keys: jax.Array, pack: LevelPack) -> None:
    class Odd(Watched):
        def act(self, params: Any, key: jax.Array, memory: Any, state: State, level: Level) -> Any:
            return answer(key.shape[0]), memory

    with pytest.raises(PolicyError, match=said):
        play(Odd(game, First().bind(game), 4).policy(), game, keys, pack["short"])


def test_memory_may_be_objects_and_pure_arrays() -> None:
    takes = np.array([True, False])
    new = {"jax": jnp.ones((3, 2)), "object": np.array(["a", "b"], object)}
    old = {"jax": jnp.zeros((3, 2)), "object": np.array([None, None], object)}
    mixed = merged(takes, new, old)
    assert isinstance(mixed["jax"], jax.Array) and mixed["jax"].tolist() == [[1, 0]] * 3
    assert mixed["object"].dtype == object and mixed["object"].tolist() == ["a", None]


def test_a_choice_that_strays_is_an_error(game: Game, keys: jax.Array, levels: Level) -> None:
    def choose(bits: jax.Array, state: State, level: Level) -> jax.Array:
        return jnp.full(bits.shape[1:], -1, jnp.int32)

    with pytest.raises(PolicyError, match="illegal action for"):
        play(of_function(choose), game, keys, levels)
