"""Round trips: any valid dict is the same dict again after it was a level."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crush_gym import layout
from crush_gym.levels import Level

ITEMS = ["?", "?", "?", "a", "b", "c-", "a|", "b@", "*", "o", "n", "~", "I1", "I5", "C", "?!9", "a+", "?$"]
BODIES = [*ITEMS, *(f"[{item}]" for item in ITEMS), *(f"{{{item}}}" for item in ITEMS)]
TOKENS = ["#", *(body + jelly for body in [*BODIES, *ITEMS * 3, "_"] for jelly in ("", "", "'", "''"))]
COUNTS = st.integers(1, 10**9)
LIMITS = st.fixed_dictionaries(
    {}, optional={"quota": st.integers(0, 9), "on_board": st.integers(0, 9), "every": st.integers(1, 9)}
)
SPAWN = st.dictionaries(st.sampled_from(layout.SPAWN_KINDS), LIMITS).map(
    lambda kinds: {kind: ({"counter": 9} | limits if kind == "bomb" else limits) for kind, limits in kinds.items()}
)


@st.composite
def level_dicts(draw: st.DrawFn) -> dict[str, Any]:
    """Draw valid levels in the canonical form that `to_dict` returns, but for the boards' blanks."""
    height, width = draw(st.integers(2, 16)), draw(st.integers(2, 16))
    row = st.lists(st.sampled_from(TOKENS), min_size=width, max_size=width)
    table = draw(st.lists(row, min_size=height, max_size=height))
    table[0][0] = "?'"
    floor = [[r, c] for r in range(height) for c in range(width) if table[r][c] != "#"]
    ends = draw(st.lists(st.sampled_from(floor), unique_by=tuple, max_size=8))
    # Portals lead to the right only, so no way comes back.
    pairs = [sorted(pair, key=lambda cell: cell[1]) for pair in zip(ends[::2], ends[1::2], strict=False)]
    goals: dict[str, Any] = {"jelly": "all"} if draw(st.booleans()) else {}
    if draw(st.booleans()):
        goals = {"score": draw(COUNTS)} | goals
    letters = st.dictionaries(st.sampled_from(["a", "b", "c", "striped", "bomb+bomb"]), COUNTS, min_size=1)
    if draw(st.booleans()):
        orders = draw(letters)
        goals["orders"] = {name: orders[name] for name in layout.ORDERS if name in orders}
    level: dict[str, Any] = {"name": draw(st.text(st.characters(codec="utf-8"), min_size=1)), "colours": 3}
    level[draw(st.sampled_from(["moves", "seconds"]))] = draw(st.integers(1, 10**8))
    level |= {"goals": goals} if goals else {}
    level |= draw(st.sampled_from([{}, {"stars": [1, 2, 2]}]))
    level["board"] = [" ".join(tokens) for tokens in table]
    portals = sorted(pair for pair in pairs if pair[0][1] < pair[1][1])
    level |= {"portals": portals} if portals else {}
    level |= draw(st.sampled_from([{}, {"exits": floor[:3]}]))
    spawn = draw(SPAWN)
    level |= {"spawn": spawn} if spawn else {}
    return level | draw(st.sampled_from([{}, {"spawn_candies": False}]))


@given(level_dicts())
@settings(max_examples=60, deadline=None)
def test_dict_to_level_to_dict_is_the_same_dict(value: dict[str, Any]) -> None:
    level = Level.from_dict(value)
    written = level.to_dict()
    assert written | {"board": [" ".join(row.split()) for row in written["board"]]} == value
    assert list(written.get("spawn", ())) == list(value.get("spawn", ()))
    assert Level.from_dict(written) == Level.from_json(json.dumps(written)) == level


@given(level_dicts(), st.data())
@settings(max_examples=30, deadline=None)
def test_listed_entries_come_back(value: dict[str, Any], data: st.DataObject) -> None:
    level = Level.from_dict(value)
    entries = [[r, c] for r, word in enumerate(np.asarray(level.entries).tolist()) for c in range(16) if word >> c & 1]
    some = data.draw(st.sampled_from([entries[1:], entries[:1], entries]))
    written = Level.from_dict(value | {"entries": some}).to_dict()
    assert written.get("entries", entries) == some
