"""Digits and capitals as strokes, so that counters look the same whatever fonts a machine has."""

from crush_gym.render.palette import INK, PAPER

STROKES = {
    "0": "M5 0C1.5 0 0 3 0 7S1.5 14 5 14S10 11 10 7S8.5 0 5 0Z",
    "1": "M1.5 3L5.5 0V14",
    "2": "M.5 3.5C1 1 3 0 5 0C8 0 9.5 1.7 9.5 4C9.5 7 4 10 .5 14H10",
    "3": "M.5 .8C2 0 4 0 5 0C8 0 9.5 1.5 9.5 3.5S8 7 4 7C8 7 10 8.5 10 10.5S8 14 5 14C3 14 1 13.5 0 12.5",
    "4": "M7.5 14V0L0 9.5H10",
    "5": "M9 0H1.5L1 6.3C2 5.6 3.5 5.2 5 5.2C8 5.2 10 7 10 9.5S8 14 5 14C3 14 1 13.5 0 12.5",
    "6": "M8.5 .8C7.5 .2 6.5 0 5.5 0C2 0 0 3 0 8C0 12 2 14 5 14S10 12.2 10 9.5S8 5.2 5.2 5.2C2.5 5.2 .5 7 .2 9",
    "7": "M0 0H10C7 4 4.5 8.5 4 14",
    "8": "M5 6.5C2.5 6.5 .8 5 .8 3.2S2.5 0 5 0S9.2 1.5 9.2 3.2S7.5 6.5 5 6.5"
    "C2 6.5 0 8.3 0 10.3S2 14 5 14S10 12.3 10 10.3S8 6.5 5 6.5Z",
    "9": "M1.5 13.2C2.5 13.8 3.5 14 4.5 14C8 14 10 11 10 6C10 2 8 0 5 0S0 1.8 0 4.5S2 8.8 4.8 8.8C7.5 8.8 9.5 7 9.8 5",
    "+": "M5 2V12M0 7H10",
    "?": "M.5 3.5C.8 1.2 2.5 0 5 0C8 0 9.5 1.6 9.5 3.7C9.5 6.7 5 6.8 5 10M5 13.9V14",
    "A": "M0 14L5 0L10 14M2 9H8",
    "B": "M5 6.7H0V0H5C7.5 0 9 1.5 9 3.4S7.5 6.7 5 6.7C8.5 6.7 10 8.2 10 10.3S8.5 14 5.5 14H0V6.7",
    "C": "M10 2.5C9 .8 7.5 0 5.5 0C2 0 0 3 0 7S2 14 5.5 14C7.5 14 9 13.2 10 11.5",
    "D": "M0 0V14H4C8 14 10 11 10 7S8 0 4 0Z",
    "E": "M9 0H0V14H9M0 7H7",
    "F": "M9 0H0V14M0 7H7",
    "G": "M10 2.5C9 .8 7.5 0 5.5 0C2 0 0 3 0 7S2 14 5.5 14C8 14 10 12.5 10 8H6",
    "H": "M0 0V14M10 0V14M0 7H10",
    "J": "M8 0V10C8 12.5 6.5 14 4.5 14S1 12.5 1 10.5",
    "K": "M0 0V14M9.5 0L0 8.5M3.5 5.5L10 14",
    "L": "M0 0V14H9",
    "M": "M0 14V0L5 8L10 0V14",
    "N": "M0 14V0L10 14V0",
    "P": "M0 14V0H5C8 0 9.5 1.7 9.5 4S8 8 5 8H0",
    "R": "M0 14V0H5C8 0 9.5 1.7 9.5 4S8 8 5 8H0M5 8L10 14",
    "S": "M9.5 2.2C8.5 .7 7 0 5 0C2 0 .5 1.5 .5 3.5C.5 8.5 10 5.5 10 10.5C10 12.5 8 14 5 14C2.8 14 1 13.2 0 11.5",
    "T": "M0 0H10M5 0V14",
    "U": "M0 0V9C0 12.5 2 14 5 14S10 12.5 10 9V0",
    "V": "M0 0L5 14L10 0",
    "W": "M0 0L2.5 14L5 5L7.5 14L10 0",
    "X": "M0 0L10 14M10 0L0 14",
    "Y": "M0 0L5 7L10 0M5 7V14",
    "Z": "M0 0H10L0 14H10",
}
"""Each in a box 10 wide and 14 high."""

PAIR_LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"
"""What pairs of portals are called; I, O and Q look too much like others."""


def pair_name(index: int) -> str:
    """The name of a pair of portals: A to Z, then AA and so on."""
    high, low = divmod(index, len(PAIR_LETTERS))
    return (PAIR_LETTERS[high - 1] if high else "") + PAIR_LETTERS[low]


def write(
    text: str, x: float, y: float, height: float, colour: str = PAPER, weight: float = 2.6, halo: float = 3
) -> str:
    """Text centred on (x, y). height: of a digit; weight, halo: of the stroke and its dark rim, in 1/14 of that."""
    scale = height / 14
    width = 10 * len(text) + 4.5 * (len(text) - 1)
    paths = "".join(_glyph(glyph, 14.5 * i) for i, glyph in enumerate(text))
    place = f"translate({number(x - width * scale / 2)} {number(y - height / 2)})scale({number(scale)})"
    pen = 'fill="none" stroke-linecap="round" stroke-linejoin="round"'
    return (
        f'<g transform="{place}" {pen}><g stroke="{INK}" stroke-width="{number(weight + halo)}">{paths}</g>'
        f'<g stroke="{colour}" stroke-width="{number(weight)}">{paths}</g></g>'
    )


def number(value: float) -> str:
    """A coordinate as short as it can be written."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("", "-0") else text


def _glyph(glyph: str, x: float) -> str:
    place = f' transform="translate({number(x)})"' if x else ""
    return f'<path d="{STROKES[glyph]}"{place}/>'
