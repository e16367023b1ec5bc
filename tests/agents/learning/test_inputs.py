"""What networks see: where gains stand, and boards as their mirror images and in other colours."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from agents.learning.inputs import (
    GAINS,
    UNITS,
    Inputs,
    Symmetry,
    View,
    any_symmetry,
    inputs_of,
    mirrored_actions,
    seen_actions,
    seen_through,
)
from crush_gym import Game, Level
from crush_gym.swaps import swaps_of

BOARD = ["a b a b c", "b a a b d", "c d b a a", "d c a c d"]


def game_of(rows: list[str]) -> Game:
    return Game(Level.from_dict({"name": "x", "colours": 4, "moves": 9, "goals": {"score": 900}, "board": rows}))


@pytest.fixture(scope="module")
def game() -> Game:
    return game_of(BOARD)


def view_of(game: Game, rows: list[str], inputs: Inputs) -> View:
    level = game_of(rows).level
    state = game.reset(jax.random.split(jax.random.key(0), 1), level)
    return jax.jit(lambda s: inputs.view(game.spec, game.channels, s, level))(state)


def test_gains_stand_at_the_first_cell_of_their_pair(game: Game) -> None:
    inputs = inputs_of(game)
    view = view_of(game, BOARD, inputs)
    cells = np.asarray(inputs.cells(view))[0]
    state = game.reset(jax.random.split(jax.random.key(0), 1))
    brings = game.preview(state)
    assert int(np.asarray(brings.legal).sum()) > 0
    swaps = swaps_of(np.arange(game.actions), game.shape)
    expected = np.zeros_like(cells)
    for action in range(game.actions):
        way = "down" if swaps.down[action] else "across"
        for gain in GAINS:
            value = brings.goals[:, action].sum() if gain == "goals" else getattr(brings, gain)[action, 0]
            place = inputs.names.index(f"{way} {gain}")
            expected[swaps.rows[action], swaps.columns[action], place] = np.float32(value) / UNITS[gain]
    first = len(inputs.channels)
    np.testing.assert_allclose(cells[..., first:], expected[..., first:], rtol=2e-3)
    planes = np.asarray(game.observe(state))[..., 0]
    np.testing.assert_allclose(cells[..., :first], planes.transpose(1, 2, 0) / 255.0)


def test_a_mirrored_view_is_the_view_of_the_mirrored_board(game: Game) -> None:
    inputs = inputs_of(game)
    turned = [" ".join(reversed(row.split())) for row in BOARD]
    colours = jnp.arange(4)[None]
    seen = seen_through(Symmetry(jnp.array([True]), colours), inputs, view_of(game, BOARD, inputs))
    for mine, real in zip(seen, view_of(game, turned, inputs), strict=True):
        assert np.array_equal(mine, real)


def test_a_recoloured_view_is_the_view_of_the_recoloured_board(game: Game) -> None:
    inputs = inputs_of(game)
    order = [2, 0, 3, 1]  # plane n of the view shows what was colour order[n]
    letters = {"abcd"[old]: "abcd"[new] for new, old in enumerate(order)}
    other = ["".join(letters.get(c, c) for c in row) for row in BOARD]
    seen = seen_through(Symmetry(jnp.array([False]), jnp.array([order])), inputs, view_of(game, BOARD, inputs))
    for mine, real in zip(seen, view_of(game, other, inputs), strict=True):
        assert np.array_equal(mine, real)


def test_actions_seen_in_a_mirror_are_found_again() -> None:
    table = mirrored_actions(3, 4)
    assert np.array_equal(table[table], np.arange(len(table)))
    symmetry = Symmetry(jnp.array([True, False]), jnp.zeros((2, 1), int))
    legal = jax.random.bernoulli(jax.random.key(0), 0.5, (2, len(table)))
    seen = seen_actions(symmetry, (3, 4), legal)
    assert np.array_equal(seen_actions(symmetry, (3, 4), seen), legal)
    assert np.array_equal(seen[1], legal[1]) and not np.array_equal(seen[0], legal[0])


def test_colours_that_cannot_all_be_ordered_are_not_mixed() -> None:
    colours = tuple(f"colour {c}" for c in "abc")
    for orders, mixes in (((), True), (("order a",), False), (("order a", "order b", "order c"), True)):
        found = any_symmetry(jax.random.key(0), Inputs((*colours, *orders), False), 64, True, True)
        assert (np.asarray(found.colours) != np.arange(3)).any() == mixes


def test_planes_that_a_game_lacks_are_empty(game: Game) -> None:
    inputs = Inputs((*game.channels, "chocolate"), preview=False)
    cells = np.asarray(inputs.cells(view_of(game, BOARD, inputs)))
    assert not cells[..., -1].any() and cells.shape[-1] == len(inputs.names)
    assert Inputs(game.channels[1:]).unseen(game) == game.channels[:1]
