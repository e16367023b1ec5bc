"""The greedy player: the move that clears and makes most at once, of equal ones the one furthest down."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import jax

from agents.memoryless import Memoryless
from agents.protocol import Choice, Policy
from crush_gym import Game, State
from crush_gym.engine.board import Board
from crush_gym.engine.moves import legal_moves
from crush_gym.engine.spec import Spec
from crush_gym.levels import Level
from crush_gym.move_values.choose import action_of, best, lowest, planes_of
from crush_gym.move_values.first_round import gains
from crush_gym.runtime.chunks import in_chunks


@dataclass(frozen=True)
class Greedy:
    """Candies and colour bombs cleared in the swap's first round plus specials made, exactly."""

    name: str = "greedy"

    def bind(self, game: Game) -> Policy:
        """The player; it draws nothing."""
        return Memoryless(game, _greedy(game.spec))


@functools.lru_cache(maxsize=64)
def _greedy(spec: Spec) -> Choice:
    def most(planes: jax.Array) -> jax.Array:
        board = Board.of(spec, planes).awake()
        legal = board.fence(planes_of(legal_moves(board)))
        return action_of(board, lowest(best(board, legal, board.fence(gains(board)))))

    def choose(bits: jax.Array, state: State, level: Level) -> jax.Array:
        del bits, level
        actions: jax.Array = in_chunks(most)(state.planes)
        return actions

    return choose
