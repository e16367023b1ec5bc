"""Small numbers, one a cell, in bits: bit i of all numbers is one plane, so sums of whole boards are word operations.

A number is a tuple of planes uint16[..., H, B], the least significant first; None stands for a plane of zeros.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable

import jax
import jax.numpy as jnp
from jax import lax

from crush_gym.engine.bits import Plane, Word, any_of, look, rows_of
from crush_gym.engine.bits import total as total_of

Sliced = tuple[Plane | None, ...]


def times(plane: Plane, number: int) -> Sliced:
    """The number in the cells of the plane, zero elsewhere."""
    return tuple(plane if number >> i & 1 else None for i in range(number.bit_length()))


def add(a: Sliced, b: Sliced) -> Sliced:
    """Sums, cell by cell."""
    bits: list[Plane | None] = []
    carry: Plane | None = None
    for i in range(max(len(a), len(b))):
        known = [x for x in (a[i] if i < len(a) else None, b[i] if i < len(b) else None, carry) if x is not None]
        bits.append(functools.reduce(lambda x, y: x ^ y, known) if known else None)
        carry = _majority(known)
    return (*bits, carry) if carry is not None else tuple(bits)


def _majority(bits: list[Plane]) -> Plane | None:
    """Where at least two of at most three planes have a cell."""
    if len(bits) < 2:
        return None
    if len(bits) == 2:
        return bits[0] & bits[1]
    a, b, c = bits
    return (a & b) | (c & (a ^ b))


def total(numbers: Iterable[Sliced]) -> Sliced:
    """The sum of any number of numbers, the shortest first."""
    waiting = sorted(numbers, key=len)
    while len(waiting) > 1:
        first, second, *rest = waiting
        waiting = sorted([add(first, second), *rest], key=len)
    return waiting[0] if waiting else ()


def where(plane: Plane, number: Sliced) -> Sliced:
    """The number in the cells of the plane, zero elsewhere."""
    return tuple(bit if bit is None else bit & plane for bit in number)


def moved(number: Sliced, change: Callable[[Plane], Plane]) -> Sliced:
    """The same change to every bit."""
    return tuple(bit if bit is None else change(bit) for bit in number)


def look_at(number: Sliced, rows: int, columns: int) -> Sliced:
    """What stands so many rows and columns away from each cell."""
    return moved(number, lambda x: look(x, rows, columns))


def cells(number: Sliced, width: int) -> jax.Array:
    """The numbers themselves: int32[..., H, width, B]."""
    columns = lax.broadcasted_iota(Word, (width, 1), 0)
    bits = [(plane[..., None, :] >> columns & Word(1)).astype(jnp.int32) << i for i, plane in _there(number)]
    return functools.reduce(lambda x, y: x + y, bits)


def sums(number: Sliced) -> jax.Array:
    """The sum over all cells: int32[B]."""
    result = jnp.zeros((), jnp.int32)
    for i, plane in _there(number):
        result = result + (counted(plane) << i)
    return result


def counted(plane: Plane) -> jax.Array:
    """Cells of a plane uint16[n, H, B], or of one of more axes: int32[B]."""
    return total_of(lax.population_count(row) for row in rows_of(flat(plane))).astype(jnp.int32)


def flat(plane: Plane) -> Plane:
    """All rows in one axis."""
    return plane.reshape(-1, plane.shape[-1])


def largest(candidates: Plane, number: Sliced) -> Plane:
    """Those of the candidates whose number is the largest on their board; planes uint16[..., H, B]."""
    left = flat(candidates)
    for _, plane in reversed(list(_there(number))):
        high = left & flat(plane)
        left = jnp.where(any_of(rows_of(high)) != 0, high, left)
    return left.reshape(candidates.shape)


def _there(number: Sliced) -> list[tuple[int, Plane]]:
    return [(i, plane) for i, plane in enumerate(number) if plane is not None]
