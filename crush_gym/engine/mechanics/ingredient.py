"""Ingredients: fall, cannot be hit, and are collected at rest on an exit (rulebook 5.2, 7)."""

from crush_gym import layout
from crush_gym.engine.mechanics.base import Mechanic, has_item, spawned
from crush_gym.levels import Level


class Ingredient(Mechanic):
    name = "ingredient"
    planes = layout.KIND

    def used_by(self, level: Level) -> bool:
        here = has_item(level, layout.CHERRY) or has_item(level, layout.HAZELNUT)
        return here or spawned(level, "cherry") or spawned(level, "hazelnut")
