"""The shuffle of a board without a legal move (rulebook 8.7)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from crush_gym import layout
from crush_gym.engine import draws
from crush_gym.engine.bits import Mask, Plane, Word, any_of, choose, mask, occurs
from crush_gym.engine.board import Board
from crush_gym.engine.lanes import on_few
from crush_gym.engine.moves import legal_moves
from crush_gym.engine.runs import find_runs
from crush_gym.engine.state import LOST, RESTING, SHUFFLING, STUCK, Play
from crush_gym.engine.terrain import Terrain

TRIES = 32
"""Failures after which colours are drawn anew, and again after which the attempt is lost."""


def shuffle_some(terrain: Terrain, play: Play) -> Play:
    """One try on some of the boards that shuffle: a thirty-second of the batch, for it is rare."""
    boards = play.stage.shape[0]
    colours = jnp.broadcast_to(terrain.colours, play.stage.shape)

    def work(few: tuple[Play, jax.Array], lanes: jax.Array) -> tuple[Play, jax.Array]:
        del lanes
        return try_shuffle(few[1], few[0]), few[1]

    return on_few((play, colours), play.stage == SHUFFLING, max(8, boards // 32), work)[0]


def try_shuffle(colours: jax.Array, play: Play) -> Play:
    """One try on every board that shuffles; a failed one changes nothing, the last one loses the attempt.

    colours: how many each board has, int32[B].
    """
    where = mask(play.stage == SHUFFLING)
    trial = _trial(colours, play)
    runs = find_runs(trial)
    moves = legal_moves(trial)
    good = where & ~occurs(runs.cells) & occurs(moves.firsts)
    tries = play.tries + (where & Word(1))
    failed = where & ~good & mask(tries >= 2 * TRIES)
    books = play.books._replace(
        outcome=choose(failed, jnp.int32(LOST), play.books.outcome),
        reason=choose(failed, jnp.int32(STUCK), play.books.reason),
    )
    return play._replace(
        board=play.board.with_items(jnp.where(good != 0, trial.items, play.board.items)),
        books=books,
        stage=choose(good | failed, Word(RESTING), play.stage),
        tries=choose(good | failed, Word(0), tries),
        shuffled=play.shuffled | good,
    )


def movable(board: Board) -> Plane:
    """Untagged, free, plain candies: all that a shuffle moves."""
    return board.plain & ~board.tagged & ~board.covered


def _trial(number: jax.Array, play: Play) -> Board:
    """The board after this try: the first 32 permute the candies, the next 32 draw their colours anew."""
    board = play.board
    cells = movable(board)
    colours = _unpack(board.spec.width, board.colours)
    permuted = _permute(colours, _unpack(board.spec.width, cells[None])[0], play)
    value = draws.draw(play.bits, draws.RECOLOUR, _cells(board), play.tries - TRIES)
    redrawn = (draws.below(value, number) + 1).astype(Word)
    new = jnp.where(play.tries < TRIES, permuted, redrawn)
    planes = _pack(board.spec.width, new)
    return board.put(cells, dict(zip(layout.COLOUR, planes, strict=True)))


def _cells(board: Board) -> jax.Array:
    """Cell numbers 16 r + c, uint32[H, W, 1]."""
    shape = (board.spec.height, board.spec.width, 1)
    return lax.broadcasted_iota(jnp.uint32, shape, 0) * 16 + lax.broadcasted_iota(jnp.uint32, shape, 1)


def _permute(colours: Plane, cells: Plane, play: Play) -> jax.Array:
    """The i-th candy in reading order takes the colour of the one with the i-th smallest draw; uint16[H, W, B].

    Ranks by counting: every pair is compared, for few boards and without a sort.
    """
    height, width, boards = cells.shape
    flat = (height * width, boards)
    code = (colours[0] + 2 * colours[1] + 4 * colours[2]).reshape(flat)
    moving = cells.reshape(flat) != 0
    value = draws.draw(play.bits, draws.SHUFFLE, _cells(play.board), play.tries).reshape(flat)
    earlier = jnp.arange(flat[0])[:, None, None] < jnp.arange(flat[0])[None, :, None]
    smaller = (value[:, None] < value[None]) | ((value[:, None] == value[None]) & earlier)
    rank = jnp.sum(smaller & moving[:, None], axis=0, dtype=Word)
    place = jnp.sum(earlier & moving[:, None], axis=0, dtype=Word)
    comes = moving[:, None] & (rank[:, None] == place[None])
    return jnp.sum(jnp.where(comes, code[:, None], Word(0)), axis=0, dtype=Word).reshape(cells.shape)


def _unpack(width: int, planes: Plane) -> jax.Array:
    """Bits of planes uint16[n, H, B] as numbers 0 and 1, uint16[n, H, W, B]."""
    return jnp.stack([planes >> Word(c) & Word(1) for c in range(width)], axis=-2)


def _pack(width: int, codes: jax.Array) -> list[Plane]:
    """Codes uint16[H, W, B] as three planes."""
    return [any_of((codes[:, c] >> Word(i) & Word(1)) << Word(c) for c in range(width)) for i in range(3)]

