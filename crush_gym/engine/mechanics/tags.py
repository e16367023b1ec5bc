"""What a plain candy can carry: a candy bomb's counter, five seconds more, a sugar drop (rulebook 1, 5.2, 8.4)."""

from __future__ import annotations

from crush_gym import layout
from crush_gym.engine.bits import Mask, Plane, any_of
from crush_gym.engine.board import Board
from crush_gym.engine.mechanics.base import Mechanic, Report, spawned
from crush_gym.levels import Level


class CandyBomb(Mechanic):
    name = "candy bomb"
    planes = layout.TIMER

    def used_by(self, level: Level) -> bool:
        return super().used_by(level) or spawned(level, "bomb")

    def taken(self, board: Board, cells: Plane) -> Report:
        return Report(points=((board.union(layout.TIMER) & cells, 3000),))


class FreshBomb(Mechanic):
    """Marks candy bombs that appear during a move: their counters wait for the next one (rulebook 8.4)."""

    name = "fresh bomb"
    planes = ("fresh",)

    def used_by(self, level: Level) -> bool:
        return spawned(level, "bomb")


class Plus5(Mechanic):
    name = "plus5"
    planes = ("plus5",)

    def used_by(self, level: Level) -> bool:
        return super().used_by(level) or spawned(level, "plus5") or bool(level.seconds > 0)

    def taken(self, board: Board, cells: Plane) -> Report:
        return Report(plus5=board.plane("plus5") & cells)


class Drop(Mechanic):
    name = "drop"
    planes = ("drop",)

    def used_by(self, level: Level) -> bool:
        return super().used_by(level) or spawned(level, "drop")

    def taken(self, board: Board, cells: Plane) -> Report:
        return Report(drops=board.plane("drop") & cells)


def count_down(board: Board, where: Mask) -> tuple[Board, Plane]:
    """Candy bombs that were there when the move began lose one (rulebook 8.4). Also: those that reach 0.

    A counter that has run out is kept as 127, all ones, so that it still reads as a candy bomb.
    """
    bits = [board.plane(name) for name in layout.TIMER]
    ticking = any_of(bits) & ~board.plane("fresh") & where
    borrow, left = ticking, {}
    for name, bit in zip(layout.TIMER, bits, strict=True):
        left[name] = bit ^ borrow
        borrow = borrow & ~bit
    spent = ticking & ~any_of(left.values())
    left = {name: bit | spent for name, bit in left.items()}
    return board.with_items(board.fence(board.with_moving(left).items)), spent
