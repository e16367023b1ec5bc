"""The slow, plain reference implementation of the rulebook, written from the rulebook alone."""

from .game import ReferenceGame
from .play import Draws, Rules, State, Turn

__all__ = ["Draws", "ReferenceGame", "Rules", "State", "Turn"]
