"""A turn of one board beat by beat: what `Game.replay` and `Game.motions` return, and the programs behind them.

A beat does not tell which item went where. So `motions` plays with a few more planes that travel with items: before
every step each item is marked with the cell where it lies, and after it the mark says where it came from.

    numbers   marks   after the step      numbers
    1 2 3     1 2 3   1 . .   2 and 3     1 . .
    4 5 6     4 5 6   4 2 3   fell        4 2 3
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import NDArray

from crush_gym import layout
from crush_gym.engine.bits import at_column, unpack
from crush_gym.engine.board import Board
from crush_gym.engine.rounds import play_round
from crush_gym.engine.settling import come_to_rest, drop
from crush_gym.engine.spec import Spec
from crush_gym.engine.state import RESTING, Books, Play, State
from crush_gym.engine.terrain import Terrain, survey, with_boards_axis
from crush_gym.engine.turn import beat, finish
from crush_gym.levels import Level
from crush_gym.runtime import kept
from crush_gym.runtime.lockstep import begin_action, in_turn, state_of
from crush_gym.runtime.subset import shuffle_all
from crush_gym.runtime.xla import options_for

Numbers = NDArray[np.int32]
Tree = TypeVar("Tree")


class Motion(NamedTuple):
    """A position within a turn, and which item lies where.

    numbers: int32[H, W], of the items; 0 where there is none: holes, icing, chocolate, void
    given: how many numbers were given so far, 1, 2, 3, ...; none is ever given twice
    """

    state: State
    numbers: Numbers
    given: int


# ------------------------------------------------------------------------------------------ replay


def replay(spec: Spec, bits: jax.Array, state: State, action: jax.Array, level: Level) -> list[State]:
    """See `Game.replay`. bits: the words of the move's key, uint32[2]."""
    begin, beat = _program(spec, replay_begin), _program(spec, replay_beat)
    play = begin(bits[:, None], _as_batch(state), action[None], level)
    frames = [play]
    while _goes_on(frames[-1]):
        frames.append(beat(level, frames[-1]))
    return [_alone(state_of(frame)) for frame in frames]


def replay_begin(spec: Spec, bits: jax.Array, state: State, action: jax.Array, level: Level) -> Play:
    """A turn about to be played beat by beat; arguments as of `lockstep.step`, one board (B = 1)."""
    return begin_action(spec, survey(spec, with_boards_axis(level)), bits, state, action)


def replay_beat(spec: Spec, level: Level, play: Play) -> Play:
    """The next beat of a turn; after its last one, the turn's end."""
    terrain = survey(spec, with_boards_axis(level))
    return lax.cond(
        jnp.any(in_turn(play)),
        lambda p: beat(terrain, p.awake(), drops=1),
        functools.partial(_end, terrain),
        play,
    )


def _end(terrain: Terrain, play: Play) -> Play:
    return shuffle_all(terrain, finish(terrain, play.awake())[0])


# ----------------------------------------------------------------------------------------- motions


class Seen(NamedTuple):
    """A position of one board, and for each cell where its item lay a step before.

    came: int32[H, W]: number of that cell, r * W + c, plus 1; -1 for a new item; 0 where there is no item
    """

    state: State
    came: jax.Array


def motions(spec: Spec, bits: jax.Array, start: State | Motion, action: jax.Array, level: Level) -> list[Motion]:
    """See `Game.motions`. bits: the words of the move's key, uint32[2]."""
    begin, beat = _program(spec, motion_begin), _program(spec, motion_beat)
    state = start.state if isinstance(start, Motion) else start
    play, before, swapped = begin(bits[:, None], _as_batch(state), action[None], level)
    last = start if isinstance(start, Motion) else _followed(None, before)
    found = [last, _followed(last, swapped)]
    while _goes_on(play):
        play, fallen, done = beat(level, play)
        between = _followed(found[-1], fallen)
        end = _followed(between, done)
        found += [end] if _alike(between, found[-1]) or _alike(between, end) else [between, end]
    return found


def _followed(before: Motion | None, seen: Seen) -> Motion:
    """The next position with its items' numbers: those that they had, and for new items the next ones."""
    came = np.asarray(seen.came)
    known, given = (np.zeros(came.size, np.int32), 0) if before is None else (before.numbers.ravel(), before.given)
    numbers = np.where(came > 0, known[came - 1], 0)
    new = (came != 0) & (numbers == 0)
    numbers[new] = np.arange(given + 1, given + 1 + new.sum())
    return Motion(seen.state, numbers, given + int(new.sum()))


def _alike(one: Motion, other: Motion) -> bool:
    """Whether the two look the same, item by item."""
    same = np.array_equal(np.asarray(one.state.planes), np.asarray(other.state.planes))
    return same and np.array_equal(one.numbers, other.numbers)


def marking(spec: Spec) -> Spec:
    """The spec of the same game with planes for as many marks as the board has cells."""
    marks = layout.MARKS[: (spec.height * spec.width).bit_length()]
    return dataclasses.replace(spec, planes=(*spec.moving, *marks, *spec.fixed))


def motion_begin(spec: Spec, bits: jax.Array, state: State, action: jax.Array, level: Level) -> tuple[Play, Seen, Seen]:
    """A turn about to be played step by step; also the position before it and the one after the swap."""
    wide, n = marking(spec), len(spec.moving)
    marks = jnp.zeros((len(wide.moving) - n, *state.planes.shape[1:]), state.planes.dtype)
    planes = jnp.concatenate([state.planes[:n], marks, state.planes[n:]])
    board = _marked(Board.of(wide, planes))
    marked = State(board.planes(), state.books)
    play = replay_begin(wide, bits, marked, action, level)
    return play, _seen(spec, board, state.books), _seen(spec, play.board, play.books)


def motion_beat(spec: Spec, level: Level, play: Play) -> tuple[Play, Seen, Seen]:
    """The next beat in two steps, in each of which an item moves at most one cell: fall, then the rest of it."""
    terrain = survey(marking(spec), with_boards_axis(level))

    def fall(play: Play) -> Play:
        return drop(terrain, play_round(terrain, play.awake()).awake())

    def rest(play: Play) -> Play:
        return come_to_rest(terrain, play.awake())

    fallen = lax.cond(jnp.any(in_turn(play)), fall, lambda p: p, _with_marks(play))
    done = lax.cond(jnp.any(in_turn(play)), rest, functools.partial(_end, terrain), _with_marks(fallen))
    return done, *(_seen(spec, step.board, step.books) for step in (fallen, done))


def _with_marks(play: Play) -> Play:
    return play._replace(board=_marked(play.board))


def _marked(board: Board) -> Board:
    """The board with every item marked with the number of its cell, plus 1."""
    spec = board.spec
    there = board.items_there
    cells = 1 + jnp.arange(spec.height * spec.width, dtype=there.dtype).reshape(spec.height, spec.width, 1)
    marks = {
        name: there & at_column(spec.width, [cells[:, c] >> i & 1 for c in range(spec.width)])
        for i, name in enumerate(layout.MARKS)
    }
    return board.with_moving(marks)


def _seen(spec: Spec, board: Board, books: Books) -> Seen:
    """What there is to see of the one board, which is marked."""
    names = board.spec.moving[len(spec.moving) :]
    marks = sum(unpack(spec.width, board.plane(name)).astype(jnp.int32) << i for i, name in enumerate(names))
    there = unpack(spec.width, board.items_there) != 0
    came = jnp.where(there, jnp.where(marks != 0, marks, -1), 0)
    unmarked = Board(spec, board.items[: len(spec.moving)], board.fixed)
    return _alone(Seen(State(unmarked.planes(), books), came))


# ---------------------------------------------------------------------------------------- programs


@functools.lru_cache(maxsize=128)
def _program(spec: Spec, f: Callable[..., Tree]) -> Callable[..., Tree]:
    return kept.program(functools.partial(f, spec), options_for(spec, 1))


def _goes_on(play: Play) -> bool:
    return int(play.stage[0]) != RESTING


def _as_batch(state: State) -> State:
    return jax.tree.map(lambda x: jnp.asarray(x)[..., None], state)


def _alone(tree: Tree) -> Tree:
    return jax.tree.map(lambda x: x[..., 0], tree)
