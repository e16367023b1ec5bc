"""What a position promises: the second part of McAdams' heuristic H2, once as his text says it, once as his pseudocode.

Everything is counted in sixths of a piece, so that thirds and halves are whole numbers and ties are exact.
The paper draws a random direction for every candy that a colour bomb would turn striped; here each counts the
mean of the two. It knows no wrapped candies: here they take the part of striped ones whose lines are a square of
nine cells, and their combos are worth the cells they cover (a cross of three lines, a square of 25).
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from crush_gym import Level, State, layout
from crush_gym.runtime import (
    Board,
    Plane,
    Spec,
    any_of,
    coloured,
    count,
    first_cell,
    look,
    neighbours,
    occurs,
    same_colour,
    total,
    with_boards_axis,
)

SIXTHS = 6
"""Parts of a piece in which everything is counted."""

SQUARE, LARGE_SQUARE = 9, 25
"""Cells that a wrapped candy hits, and two of them together."""

SIDES = ((0, 1), (1, 0), (0, -1), (-1, 0))
AHEAD = SIDES[:2]


class Form(NamedTuple):
    """Special candies of one form.

    cells: where they are; area: cells that one clears, int32[B]
    turned: what each candy of its colour clears when it meets a colour bomb, in sixths; int32[B]
    """

    cells: Plane
    area: jax.Array
    turned: jax.Array


class Scene(NamedTuple):
    """A position, taken apart. height, width: of the level; of_colour: planes; numbers: of candies, by colour."""

    board: Board
    height: jax.Array
    width: jax.Array
    plain: Plane
    forms: tuple[Form, ...]
    bombs: Plane
    of_colour: tuple[Plane, ...]
    numbers: tuple[jax.Array, ...]


def structure(spec: Spec, state: State, level: Level, variant: str) -> jax.Array:
    """The structure of each board in sixths of a piece, int32[B]. variant: "text" or "pseudocode"."""
    scene = _scene(spec, state, with_boards_axis(level))
    return {"text": _by_piece, "pseudocode": _by_pair}[variant](scene)


def _scene(spec: Spec, state: State, level: Level) -> Scene:
    board = Board.of(spec, state.planes).awake()
    height, width = level.height.astype(jnp.int32), level.width.astype(jnp.int32)
    there = board.matchable
    of_colour = board.fence(tuple(coloured(board.colours, k) & there for k in range(1, spec.colours + 1)))
    both = SIXTHS // 2 * (height + width)
    forms = []
    if spec.has("striped"):
        forms += [Form(board.candy(layout.STRIPED_H) & there, width, both)]
        forms += [Form(board.candy(layout.STRIPED_V) & there, height, both)]
    if spec.has("wrapped"):
        nine = jnp.full_like(height, SQUARE)
        forms += [Form(board.candy(layout.WRAPPED) & there, nine, SIXTHS * nine)]
    bombs = board.other(layout.COLOUR_BOMB) & board.free_items if spec.has("colour bomb") else board.nothing
    numbers = board.fence(tuple(map(count, of_colour)))
    return Scene(board, height, width, board.plain & there, tuple(forms), bombs, of_colour, numbers)


def _pair_worth(scene: Scene, one: int, other: int) -> jax.Array:
    """What two special candies of these forms clear together, in sixths: a striped has form 0 or 1."""
    lines = SIXTHS * (scene.height + scene.width)
    wrapped = (one == 2) + (other == 2)
    return (lines, 3 * lines, jnp.full_like(lines, SIXTHS * LARGE_SQUARE))[wrapped]


def _by_piece(scene: Scene) -> jax.Array:
    """Every piece is worth what stands beside it promises it (the paper's text)."""
    board, plain = scene.board, scene.plain
    alike = board.fence({side: same_colour(board.colours, board.matchable, *side) for side in SIDES})
    value = SIXTHS * count(plain & any_of(alike.values()))
    for n, form in enumerate(scene.forms):
        fed = any_of(alike[side] & look(plain, *side) for side in SIDES)
        value += SIXTHS // 3 * form.area * count(form.cells & fed)
        for wrapped, others in _kinds(scene):
            value += _pair_worth(scene, n, 2 * wrapped) * count(form.cells & neighbours(others))
        for cells, number in zip(scene.of_colour, scene.numbers, strict=True):
            value += form.turned * (number - 1) * count(form.cells & cells & neighbours(scene.bombs))
    return value + _best_of_bombs(scene)


def _kinds(scene: Scene) -> list[tuple[bool, Plane]]:
    """Striped candies of both directions together, and wrapped ones: whether they are wrapped, and where."""
    striped, wrapped = scene.forms[:2], scene.forms[2:]
    return [(bool(forms is wrapped), any_of(f.cells for f in forms)) for forms in (striped, wrapped) if forms]


def _best_of_bombs(scene: Scene) -> jax.Array:
    """Every colour bomb is worth its best neighbour. Bombs are few: one of each board at a time."""

    def one(left: Plane) -> jax.Array:
        beside = scene.board.fence(neighbours(first_cell(left, scene.board.fence)[0]))
        return jnp.stack([jnp.where(occurs(beside & cells) != 0, worth, 0) for cells, worth in options]).max(0)

    def step(carry: tuple[Plane, jax.Array]) -> tuple[Plane, jax.Array]:
        left, value = carry
        return left & ~first_cell(left, scene.board.fence)[0], value + one(left)

    if not scene.board.spec.has("colour bomb"):
        return jnp.zeros_like(scene.numbers[0])
    options = [(scene.bombs, SIXTHS * scene.height * scene.width)]
    for cells, number in zip(scene.of_colour, scene.numbers, strict=True):
        special = total([SIXTHS * form.area * count(form.cells & cells) for form in scene.forms])
        options.append((scene.plain & cells, SIXTHS * count(scene.plain & cells) + special))
        options += [(form.cells & cells, form.turned * (number - 1)) for form in scene.forms]
    options = scene.board.fence([(cells, jnp.broadcast_to(w, scene.numbers[0].shape)) for cells, w in options])
    start = (scene.bombs, jnp.zeros_like(scene.numbers[0]))
    return lax.while_loop(lambda carry: jnp.any(carry[0] != 0), step, start)[1]


def _by_pair(scene: Scene) -> jax.Array:
    """Every pair of neighbours is worth what the right or lower one promises the other (the pseudocode)."""
    board, plain, bombs = scene.board, scene.plain, scene.bombs
    value = jnp.zeros_like(scene.numbers[0])
    for side in AHEAD:
        alike = board.fence(same_colour(board.colours, board.matchable, *side))
        value += SIXTHS * count(plain & alike)
        value += SIXTHS * scene.height * scene.width * count(bombs & look(bombs, *side))
        for n, form in enumerate(scene.forms):
            value += SIXTHS // 3 * form.area * count(form.cells & alike & look(plain, *side))
            for m, other in enumerate(scene.forms):
                value += _pair_worth(scene, n, m) * count(form.cells & look(other.cells, *side))
        for cells, number in zip(scene.of_colour, scene.numbers, strict=True):
            value += SIXTHS * (number - 1) * count(bombs & look(plain & cells, *side))
            for form in scene.forms:
                met = count(bombs & look(form.cells & cells, *side)) + count(form.cells & cells & look(bombs, *side))
                value += form.turned * (number - 1) * met
    return value
