"""How much of what a level asks for is done: a number that rises with every unit, for rewards."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from crush_gym import layout
from crush_gym.engine.bits import count
from crush_gym.engine.board import Board
from crush_gym.engine.spec import Spec
from crush_gym.engine.state import Books, State
from crush_gym.engine.terrain import Goals, survey, with_boards_axis
from crush_gym.levels import Level


def goal_names(spec: Spec) -> tuple[str, ...]:
    """All that the levels of a game can ask for, in the order of `wholes` and `lefts`."""
    return ("score", "jelly", "cherry", "hazelnut", *spec.orders)


def wholes(goals: Goals, level: Level) -> list[jax.Array]:
    """What the level asks for of each goal, a layer of jelly being one; 0 or less where nothing; int32[B] each."""
    jelly = sum(count(level.start[layout.PLANES.index(name)]) for name in layout.JELLY)
    return [goals.score, jnp.where(goals.jelly != 0, jelly, 0), goals.cherry, goals.hazelnut, *goals.orders]


def lefts(goals: Goals, board: Board, books: Books) -> list[jax.Array]:
    """What is still missing of each goal; of one that nobody asks for, any number; int32[B] each."""
    jelly = count(board.plane("jelly1")) + count(board.plane("jelly2"))
    return [goals.score - books.score, jelly, books.cherry, books.hazelnut, *books.orders]


def progress(spec: Spec, state: State, level: Level) -> jax.Array:
    """The mean share done of the level's goals, 0 where it has none; float32[B].

    A level with other goals counts its score as one of them where it asks for one.
    """
    level = with_boards_axis(level)
    goals, books, board = survey(spec, level).goals, state.books, Board.of(spec, state.planes)
    shares, asked = jnp.zeros(books.score.shape, jnp.float32), jnp.zeros(books.score.shape, jnp.float32)
    for whole, left in zip(wholes(goals, level), lefts(goals, board, books), strict=True):
        wanted = (whole > 0).astype(jnp.float32)
        shares += wanted * (1.0 - jnp.clip(left, 0, whole) / jnp.maximum(whole, 1))
        asked += wanted
    return shares / jnp.maximum(asked, 1.0)
