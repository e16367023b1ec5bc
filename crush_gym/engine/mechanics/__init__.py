"""One file per mechanic. To add one: write its file, and name it in `ALL`."""

from crush_gym.engine.mechanics.base import Mechanic, Report, Strike
from crush_gym.engine.mechanics.chocolate import Chocolate
from crush_gym.engine.mechanics.icing import Icing
from crush_gym.engine.mechanics.ingredient import Ingredient
from crush_gym.engine.mechanics.jelly import Jelly
from crush_gym.engine.mechanics.lock import Lock
from crush_gym.engine.mechanics.marmalade import Marmalade
from crush_gym.engine.mechanics.specials import ColourBomb, Striped, Wrapped
from crush_gym.engine.mechanics.swirl import Swirl
from crush_gym.engine.mechanics.tags import CandyBomb, Drop, FreshBomb, Plus5
from crush_gym.engine.spec import Spec

ALL: tuple[Mechanic, ...] = (
    Striped(), Wrapped(), ColourBomb(), Swirl(), Ingredient(), CandyBomb(), FreshBomb(), Plus5(), Drop(),
    Lock(), Marmalade(), Icing(), Chocolate(), Jelly(),
)  # fmt: skip


def active(spec: Spec) -> list[Mechanic]:
    """The mechanics compiled into a game."""
    return [mechanic for mechanic in ALL if mechanic.name in spec.mechanics]


__all__ = ["ALL", "Mechanic", "Report", "Strike", "active"]
