"""From the values of moves to one move: the best, or any with a probability in proportion to its value."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from crush_gym.engine import randomness
from crush_gym.engine.bits import Plane, Word, nth, rows_of, word_of
from crush_gym.engine.board import Board
from crush_gym.engine.moves import Moves
from crush_gym.engine.spec import Spec
from crush_gym.move_values.sliced import Sliced, cells, counted, flat, largest, where


def planes_of(moves: Moves) -> Plane:
    """A set of moves as the values of moves are: uint16[2, H, B]."""
    return jnp.stack([moves.across, moves.down])


def best(board: Board, legal: Plane, values: Sliced) -> Plane:
    """The legal moves of the highest value: uint16[2, H, B]."""
    return board.fence(largest(legal, values))


def one_of(board: Board, moves: Plane, bits: jax.Array) -> Plane:
    """One of the moves, uniformly, by the spare draw of the player's key; none where there are none."""
    n = randomness.below(randomness.draw(bits, randomness.PASS, 0, 0), counted(moves))
    return nth(flat(moves), n.astype(Word), board.fence).reshape(moves.shape)


def lowest(moves: Plane) -> Plane:
    """The move furthest down by the mean row of its cells; of several the leftmost."""
    lowest_row, taken = [], jnp.zeros_like(moves[0, 0])
    for down, across in zip(*(rows_of(plane)[::-1] for plane in (moves[1], moves[0])), strict=True):
        first_down = jnp.where(taken == 0, down, Word(0))
        taken = taken | first_down
        first_across = jnp.where(taken == 0, across, Word(0))
        taken = taken | first_across
        lowest_row.append((first_across, first_down))
    rows = [jnp.stack(words) for words in zip(*lowest_row[::-1], strict=True)]
    return jnp.stack([words & (~words + Word(1)) for words in rows])


def in_proportion(board: Board, legal: Plane, values: Sliced, bits: jax.Array) -> Plane:
    """One legal move with probability value / sum of values: a bit of the numbers first, then a cell that has it."""
    number = where(legal, values)
    planes = [flat(plane) for plane in number if plane is not None]
    places = [i for i, plane in enumerate(number) if plane is not None]
    sizes = board.fence([counted(plane) for plane in planes])
    weights = [size << i for size, i in zip(sizes, places, strict=True)]
    total = sum(weights[1:], weights[0])
    spot = _below(randomness.draw(bits, randomness.PASS, 0, 0), total)
    chosen, left, found = jnp.zeros_like(planes[0]), jnp.zeros_like(total), jnp.zeros(total.shape, bool)
    for plane, weight, i in zip(planes, weights, places, strict=True):
        here = ~found & (spot < weight)
        chosen = jnp.where(here, plane, chosen)
        left = jnp.where(here, spot >> i, left)
        found, spot = found | here, spot - weight
    chosen, left = board.fence((chosen, left))
    return nth(chosen, left.astype(Word), board.fence).reshape(legal.shape)


def _below(value: jax.Array, bound: jax.Array) -> jax.Array:
    """A draw as an integer 0..bound-1, for bounds below 2^15."""
    return ((value >> 16) * bound.astype(jnp.uint32) >> 16).astype(jnp.int32)


def action_of(board: Board, move: Plane) -> jax.Array:
    """The number of the action of one move a board: int32[B], -1 where there is none. move: uint16[2, H, B]."""
    height, width = board.spec.height, board.spec.width
    rows = lax.broadcasted_iota(jnp.int32, (height, 1), 0)

    def number(plane: Plane, columns: int, first: int) -> jax.Array:
        column = lax.population_count(plane - Word(1)).astype(jnp.int32)
        return jnp.where(plane != 0, first + rows * columns + column, -1).max(axis=0)

    across, down = number(move[0], width - 1, 0), number(move[1], width, height * (width - 1))
    return jnp.where(word_of(flat(move)) != 0, jnp.maximum(across, down), -1)


def by_action(spec: Spec, values: Sliced) -> jax.Array:
    """The values of swaps by the numbers of their actions: int32[actions, B]."""
    numbers = cells(values, spec.width)
    across, down = numbers[0, :, : spec.width - 1], numbers[1, : spec.height - 1]
    return jnp.concatenate([x.reshape(-1, x.shape[-1]) for x in (across, down)])
