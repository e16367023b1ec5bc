"""Liquorice lock: holds its item until hit directly (rulebook 5.1)."""

from crush_gym.engine.board import Board
from crush_gym.engine.mechanics.base import Mechanic, Report, Strike


class Lock(Mechanic):
    name = "lock"
    planes = ("lock",)

    def struck(self, board: Board, strike: Strike) -> Report:
        opened = board.plane("lock") & strike.area
        return Report({"lock": board.plane("lock") & ~opened}, points=((opened, 20),), orders={"lock": opened})
