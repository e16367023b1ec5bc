"""What a step is rewarded with: the rewards that have names, and what one of your own looks like.

A reward is a function in JAX of many boards at once, whose boards' axis comes last:

    def reward(before: State, after: State, turn: Turn, level: Level) -> jax.Array:  # float32[boards]
        return turn.cleared.astype(jnp.float32)

A state holds only the planes that its game needs, so one that reads the board must know the game: it is an object
with a method `bind(game)` that gives such a function. `game.count` and `game.cells` tell what lies on a board.

Programs are kept by the reward: one that is equal to the last compiles nothing anew. So write functions at the top of
a module, and objects as frozen dataclasses, whose fields are the reward's parameters.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np

from crush_gym.engine.progress import progress
from crush_gym.engine.spec import Spec
from crush_gym.engine.state import PLAYING, WON, Books, State
from crush_gym.levels import Level
from crush_gym.levels.values import did_you_mean
from crush_gym.runtime.lockstep import Turn

if TYPE_CHECKING:
    from crush_gym.game import Game

__all__ = ["REWARDS", "Progress", "ReadsBoards", "Reward", "RewardFn", "score", "win"]

RewardFn: TypeAlias = Callable[[State, State, Turn, Level], jax.Array]
"""(before, after, turn, level) -> float32[boards]; of a level that all boards share, the boards' axes have size 1."""


@runtime_checkable
class ReadsBoards(Protocol):
    """A reward that has to know the game. It can be hashed, and equal ones give the same rewards."""

    def bind(self, game: Game) -> RewardFn:
        """The reward in this game, or in any of its kind: the level comes as an argument."""
        ...


Reward: TypeAlias = RewardFn | ReadsBoards


def score(before: State, after: State, turn: Turn, level: Level) -> jax.Array:
    """The points of the move."""
    del before, after, level
    return turn.score.astype(jnp.float32)


def win(before: State, after: State, turn: Turn, level: Level) -> jax.Array:
    """1 for the move that wins, else 0."""
    del turn, level
    return ((after.books.outcome == WON) & (before.books.outcome == PLAYING)).astype(jnp.float32)


@dataclass(frozen=True)
class Progress:
    """The share of the goals that the move did, where every goal weighs the same, and 1 more for a win."""

    def bind(self, game: Game) -> RewardFn:
        """See `ReadsBoards`."""
        return functools.partial(_progress, game.spec)


def _progress(spec: Spec, before: State, after: State, turn: Turn, level: Level) -> jax.Array:
    return progress(spec, after, level) - progress(spec, before, level) + win(before, after, turn, level)


REWARDS: dict[str, Reward] = {"score": score, "progress": Progress(), "win": win}
"""The rewards that have names."""


def find(reward: Any) -> Reward:
    """The reward meant by a name, or by itself; anything else is refused."""
    if isinstance(reward, str) and reward in REWARDS:
        return REWARDS[reward]
    if isinstance(reward, type):
        raise ValueError(f"reward is the class {reward.__name__}: give one of its kind, such as {reward.__name__}()")
    if isinstance(reward, str) or not (callable(reward) or isinstance(reward, ReadsBoards)):
        known = f"one of {', '.join(map(repr, REWARDS))} or a function (before, after, turn, level)"
        raise ValueError(f"reward must be {known}, not {reward!r}{did_you_mean(reward, REWARDS)}")
    try:
        hash(reward)
    except TypeError:
        raise ValueError(
            f"reward {name_of(reward)!r} cannot be hashed, and programs are kept by it:"
            " make it a function, or a frozen dataclass of numbers"
        ) from None
    found: Reward = reward
    return found


def bound(reward: Reward, game: Game) -> RewardFn:
    """The function that the reward is in this game."""
    return reward.bind(game) if isinstance(reward, ReadsBoards) else reward


def check(reward: Reward, game: Game, levels: Sequence[Level]) -> None:
    """Refuse what gives no float32[boards] on these levels, before anything is compiled."""
    if reward in REWARDS.values():
        return
    try:
        given = jax.eval_shape(bound(reward, game), *_examples(game.spec, levels))
    except Exception as error:
        said = str(error).partition("\n")[0]
        raise ValueError(
            f"reward {name_of(reward)!r} cannot be traced by JAX ({type(error).__name__}: {said}):"
            " it must be a function of (before, after, turn, level) in jax.numpy"
        ) from error
    found = _spelt(given) if isinstance(given, jax.ShapeDtypeStruct) else f"a {type(given).__name__}"
    if found != "float32[boards]":
        raise ValueError(
            f"reward {name_of(reward)!r} gives {found}, but float32[boards] is expected: one number for each board,"
            " made float32 by .astype(jnp.float32)"
        )


def name_of(reward: Any) -> str:
    """What a message calls it."""
    name: str = getattr(reward, "__name__", type(reward).__name__)
    return name


_BOARDS = 1009
"""Boards of the examples: like the size of nothing else."""


def _examples(spec: Spec, levels: Sequence[Level]) -> tuple[State, State, Turn, Level]:
    """What a reward is given, as shapes and types."""

    def numbers(*axes: int, dtype: Any = jnp.int32, boards: int = _BOARDS) -> Any:
        return jax.ShapeDtypeStruct((*axes, boards), dtype)  # type: ignore[no-untyped-call]

    stacks = {"orders": len(spec.orders), "spawned": spec.spawn_kinds, "last_spawn": spec.spawn_kinds}
    books = Books(**{name: numbers(*([stacks[name]] if name in stacks else [])) for name in Books._fields})
    state = State(numbers(len(spec.planes), spec.height, dtype=jnp.uint16), books)
    flags = ("illegal", "reshuffled")
    turn = Turn(**{name: numbers(dtype=jnp.bool_ if name in flags else jnp.int32) for name in Turn._fields})
    boards = 1 if len(levels) == 1 else _BOARDS
    level = jax.tree.map(lambda x: numbers(*np.shape(x), dtype=x.dtype, boards=boards), levels[0])
    return state, state, turn, level


def _spelt(leaf: Any) -> str:
    """The type and the shape, as in "float32[boards]"."""
    axes = ["boards" if size == _BOARDS else str(size) for size in leaf.shape]
    return f"{leaf.dtype}[{', '.join(axes)}]"
