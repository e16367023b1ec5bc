"""The synthetic players: both families keep the protocol, and their traits do what they are said to do."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from agents.registry import make
from agents.testing import ATTEMPTS, check_agent
from crush_gym import Game, Level, State
from crush_gym.keys import player_key
from crush_gym.runtime import in_chunks, randomness
from experiments.population import PERSONAS, Habit, Traits, Weighing, draw
from experiments.population.draws import between
from experiments.population.foresight import Liking, Looks, liked_best
from experiments.population.habit import Mind
from experiments.population.traits import of_persona, skill_at
from experiments.population.weighing import MOST_LOOKED_AT, looked_at

BOARDS = 48
FAMILIES = [Weighing(), Habit()]


def level(score: int = 1500, colours: int = 4) -> Level:
    goals = {"score": score}
    board = ["? ? ? ? ?"] * 5
    return Level.from_dict({"name": "small", "colours": colours, "moves": 6, "goals": goals, "board": board})


@pytest.fixture(scope="module")
def game() -> Game:
    return Game(level(), rules="combo")


def of_skill(skill: Any, players: int) -> Traits:
    zero = np.zeros(players, np.float32)
    return Traits(
        np.broadcast_to(np.float32(skill), players), zero, zero, zero, zero, np.arange(players, dtype=np.uint32)
    )


@pytest.mark.parametrize("agent", FAMILIES, ids=["A", "B"])
def test_both_families_keep_the_protocol_with_traits_of_each_player(agent: Any, game: Game) -> None:
    check_agent(agent, game, traits=draw("A", ATTEMPTS, seed=3).traits)


def success(agent: Any, game: Game, traits: Traits) -> np.ndarray[Any, Any]:
    attempts = traits.skill.shape[0]
    _, stats = game.rollout(jax.random.key(5), policy=agent.bind(game), attempts=attempts, traits=traits)
    return np.asarray(stats.score)


@pytest.mark.parametrize("agent", FAMILIES, ids=["A", "B"])
def test_the_more_skill_the_more_points(agent: Any, game: Game) -> None:
    if isinstance(agent, Habit):
        pytest.skip("nothing but the place of a run can be noticed where there are neither goals nor specials")
    skills = np.repeat(np.array([-2.5, 0.0, 2.5], np.float32), 600)
    means = success(agent, game, of_skill(skills, len(skills))).reshape(3, -1).mean(axis=1)
    assert means[0] < means[1] < means[2] and means[2] > 1.15 * means[0]


def test_a_board_adds_to_a_players_skill_always_the_same_and_each_board_another() -> None:
    many = of_skill(0.0, 4000)._replace(leaning=np.full(4000, 0.5, np.float32))

    def added(one: Level) -> np.ndarray[Any, Any]:
        stack = jax.tree.map(lambda x: jnp.asarray(x)[..., None], one)
        return np.asarray(skill_at(jax.tree.map(jnp.asarray, many), stack))

    first, other = added(level()), added(dataclasses.replace(level(), floor=level().floor & 30))
    assert first.std() == pytest.approx(0.5, rel=0.05) and abs(first.mean()) < 0.03
    assert (added(level(score=99)) == first).all()
    assert abs(np.corrcoef(first, other)[0, 1]) < 0.05


def test_of_people_the_first_are_the_same_however_many_there_are() -> None:
    few, many = draw("B", 50, seed=2), draw("B", 400, seed=2)
    for one, all_of_them in zip(few.traits, many.traits, strict=True):
        assert (one == all_of_them[:50]).all()
    assert (few.patience == many.patience[:50]).all() and many.patience.min() == 1
    assert abs(np.corrcoef(many.traits.skill, many.traits.haste)[0, 1]) < 0.15
    assert not (draw("A", 50, seed=2).traits.skill == few.traits.skill).any()


def test_who_is_not_known_is_refused() -> None:
    with pytest.raises(ValueError, match="persona must be one of average, beginner, hurried"):
        Weighing("genius")
    with pytest.raises(ValueError, match="family must be one of A, B, not 'C'"):
        draw("C", 3)
    for name in ("experiments.population:Weighing", "experiments.population:Habit:persona=combo lover"):
        assert make(name).name == name
    assert of_persona("combo-lover") == of_persona("combo lover") and len(PERSONAS) == 7


# ------------------------------------------------------------------ the weighing player


@pytest.fixture(scope="module")
def opening(game: Game) -> tuple[jax.Array, State]:
    keys = jax.random.split(jax.random.key(3), BOARDS)
    return randomness.key_bits(player_key(keys)), game.reset(keys)


def seen(game: Game, opening: tuple[jax.Array, State], low: float, striking: float) -> np.ndarray[Any, Any]:
    given = (jnp.full((1,), x, jnp.float32) for x in (low, striking))
    return np.asarray(jax.jit(in_chunks(lambda *args: looked_at(game.spec, *args)))(*opening, *given))


def test_moves_meet_the_eye_without_repetition_until_there_are_no_more(
    game: Game, opening: tuple[jax.Array, State]
) -> None:
    order, mask = seen(game, opening, 0.0, 0.0), np.asarray(game.legal(opening[1]))
    for board in range(BOARDS):
        found = order[:, board][order[:, board] >= 0]
        assert len(found) == min(mask[:, board].sum(), MOST_LOOKED_AT) == len(set(found))
        assert mask[found, board].all() and (order[len(found) :, board] == -1).all()


def test_lower_moves_meet_the_eye_first_where_rows_count(game: Game, opening: tuple[jax.Array, State]) -> None:
    rows = np.concatenate([np.repeat(np.arange(5), 4), np.repeat(np.arange(4), 5)])
    low = rows[seen(game, opening, 50.0, 0.0)[0]]
    highest = np.where(np.asarray(game.legal(opening[1])), rows[:, None], -1).max(axis=0)
    assert (low == highest).all() and (rows[seen(game, opening, 0.0, 0.0)[0]] != highest).any()


@pytest.mark.parametrize("samples", [1, 3])
def test_with_a_cool_head_the_move_is_made_that_clears_most_in_the_mind(
    game: Game, opening: tuple[jax.Array, State], samples: int
) -> None:
    bits, state = opening
    actions = seen(game, opening, 0.0, 0.0)
    number = np.minimum((actions >= 0).sum(axis=0), 4)
    ones = jnp.ones(BOARDS)
    looks = Looks(
        jnp.asarray(actions), jnp.asarray(number), samples * ones.astype(jnp.int32),
        jnp.full(BOARDS, 99, jnp.uint16), 1e-4 * ones,
    )  # fmt: skip
    liking = Liking(*(x * ones for x in (0.0, 0.0, 1.0, 0.0)))
    chosen = np.asarray(jax.jit(lambda *args: liked_best(game.spec, *args))(bits, state, game.level, looks, liking))
    cleared = np.zeros((4, BOARDS))
    for move in range(4):
        for sample in range(samples):
            words = randomness.fold(bits, jnp.full(BOARDS, move * samples + sample))
            keys = jax.random.wrap_key_data(jnp.moveaxis(words, 0, -1))
            _, turn = game.step(keys, state, np.maximum(actions[move], 0))
            cleared[move] += np.where(move < number, np.asarray(turn.cleared), -99)
    # Boards with one legal move only need no imagination.
    for board in np.flatnonzero(number > 1):
        best = cleared[:, board] == cleared[:, board].max()
        assert chosen[board] in actions[:4, board][best]
    assert (chosen == actions[0])[number == 1].all() and (chosen != actions[0]).any()


# ------------------------------------------------------------------ the habit player


def test_habits_probabilities_are_how_often_moves_are_made(game: Game, opening: tuple[jax.Array, State]) -> None:
    policy = Habit().bind(game)
    assert policy.logits is not None
    times, one = 4000, jax.tree.map(lambda x: x[..., :1], opening[1])
    state = jax.tree.map(lambda x: jnp.repeat(x, times, axis=-1), one)
    keys = jax.random.split(jax.random.key(8), times)
    memory = game.start(policy, keys, state)
    made = np.bincount(np.asarray(game.act(policy, keys, memory, state)[0]), minlength=game.actions) / times
    known = np.exp(np.asarray(jax.jit(policy.logits)(policy.params, memory, state, game.level))[:, 0])
    assert known.sum() == pytest.approx(1, abs=1e-5)
    assert (np.abs(made - known) < 4 * np.sqrt(known * (1 - known) / times) + 1e-9).all() and (known > 0.01).sum() > 2


def test_the_first_pattern_noticed_in_the_list_decides(game: Game, opening: tuple[jax.Array, State]) -> None:
    policy = Habit().bind(game)
    memory: Mind = game.start(policy, jax.random.split(jax.random.key(1), BOARDS), opening[1])
    always = memory._replace(noticed=jnp.ones_like(memory.noticed))
    legal = np.asarray(game.legal(opening[1]))
    rows = np.concatenate([np.repeat(np.arange(5), 4), np.repeat(np.arange(4), 5)])
    action = np.asarray(game.act(policy, jax.random.split(jax.random.key(2), BOARDS), always, opening[1])[0])
    low = legal & (rows >= 2)[:, None]
    assert (low[action, np.arange(BOARDS)] == low.any(axis=0)).all() and not (low == legal).all()


def test_what_is_drawn_lies_between_0_and_1_and_so_picks_one_of_any_number() -> None:
    """The greatest words would round to 1, and name a move that is not there, once in 16 million draws."""
    words = np.array([0, 1, 255, 256, 2**31, 2**32 - 512, 2**32 - 257, 2**32 - 256, 2**32 - 1], np.uint32)
    drawn = np.asarray(between(jnp.asarray(words)))
    assert drawn[0] > 0 and (np.diff(drawn) >= 0).all() and drawn[-1] < 1 and drawn[4] == pytest.approx(0.5)
    numbers = np.arange(1, 5000, dtype=np.float32)
    assert (np.floor(drawn[-1] * numbers) == numbers - 1).all()
