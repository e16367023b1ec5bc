"""A turn in order (rulebook 8): `begin` the move, `beat` until the waves are through, `finish`."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from crush_gym import sizes
from crush_gym.engine.bits import Mask, Word, choose, mask, occurs
from crush_gym.engine.books import goals_met, no_goals, only_score
from crush_gym.engine.combos import combine
from crush_gym.engine.mechanics.chocolate import spread
from crush_gym.engine.mechanics.tags import count_down
from crush_gym.engine.moves import Moves, legal_moves, swap
from crush_gym.engine.rounds import play_round
from crush_gym.engine.settling import settle
from crush_gym.engine.state import (
    BOMB,
    ENDED,
    FIRST,
    GOALS,
    LOST,
    MOVES,
    OVER,
    PLAYING,
    RESTING,
    SHUFFLING,
    TIME,
    WON,
    Play,
)  # fmt: skip
from crush_gym.engine.terrain import Terrain

MOVE_TIME = 15
BONUS_WAVES = 3


def begin(terrain: Terrain, play: Play, moves: Moves, bits: jax.Array) -> Play:
    """Make a legal move on the boards that have one in `moves`: count it, swap, set off a combo.

    bits: the words of the moves' keys, uint32[2, B].
    """
    makes = play.board.fence(occurs(moves.firsts))
    made = (makes & Word(1)).astype(jnp.int32)
    zero = jnp.zeros_like(play.stage)
    books = play.books
    books = books._replace(
        made=books.made + made,
        moves=books.moves - made,
        time=books.time - MOVE_TIME * made,
    )
    play = play._replace(
        books=books,
        stage=choose(makes, Word(FIRST), play.stage),
        bits=choose(makes, bits, play.bits),
        wave=choose(makes, zero, play.wave),
        rounds=choose(makes, zero, play.rounds),
        spawns=choose(makes, jnp.zeros_like(play.spawns), play.spawns),
        cleared=choose(makes, jnp.zeros_like(play.cleared), play.cleared),
        ate=choose(makes, zero, play.ate),
        shuffled=choose(makes, zero, play.shuffled),
        swapped=moves.firsts | moves.seconds,
    )
    play = play._replace(board=play.board.with_items(play.board.fence(swap(play.board.items, moves))))
    return combine(terrain, play, moves) if play.spec.has("striped") else play


def beat(terrain: Terrain, play: Play, drops: int = sizes.DROPS_PER_BEAT) -> Play:
    """One beat of every board that is in its turn: play a round, or settle by some rows, or both.

    drops: how many; no result depends on it
    """
    return settle(terrain, play_round(terrain, play), drops)


def finish(terrain: Terrain, play: Play) -> tuple[Play, Moves]:
    """Steps 3 to 7 for the boards whose waves are through. Also: the legal moves of all boards at rest.

    Boards without a legal move are left SHUFFLING.
    """
    over = mask(play.stage == OVER)
    moved = over & ~play.starting
    play = _judge(terrain, play, moved)
    going = moved & mask(play.books.outcome == PLAYING)
    if play.spec.has("chocolate"):
        play = play._replace(board=spread(play.board, play.bits, going & ~play.ate))
    if play.spec.has("fresh bomb"):
        board = play.board
        items = board.fence(board.with_moving({"fresh": board.plane("fresh") & ~over}).items)
        play = play._replace(board=board.with_items(items))
    play = play._replace(starting=play.starting & ~over)
    moves = play.board.fence(legal_moves(play.board))
    at_rest = over | mask(play.stage == RESTING)
    stuck = at_rest & mask(play.books.outcome == PLAYING) & ~occurs(moves.firsts)
    stage = choose(at_rest, choose(stuck, Word(SHUFFLING), Word(RESTING)), play.stage)
    ready = mask((stage == RESTING) & (play.books.outcome == PLAYING))
    stage, ready = play.board.fence((stage, ready))
    return play._replace(stage=stage), Moves(moves.across & ready, moves.down & ready)


def _judge(terrain: Terrain, play: Play, where: Mask) -> Play:
    """Steps 3, 4 and 5: goals, candy bombs, moves and time."""
    board, books, spec = play.board, play.books, play.spec
    if spec.has("plus5"):
        long = where & mask((terrain.time >= 0) & (play.wave >= BONUS_WAVES))
        books = books._replace(bonus=choose(long, jnp.int32(1), books.bonus))
    out = where & mask(jnp.where(terrain.time >= 0, books.time <= 0, books.moves <= 0))
    to_the_end = mask(only_score(terrain) | no_goals(terrain))
    met = where & mask(goals_met(terrain, books, occurs(board.plane("jelly1")))) & (out | ~to_the_end)
    ended = met & mask(no_goals(terrain))
    lost, bombed = where & ~met & out, jnp.zeros_like(where)
    if spec.has("candy bomb"):
        board, spent = count_down(board, where & ~met)
        bombed = occurs(spent)
    reason_out = jnp.where(terrain.time >= 0, TIME, MOVES)
    outcome, reason = books.outcome, books.reason
    for which, value, why in (
        (bombed, LOST, BOMB), (lost, LOST, reason_out), (met, WON, GOALS), (ended, ENDED, reason_out),
    ):  # fmt: skip
        outcome, reason = choose(which, jnp.int32(value), outcome), choose(which, jnp.asarray(why), reason)
    return play._replace(board=board, books=books._replace(outcome=outcome, reason=reason))
