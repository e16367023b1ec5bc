"""What holds on every board, whatever is played; boards are drawn by Hypothesis, 256 at a time."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crush_gym import Level, LevelPack, State
from tests.differential import Arena, rows_of, tokens
from tests.random_levels import KINDS, Dice
from tests.reference import ReferenceGame
from tests.reference.board import Board, Cell, board_from_text
from tests.reference.runs import find_runs

BOARDS = 256
SEEDS = st.integers(0, 2**31 - 1)
FEW = settings(max_examples=4, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))

Rows = list[list[str]]

pytestmark = pytest.mark.runs_long


@cache
def arena(name: str) -> Arena:
    """The same games as in test_differential."""
    return Arena(next(kind for kind in KINDS if kind.name == name))


class Attempts:
    """A batch of attempts at different levels, at random moves."""

    def __init__(self, name: str, seed: int) -> None:
        self.arena = arena(name)
        self.game = self.arena.game
        self.contents, self.level = self.arena.levels(Dice(seed), BOARDS)
        self.slow = [ReferenceGame(content) for content in self.contents]
        self.keys = jax.random.split(jax.random.key(seed), BOARDS)
        self.state: State = self.game.reset(self.keys, self.level)
        self.waves = np.asarray(self.state.books.waves)  # the most of any turn so far
        self.made = 0

    def boards(self) -> list[Rows]:
        return rows_of(tokens(self.game.spec, self.state.planes, self.level), self.level)

    def books(self) -> dict[str, Any]:
        return {name: np.asarray(value) for name, value in self.state.books._asdict().items()}

    def legal(self) -> np.ndarray:
        return np.asarray(self.game.legal(self.state, self.level))

    def move(self) -> None:
        """One random legal move everywhere."""
        keys = self.arena._fold(self.keys, np.full(BOARDS, self.made))
        mask, dice = self.legal(), np.random.default_rng(self.made)
        actions = (dice.random(mask.shape) * mask).argmax(axis=0).astype(np.int32)
        self.state, turn = self.game.step(keys, self.state, actions, self.level)
        self.waves = np.maximum(self.waves, np.asarray(turn.waves))
        self.made += 1


def cells_of(rows: Rows) -> Board:
    return board_from_text([" ".join(row) for row in rows])


def settled(attempts: Attempts, i: int) -> bool:
    """Whether nothing stopped a turn halfway: no portals that lead round, fewer than 100 waves."""
    return attempts.waves[i] < 100 and not attempts.slow[i].level.portals


@pytest.mark.slow
@FEW
@given(SEEDS)
def test_nothing_floats_above_a_hole(seed: int) -> None:
    attempts = Attempts("everything", seed)
    for _ in range(3):
        for i, rows in enumerate(attempts.boards()):
            if settled(attempts, i):
                assert not floating(attempts.slow[i], cells_of(rows)), (attempts.contents[i], rows)
        attempts.move()


def floating(game: ReferenceGame, board: Board) -> list[Cell]:
    """Empty cells that something could still fall, slide or spawn into."""
    level = game.level
    holes = [cell for cell in level.cells if board.is_empty(cell)]
    return [
        (r, c)
        for r, c in holes
        if any(board.can_fall_from((r - 1, side)) for side in (c - 1, c, c + 1))
        or (level.spawn_candies and (r, c) in level.entries)
    ]


@FEW
@given(SEEDS)
def test_a_quiet_board_has_no_run(seed: int) -> None:
    attempts = Attempts("everything", seed)
    for _ in range(3):
        for i, rows in enumerate(attempts.boards()):
            if attempts.waves[i] < 100:
                assert not find_runs(attempts.slow[i].level, cells_of(rows)), (attempts.contents[i], rows)
                assert not any("F" in token for row in rows for token in row)
        attempts.move()


@FEW
@given(SEEDS)
def test_a_board_without_blockers_is_always_full(seed: int) -> None:
    attempts = Attempts("plain", seed)
    for _ in range(4):
        assert not any(token == "_" for rows in attempts.boards() for row in rows for token in row)
        attempts.move()


def census(rows: Rows) -> Counter[str]:
    """How many there are of everything that no candy can turn into."""
    found: Counter[str] = Counter()
    for token in (token for row in rows for token in row):
        item = token.strip("[]{}'")
        found["jelly"] += token.count("'")
        found["lock"] += "[" in token
        found["marmalade"] += "{" in token
        found["icing"] += int(item[1:]) if item[0] == "I" else 0
        found["void"] += item == "#"
        for name, mark in (("cherry", "o"), ("hazelnut", "n"), ("swirl", "~"), ("chocolate", "C")):
            found[name] += item == mark
    return found


@pytest.mark.slow
@FEW
@given(SEEDS)
def test_items_are_conserved_or_explained(seed: int) -> None:
    attempts = Attempts("everything", seed)
    for _ in range(3):
        before, books = [census(rows) for rows in attempts.boards()], attempts.books()
        attempts.move()
        for i, rows in enumerate(attempts.boards()):
            born = _born(attempts, books, i)
            _check_census(before[i], census(rows), born, attempts.contents[i])
            for kind in ("cherry", "hazelnut"):
                left = before[i][kind] + born[kind] - census(rows)[kind]
                asked = books[kind][i]
                assert attempts.books()[kind][i] == max(asked - left, 0)
                assert left == 0 or attempts.contents[i].get("exits")


def _born(attempts: Attempts, books: dict[str, Any], i: int) -> Counter[str]:
    """What the entries spawned in the last move, by listed kind."""
    now = attempts.books()["spawned"]
    kinds = attempts.contents[i].get("spawn", {})
    return Counter({kind: int(now[n, i] - books["spawned"][n, i]) for n, kind in enumerate(kinds)})


def _check_census(before: Counter[str], after: Counter[str], born: Counter[str], content: dict[str, Any]) -> None:
    assert after["void"] == before["void"], content
    for name in ("jelly", "lock", "marmalade", "icing"):
        assert after[name] <= before[name], (name, content)
    for name in ("cherry", "hazelnut", "swirl"):
        assert after[name] <= before[name] + born[name], (name, content)
    assert after["chocolate"] <= before["chocolate"] + (before["chocolate"] > 0), content


@FEW
@given(SEEDS)
def test_a_swap_is_legal_where_the_reference_says_so(seed: int) -> None:
    attempts = Attempts("everything", seed)
    attempts.move()
    mask, playing = attempts.legal(), attempts.books()["outcome"] == 0
    for i, rows in enumerate(attempts.boards()):
        slow = attempts.slow[i]
        expected = sum(slow.legal(slow.state_from_text([" ".join(row) for row in rows]))) if playing[i] else 0
        assert mask[:, i].sum() == expected, (attempts.contents[i], rows)


@FEW
@given(SEEDS)
def test_an_illegal_action_changes_nothing(seed: int) -> None:
    attempts = Attempts("everything", seed)
    attempts.move()
    illegal = ~attempts.legal()
    dice = np.random.default_rng(seed)
    actions = (dice.random(illegal.shape) * illegal).argmax(axis=0)
    actions[::16], actions[1::16] = -1, attempts.game.actions
    after, turn = attempts.game.step(attempts.keys, attempts.state, actions.astype(np.int32), attempts.level)
    for x, y in zip(jax.tree.leaves(attempts.state), jax.tree.leaves(after), strict=True):
        assert np.asarray(x).tobytes() == np.asarray(y).tobytes()
    assert np.asarray(turn.illegal).all()
    assert not any(np.asarray(getattr(turn, name)).any() for name in ("score", "waves", "cleared", "reshuffled"))


@FEW
@given(SEEDS)
def test_a_settled_board_survives_text_and_a_new_start(seed: int) -> None:
    attempts = Attempts("everything", seed)
    attempts.move()
    playing = attempts.books()["outcome"] == 0
    boards = attempts.boards()
    lanes = [i for i in range(BOARDS) if playing[i] and settled(attempts, i)]
    assert len(lanes) > BOARDS // 5
    lanes = (lanes * BOARDS)[:BOARDS]
    contents = [_as_it_stands(attempts.contents[i], boards[i]) for i in lanes]
    level = LevelPack(Level.from_dict(content | {"name": str(n)}) for n, content in enumerate(contents)).stack(
        range(BOARDS)
    )
    state = attempts.game.reset(attempts.keys, level)
    again = rows_of(tokens(attempts.game.spec, state.planes, level), level)
    assert again == [boards[i] for i in lanes]


def _as_it_stands(content: dict[str, Any], rows: Rows) -> dict[str, Any]:
    """The level with this board at its start, and nothing to spawn but candies."""
    return content | {"board": [" ".join(row) for row in rows], "spawn": {}, "goals": {}}


@FEW
@given(SEEDS)
def test_filling_leaves_explicit_cells_alone_and_keeps_what_is_on_a_random_one(seed: int) -> None:
    games = arena("everything")
    contents, level = games.levels(Dice(seed), BOARDS)
    filled = games.filled(jax.random.split(jax.random.key(seed), BOARDS), level)
    for content, rows in zip(contents, rows_of(filled, level), strict=True):
        letters = "abcdefg"[: content["colours"]]
        for line, row in zip(content["board"], rows, strict=True):
            for asked, token in zip(line.split(), row, strict=True):
                possible = {asked.replace("?", letter) for letter in letters}
                assert token in possible, (content, rows)


@FEW
@given(SEEDS)
def test_a_random_board_has_no_run_and_a_legal_move(seed: int) -> None:
    games, dice = arena("plain"), Dice(seed)
    contents = [_random_board(dice, 2 + n % 6) | {"name": str(n)} for n in range(BOARDS)]
    level = LevelPack(map(Level.from_dict, contents)).stack(range(BOARDS))
    filled = games.filled(jax.random.split(jax.random.key(seed), BOARDS), level)
    for content, rows in zip(contents, rows_of(filled, level), strict=True):
        slow = ReferenceGame(content)
        assert not find_runs(slow.level, cells_of(rows)), (content, rows)
        assert any(slow.legal(slow.state_from_text([" ".join(row) for row in rows]))), (content, rows)


def _random_board(dice: Dice, colours: int) -> dict[str, Any]:
    width = dice.randint(5, 9)
    return {"colours": colours, "moves": 9, "board": [" ".join("?" * width)] * dice.randint(5, 9)}
