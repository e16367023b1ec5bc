"""What lies on a board, by the names that people use: those of the planes of `Game.observe`."""

from __future__ import annotations

import functools

import jax

from crush_gym import layout
from crush_gym.engine.bits import Plane, any_of, count, unpack
from crush_gym.engine.board import Board, coloured
from crush_gym.engine.spec import Spec
from crush_gym.levels.values import did_you_mean

COLOURS = {f"colour {letter}": code for code, letter in enumerate(layout.COLOUR_LETTERS, start=1)}
"""Candies of a colour, of any form."""

FORMS = {"striped-h": layout.STRIPED_H, "striped-v": layout.STRIPED_V, "wrapped": layout.WRAPPED}
"""Candies of a form, of any colour."""

OTHERS = {
    "colour bomb": layout.COLOUR_BOMB, "swirl": layout.SWIRL, "cherry": layout.CHERRY, "hazelnut": layout.HAZELNUT,
}  # fmt: skip
"""Items without a colour."""

LAYERS = {
    "plus5": ("plus5",), "drop": ("drop",), "counter": layout.TIMER, "lock": ("lock",), "marmalade": ("marmalade",),
    "icing": layout.ICING, "chocolate": ("chocolate",), "jelly1": ("jelly1",), "jelly2": ("jelly2",),
}  # fmt: skip
"""What has planes of its own: set in any of these, there is some of it."""

NAMES = (*COLOURS, *FORMS, *OTHERS, *LAYERS)


def plane_named(board: Board, name: str) -> Plane:
    """The cells that hold what has this name; none where the game cannot have it."""
    if name in COLOURS:
        return coloured(board.colours, COLOURS[name])
    if name in FORMS:
        return board.candy(FORMS[name])
    return board.other(OTHERS[name]) if name in OTHERS else board.union(LAYERS[name])


@functools.partial(jax.jit, static_argnums=(0, 1))
def cells(spec: Spec, names: tuple[str, ...], planes: Plane) -> jax.Array:
    """The cells that hold any of what is named, bool[H, W, *boards]. planes: a state's, uint16[planes, H, *boards]."""
    flat = unpack(spec.width, _holding(spec, names, planes).reshape(spec.height, -1))
    return (flat != 0).reshape(spec.height, spec.width, *planes.shape[2:])


@functools.partial(jax.jit, static_argnums=(0, 1))
def count_cells(spec: Spec, names: tuple[str, ...], planes: Plane) -> jax.Array:
    """How many cells hold any of what is named, int32[*boards]."""
    return count(_holding(spec, names, planes))


def _holding(spec: Spec, names: tuple[str, ...], planes: Plane) -> Plane:
    for name in names:
        if name not in NAMES:
            hint = did_you_mean(name, NAMES) or f"; the names are {', '.join(map(repr, NAMES))}"
            raise ValueError(f"nothing on a board is called {name!r}{hint}")
    board = Board.of(spec, planes)
    return any_of([board.nothing, *(plane_named(board, name) for name in names)])
