"""What a swap brings at once, exactly: candies and colour bombs that its first round clears, and specials made.

Rulebook 4 to 6 and 12. What fires afterwards, falls and comes is left out.
"""

from __future__ import annotations

import jax.numpy as jnp

from crush_gym import layout
from crush_gym.engine.bits import Plane, Step, any_of, count, look, mask
from crush_gym.engine.board import Board, coloured
from crush_gym.move_values.runs import Makes, Worth, run_values, stacked
from crush_gym.move_values.sliced import Sliced, add, look_at, times, total, where


def gains(board: Board) -> Sliced:
    """For each swap, right ones and downward ones: planes uint16[2, H, B]; of legal swaps only."""
    bare = board.matchable & ~board.covered
    values = run_values(board, Worth((), times(bare, 1)), Makes(1, 1, 1))
    if not board.spec.has("striped"):
        return values
    return _instead(board, values, _pairs(board, (0, 1)), _pairs(board, (1, 0)))


Pairs = tuple[Plane, Sliced]
"""Swaps that are combos, and their gains."""


def _instead(board: Board, values: Sliced, across: Pairs, down: Pairs) -> Sliced:
    """A combo sets its own area off; runs are not looked for."""
    combos = jnp.stack([across[0], down[0]])
    return add(where(~combos, values), stacked(board, across[1], down[1]))


def _pairs(board: Board, step: Step) -> Pairs:
    """The combos of one direction, by their first cells."""
    spec = board.spec
    bare = board.swappable & (board.candies | board.other(layout.COLOUR_BOMB))
    bomb, striped = board.other(layout.COLOUR_BOMB) & bare, board.striped & bare
    rows, columns = _ray(board, bare, (0, 1)), _ray(board, bare, (1, 0))
    own = times(bare, 1)
    found = [
        (_both(striped, striped, step), look_at(total([own, rows, columns]), *step)),
        _of_colours(board, bomb, bare, step),
        (_both(bomb, bomb, step), _number(board, bare)),
    ]
    if spec.has("wrapped"):
        wrapped = board.candy(layout.WRAPPED) & bare
        line = add(times(bare, 1), where(~board.other(layout.SWIRL), rows))
        line = board.fence(line)
        lines = total(look_at(line, d, 0) for d in (-1, 0, 1))
        found += [
            (_either(striped, wrapped, step), look_at(lines, *step)),
            (_both(wrapped, wrapped, step), look_at(_square(board, bare), *step)),
        ]
    return any_of(pairs for pairs, _ in found), total(where(pairs, value) for pairs, value in found)


def _both(one: Plane, other: Plane, step: Step) -> Plane:
    return one & look(other, *step)


def _either(one: Plane, other: Plane, step: Step) -> Plane:
    return _both(one, other, step) | _both(other, one, step)


def _of_colours(board: Board, bomb: Plane, bare: Plane, step: Step) -> Pairs:
    """A colour bomb and a candy clear, besides themselves, all other bare candies of the colour."""
    pairs, bits = [], []
    for code in range(1, board.spec.colours + 1):
        candies = coloured(board.colours, code) & bare
        swaps = _either(bomb, candies, step)
        number = count(candies) + 1
        pairs.append(swaps)
        bits.append([swaps & mask(number >> i & 1 != 0) for i in range(_size(board))])
    return any_of(pairs), tuple(any_of(planes) for planes in zip(*bits, strict=True))


def _number(board: Board, cells: Plane) -> Sliced:
    """How many of the cells there are, the same everywhere."""
    number = count(cells)
    return tuple(board.nothing | mask(number >> i & 1 != 0) for i in range(_size(board)))


def _size(board: Board) -> int:
    """Bits that hold any count of cells, and one more."""
    return (board.spec.height * board.spec.width + 1).bit_length()


def _ray(board: Board, cells: Plane, step: Step) -> Sliced:
    """How many of the cells the two rays from each cell hit, itself not counted: up to the first free swirl."""
    return total(_one_way(board, cells, (step[0] * sign, step[1] * sign)) for sign in (1, -1))


def _one_way(board: Board, cells: Plane, step: Step) -> Sliced:
    """By doubling: the next cell, the next two, the next four, as far as no swirl stands in the way."""
    swirls = board.other(layout.SWIRL) & ~board.covered
    longest = (board.spec.height if step[0] else board.spec.width) - 1
    # Voids and the world outside let rays through: only swirls do not.
    number, stopped = times(board.fence(look(cells, *step)), 1), board.fence(look(swirls, *step))
    distance = 1
    while distance < longest:
        rows, columns = step[0] * distance, step[1] * distance
        number = board.fence(add(number, where(~stopped, look_at(number, rows, columns))))
        stopped = board.fence(stopped | look(stopped, rows, columns))
        distance *= 2
    return number


def _square(board: Board, cells: Plane) -> Sliced:
    """How many of the cells the 5 x 5 around each cell holds."""
    wide = board.fence(total(times(look(cells, 0, d), 1) for d in range(-2, 3)))
    return total(look_at(wide, d, 0) for d in range(-2, 3))
