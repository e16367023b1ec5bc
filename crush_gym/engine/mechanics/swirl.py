"""Liquorice swirl: falls, stops rays, and breaks at a direct hit or beside a run (rulebook 5)."""

from crush_gym import layout
from crush_gym.engine.board import Board
from crush_gym.engine.mechanics.base import Mechanic, Report, Strike, has_item, spawned
from crush_gym.levels import Level


class Swirl(Mechanic):
    name = "swirl"
    planes = layout.KIND[:2]

    def used_by(self, level: Level) -> bool:
        return has_item(level, layout.SWIRL) or spawned(level, "swirl")

    def struck(self, board: Board, strike: Strike) -> Report:
        uncovered = strike.bare | (strike.beside_runs & ~board.covered)
        broken = board.other(layout.SWIRL) & uncovered
        return Report(gone=broken, points=((broken, 20),), orders={"swirl": broken})
