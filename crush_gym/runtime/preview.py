"""What every legal move brings by itself, whatever new candies come: the program behind `Game.preview`.

A move is played by the rules of a turn (rulebook 8, steps 1 and 2), with two differences. New candies are drawn no
colour (`layout.UNKNOWN`), so that they match nothing; and a board stops as a colour bomb is about to draw one. So
nothing random is left. As in a rollout, no board waits for another: when its turn is through it makes its next move.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from crush_gym import layout
from crush_gym.engine.bits import Mask, Word, any_of, choose, count, first_cell, mask, occurs
from crush_gym.engine.board import Board
from crush_gym.engine.moves import Moves, to_action, to_mask
from crush_gym.engine.progress import goal_names, lefts, wholes
from crush_gym.engine.rounds import round_and_makes
from crush_gym.engine.runs import Made
from crush_gym.engine.settling import settle
from crush_gym.engine.spec import Spec
from crush_gym.engine.state import OVER, Books, Play, State, rest
from crush_gym.engine.terrain import Goals, Terrain, survey, with_boards_axis
from crush_gym.engine.turn import begin
from crush_gym.levels import Level
from crush_gym.runtime.chunks import Part, in_chunks_by_parts
from crush_gym.runtime.lockstep import in_turn, legal_planes


class Preview(NamedTuple):
    """What the moves bring, by the numbers of their actions; zeros where a move is not legal. See `Game.preview`.

    legal: which moves are, bool[actions, *boards]; the rest int32[actions, *boards] unless said
    score: points; cleared: candies and colour bombs removed
    specials: striped and wrapped candies and colour bombs that runs make
    goals: what is done of each goal, as a share of all that the level asks for, in the order of `Game.goals`;
        float32[goals, actions, *boards]
    waves: how many; after 1 wave no refill can make any of the above less
    stopped: a colour bomb was hit and about to draw its colour, so that the rest of the turn is left out: bool
    """

    legal: jax.Array
    score: jax.Array
    cleared: jax.Array
    specials: jax.Array
    goals: jax.Array
    waves: jax.Array
    stopped: jax.Array


class Start(NamedTuple):
    """Where every move is made from. lefts: what is missing of each of `_counted` goals, int32[B] each."""

    board: Board
    books: Books
    lefts: list[jax.Array]


class Trial(NamedTuple):
    """Boards that try their moves one after the other.

    play: the turn under way; action: the number of its move, int32[B]
    waiting: moves still to be tried
    specials: made in this turn, int32[B]; stopped: boards whose turn ended before a draw
    """

    play: Play
    action: jax.Array
    waiting: Moves
    specials: jax.Array
    stopped: Mask


class Ended(NamedTuple):
    """Turns that are through. action: their moves, int32[B], or beyond all actions where a turn goes on.

    gains: what they brought, int32[n, B]: score, cleared, specials, waves, stopped, and units of `_counted` goals
    """

    action: jax.Array
    gains: jax.Array


GAINS = 5
"""Gains besides the units of goals."""

BEATS_PER_ENTRY = 4
"""Beats whose ended turns are entered together, among the gains of all actions, which take long to copy."""


def preview(spec: Spec, state: State, level: Level) -> Preview:
    """What all legal moves of all boards bring."""
    level = with_boards_axis(level)
    terrain = survey(spec, level)
    moves = legal_planes(spec, state)
    gains = in_chunks_by_parts(spec, functools.partial(_tried, spec))(terrain, state, moves)
    scores, cleared, specials, waves, stopped, *units = gains
    goal, before = terrain.goals.score, state.books.score
    done = dict(zip(_counted(spec), units, strict=True))
    done["score"] = jnp.clip(before + scores, 0, goal) - jnp.clip(before, 0, goal)
    shares = [
        jnp.where(whole > 0, done.get(name, jnp.zeros_like(scores)) / jnp.maximum(whole, 1), 0.0)
        for name, whole in zip(goal_names(spec), wholes(terrain.goals, level), strict=True)
    ]
    legal = to_mask(spec, moves)
    return Preview(legal, scores, cleared, specials, jnp.stack(shares).astype(jnp.float32), waves, stopped != 0)


def _counted(spec: Spec) -> tuple[str, ...]:
    """Goals whose units are counted turn by turn: the score is known anyway, and some the game has not."""
    needs = {"jelly": "jelly", "cherry": "ingredient", "hazelnut": "ingredient"}
    return tuple(name for name in goal_names(spec) if name in spec.orders or spec.has(needs.get(name, "")))


def _left(goals: Goals, board: Board, books: Books) -> list[jax.Array]:
    """What is missing of the `_counted` goals."""
    spec = board.spec
    named = zip(goal_names(spec), lefts(goals, board, books), strict=True)
    return [left for name, left in named if name in _counted(spec)]


def _tried(spec: Spec, part: Part, terrain: Terrain, state: State, moves: Moves) -> jax.Array:
    """The gains (see `Ended`) of all moves: int32[n, actions, B]."""
    board, books = _blind(Board.of(spec, state.planes)), state.books
    start = Start(board, books, _left(terrain.goals, board, books))
    none = jnp.zeros_like(books.score)
    beat, enter = functools.partial(part(_beat), terrain, start), part(_entered)

    def some(boards: tuple[Trial, jax.Array]) -> tuple[Trial, jax.Array]:
        trial, ended = lax.scan(lambda trial, _: beat(trial), boards[0], None, length=BEATS_PER_ENTRY)
        return trial, enter(boards[1], ended)

    trial = Trial(rest(board, books), none, moves, none, none.astype(Word))
    gains = jnp.zeros((GAINS + len(start.lefts), spec.actions, *none.shape), jnp.int32)
    return lax.while_loop(lambda boards: _goes_on(boards[0]), some, (trial, gains))[1]


def _goes_on(trial: Trial) -> jax.Array:
    return jnp.any(in_turn(trial.play)) | jnp.any(trial.waiting.firsts != 0)


def _entered(gains: jax.Array, ended: Ended) -> jax.Array:
    """With the gains of the turns that ended in some beats; the leaves of `ended` begin with an axis of beats."""
    number = lax.broadcasted_iota(jnp.int32, gains.shape[1:], 0)
    for action, values in zip(ended.action, ended.gains, strict=True):
        gains = jnp.where(number == action, values[:, None], gains)
    return gains


def _blind(board: Board) -> Board:
    """The same position in a game whose new candies have no colour."""
    kinds = layout.KIND[: layout.UNKNOWN.bit_length()]
    planes = tuple(name for name in layout.PLANES if name in board.spec.planes or name in kinds)
    spec = dataclasses.replace(board.spec, mechanics=board.spec.mechanics | {"unknown"}, planes=planes)
    return Board(spec, jnp.stack([board.plane(name) for name in spec.moving]), board.fixed)


def _beat(terrain: Terrain, start: Start, trial: Trial) -> tuple[Trial, Ended]:
    """Boards in no turn make their next move, then all play a beat; also the turns that are through with it."""
    trial = _next_moves(terrain, start, trial)
    play, makes = round_and_makes(terrain, trial.play)
    play, stopped = _stopped(play)
    trial = trial._replace(
        play=settle(terrain, play),
        specials=trial.specials + _number(makes, trial.specials),
        stopped=trial.stopped | stopped,
    )
    return trial, _ended(terrain, start, trial)


def _ended(terrain: Terrain, start: Start, trial: Trial) -> Ended:
    play, books = trial.play, trial.play.books
    gains = [
        books.score - start.books.score,
        play.cleared,
        trial.specials,
        books.waves - start.books.waves,
        (trial.stopped & Word(1)).astype(jnp.int32),
        *(before - left for before, left in zip(start.lefts, _left(terrain.goals, play.board, books), strict=True)),
    ]
    beyond = jnp.int32(play.spec.actions)
    return Ended(jnp.where(play.stage == OVER, trial.action, beyond), jnp.stack(gains))


def _next_moves(terrain: Terrain, start: Start, trial: Trial) -> Trial:
    """Boards in no turn go back to the start and make the first of the moves that wait, in the order of actions."""
    trial = trial._replace(play=trial.play.awake())
    idle = mask(~in_turn(trial.play))
    across, _ = first_cell(trial.waiting.across)
    down, _ = first_cell(trial.waiting.down)
    down = down & ~occurs(across)
    move = trial.play.board.fence(Moves(across & idle, down & idle))
    waiting = Moves(trial.waiting.across & ~move.across, trial.waiting.down & ~move.down)
    play = jax.tree.map(functools.partial(choose, idle), rest(start.board, start.books), trial.play).awake()
    return trial._replace(
        play=begin(terrain, play, move, jnp.zeros_like(play.bits)),
        action=choose(idle, to_action(play.spec, move), trial.action),
        waiting=waiting,
        specials=choose(idle, jnp.zeros_like(trial.specials), trial.specials),
        stopped=trial.stopped & ~idle,
    )


def _stopped(play: Play) -> tuple[Play, Mask]:
    """Boards on which a colour bomb fires next end their turn here, and which these are."""
    if "bomb" not in play.fires:
        return play, jnp.zeros_like(play.stage)
    stopped = play.board.fence(occurs(play.fires["bomb"]))
    fires = {name: cells & ~stopped for name, cells in play.fires.items()}
    return play._replace(stage=choose(stopped, Word(OVER), play.stage), fires=fires), stopped


def _number(makes: Made | None, none: jax.Array) -> jax.Array:
    """How many cells hold what the runs make; int32[B]."""
    if makes is None:
        return none * 0
    wrapped = [] if makes.wrapped is None else [makes.wrapped]
    return count(any_of([makes.bomb, makes.striped_h, makes.striped_v, *wrapped]))
