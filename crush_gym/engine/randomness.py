"""Every random value of a turn: a small hash of the board's key, the purpose, the cell and a count.

`draw(bits, purpose, cell, count)` is all there is. It depends on nothing else - not on the batch, the
device, the order of work or the other draws - so a test can hand the same values to another
implementation of the rules. Cells are numbered 16 * row + column (rulebook 7).

| purpose | cell | count | used as |
|---|---|---|---|
| SPAWN | entry | the entry's k-th spawn of the move, from 0 | `below(colours)`: the candy's colour |
| BOMB | the colour bomb | number of the round in the move, from 0 | `below(colours present)`, ascending |
| CHOCOLATE | 0 | 0 | `below(candidates)`, reading order |
| SHUFFLE | candy | attempt, from 0 | its upper 15 bits: candies are sorted by them |
| RECOLOUR | candy | attempt, from 0 | `below(colours)` |
| FILL | `?` cell | try, from 0 | `below(colours)` |
| PICK | 0 | 0 | `below(legal moves)`: the random player's move |
| PASS | 0 | 0 | a spare value for callers, such as an environment's random replacement move |
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

SPAWN, BOMB, CHOCOLATE, SHUFFLE, RECOLOUR, FILL, PICK, PASS = range(8)

U32 = jnp.uint32


def draw(bits: jax.Array, purpose: int, cell: jax.Array | int, count: jax.Array | int) -> jax.Array:
    """32 random bits. bits: uint32[2, B], the words of a threefry key; cell, count: integers; uint32[..., B]."""
    cell, count = jnp.asarray(cell, U32), jnp.asarray(count, U32)
    x = bits[0] + (cell + U32(purpose * 256)) * U32(0x85EBCA6B) + count * U32(0x9E3779B9)
    x = (x ^ (x >> 16)) * U32(0x7FEB352D)
    x = (x ^ (x >> 15) ^ bits[1]) * U32(0x846CA68B)
    return x ^ (x >> 16)


def below(value: jax.Array, bound: jax.Array | int) -> jax.Array:
    """A draw as an integer 0..bound-1 (bound up to 65,535); uint32."""
    return ((value >> 16) * jnp.asarray(bound, U32)) >> 16


def key_bits(keys: jax.Array) -> jax.Array:
    """The two words of threefry keys, boards last: keys[*boards] -> uint32[2, *boards]."""
    return jnp.moveaxis(jax.random.key_data(keys), -1, 0)


def fold(bits: jax.Array, number: jax.Array) -> jax.Array:
    """`jax.random.fold_in` of threefry keys given as words: uint32[2, B], int[B] -> uint32[2, B].

    The same values as JAX's own, written out so that it fuses with what surrounds it (JAX's runs as a
    loop of its own on a CPU). fold_in hashes the number's two words (0, number) with the key.
    """
    k0, k1 = bits[0], bits[1]
    k2 = k0 ^ k1 ^ U32(0x1BD11BDA)
    schedule = ((k1, k2), (k2, k0), (k0, k1), (k1, k2), (k2, k0))
    x0, x1 = k0, number.astype(U32) + k1
    for i, (a, b) in enumerate(schedule):
        for r in (13, 15, 26, 6) if i % 2 == 0 else (17, 29, 16, 24):
            x0 = x0 + x1
            x1 = x0 ^ ((x1 << r) | (x1 >> (32 - r)))
        x0, x1 = x0 + a, x1 + b + U32(i + 1)
    return jnp.stack([x0, x1])
