"""How much of what a level asks for is done: a number that rises with every unit, for rewards."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from crush_gym import layout
from crush_gym.engine.bits import count
from crush_gym.engine.board import Board
from crush_gym.engine.spec import Spec
from crush_gym.engine.state import State
from crush_gym.engine.terrain import survey, with_boards_axis
from crush_gym.levels import Level


def progress(spec: Spec, state: State, level: Level) -> jax.Array:
    """The mean share done of the level's goals, 0 where it has none; float32[B].

    A level with other goals counts its score as one of them where it asks for one.
    """
    level = with_boards_axis(level)
    goals, books, board = survey(spec, level).goals, state.books, Board.of(spec, state.planes)
    jelly = count(board.plane("jelly1")) + count(board.plane("jelly2"))
    asked_jelly = sum(count(level.start[layout.PLANES.index(name)]) for name in layout.JELLY)
    wholes = [goals.score, jnp.where(goals.jelly != 0, asked_jelly, 0), goals.cherry, goals.hazelnut, *goals.orders]
    lefts = [goals.score - books.score, jelly, books.cherry, books.hazelnut, *books.orders]
    shares, asked = jnp.zeros(books.score.shape, jnp.float32), jnp.zeros(books.score.shape, jnp.float32)
    for whole, left in zip(wholes, lefts, strict=True):
        wanted = (whole > 0).astype(jnp.float32)
        shares += wanted * (1.0 - jnp.clip(left, 0, whole) / jnp.maximum(whole, 1))
        asked += wanted
    return shares / jnp.maximum(asked, 1.0)
