"""How many beats a move takes: counted on the CPU, for the rules and the random moves are the same on every device."""

from __future__ import annotations

import functools

import jax

from benchmarks.ours import ENDLESS, make_game
from crush_gym.engine import randomness
from crush_gym.engine.board import Board
from crush_gym.engine.state import rest
from crush_gym.engine.terrain import survey, with_boards_axis
from crush_gym.runtime import rollout, sizes

BOARDS, LOOKS = 256, 25


def beats_a_move(name: str, looks: int = LOOKS) -> float:
    """Beats of a board for each of its moves, in rollouts of random moves that never end."""
    game = make_game(name, ENDLESS)
    assert game.level is not None
    keys = jax.random.split(jax.random.key(0), BOARDS)
    bits, level, state = randomness.key_bits(keys), with_boards_axis(game.level), game.reset(keys)
    boards = rollout.rolling(rest(Board.of(game.spec, state.planes), state.books))
    terrain = survey(game.spec, level)
    look = jax.jit(functools.partial(rollout.some_beats, game.spec, None, ()))
    boards = look(terrain, bits, level, boards)
    before = int(boards.play.books.made.sum())
    going = 0
    for _ in range(looks):
        going += int(rollout.goes_on(boards.play).sum())
        boards = look(terrain, bits, level, boards)
    return sizes.BEATS_PER_LOOK * going / (int(boards.play.books.made.sum()) - before)
