"""What moves are worth: by the networks that policies have too, and by what followed them.

By a network, `Q(move) = value + logit - the mean of the legal moves' logits` (Wang and others, 2016). The move of the
greatest Q is that of the greatest logit, so weights that were learned by either kind of learner play in the same way.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from agents.learning.learner import Metrics, masked, mean_of_some
from agents.learning.practice import Outcome

__all__ = ["chosen", "dueling", "highest", "of_greedy", "of_moves", "returns", "shares"]

LEAST = 0.01
"""Of the boards that draw moves by chance, the last one draws this part of what the first one draws."""


def dueling(logits: jax.Array, value: jax.Array, legal: jax.Array) -> jax.Array:
    """What moves are worth, float32[B, actions]; of moves that are not legal, nothing that means anything.

    Args:
        logits: float32[B, actions].
        value: float32[B].
        legal: bool[B, actions].
    """
    number = jnp.maximum(1, legal.sum(axis=1, keepdims=True))
    mean = jnp.where(legal, logits, 0.0).sum(axis=1, keepdims=True) / number
    return value[:, None] + logits - mean


def highest(values: jax.Array, legal: jax.Array) -> jax.Array:
    """The number of the legal move with the greatest value: float32[B, actions], bool[B, actions] -> int32[B]."""
    return jnp.argmax(masked(values, legal), axis=1).astype(jnp.int32)


def of_moves(values: jax.Array, action: jax.Array) -> jax.Array:
    """The values of one move each: float32[B, actions], int32[B] -> float32[B]."""
    return jnp.take_along_axis(values, action[:, None], axis=1)[:, 0]


def chosen(key: jax.Array, values: jax.Array, legal: jax.Array, share: jax.Array) -> jax.Array:
    """The best moves, or by chance any legal ones: int32[B].

    Args:
        key: of the chance.
        values: of the moves, float32[B, actions].
        legal: bool[B, actions].
        share: of the moves that are drawn by chance, float32[B].
    """
    whether, which = jax.random.split(key)
    strays = jax.random.uniform(whether, share.shape) < share
    return highest(jnp.where(strays[:, None], jax.random.uniform(which, values.shape), values), legal)


def shares(boards: int, most: float, greedy: float) -> jax.Array:
    """How many of its moves each board draws by chance, float32[boards].

    They fall geometrically from `most` (Horgan and others, 2018), and the last boards never draw any.

    Args:
        boards: how many there are.
        most: of the first board.
        greedy: the part of the boards that never draw any.
    """
    never = round(boards * greedy)
    falling = most * np.geomspace(1.0, LEAST, boards - never) if never < boards else np.zeros(0)
    return jnp.asarray(np.concatenate([falling, np.zeros(never)]), jnp.float32)


def returns(reward: jax.Array, over: jax.Array, following: jax.Array, discount: float, trace: float = 1.0) -> jax.Array:
    """What moves were worth, by what followed: lambda-returns, float32[T, B].

    Args:
        reward: of the moves, float32[T, B].
        over: which of them ended an attempt, after which nothing more can be gained.
        following: what the best move on the board after each was thought to be worth, float32[T, B].
        discount: what a reward is worth one move later.
        trace: lambda; with 0 only the next reward is counted, with 1 all of them, and the last of `following`.
    """

    def back(found: jax.Array, move: tuple[jax.Array, ...]) -> tuple[jax.Array, jax.Array]:
        reward, over, following = move
        mixed = (1.0 - trace) * following + trace * found
        found = reward + jnp.where(over, 0.0, discount * mixed)
        return found, found

    given: jax.Array = lax.scan(back, following[-1], (reward, over, following), reverse=True)[1]
    return given


def of_greedy(outcome: Outcome, share: jax.Array) -> Metrics:
    """What is logged of the boards without chance: the mean return of their attempts. share: of `shares`."""
    return {"play/greedy": mean_of_some(outcome.gained, outcome.over & (share == 0.0))}
