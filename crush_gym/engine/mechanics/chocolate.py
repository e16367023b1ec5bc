"""Chocolate: fills a cell, breaks at one hit, and spreads after a turn that broke none (rulebook 5, 8.6)."""

from __future__ import annotations

import jax
from jax import lax

from crush_gym import layout
from crush_gym.engine import randomness
from crush_gym.engine.bits import Mask, Plane, Word, neighbours, nth, total
from crush_gym.engine.board import Board
from crush_gym.engine.mechanics.base import Mechanic, Report, Strike


class Chocolate(Mechanic):
    name = "chocolate"
    planes = ("chocolate",)

    def struck(self, board: Board, strike: Strike) -> Report:
        uncovered = strike.bare | (strike.beside & ~board.covered)
        broken = board.plane("chocolate") & uncovered
        return Report(
            {"chocolate": board.plane("chocolate") & ~broken},
            points=((broken, 20),),
            orders={"chocolate": broken},
            chocolate=broken,
        )


def spread(board: Board, bits: jax.Array, where: Mask) -> Board:
    """One candy or colour bomb beside uncovered chocolate turns to chocolate, on the boards of the mask."""
    free = ~board.covered
    prey = (board.candies | board.other(layout.COLOUR_BOMB)) & free
    sources = board.fence(board.plane("chocolate") & free)
    edible = board.fence(prey & neighbours(sources) & where)
    chosen = board.fence(_one_of(board, edible, bits))
    return board.with_items(board.fence(board.items & ~chosen)).with_fixed(
        {"chocolate": board.plane("chocolate") | chosen}
    )


def _one_of(board: Board, cells: Plane, bits: jax.Array) -> Plane:
    candidates = total(lax.population_count(row) for row in cells)
    index = randomness.below(randomness.draw(bits, randomness.CHOCOLATE, 0, 0), candidates).astype(Word)
    return nth(cells, board.fence(index), board.fence)
