"""Levels and packs of levels: reading, checking and writing them (rulebook 1 and 2)."""

from crush_gym.levels.errors import LevelError
from crush_gym.levels.families import families
from crush_gym.levels.level import Level
from crush_gym.levels.pack import LevelPack, load_pack

__all__ = ["Level", "LevelError", "LevelPack", "families", "load_pack"]
