"""`Game`: the rules of one kind of level, compiled; every function is pure and works on any number of boards."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from crush_gym.engine import draws
from crush_gym.engine.bits import Word, choose, mask
from crush_gym.engine.board import Board
from crush_gym.engine.moves import Moves, from_action, legal_moves, random_move, to_mask
from crush_gym.engine.shuffle import shuffle_some
from crush_gym.engine.spec import Spec
from crush_gym.engine.start import opening, state_of
from crush_gym.engine.state import FIRST, PLAYING, RESTING, ROUNDS, SETTLING, SHUFFLING, Play, State, rest
from crush_gym.engine.terrain import Terrain, survey, with_boards_axis
from crush_gym.engine.turn import beat, begin, finish
from crush_gym.levels import Level


def complete(terrain: Terrain, play: Play) -> Play:
    """Beat until all boards are through their waves, then end their turns."""

    def busy(play: Play) -> jax.Array:
        return jnp.any((play.stage == SETTLING) | (play.stage == FIRST) | (play.stage == ROUNDS))

    play = lax.while_loop(busy, functools.partial(beat, terrain), play)
    play, _ = finish(terrain, play)
    return lax.while_loop(lambda p: jnp.any(p.stage == SHUFFLING), functools.partial(shuffle_some, terrain), play)


@functools.partial(jax.jit, static_argnums=0)
def reset(spec: Spec, bits: jax.Array, level: Level) -> State:
    level = with_boards_axis(level)
    terrain = survey(spec, level)
    return state_of(complete(terrain, opening(spec, terrain, level, bits)))


@functools.partial(jax.jit, static_argnums=0)
def step(spec: Spec, bits: jax.Array, state: State, action: jax.Array, level: Level):
    terrain = survey(spec, with_boards_axis(level))
    play = rest(Board.of(spec, state.planes), state.books)
    legal = legal_moves(play.board)
    wanted = from_action(spec, action)
    ready = mask(state.books.outcome == PLAYING)
    moves = Moves(legal.across & wanted.across & ready, legal.down & wanted.down & ready)
    play = complete(terrain, begin(terrain, play, moves, bits))
    return state_of(play), play.wave


def rollout_beat(terrain: Terrain, keys: jax.Array, play: Play) -> Play:
    play = lax.cond(jnp.any(play.stage == SHUFFLING), functools.partial(shuffle_some, terrain), lambda p: p, play)
    play = play.awake()
    play, legal = finish(terrain, play)
    bits = play.board.fence(draws.fold(keys, play.books.made))
    moves = random_move(play.board, legal, bits)
    return beat(terrain, begin(terrain, play, moves, bits))


@functools.partial(jax.jit, static_argnums=(0, 4))
def run(spec: Spec, keys: jax.Array, state: State, level: Level, beats: int) -> State:
    terrain = survey(spec, with_boards_axis(level))
    play = rest(Board.of(spec, state.planes), state.books)
    play, _ = lax.scan(lambda p, _: (rollout_beat(terrain, keys, p), None), play, None, length=beats)
    return play
