"""Whatever is given as a level, a pack or a file: it is read, or refused with a `LevelError`."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from crush_gym.levels import Level, LevelError, LevelPack, load_pack

HUGE = 10**4000  # hypothesis itself cannot print larger ones
GOOD: dict[str, Any] = {"name": "here", "colours": 5, "moves": 20, "board": ["? ?", "? ?"]}


def test_deep_nesting_in_a_dict_is_only_a_wrong_value() -> None:
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    for key in ("name", "colours", "board", "goals", "portals", "stars", "spawn", "entries"):
        accepted_or_refused(GOOD | {key: deep})
        accepted_or_refused({"levels": [{key: deep}], key: deep})


ANY_NUMBER = st.integers() | st.floats() | st.sampled_from([HUGE, -1, 0, 1, 2, 15, 16, 2**31, True])
ANY_TEXT = st.text(max_size=12) | st.text("?abf#_[]{}!+$'IC~*on@-|1290 ", max_size=24) | st.just("top")
KEYS = st.sampled_from([*GOOD, "goals", "spawn", "orders", "portals", "cherry", "bomb", "quota", "levels"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | ANY_NUMBER | ANY_TEXT | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)
RICH: dict[str, Any] = GOOD | {
    "board": ["o ? ~ [a]", "?'' C I2 ?!9", "? ? # ?", "? ? ? ?"],
    "goals": {"score": 100, "jelly": "all", "cherry": 2, "orders": {"a": 3, "swirl": 2, "lock": 1}},
    "stars": [1, 2, 3],
    "portals": [[[3, 0], [0, 1]]],
    "entries": [[0, 0], [0, 2]],
    "exits": [[3, 1]],
    "spawn": {"cherry": {"quota": 1}, "bomb": {"counter": 9}, "swirl": {"on_board": 3}},
    "spawn_candies": True,
}


def accepted_or_refused(value: object) -> None:
    """Read a value as a level and as a pack: a `LevelError` that prints is the only way to fail."""
    for read in (Level.from_dict, LevelPack.from_dict):
        try:
            read(value).to_dict()
        except LevelError as error:
            str(error).encode()
            assert error.problems


@given(ANYTHING)
@settings(max_examples=150, deadline=None)
def test_no_value_raises_anything_else(value: object) -> None:
    accepted_or_refused(value)
    accepted_or_refused({"name": "p", "levels": [value]})


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_no_change_of_a_level_raises_anything_else(data: st.DataObject) -> None:
    level = copy.deepcopy(RICH)
    for _ in range(data.draw(st.integers(1, 3))):
        _change_somewhere(level, data)
    accepted_or_refused(level)


def _change_somewhere(level: dict[str, Any], data: st.DataObject) -> None:
    """Walk down from the level and replace, add or remove something there."""
    place: Any = level
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = data.draw(st.sampled_from(keys))
        inner = place[key]
        if not isinstance(inner, (dict, list)) or data.draw(st.booleans()):
            break
        place = inner
    action = data.draw(st.sampled_from(["replace", "remove", "repeat"]))
    if action == "remove":
        del place[key]
    elif action == "repeat" and isinstance(place, list):
        place.append(inner)
    else:
        place[key] = data.draw(ANYTHING)


@given(ANY_TEXT | st.binary(max_size=40))
@settings(max_examples=100, deadline=None)
def test_no_text_raises_anything_else(text: str | bytes) -> None:
    for read in (Level.from_json, load_pack):
        try:
            read(text)  # type: ignore[operator]
        except LevelError as error:
            str(error).encode()
