"""What the end of a playout is worth, from 0 to 1: a win is always 1 (the theses' equations 3.2 and 3.3)."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

SIGNALS = {"binary": (0.0, 0.0), "partial": (1.0, 0.0), "score": (0.0, 1.0), "combined": (0.5, 0.5)}
"""How much the share of the goals done, and the rank of the score, count in a lost playout."""


class Range(NamedTuple):
    """Between which scores a playout's score counts; float32[S]. low > high: not known yet."""

    low: jax.Array
    high: jax.Array


def unknown(boards: tuple[int, ...]) -> Range:
    """Before the first search of an attempt."""
    return Range(jnp.full(boards, jnp.inf, jnp.float32), jnp.full(boards, -jnp.inf, jnp.float32))


def of_scores(scores: jax.Array, number: jax.Array) -> Range:
    """From the scores of a search: max(0, Q1 - 1.5 IQR) to Q3 + 1.5 IQR. scores: [n, S], the first `number` count."""
    rows = jnp.arange(scores.shape[0])[:, None]
    ordered = jnp.sort(jnp.where(rows < number, scores.astype(jnp.float32), jnp.inf), axis=0)

    def quantile(share: float) -> jax.Array:
        place = share * (number - 1)
        below = jnp.clip(jnp.floor(place).astype(jnp.int32), 0, scores.shape[0] - 1)
        above = jnp.minimum(below + 1, jnp.maximum(number - 1, 0))
        low, high = (jnp.take_along_axis(ordered, i[None], axis=0)[0] for i in (below, above))
        return low + (place - below) * (high - low)

    first, third = quantile(0.25), quantile(0.75)
    spread = 1.5 * (third - first)
    return Range(jnp.maximum(0.0, first - spread), third + spread)


def widened(scope: Range, score: jax.Array, where: jax.Array) -> Range:
    """With another score in it."""
    number = score.astype(jnp.float32)
    return Range(
        jnp.where(where, jnp.minimum(scope.low, number), scope.low),
        jnp.where(where, jnp.maximum(scope.high, number), scope.high),
    )


def value(
    weights: tuple[jax.Array, jax.Array], won: jax.Array, score: jax.Array, done: jax.Array, scope: Range
) -> jax.Array:
    """float32[S]. weights: of SIGNALS, shrunk; won: bool[S]; score: int32[S]; done: float32[S]."""
    width = scope.high - scope.low
    ranked = jnp.where(width > 0, jnp.clip((score - scope.low) / jnp.where(width > 0, width, 1.0), 0.0, 1.0), 0.5)
    return jnp.where(won, 1.0, weights[0] * done + weights[1] * ranked)
