"""The values of moves: exactly what the engine's first round does; what the slow cell-by-cell version says."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crush_gym import Game, State, load_pack
from crush_gym.engine.bits import count, mask
from crush_gym.engine.board import Board
from crush_gym.engine.moves import legal_moves, to_mask
from crush_gym.engine.rounds import _aim, play_round
from crush_gym.engine.spec import Spec
from crush_gym.engine.state import FIRST
from crush_gym.engine.terrain import survey
from crush_gym.levels import Level
from crush_gym.move_values import first_round, goals
from crush_gym.move_values.choose import by_action
from crush_gym.move_values.sliced import add, cells, largest, sums, times
from crush_gym.runtime.lockstep import begin_action
from tests import cell_values


def positions(game: Game, level: Level, boards: int, moves: int, seed: int = 0) -> State:
    """Boards after some random moves."""
    state = game.reset(jax.random.split(jax.random.key(seed), boards), level)
    for move in range(moves):
        keys = jax.random.split(jax.random.key(1000 * seed + move + 1), boards)
        state, _ = game.step(keys, state, game.random_action(keys, state), level)
    return state


def rich(boards: int) -> tuple[Game, Level]:
    """The game of every mechanic, and a level for each board."""
    pack = load_pack("basics")
    return Game(pack), pack.stack(np.arange(boards) % len(pack))


def of_the_engine(spec: Spec, state: State, level: Level) -> tuple[jax.Array, jax.Array]:
    """For each action: candies cleared and specials made in the first round, int32[actions, B]; whether it is legal."""
    terrain = survey(spec, level)

    def one(action: jax.Array) -> tuple[jax.Array, jax.Array]:
        boards = state.books.score.shape
        play = begin_action(spec, terrain, jnp.zeros((2, *boards), jnp.uint32), state, jnp.full(boards, action))
        legal = play.stage == FIRST
        makes = _aim(terrain, play, mask(legal)).makes
        made = jnp.zeros(boards, jnp.int32)
        if makes is not None:
            seats = makes.bomb | makes.striped_h | makes.striped_v
            made = count(seats if makes.wrapped is None else seats | makes.wrapped)
        return play_round(terrain, play).cleared + made, legal

    return jax.lax.map(one, jnp.arange(spec.actions))


@pytest.mark.parametrize("rules", [pytest.param("saga", marks=pytest.mark.slow), "points", "combo"])
def test_gains_are_what_the_first_round_clears_and_makes(rules: str) -> None:
    boards = 170
    game, level = rich(boards) if rules == "saga" else (Game(rules=rules, shape=(7, 7), colours=3), None)
    known = game.level if level is None else level
    assert known is not None
    state = positions(game, known, boards, 6)
    shown = jax.jit(lambda s: by_action(game.spec, first_round.gains(Board.of(game.spec, s.planes).awake())))(state)
    engines, legal = jax.jit(lambda s, stack: of_the_engine(game.spec, s, stack))(state, _with_boards(known))
    found, expected, where = map(np.asarray, (shown, engines, legal))
    assert where.sum() > 500
    np.testing.assert_array_equal(found[where], expected[where])


def _with_boards(level: Level) -> Level:
    return level if np.ndim(level.height) else jax.tree.map(lambda x: jnp.asarray(x)[..., None], level)


@pytest.mark.slow
def test_goal_values_are_those_of_the_cell_by_cell_version() -> None:
    game, level = rich(170)
    state, spec = positions(game, level, 170, 8), game.spec

    @jax.jit
    def both(state: State) -> tuple[jax.Array, jax.Array, jax.Array]:
        board = Board.of(spec, state.planes).awake()
        new = by_action(spec, goals.move_values(board, state.books))
        return new, cell_values.move_values(board, state.books), to_mask(spec, legal_moves(board))

    new, old, legal = map(np.asarray, both(state))
    assert legal.sum() > 500
    np.testing.assert_array_equal(new[legal], old[legal])


def test_sliced_numbers_add_as_numbers_do() -> None:
    rng = np.random.default_rng(0)
    planes = [jnp.asarray(rng.integers(0, 2**16, (3, 5), dtype=np.uint16)) for _ in range(4)]
    a, b = times(planes[0], 13), add(times(planes[1], 7), times(planes[2], 20))
    table: Any = sum(np.asarray(cells(x, 16)) for x in (a, b))
    np.testing.assert_array_equal(np.asarray(cells(add(a, b), 16)), table)
    np.testing.assert_array_equal(np.asarray(sums(add(a, b))), table.sum(axis=(0, 1)))
    best = np.asarray(cells(times(largest(planes[3], add(a, b)), 1), 16)).astype(bool)
    among = np.asarray(cells(times(planes[3], 1), 16)).astype(bool)
    np.testing.assert_array_equal(best, among & (table == np.where(among, table, -1).max(axis=(0, 1))))


@pytest.mark.slow
def test_greedy_takes_the_greatest_gain_furthest_down() -> None:
    game = Game(rules="points", shape=(6, 6), colours=4)
    assert game.level is not None
    state = positions(game, game.level, 200, 3)
    gains = np.asarray(by_action(game.spec, first_round.gains(Board.of(game.spec, state.planes).awake())))
    legal = np.asarray(game.legal(state))
    row = np.concatenate([np.repeat(np.arange(6), 5), np.repeat(np.arange(5) + 0.5, 6)])[:, None]
    rank = np.where(legal, gains * 100 + row, -1)
    action = game.choose("greedy", jax.random.split(jax.random.key(0), 200), state)
    chosen = np.take_along_axis(rank, np.asarray(action)[None], 0)[0]
    np.testing.assert_array_equal(chosen, rank.max(axis=0))


def test_clouded_chooses_in_proportion_to_the_values() -> None:
    game = Game(load_pack("basics")["jelly"])
    assert game.level is not None
    boards = 4096
    one = game.reset(jax.random.key(3))
    state: State = jax.tree.map(lambda x: jnp.broadcast_to(jnp.asarray(x)[..., None], (*x.shape, boards)), one)
    action = game.choose("clouded", jax.random.split(jax.random.key(1), boards), state)
    batch = jax.tree.map(lambda x: x[..., :1], state)
    values = np.asarray(
        by_action(game.spec, goals.move_values(Board.of(game.spec, batch.planes).awake(), batch.books))
    )[:, 0]
    expected = np.where(np.asarray(game.legal(one)), values, 0) / values[np.asarray(game.legal(one))].sum()
    observed = np.bincount(np.asarray(action), minlength=game.actions) / boards
    assert (observed[expected == 0] == 0).all()
    deviation = np.sqrt(expected * (1 - expected) / boards)
    assert (np.abs(observed - expected) <= 4.5 * deviation + 1e-9).all()


@pytest.mark.slow
def test_heuristic_plays_better_than_greedy_and_both_better_than_chance() -> None:
    game = Game(load_pack("basics")["jelly"])
    key = jax.random.key(0)
    left = [
        float(np.mean(game.rollout(key, policy=policy, attempts=600)[1].goals_left))
        for policy in ("random", "greedy", "heuristic")
    ]
    assert left[0] > left[1] > left[2]
