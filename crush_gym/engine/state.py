"""A position between moves (`State`), and all that is going on within one (`Play`)."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from crush_gym.engine.bits import Mask, Plane, Word
from crush_gym.engine.board import Board
from crush_gym.engine.mechanics.specials import Fires, no_fires
from crush_gym.engine.spec import Spec

PLAYING, WON, LOST, ENDED = range(4)
"""Outcomes."""

NO_REASON, GOALS, MOVES, TIME, BOMB, STUCK = range(6)
"""Reasons for an outcome: goals met; no moves, no time left; a candy bomb; no legal move in any shuffle."""


class Books(NamedTuple):
    """What an attempt counts besides the board. All int32[B] unless said.

    score: points so far
    moves, time: what is left; deciseconds; each means something only in levels of its kind
    made: moves made
    waves: waves of the whole attempt
    cherry, hazelnut: ingredients still to collect
    orders: units still to deliver, int32[n, B], in the order of `spec.orders`
    spawned, last_spawn: per listed spawn kind, how many so far and in which move last (-1: never), int32[n, B]
    drops: sugar drops collected
    bonus: 1 where the next plain candy to spawn carries +5 (rulebook 10)
    outcome, reason: see above
    shuffles: how often candies changed places because no move was legal (rulebook 8.7)
    """

    score: jax.Array
    moves: jax.Array
    time: jax.Array
    made: jax.Array
    waves: jax.Array
    cherry: jax.Array
    hazelnut: jax.Array
    orders: jax.Array
    spawned: jax.Array
    last_spawn: jax.Array
    drops: jax.Array
    bonus: jax.Array
    outcome: jax.Array
    reason: jax.Array
    shuffles: jax.Array


class State(NamedTuple):
    """A position between moves: uint16[planes, H, *boards] and the books. It holds no random key."""

    planes: Plane
    books: Books


RESTING, SETTLING, FIRST, ROUNDS, OVER, SHUFFLING = range(6)
"""Stages of a board within a turn: nothing to do; falling; a wave's first round is due; more rounds of the
wave are due; the waves are through and the turn's end is due; no legal move, so candies change places."""


class Play(NamedTuple):
    """Boards in the middle of their turns.

    stage: uint16[B], one of the stages above
    bits: uint32[2, B], the words of the move's key
    fires: cells that fire in the coming round
    afterwards: cells that fire along their columns in the round after (a striped and a wrapped, rulebook 6)
    combo, spare: boards whose coming round is a combo's; where specials hit by it do not fire
    swapped: the two swapped cells, until the first wave has looked for runs
    made: what the runs of the wave make, waiting for its last round: colour and kind planes, uint16[n, H, B]
    wave, rounds: of this move so far
    spawns: how often each entry spawned in this move, uint16[layers, W, B]
    slid: sideways steps of this settling
    cleared: candies and colour bombs removed in this move
    ate: boards on which chocolate was removed in this move
    starting: boards that are being set up: nothing costs a move, no turn's end (rulebook 8, "At the start")
    tries: of the shuffle under way; shuffled: boards whose candies changed places
    """

    board: Board
    books: Books
    stage: jax.Array
    bits: jax.Array
    fires: Fires
    afterwards: Plane | None
    combo: Mask
    spare: Mask
    swapped: Plane
    made: Plane
    wave: jax.Array
    rounds: jax.Array
    spawns: jax.Array
    slid: jax.Array
    cleared: jax.Array
    ate: Mask
    starting: Mask
    tries: jax.Array
    shuffled: Mask

    @property
    def spec(self) -> Spec:
        return self.board.spec

    def awake(self) -> Play:
        """The same, with a board whose fences work."""
        return self._replace(board=self.board.awake())


def rest(board: Board, books: Books) -> Play:
    """Boards at rest between moves."""
    spec, boards = board.spec, board.items.shape[2:]
    zero, number = jnp.zeros(boards, Word), jnp.zeros(boards, jnp.int32)
    codes = sum(name.startswith(("colour", "kind")) for name in spec.moving)
    return Play(
        board=board,
        books=books,
        stage=zero,
        bits=jnp.zeros((2, *boards), jnp.uint32),
        fires=no_fires(board),
        afterwards=board.nothing if spec.has("wrapped") else None,
        combo=zero,
        spare=zero,
        swapped=board.nothing,
        made=jnp.zeros_like(board.items[:codes]),
        wave=zero,
        rounds=zero,
        spawns=jnp.zeros((spec.entry_layers, spec.width, *boards), Word),
        slid=zero,
        cleared=number,
        ate=zero,
        starting=zero,
        tries=zero,
        shuffled=zero,
    )
