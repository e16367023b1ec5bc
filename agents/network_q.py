"""CandyCrush.ai's Q-learning with a network of 24 inputs and 10 hidden units.

"CandyCrush.ai: An AI Agent for Candy Crush", 4.7: rectified hidden units, an output without a bound, fitted by Adam.
Its "25 and 11" neurons count the units that hold the bias. As its features differ a thousandfold in size, they are
standardised here. The weights that ship were learned on its own game, each by the command in its file: those that are
played with, and "blind", without the fifth feature, the sampled returns.

`python -m agents.network_q --out mine.json` learns others; `network-q:weights=mine.json` plays with them.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.example_libraries import optimizers

from agents.linear_q import standard
from agents.protocol import Policy
from agents.q_learning import function, learning
from agents.q_learning.features import DISCOUNT
from agents.q_learning.function import Function, Layer, Params, q_values
from agents.q_learning.learning import Seen
from agents.registry import name_of
from crush_gym import Game


@dataclass(frozen=True)
class NetworkQ:
    """The move of the greatest Q.

    weights: the name of some that ship, or a .json file
    digest: sixteen digits of what a file holds, so that results of other weights are not taken for these
    """

    weights: str = ""
    digest: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", function.checked_digest("network-q", self.weights, self.digest))

    @property
    def name(self) -> str:
        """What makes this agent again."""
        return name_of("network-q", self)

    def bind(self, game: Game) -> Policy:
        """The player in this game."""
        return function.player(function.find("network-q", self.weights).function, game)


# ------------------------------------------------------------------ learning


@dataclass(frozen=True)
class Args(learning.Args):
    """How it learns.

    hidden: units; rate: Adam's; batch: moves of one step; passes: over all moves, in every round
    """

    hidden: int = 10
    rate: float = 1e-3
    batch: int = 200
    passes: int = 30

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("hidden", "batch", "passes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")


def train(game: Game, args: Args) -> Function:
    """Learn, from small random weights."""
    inputs, rng = len(args.names), np.random.default_rng(args.seed)

    def layer(inputs: int, outputs: int) -> Layer:
        bound = np.sqrt(6.0 / (inputs + outputs))
        return Layer(rng.uniform(-bound, bound, (inputs, outputs)).astype(np.float32), np.zeros(outputs, np.float32))

    nothing = np.zeros(inputs, np.float32)
    params = Params(nothing, nothing + 1, (layer(inputs, args.hidden), layer(args.hidden, 1)))
    return learning.learn(game, args, params, functools.partial(fitted, args))


def fitted(args: Args, params: Params, seen: Seen) -> Params:
    """Adam over all that was seen, again and again; the targets of a pass are of the weights before it."""
    mean, scale = (x.astype(np.float32) for x in standard(seen))
    unit = float(seen.reward.std())  # what the network counts in, so that Adam's steps are of its size
    data = seen._replace(phi=((seen.phi.T - mean) / scale).T, reward=(seen.reward / unit).astype(np.float32))
    data = jax.tree.map(jnp.asarray, data)
    batch, rng = min(args.batch, len(seen.reward)), np.random.default_rng(args.seed)
    steps = len(seen.reward) // batch
    adam: Any = optimizers.adam(args.rate)
    start, update, weights_of = adam
    known = Params(np.float32(0), np.float32(1), _in_units(params.layers, 1 / unit))

    def loss(layers: Any, phi: jax.Array, target: jax.Array) -> jax.Array:
        return jnp.mean((q_values(known._replace(layers=layers), phi) - target) ** 2)

    @jax.jit
    def once(state: Any, orders: jax.Array, first: jax.Array, data: Any) -> Any:
        values = q_values(known._replace(layers=weights_of(state)), data.phi)
        best = jnp.where(data.legal, values, -jnp.inf).max(axis=0)
        target = data.reward + DISCOUNT * jnp.where(data.after >= 0, best[data.after], 0.0)

        def one(state: Any, order: tuple[jax.Array, jax.Array]) -> tuple[Any, None]:
            number, n = order
            phi = data.phi[:, data.chosen[n], n]
            return update(number, jax.grad(loss)(weights_of(state), phi, target[n]), state), None

        return jax.lax.scan(one, state, (first + jnp.arange(steps), orders))[0]

    state = start(known.layers)
    for n in range(args.passes):
        orders = rng.permutation(len(seen.reward))[: steps * batch].reshape(steps, batch)
        state = once(state, jnp.asarray(orders), jnp.int32(n * steps), data)
    return Params(mean, scale, _in_units(weights_of(state), unit))


def _in_units(layers: tuple[Layer, ...], unit: float) -> tuple[Layer, ...]:
    """The layers where a point counts as so much: only the last one tells points."""
    *rest, last = (Layer(*(np.asarray(x, np.float32) for x in layer)) for layer in layers)
    return (*rest, Layer(last.weights * np.float32(unit), last.bias * np.float32(unit)))


if __name__ == "__main__":
    learning.main("agents.network_q", Args(), train)
