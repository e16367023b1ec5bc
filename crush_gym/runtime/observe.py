"""Boards as planes of numbers for a network: one cell, one number, everything that makes the position Markov."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from crush_gym import layout
from crush_gym.engine.bits import ONES, Plane, Word, any_of, count, fence, keep, mask, total, unpack
from crush_gym.engine.board import Board
from crush_gym.engine.moves import legal_moves
from crush_gym.engine.named import NAMES, plane_named
from crush_gym.engine.spec import Spec
from crush_gym.engine.state import PLAYING, State
from crush_gym.engine.terrain import Terrain, survey, with_boards_axis
from crush_gym.levels import Level

FULL = 255


def channels(spec: Spec) -> tuple[str, ...]:
    """Names of the planes: binary ones (0 or 255), then scaled ones (0-255)."""
    return (*_binary_names(spec), *_scaled_names(spec))


def _binary_names(spec: Spec) -> tuple[str, ...]:
    items = {
        "striped-h": "striped", "striped-v": "striped", "wrapped": "wrapped", "colour bomb": "colour bomb",
        "swirl": "swirl", "cherry": "ingredient", "hazelnut": "ingredient", "plus5": "plus5", "drop": "drop",
        "lock": "lock", "marmalade": "marmalade", "chocolate": "chocolate", "jelly1": "jelly", "jelly2": "jelly",
    }  # fmt: skip
    return (
        *(f"colour {letter}" for letter in layout.COLOUR_LETTERS[: spec.colours]),
        *(name for name, mechanic in items.items() if spec.has(mechanic)),
        "floor", "entries", *(("exits",) if spec.has("ingredient") else ()),
        *(("portal entrances", "portal exits") if spec.portals else ()),
        "legal", "ones",
    )  # fmt: skip


def _scaled_names(spec: Spec) -> tuple[str, ...]:
    return (
        *(("icing",) if spec.has("icing") else ()),
        *(("counter",) if spec.has("candy bomb") else ()),
        "left", "score goal", "jelly goal", "cherry goal", "hazelnut goal",
        *(f"order {name}" for name in spec.orders),
    )  # fmt: skip


class Features(NamedTuple):
    """What a network sees, packed: a ninth of its size, and cheap to turn so that the boards come first.

    words: the binary planes, uint16[n, H, B]; numbers: planes of numbers 0-255, uint8[n, H, W, B]
    shares: planes of one number each, uint8[n, B]
    """

    words: jax.Array
    numbers: jax.Array
    shares: jax.Array


def features(spec: Spec, state: State, level: Level) -> Features:
    """The planes named by `channels`, packed."""
    terrain = survey(spec, with_boards_axis(level))
    board = Board.of(spec, state.planes).awake()
    binary, scaled = _binary(spec, board, terrain, state), _scaled(spec, board, terrain, state)
    boards = state.planes.shape[2:]
    by_cell = [scaled[name] for name in _scaled_names(spec) if name in BY_CELL]
    by_board = [jnp.broadcast_to(scaled[name], boards) for name in _scaled_names(spec) if name not in BY_CELL]
    return Features(
        jnp.stack([jnp.broadcast_to(binary[name], (spec.height, *boards)) for name in _binary_names(spec)]),
        jnp.stack(by_cell).astype(jnp.uint8)
        if by_cell
        else jnp.zeros((0, spec.height, spec.width, *boards), jnp.uint8),
        jnp.stack(by_board).astype(jnp.uint8),
    )


BY_CELL = ("icing", "counter")


def observe(spec: Spec, state: State, level: Level) -> jax.Array:
    """uint8[channels, H, W, B]."""
    words, numbers, shares = features(spec, state, level)
    binary = jnp.stack([unpack(spec.width, plane) for plane in words]).astype(jnp.uint8) * jnp.uint8(FULL)
    flat = jnp.broadcast_to(shares[:, None, None], (shares.shape[0], *binary.shape[1:]))
    return jnp.concatenate([binary, numbers, flat])


def boards_first(spec: Spec, seen: Features, xp: Any = jnp) -> jax.Array:
    """The same planes with the boards in front: uint8[B, channels, H, W]. xp: `jax.numpy` or `numpy`."""
    binary = cells_of(spec.width, seen.words, xp)
    numbers, shares = (xp.moveaxis(x, -1, 0) for x in seen[1:])
    flat = xp.broadcast_to(shares[:, :, None, None], (*shares.shape, *binary.shape[2:]))
    return xp.concatenate([binary, numbers, flat], axis=1)


def cells_of(width: int, words: jax.Array, xp: Any = jnp) -> jax.Array:
    """Planes cell by cell, boards in front: uint16[n, H, B] -> uint8[B, n, H, width] of 0 and 255.

    XLA:CPU handles rows of nine one element at a time. So words are turned as bytes, each byte becomes eight cells,
    which are one vector operation, and only then what is beyond the width is cut off: three times as fast.
    """
    bits = (1 << np.arange(8)).astype(np.uint8)
    halves = [words & xp.uint16(FULL)] + ([words >> xp.uint16(8)] if width > len(bits) else [])
    never = words.ravel()[0].astype(xp.uint32) > ONES
    write = functools.partial(fence, never=never) if xp is jnp else keep
    rows = write(xp.stack(halves, axis=2).astype(xp.uint8))
    n, height, count, boards = rows.shape
    rows = write(xp.moveaxis(rows.reshape(n * height * count, boards), -1, 0))
    cells = write(xp.where((rows.reshape(-1)[:, None] & bits) != 0, xp.uint8(FULL), xp.uint8(0)))
    return cells.reshape(boards, n, height, count * len(bits))[..., :width]


def unpack_rows(width: int, words: jax.Array, xp: Any = jnp) -> jax.Array:
    """The first columns of rows of cells, as a last axis: uint16[...] -> uint8[..., width]."""
    return (words[..., None] >> xp.arange(width, dtype=xp.uint16) & xp.uint16(1)).astype(xp.uint8)


def _binary(spec: Spec, board: Board, terrain: Terrain, state: State) -> dict[str, Plane]:
    moves = board.fence(legal_moves(board))
    ready = mask(state.books.outcome == PLAYING)
    planes = {name: plane_named(board, name) for name in _binary_names(spec) if name in NAMES}
    return planes | {
        "floor": terrain.floor,
        "exits": terrain.exits,
        "entries": any_of(terrain.entries),
        "portal entrances": terrain.entrances,
        "portal exits": any_of(layer.target for layer in terrain.portals) if terrain.portals else board.nothing,
        "legal": (moves.firsts | moves.seconds) & ready,
        "ones": board.nothing | Word(ONES),
    }


def _scaled(spec: Spec, board: Board, terrain: Terrain, state: State) -> dict[str, jax.Array]:
    """Numbers 0-255: layers and counters by cell; what is left of moves or time, and of each goal, everywhere."""
    books, goals = state.books, terrain.goals
    timed = terrain.time >= 0
    jelly = count(board.plane("jelly1")) + count(board.plane("jelly2"))
    scaled = {
        "icing": _number(spec, board, layout.ICING) * (FULL // 5),
        "counter": jnp.minimum(_number(spec, board, layout.TIMER), 99) * FULL // 99,
        "left": _share(jnp.where(timed, books.time, books.moves), jnp.where(timed, terrain.time, terrain.moves)),
        "score goal": _share(goals.score - books.score, goals.score),
        "jelly goal": jnp.where(goals.jelly != 0, jnp.minimum(jelly, FULL), 0),
        "cherry goal": _share(books.cherry, goals.cherry),
        "hazelnut goal": _share(books.hazelnut, goals.hazelnut),
    }
    for i, name in enumerate(spec.orders):
        scaled[f"order {name}"] = _share(books.orders[i], goals.orders[i])
    return scaled


def _number(spec: Spec, board: Board, names: tuple[str, ...]) -> jax.Array:
    """The number that these planes spell in each cell, int32[H, W, B]."""
    return total(unpack(spec.width, board.plane(name)).astype(jnp.int32) << i for i, name in enumerate(names))


def _share(left: jax.Array, whole: jax.Array) -> jax.Array:
    """What is left as 0-255, rounded up so that nothing shows as none."""
    whole = jnp.maximum(whole, 1)
    return jnp.clip((jnp.clip(left, 0, whole) * 1.0 / whole * FULL + 0.999).astype(jnp.int32), 0, FULL)
