"""Tokens: how one cell is written (rulebook 2), read and printed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches

import numpy as np
from numpy.typing import ArrayLike

from crush_gym import layout
from crush_gym.levels.cells import COLOURLESS, COVER_MARKS, FORMS, WORD_ROWS, Cell, to_codes, token_of
from crush_gym.levels.errors import show

__all__ = ["Cell", "TokenError", "parse_token", "print_board"]

MAX_COUNTER = 99
MAX_ICING = 5

_FUSED = {COLOURLESS[kind]: kind for kind in (layout.FUSED3, layout.FUSED5)}
_FIXED = {
    "?": Cell(unfilled=True),
    "#": Cell(floor=False),
    "C": Cell(chocolate=True),
    **{text: Cell(kind=kind) for kind, text in COLOURLESS.items() if text not in _FUSED},
}
_FORMS = {text: kind for kind, text in FORMS.items()}
_TAG = re.compile(r"(?P<item>[^!+$]+)(?P<tag>\+|\$|!(?P<counter>[0-9]*))")
_EXPECTED = "expected a cell such as ?, a, a-, a|, a@, a!9, a+, a$, *, o, n, ~, I1, C, _ or #"
_HABITS = {".": "_", "-": "_", "0": "o", "X": "#", "**": "*", "c": "C"}


class TokenError(ValueError):
    """A token that is no cell; the message says why and what was expected."""


def parse_token(text: str, colours: int, *, within_turn: bool = False) -> Cell:
    """Read one token of a board with `colours` colours.

    `within_turn` also takes what only exists inside a turn or on a lost board: `F3`, `F5`, `a!0`.
    """
    body = text.rstrip("'")
    jelly = len(text) - len(body)
    item, cover = _uncover(text, body)
    cell = _parse_item(text, item, colours, within_turn)
    if jelly > 2:
        raise TokenError(f"{show(text)} has {jelly} layers of jelly: expected at most 2")
    if not cell.floor and (jelly or cover):
        raise TokenError(f"{show(text)} puts {'a cover' if cover else 'jelly'} on a void: expected just #")
    if cell == Cell() and cover:
        raise TokenError(f"{show(text)} puts a cover on an EMPTY cell: a {cover} needs an item under it")
    return replace(cell, cover=cover, jelly=jelly)


def print_board(
    planes: Mapping[str, ArrayLike],
    floor: ArrayLike,
    height: int,
    width: int,
    *,
    unfilled: ArrayLike | None = None,
) -> list[str]:
    """Print one board's rows as tokens between single blanks.

    planes: uint16[>= height] words by the names of `layout.PLANES`, missing ones are 0; floor and
    unfilled (the `?` cells): the same. A candy bomb at 0 has all timer bits set.
    """
    unknown = [name for name in planes if name not in layout.PLANES]
    if unknown:
        raise ValueError(f"unknown plane {show(unknown[0])}: expected names of layout.PLANES")
    height, width = int(height), int(width)
    words = np.zeros((len(WORD_ROWS), height), np.int64)
    for i, name in enumerate(layout.PLANES):
        if name in planes:
            words[i] = np.asarray(planes[name])[:height]
    words[WORD_ROWS.index("floor")] = np.asarray(floor)[:height]
    if unfilled is not None:
        words[WORD_ROWS.index("unfilled")] = np.asarray(unfilled)[:height]
    return [" ".join(map(token_of, row)) for row in to_codes(words, width).tolist()]


def _uncover(text: str, body: str) -> tuple[str, str]:
    """Split `[a]` into the item and the name of its cover."""
    for cover, (opening, closing) in COVER_MARKS.items():
        if body.startswith(opening) != body.endswith(closing) or body == opening:
            raise TokenError(f"{show(text)} is a {cover} half written: expected {opening}a{closing}, tags inside")
        if body.startswith(opening):
            return body[1:-1], cover
    return body, ""


def _parse_item(text: str, item: str, colours: int, within_turn: bool) -> Cell:
    """Read what is left of a token without jelly and cover."""
    if item in _FIXED:
        return _FIXED[item]
    if item in _FUSED:
        if within_turn:
            return Cell(kind=_FUSED[item])
        raise TokenError(f"{show(text)} is a fused item, which exists only inside a turn: levels hold none")
    if re.fullmatch("I[0-9]*", item):
        return _parse_icing(text, item[1:])
    tagged = _TAG.fullmatch(item)
    if tagged:
        return _parse_tagged(text, tagged, colours, within_turn)
    if item[:1].isascii() and item[:1].islower() and item[1:] in _FORMS:
        return _parse_candy(text, item, colours)
    raise TokenError(f"{show(text)} is no cell: {_hint(text, item, colours)}{_EXPECTED}")


def _parse_candy(text: str, item: str, colours: int) -> Cell:
    colour = layout.COLOUR_LETTERS.find(item[0]) + 1
    if not 1 <= colour <= colours:
        raise TokenError(
            f"{show(text)} has colour {item[0]}, but the level has {colours} colours:"
            f" expected a to {layout.COLOUR_LETTERS[colours - 1]}"
        )
    return Cell(colour=colour, kind=_FORMS[item[1:]])


def _parse_icing(text: str, layers: str) -> Cell:
    if layers not in {str(n) for n in range(1, MAX_ICING + 1)}:
        raise TokenError(f"{show(text)} is icing of no possible height: expected I1 to I{MAX_ICING}")
    return Cell(icing=int(layers))


def _parse_tagged(text: str, match: re.Match[str], colours: int, within_turn: bool) -> Cell:
    """Read a candy with a counter, a +5 or a drop: only plain candies carry one (rulebook 1)."""
    cell = _parse_item(text, match["item"], colours, within_turn)
    plain = cell.kind == layout.PLAIN and (cell.colour or cell.unfilled)
    if not plain:
        raise TokenError(f"{show(text)} has a tag on {show(match['item'])}: only a plain candy can carry one")
    if match["tag"] == "+":
        return replace(cell, plus5=True)
    if match["tag"] == "$":
        return replace(cell, drop=True)
    least = 0 if within_turn else 1
    digits = match["counter"]
    if len(digits) > 3 or digits not in {str(n) for n in range(least, MAX_COUNTER + 1)}:
        bounds = f"{match['item']}!1 to {match['item']}!{MAX_COUNTER}"
        raise TokenError(f"{show(text)} has no possible counter: expected {bounds}")
    return replace(cell, counter=int(digits))


def _hint(text: str, item: str, colours: int) -> str:
    """Guess what was meant: "did you mean ...? ", or nothing."""
    if '"' in item:
        return "two layers of jelly are two single quotes (''); "
    if "'" in item:
        return "jelly comes last, behind the cover; "
    if re.fullmatch(r"\?[-|@]", item):
        return "a random candy is always plain; "
    if sum(map(item.count, "!+$")) > 1:
        return "a candy carries one tag at most; "
    guess = _nearest(item, colours)
    return f"did you mean {show(text.replace(item, guess))}? " if guess else ""


def _nearest(item: str, colours: int) -> str:
    """Find the item that an unknown one resembles most, or ""."""
    if not 1 <= len(item) <= 5:
        return ""
    letters = layout.COLOUR_LETTERS[:colours]
    candies = [letter + form for letter in letters for form in (*_FORMS, "+", "$")]
    known = [*_FIXED, *(f"I{n}" for n in range(1, MAX_ICING + 1)), *candies]
    for other in (_HABITS.get(item, ""), item.lower(), item.upper(), item[:1].lower() + item[1:]):
        if other in known:
            return other
    return next(iter(get_close_matches(item, known, 1, 0.5)), "")
