"""Colours of everything that is drawn."""

from typing import NamedTuple


class Hue(NamedTuple):
    """One candy's colours as #rrggbb: its lit side, its body, its edge."""

    light: str
    body: str
    edge: str


CANDIES = {
    "a": Hue("#ff9a84", "#e3342f", "#7d0f14"),
    "b": Hue("#82c0ff", "#1a5fd8", "#08286e"),
    "c": Hue("#8cf0a4", "#12a150", "#045230"),
    "d": Hue("#fff7b0", "#ffd21f", "#a36a00"),
    "e": Hue("#f5bff7", "#c95fd0", "#5c1766"),
    "f": Hue("#ffd09a", "#f8861e", "#8f3d00"),
    "g": Hue("#e6fdff", "#6fdcee", "#12687c"),
}
"""By the candies' letters. Shapes tell them apart too; the bodies keep apart in lightness where hues do not."""

RANDOM = Hue("#e4e7f5", "#9aa1c0", "#4a5175")
"""Of a candy whose colour is not drawn yet."""

PORTALS = ("#ff66b3", "#3fd8ff", "#ffb52e", "#86f26b", "#bb93ff", "#ff8359", "#50e0bd", "#f3ee72")
"""Pairs of portals take these in turn."""

PAGE = "#171a2e"
BOARD = "#252a4a"
TILES = ("#363d68", "#30365e")
"""Floor cells alternate as on a chessboard."""

RIM = "#8790d0"
INK = "#10121f"
PAPER = "#f5f6ff"
FAINT = "#a9b0da"
EXIT = "#57e08a"
HINT = "#ffe45c"
JELLY = ("#c46aa6", "#f6a8d6")
"""One and two layers."""
