"""The shuffle of a board without a legal move (rulebook 8.7).

A random board seldom has no run at all, so that a shuffle may take some twenty tries. Several tries of one
board are made at once, as if they were boards of their own, and the first that serves is taken.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from crush_gym import layout, sizes
from crush_gym.engine import randomness
from crush_gym.engine.bits import Mask, Plane, Word, choose, mask, occurs, unpack
from crush_gym.engine.board import Board
from crush_gym.engine.moves import legal_moves
from crush_gym.engine.runs import find_runs
from crush_gym.engine.state import LOST, RESTING, SHUFFLING, STUCK, Play

TRIES = 32
"""How often candies change places, and how often after that their colours are drawn anew."""


def due(play: Play) -> jax.Array:
    """Boards without a legal move; bool[B]."""
    return play.stage == SHUFFLING


def shuffle(colours: jax.Array, play: Play) -> Play:
    """The next tries of the boards that are due; one that no try serves is lost as it was. colours: int32[B], [1]."""
    play = play.awake()
    where = mask(due(play))
    board, cells = play.board, play.board.fence(_movable(play.board))
    codes = jnp.where((play.tries < TRIES)[:, None], _permuted(play, cells), _recoloured(play, colours))
    trials = board.fence(_pack(codes))
    trial = _repeated(board).put(_repeat(cells), dict(zip(layout.COLOUR, _flat(trials), strict=True)))
    good = _good(trial).reshape(where.shape[0], sizes.TRIES_AT_ONCE) != 0
    found = where & mask(jnp.any(good, axis=1))
    new = jnp.take_along_axis(trials, jnp.argmax(good, axis=1)[None, None, :, None], axis=-1)[..., 0]
    shuffled = board.put(cells & found, dict(zip(layout.COLOUR, new, strict=True)))
    tries = play.tries + sizes.TRIES_AT_ONCE
    lost = where & ~found & mask(tries >= 2 * TRIES)
    books = play.books._replace(
        outcome=choose(lost, jnp.int32(LOST), play.books.outcome),
        reason=choose(lost, jnp.int32(STUCK), play.books.reason),
        shuffles=play.books.shuffles + (found & Word(1)).astype(jnp.int32),
    )
    over = found | lost
    return play._replace(
        board=shuffled,
        books=books,
        stage=choose(over, Word(RESTING), play.stage),
        tries=choose(where & ~over, tries, Word(0)),
        shuffled=play.shuffled | found,
    )


def _movable(board: Board) -> Plane:
    """Untagged, free, plain candies: all that a shuffle moves."""
    return board.plain & ~board.tagged & ~board.covered


def _good(board: Board) -> Mask:
    """Boards without a run and with a legal move."""
    return occurs(legal_moves(board).firsts) & ~occurs(find_runs(board).cells)


def _repeat(x: jax.Array) -> jax.Array:
    return jnp.repeat(x, sizes.TRIES_AT_ONCE, axis=-1)


def _repeated(board: Board) -> Board:
    """Every board once for each of the tries, side by side."""
    fixed = {name: _repeat(plane) for name, plane in board.fixed.items()}
    return Board(board.spec, _repeat(board.items), fixed, board.never)


def _flat(trials: jax.Array) -> Plane:
    """[n, H, B, tries] as planes of B * tries boards."""
    return trials.reshape(*trials.shape[:2], -1)


def _cells(board: Board) -> jax.Array:
    """Cell numbers 16 r + c, uint32[H, W, 1, 1]."""
    shape = (board.spec.height, board.spec.width, 1, 1)
    return lax.broadcasted_iota(jnp.uint32, shape, 0) * 16 + lax.broadcasted_iota(jnp.uint32, shape, 1)


def _draws(play: Play, purpose: int, before: int) -> jax.Array:
    """The draws of all cells and the coming tries, of which so many do not count: uint32[H, W, B, tries]."""
    tries = play.tries[:, None].astype(jnp.uint32) - before + jnp.arange(sizes.TRIES_AT_ONCE, dtype=jnp.uint32)
    return randomness.draw(play.bits[..., None], purpose, _cells(play.board), tries)


def _recoloured(play: Play, colours: jax.Array) -> jax.Array:
    """Colours drawn anew: codes uint16[H, W, B, sizes.TRIES_AT_ONCE]."""
    return (randomness.below(_draws(play, randomness.RECOLOUR, TRIES), colours[:, None]) + 1).astype(Word)


def _permuted(play: Play, cells: Plane) -> jax.Array:
    """The i-th candy in reading order takes the colour of the one with the i-th smallest draw.

    Codes uint16[H, W, B, sizes.TRIES_AT_ONCE]. Ranks by counting: all pairs are
    compared, which for so few boards is cheaper than a sort.
    """
    height, width = play.spec.height, play.spec.width
    size, boards = height * width, cells.shape[-1]
    lanes = boards * sizes.TRIES_AT_ONCE
    codes = sum(unpack(width, plane) << Word(i) for i, plane in enumerate(play.board.colours))
    code = _repeat(codes.reshape(size, boards))
    moves = _repeat(unpack(width, cells).reshape(size, boards))
    value = (_draws(play, randomness.SHUFFLE, 0).reshape(size, lanes) >> 17).astype(Word)
    value, code, moves = play.board.fence((value, code, moves))
    index = jnp.arange(size)
    before = (index[:, None] < index[None]).astype(Word)[:, :, None]
    smaller = jnp.where(value[:, None] < value[None] + before, moves[:, None], Word(0))
    rank = jnp.sum(smaller, axis=0, dtype=Word)
    place = jnp.cumsum(moves, axis=0, dtype=Word) - moves
    rank, place = play.board.fence((rank, place))
    comes = jnp.where((rank[:, None] == place[None]) & (moves[:, None] != 0), code[:, None], Word(0))
    return jnp.sum(comes, axis=0, dtype=Word).reshape(height, width, boards, sizes.TRIES_AT_ONCE)


def _pack(codes: jax.Array) -> Plane:
    """Codes uint16[H, W, B, sizes.TRIES_AT_ONCE] as three planes uint16[3, H, B, sizes.TRIES_AT_ONCE]."""
    height, width, *lanes = codes.shape
    which, column = (lax.broadcasted_iota(Word, (3, height, width, *lanes), axis) for axis in (0, 2))
    return jnp.sum((codes >> which & Word(1)) << column, axis=2, dtype=Word)
