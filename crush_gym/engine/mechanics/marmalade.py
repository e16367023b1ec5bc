"""Marmalade: hides its item from runs until hit, or until something beside it is cleared (rulebook 5)."""

from crush_gym.engine.board import Board
from crush_gym.engine.mechanics.base import Mechanic, Report, Strike


class Marmalade(Mechanic):
    name = "marmalade"
    planes = ("marmalade",)

    def struck(self, board: Board, strike: Strike) -> Report:
        opened = board.plane("marmalade") & (strike.area | strike.beside)
        return Report({"marmalade": board.plane("marmalade") & ~opened}, points=((opened, 20),))
