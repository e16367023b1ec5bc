"""Whole turns in lockstep, on flat batches: the programs behind `Game.reset`, `legal` and `step`."""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from crush_gym import sizes
from crush_gym.engine.bits import Mask, mask, occurs
from crush_gym.engine.board import Board
from crush_gym.engine.moves import Moves, from_action, legal_moves, random_move, to_action, to_mask
from crush_gym.engine.spec import Spec
from crush_gym.engine.start import opening
from crush_gym.engine.state import FIRST, PLAYING, ROUNDS, SETTLING, Play, State, rest
from crush_gym.engine.terrain import Terrain, survey, with_boards_axis
from crush_gym.engine.turn import beat, begin, finish
from crush_gym.levels import Level
from crush_gym.runtime.chunks import Part, in_chunks, in_chunks_by_parts
from crush_gym.runtime.subset import on_few, shuffle_all


class Turn(NamedTuple):
    """What a turn brought, per board.

    score: points gained; waves: how many; cleared: candies and colour bombs removed: int32
    illegal: the action was not legal and changed nothing; reshuffled: candies changed places: bool
    outcome, reason: of the attempt, see `crush_gym.OUTCOMES` and `crush_gym.REASONS`: int32
    """

    score: jax.Array
    waves: jax.Array
    cleared: jax.Array
    illegal: jax.Array
    reshuffled: jax.Array
    outcome: jax.Array
    reason: jax.Array


def reset(spec: Spec, bits: jax.Array, level: Level) -> State:
    """New attempts. bits: the words of the attempts' keys, uint32[2, B]."""
    level = with_boards_axis(level)
    terrain = survey(spec, level)
    play = in_chunks_by_parts(spec, functools.partial(_beat_until, 0))(terrain, opening(spec, terrain, level, bits))
    return state_of(_ended(terrain, play))


def legal(spec: Spec, state: State) -> jax.Array:
    """bool[actions, B]; all False where the attempt is over."""
    return to_mask(spec, in_chunks(functools.partial(legal_planes, spec))(state))


def step(spec: Spec, bits: jax.Array, state: State, action: jax.Array, level: Level) -> tuple[State, Turn]:
    """One whole turn of every board. bits: the words of the moves' keys; action: int32[B]."""
    terrain = survey(spec, with_boards_axis(level))
    boards = action.shape[0]
    share = 0 if boards < sizes.FEWEST_SLOW else 1 / sizes.SLOW_SHARE
    play, illegal = in_chunks_by_parts(spec, functools.partial(_acted, spec, share))(terrain, bits, state, action)
    if share:
        play = _slow_ones_finished(terrain, play, boards // sizes.SLOW_SHARE)
    play = _ended(terrain, play)
    return state_of(play), turn_of(state, play, illegal)


def _acted(
    spec: Spec, left: float, part: Part, terrain: Terrain, bits: jax.Array, state: State, action: jax.Array
) -> tuple[Play, jax.Array]:
    """The moves made, and beats until no more than this share is in its turn. Also: where no move was made."""
    play = part(functools.partial(begin_action, spec))(terrain, bits, state, action)
    return _beat_until(int(left * action.shape[0]), part, terrain, play), play.stage != FIRST


def begin_action(spec: Spec, terrain: Terrain, bits: jax.Array, state: State, action: jax.Array) -> Play:
    """Make the moves that are legal; the other boards stay at rest."""
    allowed, wanted = legal_planes(spec, state), from_action(spec, action)
    play = rest(Board.of(spec, state.planes), state.books).awake()
    moves = play.board.fence(Moves(allowed.across & wanted.across, allowed.down & wanted.down))
    return begin(terrain, play, moves, bits)


def turn_of(before: State, play: Play, illegal: jax.Array) -> Turn:
    """The report of the turns just played."""
    books = play.books
    return Turn(
        score=books.score - before.books.score,
        waves=books.waves - before.books.waves,
        cleared=play.cleared,
        illegal=illegal,
        reshuffled=play.shuffled != 0,
        outcome=books.outcome,
        reason=books.reason,
    )


def state_of(play: Play) -> State:
    """The position of boards at rest."""
    return State(play.board.planes(), play.books)


def in_turn(play: Play) -> jax.Array:
    """Boards with beats to come; bool[B]."""
    return (play.stage == SETTLING) | (play.stage == FIRST) | (play.stage == ROUNDS)


def legal_planes(spec: Spec, state: State) -> Moves:
    """The legal moves; none where the attempt is over."""
    moves = legal_moves(Board.of(spec, state.planes).awake())
    ready: Mask = mask(state.books.outcome == PLAYING)
    return Moves(moves.across & ready, moves.down & ready)


def _beat_until(most: int, part: Part, terrain: Terrain, play: Play) -> Play:
    """Beat until at most so many boards are in their turns."""
    one = part(lambda terrain, play: beat(terrain, play.awake()))
    return lax.while_loop(lambda p: jnp.sum(in_turn(p)) > most, functools.partial(one, terrain), play)


def _slow_ones_finished(terrain: Terrain, play: Play, most: int) -> Play:
    """Take the boards still in their turns out of the batch, so many at a time, and beat until they are not."""
    to_the_end = in_chunks_by_parts(play.spec, functools.partial(_beat_until, 0))

    def some(play: Play) -> Play:
        return on_few((terrain, play), in_turn(play), most, lambda x: (x[0], to_the_end(*x)))[1]

    return lax.while_loop(lambda p: jnp.any(in_turn(p)), some, play)


def _ended(terrain: Terrain, play: Play) -> Play:
    """The turns' ends, and shuffles where nothing can be moved."""
    return shuffle_all(terrain, in_chunks(lambda terrain, play: finish(terrain, play.awake())[0])(terrain, play))


def random_action(spec: Spec, bits: jax.Array, state: State) -> jax.Array:
    """What the random player does: int32[B], -1 where nothing is legal. bits: of the moves' keys."""

    def chosen(bits: jax.Array, state: State) -> jax.Array:
        board = Board.of(spec, state.planes).awake()
        return to_action(spec, random_move(board, legal_planes(spec, state), bits))

    return in_chunks(chosen)(bits, state)


def legal_or_random(play: Play, moves: Moves, action: jax.Array, bits: jax.Array) -> tuple[Moves, jax.Array]:
    """What becomes of the actions that players name, everywhere: for an illegal one, the random player moves.

    moves: the legal ones; action: int32[B]; bits: of the moves' keys. Also: where that was so, bool[B].
    """
    wanted = from_action(play.spec, action)
    named = Moves(moves.across & wanted.across, moves.down & wanted.down)
    spare, none = random_move(play.board, moves, bits), ~occurs(named.firsts)
    made = play.board.fence(Moves(named.across | (spare.across & none), named.down | (spare.down & none)))
    return made, (occurs(moves.firsts) & none) != 0


def legal_action(spec: Spec, bits: jax.Array, state: State, action: jax.Array) -> tuple[jax.Array, jax.Array]:
    """`legal_or_random` of positions by the numbers of actions: int32[B], -1 where nothing is legal, and bool[B]."""

    def chosen(bits: jax.Array, state: State, action: jax.Array) -> tuple[jax.Array, jax.Array]:
        play = rest(Board.of(spec, state.planes), state.books).awake()
        made, strayed = legal_or_random(play, legal_planes(spec, state), action, bits)
        return to_action(spec, made), strayed

    return in_chunks(chosen)(bits, state, action)
