"""CandyCrush.ai's Q-learning with a linear function of 24 features of a move.

"CandyCrush.ai: An AI Agent for Candy Crush", 4.6. The weights that ship were learned on its own game (9x9 cells, five
kinds, 50 turns), each by the command in its file:

| weights | learned |
|---|---|
| (none) | standardised features; least squares, solved anew until the weights stay |
| softmax | the same, exploring by softmax |
| blind | the same without the fifth feature, the sampled returns |
| paper | the features as they are, from zeros, by the paper's step of 1e-11 for every move, until the weights stay |

`python -m agents.linear_q --out mine.json` learns others; `linear-q:weights=mine.json` plays with them.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from agents.protocol import Policy
from agents.q_learning import function, learning
from agents.q_learning.features import DISCOUNT
from agents.q_learning.function import Function, Layer, Params
from agents.q_learning.learning import Array, Seen
from agents.registry import name_of
from crush_gym import Game


@dataclass(frozen=True)
class LinearQ:
    """The move of the greatest Q.

    weights: the name of some that ship, or a .json file
    digest: sixteen digits of what a file holds, so that results of other weights are not taken for these
    """

    weights: str = ""
    digest: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", function.checked_digest("linear-q", self.weights, self.digest))

    @property
    def name(self) -> str:
        """What makes this agent again."""
        return name_of("linear-q", self)

    def bind(self, game: Game) -> Policy:
        """The player in this game."""
        return function.player(function.find("linear-q", self.weights).function, game)


# ------------------------------------------------------------------ learning


@dataclass(frozen=True)
class Args(learning.Args):
    """How it learns.

    fit: "solve", least squares of standardised features; "steps", the paper's of features as they are
    step: of the latter; passes: over all moves at most, in either; stays: the share by which weights may still change
    """

    fit: str = "solve"
    step: float = 1e-11
    passes: int = 1000
    stays: float = 1e-4

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fit not in ("solve", "steps"):
            raise ValueError(f"fit must be solve or steps, not {self.fit!r}")


def train(game: Game, args: Args) -> Function:
    """Learn, from weights of zero."""
    nothing = np.zeros(len(args.names), np.float32)
    params = Params(nothing, nothing + 1, (Layer(nothing[:, None], np.zeros(1, np.float32)),))
    return learning.learn(game, args, params, functools.partial(solved if args.fit == "solve" else stepped, args))


def solved(args: Args, params: Params, seen: Seen) -> Params:
    """Least squares with targets of the weights before, again and again until the weights stay.

    The bias learns that, too: it is the weight of a feature that is 1 everywhere.
    """
    mean, scale = standard(seen)

    def standardised(phi: Array) -> Array:
        ones = np.ones((1, *phi.shape[1:]))
        return np.concatenate([((phi.T - mean) / scale).T, ones])

    x, everything = standardised(seen.made.astype(np.float64)), standardised(seen.phi)
    squares = x @ x.T + 1e-6 * np.eye(len(x))
    weights = np.zeros(len(x))
    for _ in range(args.passes):
        before = weights
        weights = np.linalg.solve(squares, x @ targets(seen, np.einsum("f,fkn->kn", weights, everything)))
        if np.abs(weights - before).max() <= args.stays * np.abs(weights).max():
            break
    return Params(mean, scale, (Layer(weights[:-1, None], weights[-1:]),))


def standard(seen: Seen) -> tuple[Array, Array]:
    """Mean and standard deviation of the features of all legal moves, which decides what is large and small."""
    phi = seen.phi[:, seen.legal].astype(np.float64)
    spread = phi.std(axis=1)
    return phi.mean(axis=1), np.where(spread > 0, spread, 1.0)


def targets(seen: Seen, values: Array) -> Array:
    """r + discount * max Q(s', a'): float64[N]. values: of all moves of all positions, [K, N]."""
    best = np.where(seen.legal, values, -np.inf).max(axis=0)
    return seen.reward + DISCOUNT * np.where(seen.after >= 0, best[seen.after], 0.0)


def stepped(args: Args, params: Params, seen: Seen) -> Params:
    """The paper's: w <- w - step (Q(s, a) - (r + discount max Q(s', a'))) phi(s, a), move by move."""
    phi, legal = jnp.asarray(np.moveaxis(seen.phi, -1, 0)), jnp.asarray(seen.legal.T)  # [N, features, K], [N, K]
    moves = jnp.asarray(seen.made.T), jnp.asarray(seen.reward), jnp.asarray(seen.after)

    @jax.jit
    def once(weights: jax.Array, phi: jax.Array, legal: jax.Array, moves: Any) -> jax.Array:
        def move(weights: jax.Array, one: tuple[jax.Array, jax.Array, jax.Array]) -> tuple[jax.Array, None]:
            made, reward, after = one
            values = jnp.where(legal[after], weights @ phi[after], -jnp.inf)
            target = reward + DISCOUNT * jnp.where(after >= 0, values.max(), 0.0)
            return weights - args.step * (weights @ made - target) * made, None

        return jax.lax.scan(move, weights, moves)[0]

    weights = jnp.asarray(params.layers[0].weights[:, 0])
    for _ in range(args.passes):
        before, weights = weights, once(weights, phi, legal, moves)
        if jnp.abs(weights - before).max() <= args.stays * jnp.abs(weights).max():
            break
    return params._replace(layers=(Layer(np.asarray(weights)[:, None], params.layers[0].bias),))


if __name__ == "__main__":
    learning.main("agents.linear_q", Args(), train)
