"""The heuristic player with gaps: it notices each legal move with some probability, and may not know the goals."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from agents.protocol import Memory, Policy
from agents.registry import name_of
from crush_gym import Game, Level, State
from crush_gym.move_values import action_of, best, move_values, one_of, planes_of
from crush_gym.policies import Act
from crush_gym.runtime import Board, Plane, Spec, Word, in_chunks, legal_moves, randomness, rows_of

DIGITS = 6
"""Binary digits of the probability to notice a move."""


@dataclass(frozen=True)
class Inattentive:
    """The best of the moves that it notices, by the heuristic player's values; where it notices none, any legal move.

    share: the probability to notice a legal move, in 64ths. 0: a random player; 1: the heuristic player
    goals: whether it knows what the level asks for and what is in the way. Otherwise it goes for candies and specials

    Both are numbers of one compiled program: a dozen such players cost what one does to compile.
    """

    share: float = 0.25
    goals: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise ValueError(f"share must be a probability from 0 to 1, not {self.share:g}")

    @property
    def name(self) -> str:
        """What makes this agent again."""
        return name_of("inattentive", self)

    def bind(self, game: Game) -> Policy:
        """The player in this game."""
        return Policy(_act(game.spec), params=_Gaps.of(self))


class _Gaps(NamedTuple):
    """What a player overlooks: words whose bits are all set, or none. Every leaf ends in an axis for all boards.

    digits: of the probability to notice a move, the lowest first, uint16[DIGITS, 1]
    all: whether it notices all; goals: whether it knows them: uint16[1]
    """

    digits: Any
    all: Any
    goals: Any

    @classmethod
    def of(cls, agent: Inattentive) -> _Gaps:
        share = round(agent.share * 2**DIGITS)
        words = np.array([-(share >> i & 1) for i in range(DIGITS)], np.int64).astype(np.uint16)
        every, goals = (np.array([-int(flag)], np.int64).astype(np.uint16) for flag in (agent.share == 1, agent.goals))
        return cls(words[:, None], every, goals)


@functools.lru_cache(maxsize=64)
def _act(spec: Spec) -> Act:
    """The moves: one function for each kind of game."""

    def chosen(bits: jax.Array, state: State, gaps: _Gaps) -> jax.Array:
        board = Board.of(spec, state.planes).awake()
        legal = board.fence(planes_of(legal_moves(board)))
        noticed = board.fence(legal & (_chance(bits, spec.height, gaps.digits) | gaps.all))
        some = functools.reduce(jnp.bitwise_or, rows_of(noticed.reshape(-1, noticed.shape[-1]))) != 0
        values = board.fence(move_values(board, state.books, gaps.goals))
        choice = board.fence(jnp.where(some, best(board, noticed, values), legal))
        return action_of(board, one_of(board, choice, bits))

    def act(params: Any, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[jax.Array, Memory]:
        del level
        return in_chunks(chosen)(randomness.key_bits(key), state, params), memory

    return act


def _chance(bits: jax.Array, height: int, digits: Any) -> Plane:
    """Cells that are each set with a probability, by its binary digits: uint16[2, H, B]."""
    rows = jnp.arange(height, dtype=jnp.uint32)[:, None]
    found = jnp.zeros((2, height, bits.shape[1]), Word)
    for place in range(DIGITS):
        drawn = randomness.draw(bits, randomness.PASS, rows, place + 1)
        halves = jnp.stack([(drawn >> 16).astype(Word), drawn.astype(Word)])
        found = (found & halves) | ((found | halves) & digits[place])
    return found
