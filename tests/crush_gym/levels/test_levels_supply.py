"""Goals that a level can never supply are refused, and those that it can are not (rulebook 2)."""

from __future__ import annotations

from typing import Any

import pytest

from crush_gym.levels import Level, LevelError

SUPPLY: dict[str, Any] = {"name": "here", "colours": 5, "moves": 20} | {
    "board": ["o ? ~", "? o ?", "? ? ?"],
    "exits": [[2, 0]],
}


def refusal(value: dict[str, Any]) -> str:
    """The one thing that is wrong with a level."""
    with pytest.raises(LevelError) as caught:
        Level.from_dict(value)
    (problem,) = caught.value.problems
    return problem.message


@pytest.mark.parametrize(
    ("spawn", "most"),
    [
        ({}, 2),
        ({"cherry": {"quota": 3}}, 5),
        ({"cherry": {"quota": 3, "on_board": 0}}, 2),
        ({"swirl": {}, "cherry": {"quota": 3}}, 2),
        ({"swirl": {"every": 1}, "cherry": {"quota": 3}}, 5),
        ({"swirl": {"on_board": 1}, "cherry": {"quota": 3}}, 5),
    ],
)
def test_no_more_ingredients_may_be_asked_for_than_can_come(spawn: dict[str, Any], most: int) -> None:
    level = SUPPLY | {"spawn": spawn}
    Level.from_dict(level | {"goals": {"cherry": most}})
    found = refusal(level | {"goals": {"cherry": most + 1}})
    expected = f"asks for {most + 1}, but at most {most} can ever be there: 2 on the board and {most - 2} spawned"
    assert found == f"goals: cherry {expected}"


def test_without_a_quota_there_is_no_end_of_ingredients_unless_nothing_enters() -> None:
    level = SUPPLY | {"goals": {"hazelnut": 99}, "spawn": {"hazelnut": {"on_board": 1}}}
    Level.from_dict(level)
    assert "at most 0 can ever be there" in refusal(level | {"entries": []})


def test_swirl_orders_count_the_board_and_the_quota() -> None:
    level = SUPPLY | {"spawn": {"swirl": {"quota": 4}}}
    Level.from_dict(level | {"goals": {"orders": {"swirl": 5}}})
    assert "swirl asks for 6, but at most 5" in refusal(level | {"goals": {"orders": {"swirl": 6}}})


def test_orders_that_the_board_supplies_are_fine() -> None:
    board = ["[I2] [a] C", "{I1} [C] ?", "? ? ?"]
    Level.from_dict(SUPPLY | {"board": board, "goals": {"orders": {"lock": 3, "icing": 2, "chocolate": 500}}})
