"""Which key decides what: of a series of attempts, of an attempt, of a move, and of the player.

An attempt with key k gives its move m, from 0, the key `move_key(k, m)`, which decides all candies of that turn. The
player never gets that key but `player_key` of it, from which nobody can tell what will fall; at the start of an attempt
it gets `player_key(k)`. A series with key s gives its attempt n, from 0, the key `attempt_key(s, n)`.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from crush_gym.engine.randomness import fold, key_bits

__all__ = ["attempt_key", "move_key", "of_words", "player_key"]

PLAYER = np.uint32(2**32 - 1)
"""Folded into a key, it gives the player's: no move and no attempt has this number."""


def attempt_key(key: jax.Array, attempt: jax.Array | int) -> jax.Array:
    """The keys of attempts (or episodes) of a series.

    Args:
        key: of the series, key[*boards].
        attempt: their numbers, one for all or int[*boards].

    Returns:
        keys[*boards].
    """
    return _folded(key, _number(attempt))


def move_key(key: jax.Array, move: jax.Array | int) -> jax.Array:
    """The keys of moves.

    Args:
        key: of the attempts, key[*boards].
        move: their numbers, from 0: one for all, or int[*boards], such as `state.books.made`.

    Returns:
        keys[*boards].
    """
    return _folded(key, _number(move))


def player_key(key: jax.Array) -> jax.Array:
    """The keys that players get: of an attempt at its start, of a move when it is chosen. keys[*boards], as given."""
    return _folded(key, PLAYER)


def _number(number: jax.Array | int) -> jax.Array | np.ndarray[Any, np.dtype[np.uint32]]:
    """Numbers up to 2^32 - 1, which plain integers may be."""
    return number if isinstance(number, jax.Array) else np.asarray(number).astype(np.uint32)


@jax.jit
def _folded(key: jax.Array, number: jax.Array) -> jax.Array:
    return of_words(fold(key_bits(key), number))


def of_words(words: jax.Array) -> jax.Array:
    """Keys from their words: uint32[2, *boards] -> keys[*boards]."""
    return jax.random.wrap_key_data(jnp.moveaxis(words, 0, -1), impl="threefry2x32")


def player_words(words: jax.Array) -> jax.Array:
    """The words of the player's keys from those of the game's, uint32[2, B]."""
    return fold(words, jnp.asarray(PLAYER))
