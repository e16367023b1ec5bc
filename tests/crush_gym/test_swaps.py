"""Actions as swaps, and their numbers on boards of other sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from crush_gym.swaps import (
    Swap,
    Swaps,
    action_of,
    actions_of,
    conversion,
    converted,
    number_of_actions,
    swap_between,
    swap_of,
    swaps_of,
)

SHAPES = [(2, 2), (3, 5), (7, 4), (9, 9), (16, 16)]
SMALL, WIDE = (3, 4), (5, 6)


def listed(shape: tuple[int, int]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """The pairs of cells in the order of rulebook 3, one after the other."""
    height, width = shape
    across = [((r, c), (r, c + 1)) for r in range(height) for c in range(width - 1)]
    return across + [((r, c), (r + 1, c)) for r in range(height - 1) for c in range(width)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_swaps_and_actions_are_each_others_inverse_and_numbered_as_the_rules_say(shape: tuple[int, int]) -> None:
    pairs = listed(shape)
    assert number_of_actions(shape) == len(pairs)
    swaps = [swap_of(action, shape) for action in range(len(pairs))]
    assert [swap.cells for swap in swaps] == pairs
    assert [action_of(swap, shape) for swap in swaps] == list(range(len(pairs)))
    assert [action_of(swap_between(other, one), shape) for one, other in pairs] == list(range(len(pairs)))
    many = swaps_of(np.arange(len(pairs)), shape)
    assert [tuple(row) for row in zip(many.rows, many.columns, many.down, strict=True)] == [
        (row, column, direction == "down") for row, column, direction in swaps
    ]
    assert actions_of(many, shape).tolist() == list(range(len(pairs)))


def test_a_swap_keeps_its_cells_on_a_board_of_another_size() -> None:
    small, wide = listed(SMALL), listed(WIDE)
    for action, pair in enumerate(small):
        assert wide[converted(action, SMALL, WIDE)] == pair
        assert converted(wide.index(pair), WIDE, SMALL) == action
    assert [wide[n] for n in conversion(SMALL, WIDE)] == small
    back = conversion(WIDE, SMALL)
    assert [small[n] if n >= 0 else None for n in back] == [pair if pair in small else None for pair in wide]


def test_many_are_converted_at_once_and_no_action_stays_none() -> None:
    actions = np.array([[0, -1, 5], [16, 3, -1]])
    expected = [[-1 if n < 0 else listed(WIDE).index(listed(SMALL)[n]) for n in row] for row in actions.tolist()]
    for given in (actions, jnp.asarray(actions)):
        found = converted(given, SMALL, WIDE)
        assert found.tolist() == expected and found.dtype == np.int32
    assert converted(-1, SMALL, WIDE) == -1
    assert converted([], SMALL, WIDE).shape == (0,)


def test_a_swap_is_told_in_words() -> None:
    assert str(Swap(1, 2, "across")) == "row 1 column 2 with row 1 column 3"
    assert str(Swap(1, 2, "down")) == "row 1 column 2 with row 2 column 2"


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "too large": (lambda: swap_of(17, SMALL), "no action 17 on a board of 3 rows and 4 columns: .* 0 to 16$"),
    "negative": (lambda: swap_of(-1, SMALL), "no action -1 on"),
    "one of many": (lambda: swaps_of([0, 40, 17], SMALL), "no action 40 on"),
    "no number": (lambda: swap_of("a", SMALL), "must be whole numbers"),  # type: ignore[arg-type]
    "not whole": (lambda: converted(np.array([1.5]), SMALL, WIDE), "must be whole numbers, not float64"),
    "over the right edge": (lambda: action_of(Swap(0, 3, "across"), SMALL), "column 4 is not on a board of 3 rows"),
    "over the lower edge": (lambda: action_of(Swap(2, 0, "down"), SMALL), "row 3 column 0 is not on"),
    "off the board": (lambda: action_of(Swap(-1, 0, "down"), SMALL), "the swap of row -1 column 0"),
    "no direction": (lambda: action_of(Swap(0, 0, "left"), SMALL), "must be 'across' or 'down', not 'left'"),
    "some off the board": (
        lambda: actions_of(Swaps(np.array([0, 2]), np.array([0, 1]), np.array([True, True])), SMALL),
        "the swap of row 2 column 1 with row 3 column 1",
    ),
    "not on the smaller board": (lambda: converted([0, 4], WIDE, SMALL), "the swap of row 0 column 4 .* is not on"),
    "no neighbours": (lambda: swap_between((0, 0), (1, 1)), "only such cells can be swapped"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_swap_is_refused_in_a_sentence(name: str) -> None:
    call, message = WRONG[name]
    with pytest.raises((ValueError, TypeError), match=message) as error:
        call()
    assert "\n" not in str(error.value)
