"""The best few of many groups, against sorting each group by itself."""

from __future__ import annotations

import numpy as np
import pytest

from agents.search.topk import best_of


@pytest.mark.parametrize("ordered", [True, False])
def test_the_best_of_each_group_are_those_of_a_sorted_list(ordered: bool) -> None:
    """Many equal values, empty groups, groups with fewer members than asked for."""
    rng = np.random.default_rng(3)
    groups, most = 40, 4
    group = np.sort(rng.integers(0, groups - 1, 150))
    value, second = rng.integers(0, 4, 150).astype(float), rng.integers(0, 3, 150).astype(float)
    found = best_of(group, value, second if ordered else None, groups, most)
    for n in range(groups):
        members = np.flatnonzero(group == n).tolist()
        key = (lambda i: (-value[i], -second[i], -i)) if ordered else (lambda i: (-value[i], 0.0, i))
        expected = sorted(members, key=key)[:most]
        assert found[:, n].tolist() == expected + [-1] * (most - len(expected))


def test_without_any_values_nothing_is_found() -> None:
    none = np.zeros(0)
    assert (best_of(none.astype(int), none, none, 3, 2) == -1).all()
