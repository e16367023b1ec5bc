"""Figures that others measured on the same games: papers and other people's simulators."""

from __future__ import annotations

from functools import cache

import jax
import numpy as np
import pytest

from crush_gym import Game, Level, LevelPack

LANES = 512
"""Boards for each figure."""

Counts = np.ma.MaskedArray

LEGAL_MOVES = {(5, 5): 3.28, (6, 6): 4.99, (7, 7): 7.72, (8, 8): 10.59, (9, 9): 14.31, (10, 10): 18.96, (10, 5): 7.284}
"""McAdams: mean number of legal moves of the Points game along random play, by height and width."""


def plain_level(height: int, width: int, colours: int, moves: int) -> Level:
    board = [" ".join("?" * width)] * height
    name = f"{height}x{width}, {colours} colours"
    return Level.from_dict({"name": name, "colours": colours, "moves": moves, "board": board})


def random_play(pack: LevelPack, rules: str, moves: int) -> tuple[Counts, Counts]:
    """Uniformly random legal moves: legal moves before each, cells cleared by each; both [levels, LANES, moves].

    What an attempt that was lost for want of moves cannot make any more is masked.
    """
    game = Game(pack, rules=rules)
    level = pack.stack(np.repeat(np.arange(len(pack)), LANES))
    keys = jax.random.split(jax.random.key(11), LANES * len(pack))
    state = game.reset(keys, level)
    legal, cleared = [], []
    for m in range(moves):
        move_keys = jax.vmap(lambda key, m=m: jax.random.fold_in(key, m))(keys)
        legal.append(np.asarray(game.legal(state, level)).sum(axis=0))
        state, turn = game.step(move_keys, state, game.random_action(move_keys, state), level)
        assert (np.asarray(turn.illegal) == (legal[-1] == 0)).all()
        cleared.append(np.asarray(turn.cleared))
    shape = (len(pack), LANES, moves)
    over = (np.stack(legal, -1) == 0).reshape(shape)
    return tuple(np.ma.array(np.stack(counts, -1).reshape(shape), mask=over) for counts in (legal, cleared))


@cache
def without_specials() -> Counts:
    """Cells cleared by each of 50 moves, on 9x9 with 6 colours and on 8x8 with 4."""
    pack = LevelPack([plain_level(9, 9, 6, 50), plain_level(8, 8, 4, 50)])
    return random_play(pack, "combo", 50)[1]


@cache
def legal_moves() -> dict[tuple[int, int], float]:
    """Mean number of legal moves of the Points game along 20 random moves, by shape."""
    pack = LevelPack([plain_level(height, width, 6, 20) for height, width in LEGAL_MOVES])
    means = random_play(pack, "points", 20)[0].mean(axis=(1, 2))
    return dict(zip(LEGAL_MOVES, means.tolist(), strict=True))


@pytest.mark.slow
def test_cells_cleared_by_a_random_move_on_9x9_with_6_colours() -> None:
    assert 4.9 <= without_specials()[0].mean() <= 5.2


def test_cells_cleared_by_50_random_moves_on_8x8_with_4_colours() -> None:
    """About 520, in two simulators that resolve all runs at once."""
    assert 50 * without_specials()[1].mean() == pytest.approx(520, rel=0.05)


@pytest.mark.parametrize("shape", LEGAL_MOVES, ids=str)
def test_legal_moves_of_the_points_game_along_random_play(shape: tuple[int, int]) -> None:
    assert legal_moves()[shape] == pytest.approx(LEGAL_MOVES[shape], rel=0.06)
