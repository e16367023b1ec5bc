"""Jelly: up to two layers; a hit that clears a candy, or finds none to clear, takes one (rulebook 5.3)."""

from crush_gym import layout
from crush_gym.engine.board import Board
from crush_gym.engine.mechanics.base import Mechanic, Report, Strike


class Jelly(Mechanic):
    name = "jelly"
    planes = layout.JELLY

    def struck(self, board: Board, strike: Strike) -> Report:
        shielded = board.blocked | board.other(layout.SWIRL)
        one, two = board.plane("jelly1"), board.plane("jelly2")
        hit = one & strike.bare & ~shielded
        return Report({"jelly1": one & ~(hit & ~two), "jelly2": two & ~hit}, points=((hit, 1000),))
