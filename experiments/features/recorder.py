"""A player that takes notes of its attempts: what the same attempts would have been under any other limit of moves."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from agents.protocol import Memory, Policy
from crush_gym import Game, Level, State
from crush_gym.policies import Act, Start, Traits
from crush_gym.runtime import Board, Spec, count, in_chunks, legal_moves, number, with_boards_axis

POINTS = 20
"""How often an attempt's score and goals are noted: after every so many moves, evenly up to the limit of moves."""


class Notes(NamedTuple):
    """What is noted of attempts. score, left: after each of the `POINTS`, int32[POINTS, B]; see `Stats.goals_left`

    reached: the move after which the score first was what the level asks for, 0 before: int32[B]
    legal: legal moves of all positions together, int32[B]
    """

    score: jax.Array
    left: jax.Array
    reached: jax.Array
    legal: jax.Array


def recorded(policy: Policy, game: Game) -> Policy:
    """The same player, whose memory at an attempt's end is (its own, `Notes`)."""
    act, start = _functions(policy.act, policy.start, game.spec)
    return Policy(act, start, policy.params, traceable=policy.traceable, lanes=policy.lanes)


def moves_between(limit: Any) -> Any:
    """How many moves there are from one of the points to the next. limit: of moves, below 1 in timed levels."""
    return np.maximum(-(-limit // POINTS), 1) if isinstance(limit, np.ndarray) else jnp.maximum(-(-limit // POINTS), 1)


@functools.lru_cache(maxsize=256)
def _functions(act: Act, start: Start, spec: Spec) -> tuple[Act, Start]:
    """One pair for each player and kind of game: compiled programs are kept by them."""

    def begun(params: Any, key: jax.Array, state: State, level: Level, *traits: Traits) -> Memory:
        nothing = jnp.zeros_like(state.books.score)
        table = jnp.zeros((POINTS, *nothing.shape), jnp.int32)
        return start(params, key, state, level, *traits), Notes(table, table, nothing, nothing)

    def moved(params: Any, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[Any, Memory]:
        own, notes = memory
        action, own = act(params, key, own, state, level)
        return action, (own, noted(spec, notes, state, with_boards_axis(level)))

    return moved, begun


def noted(spec: Spec, notes: Notes, state: State, level: Level) -> Notes:
    """With what there is to note before the next move."""
    books = state.books
    points = moves_between(level.moves) * jnp.arange(1, POINTS + 1, dtype=jnp.int32)[:, None]
    left, legal = in_chunks(functools.partial(_counted, spec))(state.planes)
    missing = books.cherry + books.hazelnut + books.orders.sum(0) + jnp.where(level.goal_jelly, left, 0)
    now, first = points == books.made, (notes.reached == 0) & (books.score >= level.goal_score)
    return Notes(
        score=jnp.where(now, books.score, notes.score),
        left=jnp.where(now, missing, notes.left),
        reached=jnp.where(first & (level.goal_score > 0), books.made, notes.reached),
        legal=notes.legal + legal,
    )


def _counted(spec: Spec, planes: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Layers of jelly, and legal moves: int32[B] each."""
    board = Board.of(spec, planes).awake()
    jelly = count(board.plane("jelly1")) + count(board.plane("jelly2"))
    return jelly.astype(jnp.int32), number(legal_moves(board)).astype(jnp.int32)
