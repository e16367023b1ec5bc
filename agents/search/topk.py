"""The best few of many groups at once, where ties are broken by a second value and by order."""

from __future__ import annotations

import numpy as np

from agents.search.positions import Array


def best_of(group: Array, value: Array, second: Array | None, groups: int, most: int) -> Array:
    """Positions of each group's greatest values, from the greatest on; int[most, groups], -1 where there are no more.

    group: of each value, ascending, int[n]; second: of equal values the one with the greatest of these comes first,
    and of equal ones the later; without it, of equal values the earlier.
    """
    numbers = np.bincount(group, minlength=groups)
    first = np.cumsum(numbers) - numbers
    place = np.arange(len(group)) - first[group]
    table = np.full((groups, max(numbers.max(initial=0), 1)), -np.inf)
    table[group, place] = value
    other = np.zeros_like(table)
    if second is not None:
        other[group, place] = second
    everywhere, found = np.arange(groups), np.full((most, groups), -1)
    for row in found[: table.shape[1]]:
        equal = table == table.max(1, keepdims=True)
        if second is None:
            chosen = equal.argmax(1)
        else:
            greatest = np.where(equal, other, -np.inf)
            equal = greatest == greatest.max(1, keepdims=True)
            chosen = table.shape[1] - 1 - equal[:, ::-1].argmax(1)
        there = table[everywhere, chosen] > -np.inf
        row[there] = (first + chosen)[there]
        table[everywhere, chosen] = -np.inf
    return found
