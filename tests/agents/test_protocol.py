"""One protocol for players: parameters as data, memories and traits of each board, keys of their own."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from agents import registry
from agents.attempts import play
from agents.protocol import bound
from agents.template import Restless
from agents.testing import ATTEMPTS, AgentCheckError, check_agent
from crush_gym import Game, Level, LevelPack, State, Stats
from crush_gym.keys import attempt_key, move_key, player_key
from crush_gym.policies import Memory, Policy, chance, heuristic, legal

SMALL: dict[str, Any] = {"rules": "combo", "shape": (5, 5), "colours": 4, "moves": 6}


@pytest.fixture(scope="module")
def game() -> Game:
    return Game(**SMALL)


@functools.lru_cache
def _scored(spec: Any) -> Any:
    """The move with the greatest weight plus noise: softmax with a temperature of each board."""

    def act(params: Any, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[jax.Array, Memory]:
        mask = legal(spec, state)
        noise = jax.vmap(lambda k: jax.random.gumbel(k, (spec.actions,)), out_axes=-1)(key)
        strength = params[:, None] + memory * noise
        return jnp.argmax(jnp.where(mask, strength, -jnp.inf), axis=0).astype(jnp.int32), memory

    return act


def _warm(params: Any, key: jax.Array, state: State, level: Level, traits: Any = None) -> Memory:
    return jnp.ones(key.shape, jnp.float32) if traits is None else traits


def weights(game: Game, seed: int) -> jax.Array:
    return jax.random.normal(jax.random.key(seed), (game.actions,))


def same(one: Stats, other: Stats) -> bool:
    return all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in zip(one, other, strict=True))


def test_weights_change_without_a_compilation_and_play_differently(game: Game) -> None:
    key, scores = jax.random.key(1), []
    compiled: list[int] = []
    for seed in range(20):
        policy = Policy(_scored(game.spec), _warm, weights(game, seed))
        with _counted(compiled):
            scores.append(np.asarray(game.rollout(key, policy=policy, attempts=8)[1].score).tolist())
    assert sum(compiled[1:]) == 0 and compiled[0] > 0
    assert len({tuple(score) for score in scores}) > 10


class _counted:  # noqa: N801 (used like a function)
    """Appends how many programs were compiled within it."""

    def __init__(self, numbers: list[int]) -> None:
        self.numbers = numbers

    def __enter__(self) -> None:
        self.count = 0
        jax.monitoring.register_event_duration_secs_listener(self._heard)

    def __exit__(self, *reason: object) -> None:
        jax.monitoring.unregister_event_duration_listener(self._heard)
        self.numbers.append(self.count)

    def _heard(self, event: str, duration_secs: float, **kwargs: str | int) -> None:
        self.count += event.endswith("backend_compile_duration")


def test_a_thousand_temperatures_in_one_call_play_as_a_thousand_calls(game: Game) -> None:
    keys = jax.random.split(jax.random.key(3), 1000)
    traits = jnp.linspace(0.0, 4.0, 1000)
    policy = Policy(_scored(game.spec), _warm, weights(game, 0))
    _, together = game.rollout(keys, policy=policy, attempts=1000, traits=traits)
    final, boards = game.rollout(keys, game.reset(keys), policy=policy, traits=traits)
    assert same(together, boards) and final is not None
    for n in range(0, 1000, 83):
        own = slice(n, n + 1)
        _, one = game.rollout(keys[own], policy=policy, attempts=1, traits=traits[own])
        assert same(one, jax.tree.map(lambda x, own=own: x[own], together)), n
    hot, cold = np.asarray(together.score)[900:].mean(), np.asarray(together.score)[:100].mean()
    assert hot != cold


def test_a_player_with_a_memory_plays_the_same_within_rollouts_and_in_lockstep(game: Game) -> None:
    policy = bound(Restless(), game)
    keys = jax.random.split(jax.random.key(5), 200)
    final, stats = game.rollout(keys, game.reset(keys), policy=policy)
    assert final is not None
    state = game.reset(keys)
    memory = game.start(policy, player_key(keys), state)
    while (np.asarray(state.books.outcome) == 0).any():
        moves = move_key(keys, state.books.made)
        action, memory = game.act(policy, player_key(moves), memory, state)
        state, _ = game.step(moves, state, action)
    np.testing.assert_array_equal(np.asarray(final.planes), np.asarray(state.planes))
    assert same(stats, game.stats(state))
    # A lane that takes its next attempt starts afresh: the same whatever was played on it before.
    queued = game.rollout(keys, policy=policy, attempts=200)[1]
    assert same(queued, stats)


def player_key_of(words: tuple[int, int]) -> tuple[int, ...]:
    key = jax.random.wrap_key_data(jnp.asarray(words, jnp.uint32))
    return tuple(np.asarray(jax.random.key_data(player_key(key))).tolist())


def test_nobody_foresees_candies(game: Game) -> None:
    """A player that plays every move on the simulator with the key that it is given, and takes the best, gains no
    more than one that does so with a key of its own; with the move's own key it would."""

    keys = jax.random.split(jax.random.key(9), 256)
    attempts = [np.asarray(jax.random.key_data(move_key(keys, n))) for n in range(int(SMALL["moves"]))]
    moves = {player_key_of(words): words for step in attempts for words in map(tuple, step.tolist())}

    def means(of: Any) -> float:
        def act(params: Any, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[Any, Memory]:
            mask, used = np.asarray(game.legal(state)), of(key)
            gains = [np.asarray(game.step(used, state, np.full(len(key), a))[1].score) for a in range(game.actions)]
            return np.argmax(np.where(mask, np.stack(gains), -1), axis=0).astype(np.int32), memory

        return float(
            np.mean(np.asarray(play(Policy(act, traceable=False, lanes=256), game, keys, level_of(game)).score))
        )

    def unfolded(key: jax.Array) -> jax.Array:
        """The moves' own keys: of these attempts the test knows all keys."""
        words = [moves[tuple(data)] for data in np.asarray(jax.random.key_data(key)).tolist()]
        return jax.random.wrap_key_data(jnp.asarray(words, jnp.uint32))

    given, own, foreseen = means(lambda k: k), means(lambda k: attempt_key(k, 7)), means(unfolded)
    assert foreseen > 1.3 * own and abs(given - own) < 0.1 * own


def level_of(game: Game) -> Level:
    assert game.level is not None
    return game.level


def test_several_levels_with_traits_of_each_attempt() -> None:
    rows = [{"name": f"{n}", "colours": 4, "moves": n, "goals": {}, "board": ["? ? ? ? ?"] * 5} for n in (2, 5)]
    pack = LevelPack.from_dict({"name": "two", "levels": rows})
    game = Game(pack, rules="combo")
    keys, traits = jax.random.split(jax.random.key(0), 7), jnp.arange(7.0)
    policy = Policy(_scored(game.spec), _warm, weights(game, 0))
    levels = pack.stack(np.arange(7) % 2)
    stats = game.rollout(keys, level=levels, policy=policy, attempts=7, traits=traits)[1]
    assert stats.moves.tolist() == [2, 5, 2, 5, 2, 5, 2]
    one = game.rollout(keys[3:4], level=pack[1], policy=policy, attempts=1, traits=traits[3:4])[1]
    assert same(one, jax.tree.map(lambda x: x[3:4], stats))


def test_vmap_over_weights_is_one_set_after_the_other(game: Game) -> None:
    key, many = jax.random.key(2), jnp.stack([weights(game, n) for n in range(3)])
    keys = jax.random.split(key, 4)
    state = game.reset(keys)

    def scores(params: jax.Array) -> jax.Array:
        return game.rollout(keys, state, policy=Policy(_scored(game.spec), _warm, params))[1].score

    expected = np.stack([np.asarray(scores(params)) for params in many])
    np.testing.assert_array_equal(np.asarray(jax.vmap(scores)(many)), expected)


SLOWER = [pytest.param(name, marks=pytest.mark.slow) for name in ("greedy", "heuristic", "clouded")]


@pytest.mark.parametrize("name", ["random", "first", *SLOWER])
def test_our_players_pass_the_check(name: str, game: Game) -> None:
    check_agent(registry.make(name), game)


@pytest.mark.parametrize(
    "name",
    [
        "beam:depth=1",
        "montecarlo:episodes=2",
        "mcts:simulations=6",
        "mcts:simulations=6,playout=clouded,prior=clouded",
        "mcts:simulations=6,prior=agents.template:Restless",
        "agents.template:Lowest",
        "agents.template:BatchedLowest",
        "agents.template:Restless",
    ],
)
@pytest.mark.slow
def test_our_searching_players_pass_the_check(name: str, game: Game) -> None:
    check_agent(registry.make(name), game)


class Named:
    name = "named"

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def bind(self, game: Game) -> Policy:
        return self.policy


def _first_of_all(params: Any, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[Any, Memory]:
    return jnp.zeros(key.shape, jnp.int32), memory


def _of_the_batch(game: Game) -> Any:
    def act(params: Any, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[Any, Memory]:
        mask = legal(game.spec, state)
        number = jnp.cumsum(mask, axis=0)
        nth = state.books.made.sum() % jnp.maximum(mask.sum(0), 1) + 1
        return jnp.argmax(mask & (number == nth), axis=0).astype(jnp.int32), memory

    return act


def test_the_check_finds_what_is_wrong(game: Game) -> None:
    with pytest.raises(AgentCheckError, match="action 0, which is not legal"):
        check_agent(Named(Policy(_first_of_all)), game)
    with pytest.raises(AgentCheckError, match="on one board alone"):
        check_agent(Named(Policy(_of_the_batch(game))), game)
    luck = np.random.default_rng(0)

    def lucky(params: Any, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[Any, Memory]:
        mask = np.asarray(game.legal(state))
        return np.array([luck.choice(np.flatnonzero(m)) if m.any() else 0 for m in mask.T]), memory

    with pytest.raises(AgentCheckError, match="again with the same keys"):
        check_agent(Named(Policy(lucky, traceable=False)), game)
    with pytest.raises(ValueError, match="every leaf must end in the axis of the 6 boards"):
        check_agent(Named(Policy(_first_of_all, lambda p, k, s, lvl: jnp.zeros(3))), game)


def test_a_memory_of_another_kind_is_refused_in_a_sentence(game: Game) -> None:
    def act(params: Any, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[Any, Memory]:
        return jnp.zeros(key.shape, jnp.int32), memory.astype(jnp.float32)

    with pytest.raises(ValueError, match="`act` must give back a memory of the kind"):
        game.rollout(jax.random.key(0), policy=Policy(act, lambda p, k, s, lvl: k.shape[0] * [0] and s.books.made))


def test_plain_functions_go_on_working(game: Game) -> None:
    def lowest(bits: jax.Array, state: State, level: Level) -> jax.Array:
        assert bits.shape[0] == 2
        mask = legal(game.spec, state)
        return jnp.argmax(mask, axis=0).astype(jnp.int32)

    key = jax.random.key(4)
    assert same(game.rollout(key, policy=lowest, attempts=5)[1], game.rollout(key, policy="first", attempts=5)[1])


def test_the_old_protocol_plays_with_a_warning(game: Game) -> None:
    class Old:
        name = "old"

        def bind(self, game: Game) -> Any:
            return self

        def start(self, key: jax.Array, state: State, level: Level) -> Memory:
            return ()

        def act(self, key: jax.Array, memory: Memory, state: State, level: Level) -> Any:
            return game.choose("heuristic", key, state, level), memory

    with pytest.warns(DeprecationWarning, match="without params"):
        policy = bound(Old(), game)
    keys = jax.random.split(jax.random.key(0), ATTEMPTS)
    assert same(play(policy, game, keys, level_of(game)), play(heuristic(game), game, keys, level_of(game)))


def test_chance_is_uniform() -> None:
    numbers = np.asarray(chance(jax.random.split(jax.random.key(0), 20_000)))
    assert numbers.min() >= 0 and numbers.max() < 1
    assert abs(numbers.mean() - 0.5) < 0.01 and abs(np.mean(numbers < 0.25) - 0.25) < 0.015
