"""One cell as facts, as bits of a number, and as a token (rulebook 2).

A cell's code is a number: bit i says whether the cell is in plane i of `layout.PLANES`, two more
bits whether it is floor and whether it is a `?`. Codes are how cells become plane words and back.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from crush_gym import layout

WORD_ROWS = (*layout.PLANES, "floor", "unfilled")
"""What the bits of a code mean, from the lowest."""

FORMS = {layout.PLAIN: "", layout.STRIPED_H: "-", layout.STRIPED_V: "|", layout.WRAPPED: "@"}
"""How a candy's kind is written behind its letter."""

COLOURLESS = {
    layout.EMPTY: "_",
    layout.SWIRL: "~",
    layout.COLOUR_BOMB: "*",
    layout.CHERRY: "o",
    layout.HAZELNUT: "n",
    layout.FUSED3: "F3",
    layout.FUSED5: "F5",
}
"""How the kinds of colourless item are written."""

COVER_MARKS = {"lock": ("[", "]"), "marmalade": ("{", "}")}

NO_ITEM = "??"
"""What prints for bits that spell no item: only a broken engine makes them."""

_BIT = {name: 1 << i for i, name in enumerate(WORD_ROWS)}


@dataclass(frozen=True, slots=True)
class Cell:
    """What one cell holds; `Cell()` is an EMPTY floor cell, and `str(cell)` is its token."""

    floor: bool = True
    unfilled: bool = False
    """`?`: a plain candy whose colour is drawn when an attempt starts."""
    colour: int = 0
    kind: int = 0
    counter: int | None = None
    """A candy bomb's counter; None where there is no candy bomb."""
    plus5: bool = False
    drop: bool = False
    icing: int = 0
    chocolate: bool = False
    cover: str = ""
    """"", "lock" or "marmalade"."""
    jelly: int = 0

    def __str__(self) -> str:
        opening, closing = COVER_MARKS.get(self.cover, ("", ""))
        return opening + self._item() + closing + "'" * self.jelly

    def _item(self) -> str:
        if not self.floor:
            return "#"
        if self.icing:
            return f"I{self.icing}"
        if self.chocolate:
            return "C"
        if not (self.unfilled or self.colour):
            return COLOURLESS.get(self.kind, NO_ITEM)
        if self.kind not in FORMS:
            return NO_ITEM
        letter = "?" if self.unfilled else layout.COLOUR_LETTERS[self.colour - 1]
        return letter + FORMS[self.kind] + self._tag()

    def _tag(self) -> str:
        counter = "" if self.counter is None else f"!{self.counter}"
        return counter + "+" * self.plus5 + "$" * self.drop


def encode(cell: Cell) -> int:
    """Write a cell as a code.

    A candy bomb at 0, which only a lost board has, is written as `layout.SPENT`.
    """
    code = _digits(layout.COLOUR, cell.colour) | _digits(layout.KIND, cell.kind)
    code |= _digits(layout.TIMER, layout.SPENT if cell.counter == 0 else cell.counter or 0) | _digits(
        layout.ICING, cell.icing
    )
    facts = {
        "floor": cell.floor,
        "unfilled": cell.unfilled,
        "plus5": cell.plus5,
        "drop": cell.drop,
        "chocolate": cell.chocolate,
        "lock": cell.cover == "lock",
        "marmalade": cell.cover == "marmalade",
        "jelly1": cell.jelly >= 1,
        "jelly2": cell.jelly >= 2,
    }
    return code | sum(_BIT[name] for name, true in facts.items() if true)


def decode(code: int) -> Cell:
    """Read a cell from its code; a void has nothing on it, whatever the other bits say."""
    if not code & _BIT["floor"]:
        return Cell(floor=False)
    timer = _number(layout.TIMER, code)
    return Cell(
        unfilled=_has(code, "unfilled"),
        colour=_number(layout.COLOUR, code),
        kind=_number(layout.KIND, code),
        counter=(0 if timer == layout.SPENT else timer) if timer else None,
        plus5=_has(code, "plus5"),
        drop=_has(code, "drop"),
        icing=_number(layout.ICING, code),
        chocolate=_has(code, "chocolate"),
        cover=next((cover for cover in layout.COVERS if _has(code, cover)), ""),
        jelly=2 if _has(code, "jelly2") else int(_has(code, "jelly1")),
    )


@lru_cache(maxsize=4096)
def token_of(code: int) -> str:
    """Print the cell of a code."""
    return str(decode(code))


def to_words(codes: NDArray[np.int64]) -> NDArray[np.uint16]:
    """Turn codes[H, W] into words[len(WORD_ROWS), MAX_SIDE]; rows beyond H are 0."""
    height, width = codes.shape
    bits = codes >> np.arange(len(WORD_ROWS))[:, None, None] & 1
    words = np.zeros((len(WORD_ROWS), layout.MAX_SIDE), np.uint16)
    words[:, :height] = (bits << np.arange(width)).sum(axis=-1)
    return words


def to_codes(words: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Turn words[len(WORD_ROWS), H] into codes[H, width]."""
    bits = words[:, :, None] >> np.arange(width) & 1
    codes: NDArray[np.int64] = (bits << np.arange(len(WORD_ROWS))[:, None, None]).sum(axis=0)
    return codes


def _has(code: int, name: str) -> bool:
    return bool(code & _BIT[name])


def _digits(names: tuple[str, ...], value: int) -> int:
    return sum(_BIT[name] for i, name in enumerate(names) if value >> i & 1)


def _number(names: tuple[str, ...], code: int) -> int:
    return sum(1 << i for i, name in enumerate(names) if code & _BIT[name])
