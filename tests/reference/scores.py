"""Points and goal counts (rulebook sections 9 and 12), and the effects of tags (section 5)."""

from .items import COLOUR_LETTERS, STRIPED, Item
from .play import Play

HIT_CANDY = 60
JELLY_LAYER = 1_000
SMALL_THING = 20
"""An icing layer, a lock, a marmalade, a swirl, a chocolate."""
DISARMED = 3_000
INGREDIENT = 10_000
ORDER_UNIT = 100
PLUS_FIVE = 50
"""Deciseconds."""


def pay(play: Play, points: int) -> None:
    """Section 9's points; the simpler games of section 12 do not have them."""
    if play.rules.name == "saga":
        play.state.score += points


def count_order(play: Play, name: str) -> None:
    """One unit of an order; units beyond what it asks score nothing."""
    left = play.state.orders_left
    if left.get(name, 0) > 0:
        left[name] -= 1
        pay(play, ORDER_UNIT)


def count_removed(play: Play) -> None:
    """A candy or colour bomb is cleared or consumed. Points rules: 1 per item removed."""
    play.cleared += 1
    if play.rules.name == "points":
        play.state.score += 1


def count_colour(play: Play, item: Item) -> None:
    """Orders: a colour counts for every candy of that colour cleared or consumed."""
    if item.is_candy:
        count_order(play, COLOUR_LETTERS[item.colour - 1])


def count_kind(play: Play, item: Item) -> None:
    """Orders: striped, wrapped and bomb count when one fires or is consumed in a combo."""
    if item.kind in STRIPED:
        count_order(play, "striped")
    if item.kind == "wrapped":
        count_order(play, "wrapped")
    if item.is_colour_bomb:
        count_order(play, "bomb")


def tag_takes_effect(play: Play, item: Item) -> None:
    """Section 5: a bomb is disarmed, +5 adds time (section 10), a drop is collected."""
    if item.counter is not None:
        pay(play, DISARMED)
    if item.plus5:
        add_time(play, PLUS_FIVE)
    if item.drop:
        play.state.drops += 1


def add_time(play: Play, deciseconds: int) -> None:
    """Section 10: never above the starting time. Untimed levels have none to add to."""
    if play.state.time_left is not None and play.level.time is not None:
        play.state.time_left = min(play.level.time, play.state.time_left + deciseconds)


def take_time(play: Play, deciseconds: int) -> None:
    if play.state.time_left is not None:
        play.state.time_left -= deciseconds
