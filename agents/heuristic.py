"""Players by a hand-made value of moves that knows the goals: the best move, or any by chance."""

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
from crush_gym.generator import greedy
from crush_gym.levels import Level
from crush_gym.move_values.choose import action_of, in_proportion, planes_of
from crush_gym.move_values.goals import move_values
from crush_gym.runtime.chunks import in_chunks


@dataclass(frozen=True)
class Heuristic:
    """A move of the highest value; ties are broken by chance. The player by which the packs are measured."""

    name: str = "heuristic"

    def bind(self, game: Game) -> Policy:
        return Memoryless(game, greedy(game))


@dataclass(frozen=True)
class Clouded:
    """The thesis' clouded heuristic: a move with the probability p(a) = h(a) / sum of h."""

    name: str = "clouded"

    def bind(self, game: Game) -> Policy:
        return Memoryless(game, _clouded(game.spec))


@functools.lru_cache(maxsize=64)
def _clouded(spec: Spec) -> Choice:
    def by_chance(bits: jax.Array, state: State) -> jax.Array:
        board = Board.of(spec, state.planes).awake()
        legal = board.fence(planes_of(legal_moves(board)))
        values = board.fence(move_values(board, state.books))
        return action_of(board, in_proportion(board, legal, values, bits))

    def choose(bits: jax.Array, state: State, level: Level) -> jax.Array:
        del level
        actions: jax.Array = in_chunks(by_chance)(bits, state)
        return actions

    return choose
