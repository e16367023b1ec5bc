"""What moves are worth at a glance: for players, for playouts, and for the yardstick of the packs."""

from crush_gym.move_values.choose import by_action, in_proportion, planes_of
from crush_gym.move_values.first_round import gains
from crush_gym.move_values.goals import move_values
from crush_gym.move_values.sliced import Sliced

__all__ = ["Sliced", "by_action", "gains", "in_proportion", "move_values", "planes_of"]
