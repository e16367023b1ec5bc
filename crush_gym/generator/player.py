"""The player by which levels are made and measured: always a move of the highest value."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import jax

from crush_gym.engine.board import Board
from crush_gym.engine.moves import legal_moves
from crush_gym.engine.spec import Spec
from crush_gym.engine.state import State
from crush_gym.levels import Level
from crush_gym.move_values.choose import action_of, best, one_of, planes_of
from crush_gym.move_values.goals import move_values
from crush_gym.runtime.chunks import in_chunks
from crush_gym.runtime.rollout import Policy

if TYPE_CHECKING:
    from crush_gym.game import Game


def greedy(game: Game) -> Policy:
    """The player as a policy for `game.rollout`; ties are broken by the move's key."""
    return _greedy(game.spec)


@functools.lru_cache(maxsize=64)
def _greedy(spec: Spec) -> Policy:
    """One function for each spec: programs are kept by it."""

    def highest(bits: jax.Array, state: State) -> jax.Array:
        board = Board.of(spec, state.planes).awake()
        legal = board.fence(planes_of(legal_moves(board)))
        values = board.fence(move_values(board, state.books))
        return action_of(board, one_of(board, best(board, legal, values), bits))

    def choose(bits: jax.Array, state: State, level: Level) -> jax.Array:
        """int32[B]; -1 where no move is legal. bits: uint32[2, B]."""
        del level  # what is left of each goal is in the state
        actions: jax.Array = in_chunks(highest)(bits, state)
        return actions

    return choose
