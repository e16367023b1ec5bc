"""A linear policy over two numbers of each swap, cheap enough for playouts: p(a) ~ exp(gain * g(a) + value * h(a)).

g is what the swap's first round clears and makes, exactly, and h its hand-made value that knows the goals: both are
read off the bits of a board. What follows the first round is left out; who wants that, too, has the network `linear`
over `Game.preview`, which plays far fewer moves a second (docs/learning.md).

The two weights were learned by the cross-entropy method, for the greatest success on the levels of `basics`, all
candidates in one rollout, each with weights of its own as traits: `python -m agents.linear` learns them again.
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from agents.attempts import play
from agents.protocol import Memory, Policy
from agents.registry import name_of
from crush_gym import Game, Level, LevelPack, State, load_pack
from crush_gym.move_values import by_action, gains, move_values
from crush_gym.policies import legal
from crush_gym.runtime import Board, Spec, randomness

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Linear:
    """Moves drawn by the exponential of a weighted sum of what they bring at once.

    gain: weight of the candies that the swap's first round clears and of the specials that it makes
    value: weight of the hand-made value that knows the goals, see `heuristic`
    """

    gain: float = 1.76
    value: float = 1.26

    @property
    def name(self) -> str:
        """What makes this agent again."""
        return name_of("linear", self)

    def bind(self, game: Game) -> Policy:
        """The player in this game; a start with traits "gain" and "value" plays each attempt with its own weights."""
        act, start, logits = _functions(game.spec)
        return Policy(act, start, params=np.array([self.gain, self.value], np.float32), logits=logits)


@functools.lru_cache(maxsize=64)
def _functions(spec: Spec) -> Any:
    """(act, start, logits): the same for each kind of game, by which programs are kept."""

    def start(params: Any, key: jax.Array, state: State, level: Level, given: Any = None) -> Memory:
        """The weights of each board, float32[2, B]; nothing where all have the same."""
        return () if given is None else jnp.stack([given["gain"], given["value"]]).astype(jnp.float32)

    def logits(params: Any, memory: Memory, state: State, level: Level) -> jax.Array:
        gain, value = params if isinstance(memory, tuple) else memory
        board = Board.of(spec, state.planes).awake()
        at_once, meant = (
            by_action(spec, board.fence(x)).astype(jnp.float32) for x in (gains(board), move_values(board, state.books))
        )
        return gain * at_once + value * meant

    def act(params: Any, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[jax.Array, Memory]:
        mask = legal(spec, state)
        rows = jax.lax.broadcasted_iota(jnp.uint32, mask.shape, 0)
        uniform = (randomness.draw(randomness.key_bits(key), randomness.PASS, 0, rows) >> 8).astype(jnp.float32) + 0.5
        noisy = logits(params, memory, state, level) - jnp.log(-jnp.log(uniform / 2.0**24))
        best = jnp.argmax(jnp.where(mask, noisy, -jnp.inf), axis=0)
        return jnp.where(mask.any(axis=0), best, -1).astype(jnp.int32), memory

    return act, start, logits


# ------------------------------------------------------------------ learning


def learned(
    levels: LevelPack, rounds: int = 8, candidates: int = 64, each: int = 8, tell: Callable[[str], None] = print
) -> Array:
    """The weights (gain, value) by which most attempts are won: the cross-entropy method, float64[2].

    Args:
        levels: that are played, equally often.
        rounds: of candidates, drawn around the best eighth of the round before.
        each: attempts of a candidate on each level, the same ones for all candidates of a round.
    """
    game, rng = Game(list(levels)), np.random.default_rng(0)
    policy, where = Linear().bind(game), np.tile(np.arange(len(levels)), each)
    mean, spread = np.array([0.5, 0.5]), np.array([0.5, 0.5])
    for number in range(rounds):
        weights = np.maximum(rng.normal(mean, spread, (candidates, 2)), 0.0)
        keys = jax.random.split(jax.random.fold_in(jax.random.key(0), number), len(where))
        traits = {name: np.repeat(w, len(where)).astype(np.float32) for name, w in zip(NAMES, weights.T, strict=True)}
        stats = play(policy, game, jnp.tile(keys, candidates), levels.stack(np.tile(where, candidates)), traits=traits)
        success = np.asarray(stats.outcome == WON).reshape(candidates, -1).mean(axis=1)
        best = weights[np.argsort(-success)[: candidates // 8]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.02
        tell(f"round {number + 1}: success {success.mean():.3f}, best {success.max():.3f}, weights {mean.round(3)}")
    return mean


NAMES = ("gain", "value")

WON = 1
"""In `Stats.outcome`, see `crush_gym.OUTCOMES`."""


def main() -> None:
    """`python -m agents.linear [--levels PACK]`: learn, and print the weights."""
    parser = argparse.ArgumentParser(prog="python -m agents.linear", description=__doc__)
    parser.add_argument("--levels", default="basics", help="a pack; levels that end with time are left out")
    pack = load_pack(parser.parse_args().levels)
    gain, value = learned(LevelPack([level for level in pack if int(level.moves) > 0]))
    print(f"linear:gain={gain:.2f},value={value:.2f}")


if __name__ == "__main__":
    main()
