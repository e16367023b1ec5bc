"""Boards in a terminal."""

from __future__ import annotations

import re

import pytest

from crush_gym.levels import Level, load_pack
from crush_gym.render import ansi
from tests.crush_gym.render.test_render import TOKENS_OF_ALL_KINDS, board_of

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def everything() -> Level:
    return load_pack("basics")["everything"]


@pytest.mark.parametrize("colour", [True, False])
def test_lines_are_equally_wide(everything: Level, colour: bool) -> None:
    lines = ansi(board_of(everything), everything, colour=colour, cursor=(0, 1), hint=[(1, 1), (1, 2)]).split("\n")
    assert len({len(ESCAPE.sub("", line)) for line in lines}) == 1


def test_plain_text_has_no_escapes_and_colour_ends_what_it_begins(everything: Level) -> None:
    assert "\x1b" not in ansi(board_of(everything), everything, colour=False)
    for line in ansi(board_of(everything), everything).split("\n"):
        assert line.count("\x1b[0m") * 2 == line.count("\x1b[")


@pytest.mark.parametrize("colour", [True, False])
def test_every_token_is_written_differently(colour: bool) -> None:
    written = {ansi([token], colour=colour) for token in (*TOKENS_OF_ALL_KINDS, "#", "_", "_'", "_''")}
    assert len(written) == len(TOKENS_OF_ALL_KINDS) + 4


def test_shapes_tell_candies_apart_without_colour() -> None:
    assert ansi(["a b c d e f g"], colour=False).split() == ["♥", "●", "■", "★", "▲", "◆", "⬢"]


def test_covers_are_closed_and_jelly_stands_behind_them() -> None:
    board = ["[a]' {a-}'' [a!12] [a!12]' a"]
    assert ansi(board, colour=False) == " [♥]'  {♥═}\" [♥12] [♥12]' ♥    "
    assert ESCAPE.sub("", ansi(board)) == " [♥]  {♥═} [♥12][♥12] ♥   "
    marked = ansi(board, colour=False, hint=[(0, 2)], cursor=(0, 3))
    assert marked == " [♥]'  {♥═}\"»[♥12]|[♥12]< ♥    "


def test_cursors_and_hints_stand_around_their_cells() -> None:
    board = ["a b", "c d"]
    assert "> ♥" in ansi(board, colour=False, cursor=(0, 0))
    assert ansi(board, colour=False, cursor=((0, 0), (1, 0))).count(">") == 2
    assert "» ♥" in ansi(board, colour=False, hint=[(0, 0)])
    with pytest.raises(TypeError, match="a cursor is a cell"):
        ansi(board, cursor=(0, (1, 2)))  # type: ignore[arg-type]


def test_portals_and_exits_are_marked(everything: Level) -> None:
    text = ansi(board_of(everything), everything, colour=False)
    assert [text.count(mark) for mark in ("A▼", "A▽", "B▼", "B▽", "▼▼")] == [1, 1, 1, 1, 6]
