"""Tasks are put into few compiled games, each of which plays all of its tasks."""

from __future__ import annotations

import itertools
import time

import pytest

from crush_gym.engine.plan import plan
from experiments.results.assignment import Task, tasks_of
from experiments.running.grouping import COMPILING, Group, _cost, _traits, grouped


@pytest.fixture(scope="module")
def ladder() -> tuple[Task, ...]:
    return tasks_of("ladder")


def test_the_ladder_takes_at_most_eight_games_and_little_time(ladder: tuple[Task, ...]) -> None:
    started = time.process_time()
    groups = grouped(ladder, attempts=10**9)
    assert time.process_time() - started < 10  # of this process; 0.8 s on an idle machine
    assert len(groups) == 8
    assert {task.identity for group in groups for task in group.tasks} == {task.identity for task in ladder}
    for group in groups:
        game = group.game()
        assert all(game.accepts(task.level) for task in group.tasks)


def test_groups_cost_less_than_one_game_for_all_and_than_neighbours_together(ladder: tuple[Task, ...]) -> None:
    def work(groups: list[Group]) -> float:
        return sum(float(_cost(_cost_traits(group))) * len(group.tasks) for group in groups)

    runs = [Group(ladder[i : i + 125]) for i in range(0, 1000, 125)]
    assert work(list(grouped(ladder, attempts=10**9))) < work(runs) < work([Group(ladder)])


def test_cheap_attempts_share_one_game_and_dear_ones_do_not(ladder: tuple[Task, ...]) -> None:
    few = ladder[::100]
    assert len(grouped(few, attempts=1, quick=True)) == 1
    assert len(grouped(few, attempts=10**9, quick=True)) == 8
    assert len(grouped(few, attempts=10**9, most=1)) == 1
    assert len(grouped(ladder, attempts=100, quick=True)) < len(grouped(ladder, attempts=100, quick=False))


def test_rule_sets_are_never_mixed() -> None:
    groups = grouped(tasks_of(["combo:5x5", "points:5x5", "combo:6x6"]))
    assert [[task.name for task in group.tasks] for group in groups] == [["combo 5x5", "combo 6x6"], ["points 5x5"]]
    with pytest.raises(ValueError, match="at least one compiled game, not 0"):
        grouped(tasks_of("combo"), 0)


@pytest.mark.parametrize("attempts", [1, 10_000, 300_000, 10**8])
def test_groups_are_those_of_a_plain_rewrite(ladder: tuple[Task, ...], attempts: int) -> None:
    few = ladder[::83]
    expected = plainly([[task] for task in few], attempts, most=5)
    assert {frozenset(group.tasks) for group in grouped(few, 5, attempts)} == {frozenset(tasks) for tasks in expected}


def plainly(groups: list[list[Task]], attempts: int, most: int) -> list[list[Task]]:
    """Merge the best pair as long as it pays, or there are too many; every pair looked at anew each time."""

    def work(tasks: list[Task]) -> float:
        return float(_cost(_cost_traits(Group(tuple(tasks))))) * (len(tasks) * attempts + COMPILING[True])

    def loss(pair: tuple[int, int]) -> float:
        a, b = (groups[n] for n in pair)
        return work(a + b) - work(a) - work(b)

    while len(groups) > 1:
        best = min(itertools.combinations(range(len(groups)), 2), key=loss)
        if len(groups) <= most and loss(best) > 0:
            break
        a, b = best
        groups = [group for n, group in enumerate(groups) if n not in best] + [groups[a] + groups[b]]
    return groups


def _cost_traits(group: Group):  # type: ignore[no-untyped-def]
    import numpy as np

    first = group.tasks[0]
    return np.array(_traits(plan([task.level for task in group.tasks], first.rules, first.adjacency)))
