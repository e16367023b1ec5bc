"""What a player is once it is bound to a game, and the players that the game knows itself.

A player is three things: `params`, what it knows, shared by all boards; `start`, what it remembers of each board at the
start of an attempt; `act`, its moves. Written in JAX, whole attempts run inside `Game.rollout`, where no board waits
for another's cascade, and programs are kept by the two functions, never by the values of `params`: weights may change
after every call without compiling anything. What is random in a player comes from the key it is given, from which
nobody can tell which candies will fall (`crush_gym.keys`).

| name | chooses |
|---|---|
| random | any legal move |
| first | the one with the smallest number |
| greedy | what clears and makes most in the swap's first round, exactly; of equal ones, the one furthest down |
| heuristic | the highest hand-made value that knows the goals; ties by chance. The packs are measured by it |
| clouded | any legal move, in proportion to that value |
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp

from crush_gym.engine import randomness
from crush_gym.engine.board import Board
from crush_gym.engine.moves import legal_moves
from crush_gym.engine.randomness import key_bits
from crush_gym.engine.spec import Spec
from crush_gym.engine.state import State
from crush_gym.levels import Level
from crush_gym.move_values.choose import action_of, best, by_action, in_proportion, lowest, one_of, planes_of
from crush_gym.move_values.first_round import gains
from crush_gym.move_values.goals import move_values
from crush_gym.runtime import lockstep, observe
from crush_gym.runtime import preview as previews
from crush_gym.runtime.chunks import in_chunks
from crush_gym.runtime.preview import Preview

if TYPE_CHECKING:
    from crush_gym.game import Game

__all__ = [
    "NAMES", "WORTHS", "Act", "Function", "Logits", "Memory", "Params", "Policy", "Start", "Traits", "Value", "chance",
    "clouded", "first", "greedy", "heuristic", "legal", "of_function", "planes", "preview", "random", "random_action",
]  # fmt: skip

Params = Any
"""A pytree of what all boards share: weights, tables, temperatures. Its values are data of the compiled programs."""

Memory = Any
"""A pytree of what is remembered of each board: arrays that end in the boards' axis."""

Traits = Any
"""A pytree of what is given of each attempt from outside: arrays that end in the attempts' axis."""

Act = Callable[[Params, jax.Array, Memory, State, Level], tuple[jax.Array, Memory]]
"""(params, player's keys[B], memory, states, levels) -> (actions int32[B], memory). All boards' axes are last; those
of levels may have size 1, where all boards play the same one. On finished boards any action will do."""

Start = Callable[..., Memory]
"""(params, player's keys[B], states, levels) -> memory; with a fifth argument, `traits`, where it is given some."""

Logits = Callable[[Params, Memory, State, Level], jax.Array]
"""(params, memory, states, levels) -> float32[actions, B]: logarithms of the moves' probabilities, up to a constant of
each board; of moves that are not legal, anything."""

Value = Callable[[Params, Memory, State, Level], jax.Array]
"""(params, memory, states, levels) -> float32[B]: what the player expects the moves to come to bring, in the units of
its `worth`, each move discounted by its `discount`; of attempts that are over, anything."""

WORTHS = ("score", "progress")
"""What values may be counted in: points; or shares of the level's goals, where all are 1, and 1 more for winning."""

Function = Callable[[jax.Array, State, Level], jax.Array]
"""(words of the player's keys uint32[2, B], states, levels) -> actions int32[B]: a player without a memory."""


def remembers_nothing(params: Params, key: jax.Array, state: State, level: Level) -> Memory:
    """The start of a player without a memory."""
    del params, key, state, level
    return ()


@dataclass(frozen=True, eq=False)
class Policy:
    """A player bound to one game.

    Args:
        act: its moves; see `Act`.
        start: its memory at the start of attempts; see `Start`.
        params: what it knows.
        logits: its probabilities, where it knows them; see `Logits`.
        value: what it expects of positions, where it knows that; see `Value`.
        worth: one of `WORTHS`, what `value` is counted in.
        discount: by which `value` weighs each move less than the one before it; 1: not at all.
        traceable: whether the functions are pure JAX. Otherwise the player is asked move by move, on the host.
        lanes: how many boards at a time suit a player that is asked move by move; None: as many as there may be.

    Compiled programs are kept by `act` and `start`: keep one pair of functions for each kind of game, as
    `functools.lru_cache` on a function of `game.spec` does.
    """

    act: Act
    start: Start = remembers_nothing
    params: Params = ()
    logits: Logits | None = None
    traceable: bool = True
    lanes: int | None = None
    value: Value | None = None
    worth: str = "score"
    discount: float = 1.0

    def __post_init__(self) -> None:
        if self.worth not in WORTHS:
            raise ValueError(f"a policy's worth must be one of {', '.join(WORTHS)}, not {self.worth!r}")
        if not 0 <= self.discount <= 1:
            raise ValueError(f"a policy's discount must be from 0 to 1, not {self.discount}")


@functools.lru_cache(maxsize=256)
def of_function(function: Function) -> Policy:
    """The player of a function; see `Function`. One for each function: programs are kept by it."""

    def act(params: Params, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[jax.Array, Memory]:
        del params
        return function(key_bits(key), state, level), memory

    return Policy(act)


def legal(spec: Spec, state: State) -> jax.Array:
    """The legal moves of boards in one axis, for players: bool[actions, B]. spec: `game.spec`."""
    return lockstep.legal(spec, state)


def random_action(spec: Spec, key: jax.Array, state: State) -> jax.Array:
    """A uniformly random legal move of boards in one axis, -1 where there is none: keys[B] -> int32[B]."""
    return lockstep.random_action(spec, key_bits(key), state)


def planes(spec: Spec, state: State, level: Level) -> jax.Array:
    """What `Game.observe` shows of boards in one axis, boards first, for players: uint8[B, channels, H, W]."""
    return observe.boards_first(spec, observe.features(spec, state, level))


def preview(spec: Spec, state: State, level: Level) -> Preview:
    """What `Game.preview` tells of boards in one axis, for players; their axis comes last."""
    return previews.preview(spec, state, level)


def chance(key: jax.Array) -> jax.Array:
    """A uniform number for each board, for players: keys[B] -> float32[B] from 0 to 1."""
    return randomness.draw(key_bits(key), randomness.PASS, 0, 0) / 2.0**32


def random(game: Game) -> Policy:
    """Any legal move. Within `Game.rollout` it is the engine's own player, which draws with the moves' own keys."""
    return _random(game.spec)


def first(game: Game) -> Policy:
    """The legal move with the smallest number."""
    return _first(game.spec)


def greedy(game: Game) -> Policy:
    """The move that clears most candies and makes most specials in its first round; of equal ones the lowest."""
    return _greedy(game.spec)


def heuristic(game: Game) -> Policy:
    """A move of the highest hand-made value that knows the goals; ties are broken by chance."""
    return _heuristic(game.spec)


def clouded(game: Game) -> Policy:
    """A move by chance, in proportion to the hand-made values: p(a) = h(a) / sum of h."""
    return _clouded(game.spec)


NAMES: dict[str, Callable[[Game], Policy]] = {
    "random": random,
    "first": first,
    "greedy": greedy,
    "heuristic": heuristic,
    "clouded": clouded,
}
"""The players by name, for `Game.rollout(policy=...)`."""


@dataclass(frozen=True)
class Randomly:
    """The moves of the random player, by which the engine knows its own."""

    spec: Spec

    def __call__(
        self, params: Params, key: jax.Array, memory: Memory, state: State, level: Level
    ) -> tuple[jax.Array, Memory]:
        """See `Act`."""
        del params, level
        return random_action(self.spec, key, state), memory


@functools.lru_cache(maxsize=64)
def _random(spec: Spec) -> Policy:
    def logits(params: Params, memory: Memory, state: State, level: Level) -> jax.Array:
        del params, memory, level
        return jnp.zeros((spec.actions, state.planes.shape[-1]), jnp.float32)

    return Policy(Randomly(spec), logits=logits)


@functools.lru_cache(maxsize=64)
def _first(spec: Spec) -> Policy:
    def smallest(bits: jax.Array, state: State, level: Level) -> jax.Array:
        del bits, level
        mask = legal(spec, state)
        return jnp.where(mask.any(axis=0), jnp.argmax(mask, axis=0), -1).astype(jnp.int32)

    return _memoryless(smallest)


@functools.lru_cache(maxsize=64)
def _greedy(spec: Spec) -> Policy:
    def most(planes: jax.Array) -> jax.Array:
        board = Board.of(spec, planes).awake()
        legal = board.fence(planes_of(legal_moves(board)))
        return action_of(board, lowest(best(board, legal, board.fence(gains(board)))))

    return _memoryless(lambda bits, state, level: in_chunks(most)(state.planes))


@functools.lru_cache(maxsize=64)
def _heuristic(spec: Spec) -> Policy:
    def highest(bits: jax.Array, state: State) -> jax.Array:
        board = Board.of(spec, state.planes).awake()
        legal = board.fence(planes_of(legal_moves(board)))
        values = board.fence(move_values(board, state.books))
        return action_of(board, one_of(board, best(board, legal, values), bits))

    return _memoryless(lambda bits, state, level: in_chunks(highest)(bits, state))


@functools.lru_cache(maxsize=64)
def _clouded(spec: Spec) -> Policy:
    def by_chance(bits: jax.Array, state: State) -> jax.Array:
        board = Board.of(spec, state.planes).awake()
        legal = board.fence(planes_of(legal_moves(board)))
        values = board.fence(move_values(board, state.books))
        return action_of(board, in_proportion(board, legal, values, bits))

    def logits(params: Params, memory: Memory, state: State, level: Level) -> jax.Array:
        del params, memory, level
        board = Board.of(spec, state.planes).awake()
        values = by_action(spec, board.fence(move_values(board, state.books)))
        return jnp.log(jnp.maximum(values, 1e-3).astype(jnp.float32))

    return _memoryless(lambda bits, state, level: in_chunks(by_chance)(bits, state), logits)


def _memoryless(function: Function, logits: Logits | None = None) -> Policy:
    return Policy(of_function(function).act, logits=logits)
