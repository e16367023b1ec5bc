"""Icing: one to five layers that fill a cell; each hit, direct or beside, takes one (rulebook 5)."""

from crush_gym import layout
from crush_gym.engine.bits import any_of
from crush_gym.engine.board import Board
from crush_gym.engine.mechanics.base import Mechanic, Report, Strike


class Icing(Mechanic):
    name = "icing"
    planes = layout.ICING

    def struck(self, board: Board, strike: Strike) -> Report:
        bits = [board.plane(name) for name in layout.ICING]
        uncovered = strike.bare | (strike.beside & ~board.covered)
        hit = any_of(bits) & uncovered
        borrow, left = hit, {}
        for name, bit in zip(layout.ICING, bits, strict=True):
            left[name] = bit ^ borrow
            borrow = borrow & ~bit
        gone = hit & ~any_of(left.values())
        return Report(left, points=((hit, 20),), orders={"icing": gone})
