"""Pictures of boards: every token is drawn and looks like no other, documents are well-formed and stable."""

from __future__ import annotations

import re
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest

from crush_gym.levels import Level, load_pack
from crush_gym.render import legend, svg
from crush_gym.render.candies import OUTLINES
from crush_gym.render.legend import TOKENS
from crush_gym.render.palette import CANDIES
from crush_gym.render.paths import outline
from crush_gym.render.scene import cell_of, definitions, needed, parts_of
from crush_gym.render.terminal import SHAPES

ITEMS = (
    *(letter + form for letter in "abcdefg" for form in ("", "-", "|", "@", "+", "$", "!1", "!0", "!99")),
    *("?", "?+", "?$", "?!9", "*", "o", "n", "~", "C", "F3", "F5", *(f"I{n}" for n in range(1, 6))),
)
TOKENS_OF_ALL_KINDS = tuple(
    f"{cover[:1]}{item}{cover[1:]}{jelly}" for item in ITEMS for cover in ("", "[]", "{}") for jelly in ("", "'", "''")
)
SIGHTS = {
    "usual": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
"""What linear RGB turns into for eyes without one kind of cone (Machado, Oliveira and Fernandes, 2009)."""


@pytest.fixture(scope="module")
def everything() -> Level:
    return load_pack("basics")["everything"]


def board_of(level: Level) -> list[str]:
    rows: list[str] = level.to_dict()["board"]
    return rows


def parsed(document: str) -> ElementTree.Element:
    return ElementTree.fromstring(document.encode())


def test_every_token_has_a_drawing_of_its_own() -> None:
    drawings = [parts_of(cell_of(token)) for token in TOKENS_OF_ALL_KINDS]
    assert all(drawings)
    assert len(set(drawings)) == len(drawings)
    bodies = [re.sub(r'id="~[^"]*"', "", text) for text in definitions().values()]
    assert len(set(bodies)) == len(bodies)


def test_every_drawing_is_there_with_all_it_uses() -> None:
    for token in TOKENS_OF_ALL_KINDS:
        defs = needed(frozenset(parts_of(cell_of(token))))
        assert set(re.findall(r"#~([\w-]+)", defs)) <= set(re.findall(r'id="~([\w-]+)"', defs))


def test_nothing_is_drawn_for_voids_and_empty_cells() -> None:
    assert parts_of(cell_of("#")) == parts_of(cell_of("_")) == ()


def test_candies_differ_in_shape() -> None:
    assert set(OUTLINES) == set(SHAPES) == set(CANDIES) == set("abcdefg")
    assert len(set(OUTLINES.values())) == len(set(SHAPES.values())) == 7


@pytest.mark.parametrize("sight", SIGHTS)
def test_candies_differ_in_colour_for_all_eyes(sight: str) -> None:
    seen = [lab(np.asarray(SIGHTS[sight]) @ linear(hue.body)) for hue in CANDIES.values()]
    assert min(float(np.linalg.norm(one - other)) for one, other in combinations(seen, 2)) > 15


def test_documents_are_wellformed_and_the_same_every_time(everything: Level) -> None:
    rows = board_of(everything)
    first, second = (svg(rows, everything, highlight=[(0, 1)], title="a <b> & ~c", goals={"x": 1}) for _ in range(2))
    assert first == second
    texts = [element.text for element in parsed(first).iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["a <b> & ~c", "x", "1"]


def test_control_characters_in_a_title_do_not_break_the_document() -> None:
    assert "bel" in (parsed(svg(["a"], title="\x07bel\ud800\ufffe"))[0].text or "")


def test_documents_need_nothing_from_outside(everything: Level) -> None:
    for document in (svg(board_of(everything), everything), legend()):
        assert not re.search(r"<script|<image|@import|https?://(?!www\.w3\.org/2000/svg)", document)
        ids = re.findall(r'id="([^"]+)"', document)
        assert len(set(ids)) == len(ids)
        assert set(re.findall(r'(?:href="|url\()#([\w-]+)', document)) <= set(ids)


def test_different_pictures_share_no_ids() -> None:
    ids = [set(re.findall(r'id="([^"]+)"', svg([row]))) for row in ("a b", "b a")]
    assert ids[0] and not ids[0] & ids[1]


def test_levels_add_portals_exits_and_entries(everything: Level) -> None:
    rows = board_of(everything)
    assert len(svg(rows, everything)) > len(svg(rows))


def test_boards_that_do_not_fit_are_refused(everything: Level) -> None:
    with pytest.raises(ValueError, match="1x2, but its level is 9x9"):
        svg(["a b"], everything)
    with pytest.raises(ValueError, match="rows of tokens"):
        svg(["a b", "a"])
    with pytest.raises(ValueError, match="stack"):
        svg(board_of(everything), load_pack("basics").stack([0, 1]))


def test_outlines_go_around_holes_and_corners() -> None:
    square = ((True, True, True), (True, False, True), (True, True, True))
    assert outline(square, 64, 10).count("M") == 2
    assert outline(square, 64, 10).count("Q") == 8
    touching = ((True, False), (False, True))
    assert outline(touching, 64, 10).count("M") == 2
    assert outline(((False,),), 64, 10) == ""


def test_the_legend_names_every_kind_of_token() -> None:
    drawn = {name for token in TOKENS for name in parts_of(cell_of(token))}
    kinds = {re.sub(r"^[a-g](-[hvw])?$", r"candy\1", re.sub(r"\d+$", "", name)) for name in drawn}
    wanted = {
        re.sub(r"^[a-g](-[hvw])?$", r"candy\1", re.sub(r"\d+$", "", name))
        for t in ITEMS
        for name in parts_of(cell_of(t))
    }
    assert wanted <= kinds
    parsed(legend())


def test_notebooks_show_a_level_but_no_stack(everything: Level) -> None:
    html = everything._repr_html_()
    assert html is not None and "60,000" in html and html.startswith("<svg")
    assert load_pack("basics").stack([0, 1])._repr_html_() is None


def linear(colour: str) -> np.ndarray:
    """Linear RGB of #rrggbb."""
    value = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIELAB under D65 of linear RGB."""
    to_xyz = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]]
    xyz = np.asarray(to_xyz) @ np.clip(rgb, 0, 1) / np.array([0.95047, 1, 1.08883])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])
