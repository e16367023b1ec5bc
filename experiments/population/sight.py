"""What can be seen of swaps at a glance, as planes uint16[2, H, B]: right swaps and downward ones, by first cells.

Nothing here says what a swap is worth: that is the players' own business.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from crush_gym import layout
from crush_gym.engine.bits import ONES, Plane, Step, Word, any_of, look, mask, neighbours
from crush_gym.engine.board import Board, coloured
from crush_gym.engine.moves import STEPS, Reach, reaches, sides
from crush_gym.engine.state import Books


class Sight(NamedTuple):
    """Swaps of a kind. Those that line candies up need not be legal: take those that are.

    five, crossing, four: make a colour bomb, a wrapped candy, a striped one
    pair: two specials, or a colour bomb and a special; bomb: a colour bomb and a plain candy
    """

    five: Plane
    crossing: Plane
    four: Plane
    pair: Plane
    bomb: Plane


class Glance:
    """A look at boards: `sight`, and which swaps touch something."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.reach: dict[Step, Reach] = board.fence(reaches(board)[0])

    def sight(self) -> Sight:
        """What kinds of swaps there are."""
        nothing = jnp.stack([self.board.nothing] * 2)
        if not self.board.spec.has("striped"):
            return Sight(*[nothing] * 5)
        five = self._swaps(lambda reach, step: reach.one2 & reach.other2)
        four = self._swaps(lambda reach, step: (reach.one2 & reach.other) | (reach.one & reach.other2))
        wrapped = self.board.spec.has("wrapped")
        crossing = self._swaps(lambda reach, step: reach.beside & reach.line) if wrapped else nothing
        return Sight(five, crossing & ~five, four & ~five & ~crossing, *self._pairs())

    def touching(self, places: Plane, items: Plane) -> Plane:
        """Swaps whose runs cover one of the places, or clear one of the items; planes uint16[H, B]."""
        both = places | items

        def touches(reach: Reach, step: Step) -> Plane:
            (r, c), (side, back) = step, sides(step)
            beside = reach.beside
            members = (
                (beside & reach.one, side, 1), (reach.one2, side, 2), (beside & reach.other, back, 1),
                (reach.other2, back, 2),
            )  # fmt: skip
            hit = [seen & look(both, r + n * way[0], c + n * way[1]) for seen, way, n in members]
            ahead = reach.line & (look(both, 2 * r, 2 * c) | look(both, 3 * r, 3 * c))
            return any_of([*hit, ahead, reach.runs & (look(places, r, c) | items)])

        return self._swaps(touches)

    def _swaps(self, found: Callable[[Reach, Step], Plane]) -> Plane:
        """Swaps for one of whose candies it is true, from planes that mark the candies, for each way to move."""
        ways = self.board.fence({step: found(self.reach[step], step) for step in STEPS})
        across = ways[0, 1] | look(ways[0, -1], 0, 1)
        down = ways[1, 0] | look(ways[-1, 0], 1, 0)
        return self.board.fence(jnp.stack([across, down]))

    def _pairs(self) -> tuple[Plane, Plane]:
        board = self.board
        bomb = board.other(layout.COLOUR_BOMB)
        special, plain = board.special | bomb, board.plain

        def pair(step: Step) -> tuple[Plane, Plane]:
            special_there, bomb_there, plain_there = (look(x, *step) for x in (special, bomb, plain))
            return special & special_there, (bomb & plain_there) | (plain & bomb_there)

        (pairs_across, bombs_across), (pairs_down, bombs_down) = pair((0, 1)), pair((1, 0))
        return jnp.stack([pairs_across, pairs_down]), jnp.stack([bombs_across, bombs_down])


def asked_places(board: Board, jelly: jax.Array) -> Plane:
    """Cells to hit for the goals' sake: jelly, where it is asked for (bool[B]), and what lies below ingredients."""
    spec, found = board.spec, [board.nothing]
    if spec.has("jelly"):
        found.append(board.plane("jelly1") & mask(jelly))
    if spec.has("ingredient"):
        below = board.ingredients
        for _ in range(spec.height - 1):
            below = below | look(below, -1, 0)
        found.append(below & ~board.ingredients)
    return board.fence(any_of(found))


def asked_items(board: Board, books: Books) -> tuple[Plane, Plane]:
    """Items that orders still ask for: those to clear in runs, and blockers to clear beside."""
    items, blockers = [board.nothing], [board.nothing]
    for i, name in enumerate(board.spec.orders):
        wanted = mask(books.orders[i] > 0)
        if name in layout.COLOUR_LETTERS:
            items.append(coloured(board.colours, layout.COLOUR_LETTERS.index(name) + 1) & wanted)
        elif name in ("striped", "wrapped"):
            items.append((board.striped if name == "striped" else board.candy(layout.WRAPPED)) & wanted)
        elif name == "lock":
            items.append(board.plane("lock") & wanted)
        elif name in ("icing", "chocolate", "swirl"):
            blockers.append(_blocker(board, name) & wanted)
    return board.fence((any_of(items), any_of(blockers)))


def _blocker(board: Board, name: str) -> Plane:
    if name == "swirl":
        return board.other(layout.SWIRL)
    return board.union(layout.ICING) if name == "icing" else board.plane(name)


def in_the_way(board: Board) -> tuple[Plane, Plane]:
    """Blockers and candy bombs: those to clear in runs, and cells beside those that are cleared from there."""
    beside = board.union((*layout.ICING, "marmalade", "chocolate")) | board.other(layout.SWIRL)
    return board.union((*layout.TIMER, "lock")), board.fence(neighbours(beside))


def lower_half(board: Board, height: jax.Array) -> Plane:
    """Swaps in the lower half of boards that have so many rows, int32[B] or [1]."""
    rows = lax.broadcasted_iota(jnp.int32, (board.spec.height, 1), 0)
    plane = board.nothing | jnp.where(rows >= height // 2, Word(ONES), Word(0))
    return jnp.stack([plane, plane])
