"""Combos: what two specials, or a colour bomb and a candy, do when swapped (rulebook 6)."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from crush_gym import layout
from crush_gym.engine.bits import Mask, Plane, Word, any_of, by_rows, look, mask, word_of
from crush_gym.engine.board import Board
from crush_gym.engine.books import WAVE_TIME, book, colour_orders
from crush_gym.engine.mechanics import Report, active
from crush_gym.engine.mechanics.specials import no_fires, of_colour
from crush_gym.engine.moves import Moves
from crush_gym.engine.state import Play
from crush_gym.engine.terrain import Terrain


class Pairs(NamedTuple):
    """Which combo each board's swap is: masks."""

    striped_striped: Mask
    striped_wrapped: Mask
    wrapped_wrapped: Mask
    bomb_plain: Mask
    bomb_striped: Mask
    bomb_wrapped: Mask
    bomb_bomb: Mask


def combine(terrain: Terrain, play: Play, moves: Moves) -> Play:
    """Consume the pairs that are combos and set off what they do; other boards stay as they are."""
    board, spec = play.board, play.spec
    first, second = moves.firsts, moves.seconds
    pairs = which(board, first, second)
    pairs, combo = board.fence((pairs, any_of(pairs)))
    consumed = board.fence((first | second) & combo)
    reports = [mechanic.taken(board, consumed) for mechanic in active(spec)]
    reports.append(_orders(board, consumed, pairs))
    begun = play.books._replace(time=play.books.time - WAVE_TIME * (combo & Word(1)).astype(jnp.int32))
    books = book(board, terrain, begun, reports)
    cleared = play.cleared + 2 * (combo & Word(1)).astype(jnp.int32)
    if spec.rules == "points":
        books = books._replace(score=books.score + cleared - play.cleared)
    colour = board.fence(_colour(board, consumed))
    board = board.with_items(board.items & ~consumed)
    target = of_colour(board, colour) & any_of([pairs.bomb_plain, pairs.bomb_striped, pairs.bomb_wrapped])
    target = board.fence(target)
    board = _transform(board, target, pairs)
    fires = no_fires(board) | {"direct": (consumed | target | pairs.bomb_bomb) & terrain.floor}
    crossed, rest = second & pairs.striped_striped, second & pairs.striped_wrapped
    fires["row"] = crossed | any_of(look(rest, d, 0) for d in (-1, 0, 1))
    fires["column"] = crossed
    afterwards = play.afterwards
    if spec.has("wrapped"):
        fires["square5"] = second & pairs.wrapped_wrapped
        afterwards = any_of(look(rest, 0, d) for d in (-1, 0, 1))
    # In a rollout other boards of the batch wait for their next round: what they will fire stays.
    fires = {name: play.fires[name] | cells for name, cells in fires.items()}
    return play._replace(
        board=board,
        books=books,
        fires=fires,
        afterwards=afterwards,
        combo=combo,
        spare=pairs.bomb_bomb,
        swapped=(first | second) & ~combo,
        cleared=cleared,
    )


@by_rows
def which(board: Board, first: Plane, second: Plane) -> Pairs:
    """Tell the combos apart."""
    kinds = (board.striped, board.candy(layout.WRAPPED), board.other(layout.COLOUR_BOMB), board.plain)
    found = board.fence(jnp.stack([mask(word_of(kind & end) != 0) for kind in kinds for end in (first, second)]))
    striped, wrapped, bomb, plain = (found[2 * i : 2 * i + 2] for i in range(4))

    def both(x: Plane, y: Plane) -> Mask:
        return (x[0] & y[1]) | (y[0] & x[1])

    return Pairs(
        both(striped, striped), both(striped, wrapped), both(wrapped, wrapped),
        both(bomb, plain), both(bomb, striped), both(bomb, wrapped), both(bomb, bomb),
    )  # fmt: skip


@by_rows
def _colour(board: Board, cells: Plane) -> jax.Array:
    """Colour 1-7 of the only candy in these cells; uint16[B]. Of two candies something that nobody asks for."""
    bits = [mask(word_of(plane & cells) != 0) & Word(1 << i) for i, plane in enumerate(board.colours)]
    return any_of(bits)


def _orders(board: Board, consumed: Plane, pairs: Pairs) -> Report:
    """Consumed candies count by colour and kind, and the combo itself by its name, once, in its first cell."""
    spec = board.spec
    orders = colour_orders(spec, board.colours, consumed)
    orders["striped"] = board.striped & consumed
    orders["wrapped"] = board.candy(layout.WRAPPED) & consumed
    orders["bomb"] = board.other(layout.COLOUR_BOMB) & consumed
    named = (
        pairs.striped_striped, pairs.striped_wrapped, pairs.wrapped_wrapped,
        pairs.bomb_striped, pairs.bomb_wrapped, pairs.bomb_bomb,
    )  # fmt: skip
    single = (board.nothing | Word(1)) & (jax.lax.broadcasted_iota(Word, board.nothing.shape, 0) == 0)
    for name, swapped in zip(layout.COMBOS, named, strict=True):
        orders[name] = single & swapped
    return Report(orders={name: cells for name, cells in orders.items() if name in spec.orders})


def _transform(board: Board, target: Plane, pairs: Pairs) -> Board:
    """Colour bomb and striped or wrapped: untagged plain candies of the colour become what the bomb met.

    Those turned striped alternate h and v in reading order.
    """
    turned = target & board.plain & ~board.tagged & (pairs.bomb_striped | pairs.bomb_wrapped)
    wrapped = turned & pairs.bomb_wrapped
    turned = board.fence(turned)
    upright = alternate(board, turned)  # the second, fourth, ... of them
    upright, wrapped = board.fence((upright, wrapped))
    changes = {
        "kind0": board.plane("kind0") | (turned & ~upright) | wrapped,
        "kind1": board.plane("kind1") | (turned & upright) | wrapped,
    }
    return board.with_moving(changes)


def alternate(board: Board, cells: Plane) -> Plane:
    """Every second cell in reading order, beginning with the second."""
    odd = cells  # parity of the cells up to here, in each row
    for distance in (1, 2, 4, 8):
        odd = odd ^ look(odd, 0, -distance)
    odd = board.fence(odd)
    ends = mask(odd >> Word(15) != 0)  # rows with an odd number of them
    before = jnp.zeros_like(cells)
    for distance in range(1, cells.shape[0]):
        before = before ^ look(ends, -distance, 0)
    return cells & ~(odd ^ before)
