"""The numbers that describe a level."""

from __future__ import annotations

from typing import Any

import pytest

from crush_gym import Level, load_pack, traits_of
from crush_gym.generator import FEATURES
from crush_gym.traits import TRAITS

LEVEL: dict[str, Any] = {
    "name": "all", "colours": 5, "moves": 12,
    "board": ["?''  ?'   #    a-   ?", "[b]  {c}  I3   C    ~", "?!9  ?+   ?$   *    o", "a@   ?    ?    ?    I1"],
    "portals": [[[1, 0], [3, 0]]],
    "exits": [[3, 1]],
    "spawn": {"swirl": {"quota": 3}, "cherry": {"quota": 1}, "bomb": {"counter": 9}},
    "goals": {
        "score": 900, "jelly": "all", "cherry": 2,
        "orders": {"a": 7, "c": 2, "striped": 3, "bomb": 1, "bomb+bomb": 1, "lock": 1, "icing": 2},
    },
}  # fmt: skip

COUNTED_BY_HAND = {
    "cells": 19, "height": 4, "colours": 5, "moves": 12, "seconds": 0, "lines": 18, "open lines": 6, "portals": 1,
    "jelly": 2, "double jelly": 1, "locks": 1, "marmalade": 1, "chocolate": 1, "icing": 2, "icing layers": 4,
    "swirls": 4, "bombs": 1, "bombs to come": 20, "plus5": 1, "drops": 1, "specials": 3, "ingredients": 2,
    "jelly goal": 1, "score goal": 900, "most of a colour": 7, "colours ordered": 2, "specials ordered": 4,
    "combos ordered": 1, "blockers ordered": 3,
}  # fmt: skip


def test_every_trait_is_what_the_level_holds() -> None:
    found = traits_of(Level.from_dict(LEVEL))
    assert found == COUNTED_BY_HAND
    assert list(found) == list(TRAITS) and all(isinstance(value, float) for value in found.values())


def test_every_feature_of_generated_levels_is_a_trait() -> None:
    assert set(FEATURES) <= set(TRAITS)
    assert all(traits_of(Level.from_dict(LEVEL))[feature] > 0 for feature in FEATURES)
    plain = traits_of(Level.from_dict({"name": "", "colours": 3, "seconds": 30, "board": ["? ? ?"] * 3}))
    assert {name: value for name, value in plain.items() if value} == {
        "cells": 9, "height": 3, "colours": 3, "seconds": 30, "lines": 6, "open lines": 6,
    }  # fmt: skip


@pytest.mark.parametrize("wrong", [load_pack("basics"), load_pack("basics").stack([0, 1]), LEVEL])
def test_anything_but_one_level_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"traits are those of one Level, such as pack\[0\], not of a"):
        traits_of(wrong)
