"""Tokens: every cell is read, printed and read again; typos are explained."""

from __future__ import annotations

import numpy as np
import pytest

from crush_gym import layout
from crush_gym.levels.cells import Cell, decode, encode
from crush_gym.levels.tokens import TokenError, parse_token, print_board

CANDIES = ["?", *"abcdefg"]
PLAIN = [letter + tag for letter in CANDIES for tag in ("", "!1", "!9", "!10", "!99", "+", "$")]
FORMS = [letter + form for letter in "abcdefg" for form in "-|@"]
OTHERS = ["*", "o", "n", "~", "C", "I1", "I2", "I3", "I4", "I5"]
ITEMS = [*PLAIN, *FORMS, *OTHERS]
COVERED = [cover.format(item) for cover in ("{}", "[{}]", "{{{}}}") for item in ITEMS]
TOKENS = ["#", *(body + jelly for body in [*COVERED, "_"] for jelly in ("", "'", "''"))]
WITHIN_TURN = ["F3", "F5", "F3'", "a!0", "[b!0]''", "?!0"]


@pytest.mark.parametrize("text", ["#", "_", "?", "a", "g@", "*", "[~]'", "{I3}''", "?!42", "b+", "c$'"])
def test_a_token_prints_as_it_was_written(text: str) -> None:
    assert str(parse_token(text, 7)) == text


def test_every_token_survives_reading_bits_and_printing() -> None:
    for text in TOKENS:
        cell = parse_token(text, 7)
        assert str(cell) == text
        assert decode(encode(cell)) == cell
    assert len({encode(parse_token(text, 7)) for text in TOKENS}) == len(TOKENS)


@pytest.mark.parametrize("text", WITHIN_TURN)
def test_what_exists_only_within_a_turn_is_read_on_request(text: str) -> None:
    cell = parse_token(text, 7, within_turn=True)
    assert str(cell) == text
    assert decode(encode(cell)) == cell
    with pytest.raises(TokenError):
        parse_token(text, 7)


def test_cells_say_what_they_hold() -> None:
    assert parse_token("#", 5) == Cell(floor=False)
    assert parse_token("_'", 5) == Cell(jelly=1)
    assert parse_token("?!9", 5) == Cell(unfilled=True, counter=9)
    assert parse_token("[b]''", 5) == Cell(colour=2, cover="lock", jelly=2)
    assert parse_token("{c|}", 5) == Cell(colour=3, kind=layout.STRIPED_V, cover="marmalade")
    assert parse_token("*", 5) == Cell(kind=layout.COLOUR_BOMB)


REFUSED = {
    "z": "has colour z, but the level has 5 colours: expected a to e",
    "f": "has colour f, but the level has 5 colours",
    "f-": "has colour f",
    "f!9": "has colour f",
    "A": "did you mean 'a'?",
    "A@'": 'did you mean "a@\'"?',
    "i2": "did you mean 'I2'?",
    ".": "did you mean '_'?",
    "O": "did you mean 'o'?",
    "0": "did you mean 'o'?",
    "a=": "did you mean 'a",
    "aa": "did you mean 'a",
    "I6": "expected I1 to I5",
    "I0": "expected I1 to I5",
    "I01": "expected I1 to I5",
    "I": "expected I1 to I5",
    "a!0": "expected a!1 to a!99",
    "a!100": "expected a!1 to a!99",
    "a!": "expected a!1 to a!99",
    "a!09": "expected a!1 to a!99",
    "a!\N{ARABIC-INDIC DIGIT NINE}": "is no cell",
    "I\N{SUPERSCRIPT TWO}": "is no cell",
    "a-!9": "only a plain candy can carry one",
    "a@+": "only a plain candy can carry one",
    "*$": "only a plain candy can carry one",
    "~+": "only a plain candy can carry one",
    "_+": "only a plain candy can carry one",
    "I2!3": "only a plain candy can carry one",
    "#$": "only a plain candy can carry one",
    "a!9+": "one tag at most",
    "a+$": "one tag at most",
    "?-": "a random candy is always plain",
    "?@": "a random candy is always plain",
    "a'''": "has 3 layers of jelly: expected at most 2",
    'a"': "two single quotes",
    "[a']": "jelly comes last",
    "[a": "is a lock half written: expected [a]",
    "a]": "is a lock half written",
    "[": "is a lock half written",
    "{a": "is a marmalade half written: expected {a}",
    "[a}": "half written",
    "[a]!9": "tags inside",
    "[[a]]": "is no cell",
    "[]": "is no cell",
    "[_]": "puts a cover on an EMPTY cell",
    "{_}'": "puts a cover on an EMPTY cell",
    "[#]": "puts a cover on a void",
    "#'": "puts jelly on a void",
    "F3": "only inside a turn",
    "'": "is no cell",
    "": "is no cell",
    "-": "did you mean '_'?",
    "\N{LATIN SMALL LETTER E WITH ACUTE}": "is no cell",
}


@pytest.mark.parametrize(("text", "message"), REFUSED.items())
def test_a_wrong_token_is_explained(text: str, message: str) -> None:
    with pytest.raises(TokenError) as caught:
        parse_token(text, 5)
    assert message in str(caught.value)


def test_an_endless_token_gives_a_short_message() -> None:
    for text in ("a" * 10**6, "a" + "'" * 10**6, "a!" + "9" * 10**6, "x" * 10**5 + "+", "I" + "1" * 10**5):
        with pytest.raises(TokenError) as caught:
            parse_token(text, 5)
        assert len(str(caught.value)) < 400


def _planes(rows: list[str]) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Write tokens as plane words, bit by bit and independently of how levels do it."""
    planes = {name: np.zeros(len(rows), np.uint16) for name in layout.PLANES}
    floor, unfilled = np.zeros((2, len(rows)), np.uint16)
    for r, row in enumerate(rows):
        for c, text in enumerate(row.split(" ")):
            cell = parse_token(text, 7, within_turn=True)
            bit = np.uint16(1 << c)
            floor[r] |= bit * cell.floor
            unfilled[r] |= bit * cell.unfilled
            numbers = ((layout.COLOUR, cell.colour), (layout.KIND, cell.kind), (layout.ICING, cell.icing))
            counter = layout.SPENT if cell.counter == 0 else cell.counter or 0
            for names, number in (*numbers, (layout.TIMER, counter)):
                for i, name in enumerate(names):
                    planes[name][r] |= bit * (number >> i & 1)
            facts = {"plus5": cell.plus5, "drop": cell.drop}
            facts |= {"lock": cell.cover == "lock", "marmalade": cell.cover == "marmalade"}
            facts |= {"chocolate": cell.chocolate, "jelly1": cell.jelly > 0, "jelly2": cell.jelly > 1}
            for name, fact in facts.items():
                planes[name][r] |= bit * fact
    return planes, floor, unfilled


def _all_tokens_in_rows() -> list[str]:
    every = TOKENS + WITHIN_TURN
    rows = (every[i : i + 16] for i in range(0, len(every), 16))
    return [" ".join([*row, *["_"] * (16 - len(row))]) for row in rows]


def test_a_board_prints_the_tokens_that_its_planes_spell() -> None:
    rows = _all_tokens_in_rows()
    for start in range(0, len(rows), 16):
        block = rows[start : start + 16]
        planes, floor, unfilled = _planes(block)
        assert print_board(planes, floor, len(block), 16, unfilled=unfilled) == block


def test_missing_planes_are_zero_and_padding_is_not_printed() -> None:
    floor = np.full(16, 0xFFFF, np.uint16)
    colour = np.zeros(16, np.uint16)
    colour[1] = 0b101
    assert print_board({"colour0": colour}, floor, 2, 3) == ["_ _ _", "a _ a"]


def test_a_lost_bomb_prints_zero_and_broken_bits_print_question_marks() -> None:
    one = np.ones(1, np.uint16)
    spent = {name: one for name in layout.TIMER}
    assert print_board({"colour0": one} | spent, one, 1, 2) == ["a!0 #"]
    assert print_board({"kind1": one}, one, 1, 2) == ["?? #"]
    assert print_board({"colour0": one, "kind2": one}, one, 1, 2) == ["?? #"]


def test_a_plane_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown plane 'colour'"):
        print_board({"colour": np.ones(1, np.uint16)}, np.ones(1, np.uint16), 1, 2)
