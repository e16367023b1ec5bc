"""Words and planes: the few bit operations that everything else is written in.

A plane is `uint16[H, B]`: a row of cells per word (bit c is column c), boards last. A mask is
`uint16[B]`: all ones for the boards meant, else zero, so that `plane & mask` chooses boards.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

import jax
import jax.numpy as jnp
from jax import lax

Plane = jax.Array
"""uint16[H, B], or a stack uint16[n, H, B] of planes."""

Mask = jax.Array
"""uint16[B]: 0xFFFF for the boards meant, 0 for the others."""

Word = jnp.uint16
ONES = 0xFFFF

BY_ROWS = "rows"
"""The scope of what `by_rows` marks."""

Tree = TypeVar("Tree")


class Keep(Protocol):
    """A fence (see below), or `keep`."""

    def __call__(self, tree: Tree, /) -> Tree: ...


def keep(tree: Tree, /) -> Tree:
    """No fence."""
    return tree


def any_of(planes: Iterable[jax.Array]) -> jax.Array:
    """Union of at least one plane."""
    return functools.reduce(operator.or_, planes)


def all_of(planes: Iterable[jax.Array]) -> jax.Array:
    """Intersection of at least one plane."""
    return functools.reduce(operator.and_, planes)


def total(numbers: Iterable[jax.Array]) -> jax.Array:
    """Sum of at least one array."""
    return functools.reduce(operator.add, numbers)


def look(x: Plane, rows: int, columns: int) -> Plane:
    """The plane whose cell (r, c) shows cell (r + rows, c + columns) of `x`; zeros from outside.

    Bits pushed beyond the board's width are left there: callers meet them with a plane of the board.
    """
    if rows:
        edges = [(0, 0, 0)] * x.ndim
        edges[-2] = (-rows, rows, 0)
        x = lax.pad(x, Word(0), edges)
    if columns > 0:
        x = x >> Word(columns)
    elif columns < 0:
        x = x << Word(-columns)
    return x


def neighbours(x: Plane) -> Plane:
    """Cells with an orthogonal neighbour in `x`."""
    return look(x, 1, 0) | look(x, -1, 0) | look(x, 0, 1) | look(x, 0, -1)


def square(x: Plane, reach: int, fence: Keep = keep) -> Plane:
    """Every cell at most `reach` columns and rows away from a cell of `x`."""
    wide = fence(any_of(look(x, 0, d) for d in range(-reach, reach + 1)))
    return any_of(look(wide, d, 0) for d in range(-reach, reach + 1))


Step = tuple[int, int]
"""A direction (rows, columns) of one cell."""


def flood(seeds: Plane, through: Plane, step: Step, longest: int, fence: Keep = keep) -> Plane:
    """Seeds and all cells reached from them by going `step` by `step` while the cell left is in `through`.

    Doubling (Kogge-Stone) along rows, where a shift costs nothing more than itself. Along columns a shifted
    value is computed again for every row that it is seen from, so there each round goes four steps and is
    fenced. longest: the most steps that a way can have.
    """
    if step[0] == 0:
        return _flood_rows(seeds, through, step[1], longest)
    return _flood_columns(seeds, through, step[0], longest, fence)


def _flood_rows(seeds: Plane, through: Plane, step: int, longest: int) -> Plane:
    distance, reached, path = 1, seeds, through
    while True:
        reached = reached | look(reached & path, 0, -step * distance)
        if 2 * distance > longest:
            return reached
        path = path & look(path, 0, step * distance)
        distance *= 2


def _flood_columns(seeds: Plane, through: Plane, step: int, longest: int, fence: Keep) -> Plane:
    distance, reached, path = 1, seeds, through
    while True:
        reached, path = fence((reached, path))
        ways, way = [reached], None
        for n in range(1, 4):
            before = look(path, -step * distance * n, 0)
            way = before if way is None else way & before
            ways.append(look(reached, -step * distance * n, 0) & way)
        reached = any_of(ways)
        if 4 * distance > longest:
            return reached
        path = path & all_of(look(path, step * distance * n, 0) for n in range(1, 4))
        distance *= 4


def rows_of(x: Plane) -> list[jax.Array]:
    """The rows of one plane, as words uint16[B]."""
    return [x[r] for r in range(x.shape[0])]


def word_of(x: Plane) -> jax.Array:
    """All rows of one plane in one word: bit c tells whether column c has any cell. uint16[B]."""
    return any_of(rows_of(x))


def occurs(x: Plane) -> Mask:
    """The boards on which the plane has any cell."""
    return mask(word_of(x) != 0)


def mask(condition: jax.Array) -> Mask:
    """bool[B] as a mask."""
    return jnp.where(condition, Word(ONES), Word(0))


def count(x: Plane) -> jax.Array:
    """Number of cells in one plane. int32[B]."""
    return total(lax.population_count(row) for row in rows_of(x)).astype(jnp.int32)


def choose(which: Mask, yes: jax.Array, no: jax.Array) -> jax.Array:
    """`yes` on the boards of the mask, `no` on the others; any integer type, boards last."""
    return jnp.where(which != 0, yes, no)


def nth(x: Plane, n: jax.Array, fence: Keep = keep) -> Plane:
    """The n-th cell (from 0, uint16[B]) of a plane in reading order, alone; nothing where there are too few."""
    word, row_chosen, rest = (jnp.zeros_like(n) for _ in range(3))
    seen = jnp.zeros_like(n)
    for r, row in enumerate(rows_of(x)):
        size = lax.population_count(row)
        here = (n >= seen) & (n < seen + size)
        word = jnp.where(here, row, word)
        row_chosen = jnp.where(here, Word(r), row_chosen)
        rest = jnp.where(here, n - seen, rest)
        seen = seen + size
    for i in range(15):
        word = jnp.where(Word(i) < rest, word & (word - Word(1)), word)
    bit, row_chosen = fence((word & (~word + Word(1)), row_chosen))
    rows = lax.broadcasted_iota(Word, x.shape, 0)
    return jnp.where(rows == row_chosen, bit, Word(0))


def first_cell(x: Plane, fence: Keep = keep) -> tuple[Plane, jax.Array]:
    """The first cell of a plane in reading order, alone, and its number 16 r + c (uint32[B])."""
    word, row = jnp.zeros_like(x[0]), jnp.zeros_like(x[0])
    for r in reversed(range(x.shape[0])):
        row = jnp.where(x[r] != 0, Word(r), row)
        word = jnp.where(x[r] != 0, x[r], word)
    bit, row = fence((word & (~word + Word(1)), row))
    cell = row.astype(jnp.uint32) * 16 + lax.population_count(bit - Word(1)).astype(jnp.uint32)
    rows = lax.broadcasted_iota(Word, x.shape, 0)
    return jnp.where(rows == row, bit, Word(0)), cell


def fence(tree: Tree, never: jax.Array) -> Tree:
    """Have XLA:CPU write `tree` to memory here, instead of computing it again in every place that uses it.

    XLA:CPU drops `optimization_barrier` before it fuses, so the way round is a `cond` whose predicate
    (`never`, a bool that is always false) it cannot know. Elsewhere the barrier does it, without a branch.
    """

    def on_cpu(t: Tree) -> Tree:
        return lax.cond(never, lambda v: jax.tree.map(lambda x: ~x, v), lambda v: v, t)

    result: Tree = lax.platform_dependent(tree, cpu=on_cpu, default=lax.optimization_barrier)
    return result


Function = TypeVar("Function", bound=Callable[..., object])


def by_rows(f: Function) -> Function:
    """`f`, marked: on a GPU, what it does is done row by row, each an array of its own; see `runtime.unstacked`."""
    return jax.named_scope(BY_ROWS)(f)


def unpack(width: int, plane: Plane) -> jax.Array:
    """The first columns of a plane uint16[H, B] cell by cell, as numbers 0 and 1: uint16[H, width, B]."""
    columns = lax.broadcasted_iota(Word, (1, width, 1), 1)
    return plane[:, None] >> columns & Word(1)


def at_column(width: int, columns: Sequence[jax.Array]) -> jax.Array:
    """One word out of one bit (0 or 1, uint16[B]) per column."""
    return any_of(columns[c] << Word(c) for c in range(width))
