"""What is static about an environment, and its episodes as pure functions on boards.

Every environment here - one board for Gymnasium, thousands for Gymnasium or Stable-Baselines3, and the functional
one - plays these same functions. Boards' axes come last.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from crush_gym import sizes
from crush_gym.engine import randomness
from crush_gym.engine.spec import Spec
from crush_gym.engine.state import PLAYING, State
from crush_gym.envs import rewards
from crush_gym.envs.rewards import Reward
from crush_gym.levels import Level
from crush_gym.levels.level import Leaf
from crush_gym.runtime import lockstep
from crush_gym.runtime.identity import INTERCHANGEABLE
from crush_gym.runtime.lockstep import Turn
from crush_gym.runtime.observe import Features, boards_first, features, unpack_rows
from crush_gym.runtime.subset import on_few

if TYPE_CHECKING:
    from crush_gym.game import Game

ILLEGAL = ("pass", "random", "raise")
"""What becomes of an illegal action: nothing; a random legal one is played; an error, where there can be one."""

MOST_ILLEGAL = 100
"""Illegal actions in a row after which an episode is truncated: a learner without a mask cannot hang."""


@dataclass(frozen=True)
class Task:
    """One kind of game, and what a step is rewarded with. Two that are equal share their programs.

    game: any one of this kind, for rewards to be bound to
    """

    spec: Spec
    reward: Reward
    illegal: str
    game: Game = field(compare=False, repr=False, metadata={INTERCHANGEABLE: True})


class Outcome(NamedTuple):
    """What a step brought, per board. reward: float32; illegal: what was asked for was not legal."""

    reward: jax.Array
    terminated: jax.Array
    truncated: jax.Array
    illegal: jax.Array
    turn: Turn


class Seen(NamedTuple):
    """What a player is shown, boards in front.

    planes: uint8[B, channels, H, W], see `Game.channels`; mask: int8[B, actions], all ones where nothing is legal
    """

    planes: jax.Array
    mask: jax.Array


def play(
    task: Task, bits: jax.Array, state: State, streak: jax.Array, action: jax.Array, level: Level
) -> tuple[State, jax.Array, Outcome]:
    """One step of every board. bits: the moves' keys, uint32[2, B]; streak: illegal actions in a row so far."""
    spec = task.spec
    replaced = jnp.zeros(action.shape, bool)
    if task.illegal == "random":
        action, replaced = lockstep.legal_action(spec, bits, state, action)
    after, turn = lockstep.step(spec, bits, state, action, level)
    over_before = state.books.outcome != PLAYING
    illegal = (replaced | turn.illegal) & ~over_before
    streak = jnp.where(illegal, streak + 1, 0)
    terminated = after.books.outcome != PLAYING
    given = rewards.bound(task.reward, task.game)(state, after, turn, level)
    reward = jnp.where(over_before, 0.0, given)
    return after, streak, Outcome(reward, terminated, (streak >= MOST_ILLEGAL) & ~terminated, illegal, turn)


class Glance(NamedTuple):
    """What a player is shown, packed, boards last: the planes, and the legal moves as planes uint16[2, H, B]."""

    features: Features
    moves: jax.Array


def glance(spec: Spec, state: State, level: Level) -> Glance:
    """See `Glance`."""
    moves = lockstep.legal_planes(spec, state)
    return Glance(features(spec, state, level), jnp.stack([moves.across, moves.down]))


def shown(spec: Spec, packed: Glance, xp: Any = jnp) -> Seen:
    """Unpacked, boards first. xp: `jax.numpy`, or `numpy` for a few boards on the host."""
    return Seen(boards_first(spec, packed.features, xp), masks(spec, packed.moves, xp))


def masks(spec: Spec, moves: jax.Array, xp: Any = jnp) -> jax.Array:
    """int8[B, actions] of packed moves; all ones where nothing is legal, for samplers break on all zeros."""
    across, down = (xp.moveaxis(plane, -1, 0) for plane in moves)
    parts = [unpack_rows(spec.width - 1, across, xp), unpack_rows(spec.width, down[:, : spec.height - 1], xp)]
    mask = xp.concatenate([part.reshape(part.shape[0], -1) for part in parts], axis=1)
    return xp.where(xp.any(mask != 0, axis=1, keepdims=True), mask, xp.uint8(1)).astype(xp.int8)


class Facts(NamedTuple):
    """What is known of an episode besides its board, per board: int32.

    moves_left: -1 in timed levels; seconds_left: in tenths, -1 in others; outcome, reason: see `crush_gym.OUTCOMES`,
    `REASONS`; level: which of the levels
    """

    score: jax.Array
    moves: jax.Array
    moves_left: jax.Array
    seconds_left: jax.Array
    waves: jax.Array
    outcome: jax.Array
    reason: jax.Array
    level: jax.Array


def facts(lanes: Lanes, level: Level) -> Facts:
    """See `Facts`."""
    books, timed = lanes.state.books, level.seconds > 0
    return Facts(
        score=books.score,
        moves=books.made,
        moves_left=jnp.where(timed, -1, books.moves),
        seconds_left=jnp.where(timed, books.time, -1),
        waves=books.waves,
        outcome=books.outcome,
        reason=books.reason,
        level=lanes.level,
    )


class Lanes(NamedTuple):
    """Endless series of episodes side by side, every leaf with the boards' axis last.

    state: of the episode under way; key: of the lane, uint32[2, B]; episode: its number; level: which of the levels
    streak: illegal actions in a row; over: the last step ended the episode
    """

    state: State
    key: jax.Array
    episode: jax.Array
    level: jax.Array
    streak: jax.Array
    over: jax.Array


class Step(NamedTuple):
    """What a step of lanes gives. final_*: of the episodes that ended in it, where they are reset at once."""

    outcome: Outcome
    seen: Seen
    facts: Facts
    final: Glance | None
    final_facts: Facts | None


def opened(task: Task, key: jax.Array, episode: jax.Array, number: jax.Array, levels: Level) -> Lanes:
    """Lanes at the start of the episodes of these numbers, on the levels of these numbers."""
    state = lockstep.reset(task.spec, randomness.fold(key, episode), of_level(levels, number))
    return Lanes(state, key, episode, number, jnp.zeros_like(episode), jnp.zeros(episode.shape, bool))


def look_at(task: Task, lanes: Lanes, levels: Level) -> tuple[Seen, Facts]:
    """What is seen of episodes under way."""
    level = of_level(levels, lanes.level)
    return shown(task.spec, glance(task.spec, lanes.state, level)), facts(lanes, level)


def advance(task: Task, mode: str, order: str, lanes: Lanes, action: jax.Array, pool: Pool) -> tuple[Lanes, Step]:
    """One step of every lane. mode: of autoreset, "next", "same" or "none"; order: see `next_level`."""
    levels = pool.levels
    due = lanes.over if mode == "next" else jnp.zeros_like(lanes.over)
    if mode == "next":
        lanes = _reopened(task, order, lanes, due, pool)
        action = jnp.where(due, -1, action)
    level = of_level(levels, lanes.level)
    state, streak, outcome = play(task, move_keys(lanes), lanes.state, lanes.streak, action, level)
    if mode == "next":
        outcome = jax.tree.map(lambda x: jnp.where(due, jnp.zeros_like(x), x), outcome)
        streak = jnp.where(due, 0, streak)
    over = outcome.terminated | outcome.truncated
    lanes = lanes._replace(state=state, streak=streak, over=over)
    final, final_facts = None, None
    if mode == "same":
        final = _where_any(over, functools.partial(glance, task.spec, state, level))
        final_facts = facts(lanes, level)
        lanes = _reopened(task, order, lanes, over, pool)
    seen, known = look_at(task, lanes, levels)
    return lanes, Step(outcome, seen, known, final, final_facts)


def _where_any(which: jax.Array, make: Any) -> Any:
    """What `make` gives if any board is meant, else zeros."""
    shapes = jax.eval_shape(make)
    return lax.cond(jnp.any(which), make, lambda: jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes))


def _reopened(task: Task, order: str, lanes: Lanes, due: jax.Array, pool: Pool) -> Lanes:
    """Lanes whose episodes are due begin their next ones; the others stay."""
    episode = lanes.episode + due
    number = jnp.where(due, next_level(lanes.key, episode, pool, order), lanes.level)
    state = begun(task.spec, randomness.fold(lanes.key, episode), due, lanes.state, number, pool.levels)
    streak = jnp.where(due, 0, lanes.streak)
    return Lanes(state, lanes.key, episode, number, streak, lanes.over & ~due)


def begun(spec: Spec, bits: jax.Array, due: jax.Array, state: State, number: jax.Array, levels: Level) -> State:
    """States where the boards that are due begin episodes with these keys on the levels of these numbers."""

    def begin_few(boards: tuple[Any, ...]) -> tuple[Any, ...]:
        old, wanted, bits, number = boards
        new = lockstep.reset(spec, bits, of_level(levels, number))
        return jax.tree.map(lambda x, y: jnp.where(wanted, x, y), new, old), jnp.zeros_like(wanted), bits, number

    def some(boards: tuple[Any, ...]) -> tuple[Any, ...]:
        return on_few(boards, boards[1], max(1, due.shape[0] // sizes.REOPENED_SHARE), begin_few)

    started: State = lax.while_loop(lambda boards: jnp.any(boards[1]), some, (state, due, bits, number))[0]
    return started


class Pool(NamedTuple):
    """The levels that episodes are played on.

    levels: leaves end in an axis of levels
    edges: uint32[levels - 1], where the share of each level but the first begins in the numbers below `DRAWS`; None
    where all shares are equal
    """

    levels: Level
    edges: Leaf | None


DRAWS = 2**31
"""Weighted levels are drawn by a number below this."""

ORDERS = ("sample", "cycle")
"""Which level an episode plays: one at random, or, in turn, level (seed + episode) modulo their number."""


def next_level(key: jax.Array, episode: jax.Array, pool: Pool, order: str) -> jax.Array:
    """The number of the level that a lane's episode of this number plays. key: the lane's."""
    if order == "cycle":
        return ((key[1] + episode.astype(jnp.uint32)) % level_count(pool)).astype(jnp.int32)
    return drawn_level(randomness.fold(key, episode), pool)


def drawn_level(bits: jax.Array, pool: Pool) -> jax.Array:
    """The number of the level that the episodes with these keys play, at random."""
    if level_count(pool) == 1:
        return jnp.zeros(bits.shape[1:], jnp.int32)
    value = randomness.draw(bits, randomness.PASS, 0, 0)
    if pool.edges is None:
        return randomness.below(value, level_count(pool)).astype(jnp.int32)
    return jnp.searchsorted(pool.edges, value >> 1, side="right").astype(jnp.int32)


def level_count(pool: Pool) -> int:
    """How many levels there are."""
    return int(pool.levels.height.shape[-1])


def of_level(levels: Level, numbers: jax.Array) -> Level:
    """One level for each board. levels: leaves ending in an axis of levels."""
    return jax.tree.map(lambda x: x if x.shape[-1] == 1 else jnp.take(x, numbers, axis=-1), levels)


def move_keys(lanes: Lanes) -> jax.Array:
    """The keys of the coming moves: move m of an attempt with key k has fold_in(k, m); uint32[2, B]."""
    return randomness.fold(randomness.fold(lanes.key, lanes.episode), lanes.state.books.made)
