"""Refusals: every wrong level is refused with its place and with what was expected."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from crush_gym.levels import Level, LevelError, load_pack
from crush_gym.levels.errors import Problem, show

BOARD = ["? ? ? ?", "? ? ? ?", "? ? # ?", "? ? ? ?"]
GOOD: dict[str, Any] = {"name": "here", "colours": 5, "moves": 20, "board": BOARD}
HUGE = 10**5000


def problems(value: object) -> list[Problem]:
    """All that is wrong with a level."""
    with pytest.raises(LevelError) as caught:
        Level.from_dict(value)
    return list(caught.value.problems)


def without(*keys: str) -> dict[str, Any]:
    return {key: value for key, value in GOOD.items() if key not in keys}


REFUSED: list[tuple[str, dict[str, Any], tuple[int | None, int | None], str]] = [
    ("unknown key", {"color": 5}, (None, None), "unknown key 'color'; did you mean 'colours'?"),
    ("far-fetched key", {"xyz": 5}, (None, None), "unknown key 'xyz'; expected name, colours, moves"),
    ("key that is no text", {3: 5}, (None, None), "unknown key 3"),
    ("name", {"name": 3}, (None, None), "name must be a string, not 3"),
    ("half a character", {"name": "\ud800"}, (None, None), "half a character"),
    (
        "colours as text",
        {"colours": "5"},
        (None, None),
        "colours must be a whole number from 2 to 7, not '5'",
    ),
    ("colours as bool", {"colours": True}, (None, None), "from 2 to 7, not true"),
    ("one colour", {"colours": 1}, (None, None), "from 2 to 7, not 1"),
    ("eight colours", {"colours": 8}, (None, None), "from 2 to 7, not 8"),
    ("moves 0", {"moves": 0}, (None, None), "moves must be a whole number of at least 1, not 0"),
    ("moves 20.0", {"moves": 20.0}, (None, None), "moves must be a whole number of at least 1, not 20.0"),
    ("moves NaN", {"moves": float("nan")}, (None, None), "not nan"),
    ("moves null", {"moves": None}, (None, None), "not null"),
    (
        "moves huge",
        {"moves": HUGE},
        (None, None),
        "of at most 1000000000, not a number of more than 20 digits",
    ),
    ("both limits", {"seconds": 60}, (None, None), "this one has both: expected exactly one"),
    ("stars", {"stars": [1, 2]}, (None, None), "stars must be a list of 3 scores, not a list of 2"),
    ("stars 0", {"stars": [0, 1, 2]}, (None, None), "stars[0] must be a whole number of at least 1"),
    ("stars falling", {"stars": [1, 3, 2]}, (None, None), "stars must not fall: expected [1, 2, 3]"),
    ("spawn_candies", {"spawn_candies": 0}, (None, None), "spawn_candies must be true or false, not 0"),
    ("board as text", {"board": "? ?"}, (None, None), "board must be a list of rows, not '? ?'"),
    ("row as number", {"board": ["? ?", 3]}, (1, None), "must be a string of tokens, not 3"),
    ("ragged", {"board": ["? ?", "? ? ?", "? ?"]}, (1, None), "holds 3 cells, but most rows hold 2"),
    ("empty row", {"board": ["? ?", "", "? ?"]}, (1, None), "a row must hold 2 to 16 cells, not 0"),
    ("too narrow", {"board": ["?", "?"]}, (0, None), "a row must hold 2 to 16 cells, not 1"),
    ("too wide", {"board": ["? " * 17] * 2}, (0, None), "a row must hold 2 to 16 cells, not more"),
    ("too low", {"board": ["? ?"]}, (None, None), "board must have 2 to 16 rows, not 1"),
    ("no rows", {"board": []}, (None, None), "board must have 2 to 16 rows, not 0"),
    ("too high", {"board": ["? ?"] * 17}, (None, None), "board must hold at most 16 rows, not 17"),
    ("no floor", {"board": ["# #", "# #"]}, (None, None), "board has no floor"),
    ("bad token", {"board": ["? ?", "? A"]}, (1, 1), "'A' is no cell: did you mean 'a'?"),
    ("colour beyond", {"board": ["? ?", "f ?"]}, (1, 0), "has colour f, but the level has 5 colours"),
    ("counter 0", {"board": ["? ?", "? ?!0"]}, (1, 1), "expected ?!1 to ?!99"),
    ("counter 100", {"board": ["? ?", "? a!100"]}, (1, 1), "expected a!1 to a!99"),
    ("cover on EMPTY", {"board": ["? [_]", "? ?"]}, (0, 1), "puts a cover on an EMPTY cell"),
    ("cover on void", {"board": ["? {#}", "? ?"]}, (0, 1), "puts a cover on a void"),
    ("jelly on void", {"board": ["? #''", "? ?"]}, (0, 1), "puts jelly on a void"),
    ("tag on special", {"board": ["? a-+", "? ?"]}, (0, 1), "only a plain candy can carry one"),
    ("fused", {"board": ["? F3", "? ?"]}, (0, 1), "only inside a turn"),
    ("portals as object", {"portals": {}}, (None, None), "portals must be a list of portals, not an object"),
    ("portal of one", {"portals": [[[0, 0]]]}, (None, None), "portals[0] must be two cells"),
    ("portal end", {"portals": [[[0, 0], [1]]]}, (None, None), "portals[0][1] must be a cell [row, column]"),
    ("portal end true", {"portals": [[[0, 0], [1, True]]]}, (None, None), "portals[0][1] must be a cell"),
    (
        "portal outside",
        {"portals": [[[0, 0], [1, 4]]]},
        (None, None),
        "outside the board: expected rows 0 to 3",
    ),
    ("portal below 0", {"portals": [[[-1, 0], [1, 1]]]}, (None, None), "portals[0][0] is outside the board"),
    (
        "portal far out",
        {"portals": [[[HUGE, 0], [1, 1]]]},
        (None, None),
        "portals[0][0] is outside the board",
    ),
    ("portal on void", {"portals": [[[0, 0], [2, 2]]]}, (2, 2), "portals[0][1] is a void"),
    ("portal to itself", {"portals": [[[1, 0], [1, 0]]]}, (1, 0), "portals[0][1] is an end of two portals"),
    (
        "shared end",
        {"portals": [[[1, 0], [0, 1]], [[0, 1], [0, 3]]]},
        (0, 1),
        "portals[1][0] is an end of two",
    ),
    (
        "shared exit",
        {"portals": [[[1, 0], [0, 1]], [[1, 1], [0, 1]]]},
        (0, 1),
        "portals[1][1] is an end of two",
    ),
    ("portal up its column", {"portals": [[[3, 0], [1, 0]]]}, (3, 0), "from [3, 0] to [1, 0] feeds itself"),
    ("portal up one", {"portals": [[[1, 0], [0, 0]]]}, (1, 0), "from [1, 0] to [0, 0] feeds itself"),
    ("portals in a ring", {"portals": [[[3, 0], [0, 1]], [[3, 1], [0, 0]]]}, (3, 0), "feeds itself"),
    ("entries as text", {"entries": "bottom"}, (None, None), 'entries must be "top" or a list of cells'),
    ("entries as number", {"entries": 3}, (None, None), "entries must be a list of cells, not 3"),
    ("entry outside", {"entries": [[4, 0]]}, (None, None), "entries[0] is outside the board"),
    ("entry on void", {"entries": [[2, 2]]}, (2, 2), "entries[0] is a void: expected a floor cell"),
    ("entry twice", {"entries": [[0, 1], [0, 1]]}, (0, 1), "entries[1] is listed twice"),
    ("entry below floor", {"entries": [[1, 0]]}, (1, 0), "the floor above feeds this entry"),
    (
        "entry fed by a portal",
        {"entries": [[0, 1]], "portals": [[[3, 0], [0, 1]]]},
        (0, 1),
        "the portal from [3, 0] leads to this entry",
    ),
    (
        "entry below a portal's entrance",
        {"entries": [[1, 0]], "portals": [[[0, 0], [0, 1]]]},
        (1, 0),
        "the floor above feeds this entry",
    ),
    ("too many entries", {"entries": [[0, 0]] * 257}, (None, None), "at most 256 cells, not 257"),
    ("exit on void", {"exits": [[2, 2]]}, (2, 2), "exits[0] is a void"),
    ("exit twice", {"exits": [[3, 2], [3, 2]]}, (3, 2), "exits[1] is listed twice"),
    ("exit top", {"exits": "top"}, (None, None), "exits must be a list of cells, not 'top'"),
    ("spawn as list", {"spawn": ["cherry"]}, (None, None), "spawn must be an object"),
    ("spawn kind", {"spawn": {"cherri": {}}}, (None, None), "unknown key 'cherri'; did you mean 'cherry'?"),
    ("spawn null", {"spawn": {"cherry": None}}, (None, None), "spawn: cherry must be an object"),
    ("spawn key", {"spawn": {"cherry": {"quotas": 1}}}, (None, None), "did you mean 'quota'?"),
    (
        "spawn quota",
        {"spawn": {"cherry": {"quota": -1}}},
        (None, None),
        "spawn: cherry: quota must be a whole",
    ),
    (
        "spawn on_board",
        {"spawn": {"drop": {"on_board": 1.5}}},
        (None, None),
        "on_board must be a whole number",
    ),
    ("spawn every", {"spawn": {"swirl": {"every": None}}}, (None, None), "spawn: swirl: every must be"),
    ("cherry counter", {"spawn": {"cherry": {"counter": 9}}}, (None, None), "unknown key 'counter'"),
    ("no bomb counter", {"spawn": {"bomb": {}}}, (None, None), "spawn: bomb lacks the key 'counter'"),
    (
        "bomb counter 0",
        {"spawn": {"bomb": {"counter": 0}}},
        (None, None),
        "counter must be a whole number from 1",
    ),
    ("bomb counter 100", {"spawn": {"bomb": {"counter": 100}}}, (None, None), "from 1 to 99, not 100"),
    ("goals as list", {"goals": []}, (None, None), "goals must be an object with keys such as 'score'"),
    ("goals null", {"goals": None}, (None, None), "goals must be an object"),
    (
        "goal",
        {"goals": {"points": 3}},
        (None, None),
        "goals has the unknown key 'points'; expected score, jelly",
    ),
    (
        "goal score",
        {"goals": {"score": 0}},
        (None, None),
        "goals: score must be a whole number of at least 1",
    ),
    ("goal jelly", {"goals": {"jelly": True}}, (None, None), 'jelly must be "all", not true'),
    ("goal cherry", {"goals": {"cherry": "2"}}, (None, None), "goals: cherry must be a whole number"),
    ("order", {"goals": {"orders": {"stripes": 3}}}, (None, None), "unknown key 'stripes'; did you mean"),
    (
        "order 0",
        {"goals": {"orders": {"a": 0}}},
        (None, None),
        "orders: a must be a whole number of at least 1",
    ),
    ("order colour", {"goals": {"orders": {"f": 3}}}, (None, None), "orders: colour f, but the level has 5"),
    ("no jelly", {"goals": {"jelly": "all"}}, (None, None), "there is no jelly on the board"),
    ("no exits", {"goals": {"cherry": 1}, "spawn": {"cherry": {}}}, (None, None), "cherry needs exits"),
    ("no swirls", {"goals": {"orders": {"swirl": 1}}}, (None, None), "swirl asks for 1, but at most 0"),
    ("no locks", {"goals": {"orders": {"lock": 1}}}, (None, None), "lock asks for 1, but the board holds 0"),
    (
        "no icing",
        {"goals": {"orders": {"icing": 2}}, "board": ["I5 ?", "? ?"]},
        (None, None),
        "the board holds 1",
    ),
    ("no chocolate", {"goals": {"orders": {"chocolate": 1}}}, (None, None), "the board holds none"),
]


@pytest.mark.parametrize(("change", "place", "message"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_one_mistake_is_told_with_its_place(
    change: dict[str, Any], place: tuple[int | None, int | None], message: str
) -> None:
    found = problems(GOOD | change)[0]
    assert message in found.message
    assert (found.row, found.column) == place
    assert found.level == "here" or "name" in change


@pytest.mark.parametrize("key", ["colours", "board"])
def test_a_missing_key_is_told(key: str) -> None:
    assert [p.message for p in problems(without(key))] == [f"a level lacks the key '{key}'"]


def test_a_level_without_moves_and_seconds_is_refused() -> None:
    assert "this one has neither" in problems(without("moves"))[0].message


def test_seconds_are_checked() -> None:
    for wrong in (0, 10**9):
        assert "seconds must be a whole number from 1" in problems(without("moves") | {"seconds": wrong})[0].message


@pytest.mark.parametrize("value", [None, 3, "level", [], [GOOD], True, np.zeros(3), object()])
def test_what_is_no_object_is_no_level(value: object) -> None:
    assert "a level must be an object" in problems(value)[0].message


def test_all_mistakes_are_told_at_once() -> None:
    level = {
        "name": "many",
        "colours": 9,
        "moves": 0,
        "bord": [],
        "board": ["? A ?", "? ? z''", "? ?"],
        "goals": {"orders": {"a": 0}},
        "stars": 3,
    }
    with pytest.raises(LevelError) as caught:
        Level.from_dict(level)
    text = str(caught.value)
    assert text.startswith("8 problems\n")
    assert "level 'many', row 0, column 1: 'A' is no cell" in text
    assert "level 'many', row 1, column 2: \"z''\" has colour z" in text
    assert "level 'many', row 2: holds 2 cells" in text
    assert all(p.level == "many" for p in caught.value.problems)


def test_a_single_problem_is_one_line() -> None:
    with pytest.raises(LevelError) as caught:
        Level.from_dict(GOOD | {"moves": 0})
    assert str(caught.value) == "level 'here': moves must be a whole number of at least 1, not 0"
    assert isinstance(caught.value, ValueError)


def test_very_many_problems_stay_readable() -> None:
    with pytest.raises(LevelError) as caught:
        load_pack({"name": "p", "levels": [1] * 10**4})
    assert 1000 <= len(caught.value.problems) <= 1010
    assert "the levels after these were not read" in caught.value.problems[-1].message
    assert str(caught.value).count("\n") == 21
    assert len(problems(GOOD | {f"key {i}": 0 for i in range(10**4)})) == 11


def test_errors_can_be_pickled() -> None:
    for wrong in (lambda: Level.from_dict(3), lambda: load_pack("basics")["plane"]):
        with pytest.raises(LevelError) as caught:
            wrong()
        again = pickle.loads(pickle.dumps(caught.value))
        assert str(again) == str(caught.value) and again.problems == caught.value.problems


def test_any_value_is_quoted_shortly() -> None:
    odd = [
        HUGE,
        -HUGE,
        float("inf"),
        "x" * 10**6,
        "\ud800",
        [[]] * 10**6,
        {},
        None,
        True,
        b"x",
        np.int64(3),
        {1},
    ]
    for value in odd:
        assert 1 <= len(show(value)) < 80
        show(value).encode()
