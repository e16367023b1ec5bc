"""What moves are worth at a glance: for players, for playouts, and for the yardstick of the packs."""

from crush_gym.move_values.choose import action_of, best, by_action, in_proportion, one_of, planes_of
from crush_gym.move_values.first_round import gains
from crush_gym.move_values.goals import move_values
from crush_gym.move_values.sliced import Sliced

__all__ = [
    "Sliced", "action_of", "best", "by_action", "gains", "in_proportion", "move_values", "one_of", "planes_of",
]  # fmt: skip
