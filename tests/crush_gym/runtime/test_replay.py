"""Turns step by step with a number for every item: the numbers follow the items, and nothing else changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import jax
import numpy as np
import pytest

from crush_gym import Game, Level, Motion, State, load_pack

Cells = dict[int, tuple[int, int]]

HOLES = {
    "name": "holes", "colours": 4, "moves": 40,
    "board": ["? ? ? ? ?", "? ? # ? ?", "? ? ? # ?", "? ? ? ? ?", "? ? ? ? ?"],
    "portals": [[[1, 3], [3, 3]]],
}  # fmt: skip
COMBO = {
    "name": "combo", "colours": 4, "moves": 40,
    "board": ["b c b c b", "c * a- b c", "b c b a c", "a b c b a", "c a b c b"],
}  # fmt: skip


@pytest.fixture(scope="module")
def game() -> Game:
    return Game([Level.from_dict(HOLES), Level.from_dict(COMBO)])


@pytest.fixture(scope="module")
def turns(game: Game) -> list[tuple[list[State], list[Motion]]]:
    """Some turns of one attempt, each beat by beat and step by step."""
    return list(played(game, Level.from_dict(HOLES), 8))


def played(game: Game, level: Level, turns: int) -> Iterator[tuple[list[State], list[Motion]]]:
    """Turns of the random player; the numbers of each go on from the one before."""
    key = jax.random.key(0)
    start: State | Motion = game.reset(key, level)
    for move in range(turns):
        state = start.state if isinstance(start, Motion) else start
        move_key = jax.random.fold_in(key, move)
        action = int(game.random_action(move_key, state))
        if action < 0:
            return
        motions = game.motions(move_key, start, action, level)
        yield game.replay(move_key, state, action, level), motions
        start = motions[-1]


def cells_of(motion: Motion) -> Cells:
    """Where the item of each number lies; a number that is there twice is an error."""
    found = [(int(motion.numbers[r, c]), (int(r), int(c))) for r, c in np.argwhere(motion.numbers)]
    assert len(dict(found)) == len(found)
    return dict(found)


def items_of(game: Game, level: Level, motion: Motion) -> dict[tuple[int, int], str]:
    """The item of each cell that holds one, as its token's first sign: a colour's letter or another item's."""
    rows = [row.split() for row in game.text(motion.state, level)]
    plain = {(r, c): token.strip("[]{}'") for r, row in enumerate(rows) for c, token in enumerate(row)}
    return {cell: token[0] for cell, token in plain.items() if token[0] not in "_#IC"}


def assert_followed(game: Game, level: Level, turns: Sequence[tuple[list[State], list[Motion]]]) -> None:
    """What numbers promise, all that is said of them in `Game.motions` and `Motion`."""
    portals = {((int(r), int(c)), (int(to_r), int(to_c))) for r, c, to_r, to_c in level.portals if r >= 0}
    before = turns[0][1][0]
    assert before.numbers[before.numbers > 0].tolist() == list(range(1, before.given + 1))
    for _, motions in turns:
        for one, other in pairwise(motions):
            was, now = cells_of(one), cells_of(other)
            items, new = (items_of(game, level, motion) for motion in (one, other))
            assert set(now.values()) == set(new)
            assert sorted(now.keys() - was.keys()) == list(range(one.given + 1, other.given + 1))
            for number in was.keys() & now.keys():
                assert items[was[number]] == new[now[number]]
                if one is not motions[0]:
                    assert is_a_step(was[number], now[number], portals)


def is_a_step(one: tuple[int, int], other: tuple[int, int], portals: set[Any]) -> bool:
    down, aside = other[0] - one[0], other[1] - one[1]
    return (down, aside) in ((0, 0), (1, 0), (1, -1), (1, 1)) or (one, other) in portals


def assert_same_boards(frames: Sequence[State], motions: Sequence[Motion]) -> int:
    """Every position of the replay comes in its place; the number of those that stand between two."""
    left = [np.asarray(motion.state.planes).tobytes() for motion in motions[1:]]
    between = 0
    for frame in frames:
        while left.pop(0) != np.asarray(frame.planes).tobytes():
            between += 1
    assert not left
    for x, y in zip(jax.tree.leaves(frames[-1]), jax.tree.leaves(motions[-1].state), strict=True):
        assert np.array_equal(x, y) and x.dtype == y.dtype
    return between


def test_numbers_follow_items_by_falls_slides_and_portals(
    game: Game, turns: list[tuple[list[State], list[Motion]]]
) -> None:
    level = Level.from_dict(HOLES)
    assert_followed(game, level, turns)
    steps = [(one, other) for _, motions in turns for one, other in pairwise(motions[1:])]
    ways = {
        (cells_of(other)[n][0] - cell[0], cells_of(other)[n][1] - cell[1])
        for one, other in steps for n, cell in cells_of(one).items() if n in cells_of(other)
    }  # fmt: skip
    assert {(0, 0), (1, 0), (2, 0)} <= ways and ways & {(1, 1), (1, -1)}  # two rows: the portal


def test_the_boards_are_those_of_the_replay_with_steps_between(
    turns: list[tuple[list[State], list[Motion]]],
) -> None:
    assert sum(assert_same_boards(frames, motions) for frames, motions in turns) > 0


def test_the_swap_changes_two_items_and_an_illegal_one_nothing(
    game: Game, turns: list[tuple[list[State], list[Motion]]]
) -> None:
    for _, motions in turns:
        before, swapped = (cells_of(motion) for motion in motions[:2])
        moved = [n for n in before if swapped.get(n) != before[n]]
        assert len(moved) == 2
        assert {before[n] for n in moved} >= {swapped[n] for n in moved if n in swapped}
    state = turns[0][1][0].state
    illegal = int(np.argmin(game.legal(state)))
    motions = game.motions(jax.random.key(3), state, illegal, Level.from_dict(HOLES))
    assert len(motions) == 2 and np.array_equal(motions[0].numbers, motions[1].numbers)


def test_candies_that_a_combo_turns_special_keep_their_numbers(game: Game) -> None:
    level = Level.from_dict(COMBO)
    state = game.reset(jax.random.key(0), level)
    before, swapped = game.motions(jax.random.key(1), state, 5, level)[:2]  # the colour bomb with the striped candy
    tokens = [[row.split() for row in game.text(motion.state, level)] for motion in (before, swapped)]
    turned = [(r, c) for r in range(5) for c in range(5) if tokens[0][r][c] == "a"]
    assert turned and all(tokens[1][r][c] in ("a-", "a|") for r, c in turned)
    assert all(before.numbers[cell] == swapped.numbers[cell] > 0 for cell in turned)
    assert swapped.numbers[1, 1] == swapped.numbers[1, 2] == 0


def test_candies_that_a_shuffle_moves_get_new_numbers() -> None:
    game = Game(rules="combo", shape=(3, 3), colours=5, moves=12)
    assert game.level is not None
    turns = list(played(game, game.level, 12))
    assert_followed(game, game.level, turns)
    shuffled = 0
    for frames, motions in turns:
        assert_same_boards(frames, motions)
        if frames[-1].books.shuffles > frames[0].books.shuffles:
            shuffled += 1
            assert motions[-1].numbers.min() > motions[-2].given
    assert shuffled > 0


@pytest.mark.slow
@pytest.mark.parametrize(("pack", "name"), [("basics", "everything"), ("tour", "Grand Finale")])
def test_numbers_follow_items_in_rich_levels(pack: str, name: str) -> None:
    level = load_pack(pack)[name]
    game = Game(level)
    turns = list(played(game, level, 10))
    assert_followed(game, level, turns)
    for frames, motions in turns:
        assert_same_boards(frames, motions)
