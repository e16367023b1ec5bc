"""A prototype of an environment that hands boards over as soon as a share of them is quiet, as EnvPool does.

Only to be measured: whether not waiting for long cascades is worth what it costs to hand over some of the boards.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from crush_gym import Game, sizes
from crush_gym.engine import randomness
from crush_gym.engine.board import Board
from crush_gym.engine.moves import Moves, from_action, legal_moves
from crush_gym.engine.spec import Spec
from crush_gym.engine.state import RESTING, Play, State, rest
from crush_gym.engine.terrain import survey, with_boards_axis
from crush_gym.engine.turn import beat, begin, finish
from crush_gym.envs.task import Seen, glance, shown
from crush_gym.levels import Level
from crush_gym.runtime import threads
from crush_gym.runtime.lockstep import in_turn, random_action, reset, state_of
from crush_gym.runtime.parts import count_of
from crush_gym.runtime.subset import shuffle_all
from crush_gym.runtime.vmap import lanes_for


class Waiting(NamedTuple):
    """The boards of a block between two calls, some in the middle of their turns.

    keys: of the attempts, uint32[2, B]; lanes: those handed over, int32[M]; score: of each board at its last move
    """

    play: Play
    keys: jax.Array
    lanes: jax.Array
    score: jax.Array


class Asynchronous:
    """At least so many boards, whose attempts never end, in blocks; a share of each block is handed over at a time."""

    def __init__(self, game: Game, boards: int, share: float) -> None:
        assert game.level is not None
        parts = count_of(boards, sizes.LOCKSTEP)
        block = lanes_for(-(-boards // parts))
        each = int(block * share)
        self.handed = each * parts
        self.level: Level = jax.tree.map(jnp.asarray, game.level)
        self._first, self._choose, self._advance = _programs(game.spec, each)
        keys = randomness.key_bits(jax.random.split(jax.random.key(0), (parts, block)))
        self._blocks = [self._first(keys[:, i], self.level) for i in range(parts)]

    def choose(self, seed: int) -> list[jax.Array]:
        """Random legal actions of the boards handed over, block by block."""
        return [self._choose(jax.random.key(seed), block) for block in self._blocks]

    def send_and_receive(self, actions: list[jax.Array]) -> list[tuple[Seen, jax.Array, jax.Array]]:
        """Make these moves and hand over boards that are quiet: what is seen of them, their rewards and numbers."""
        calls = [
            functools.partial(self._advance, block, action, self.level)
            for block, action in zip(self._blocks, actions, strict=True)
        ]
        done = threads.run_all(self._advance, calls)
        self._blocks = [block for block, _ in done]
        return [handed for _, handed in done]


@functools.lru_cache(maxsize=8)
def _programs(spec: Spec, each: int) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    """The opening, the random player and the next boards, compiled. each: boards handed over at a time."""
    parts = (_opened, _chosen, _advanced)
    first, choose, advance = (jax.jit(functools.partial(part, spec, each)) for part in parts)
    return first, choose, advance


def _opened(spec: Spec, each: int, keys: jax.Array, level: Level) -> Waiting:
    state = reset(spec, keys, level)
    play = rest(Board.of(spec, state.planes), state.books)
    return Waiting(play, keys, jnp.arange(each, dtype=jnp.int32), jnp.zeros_like(state.books.score))


def _chosen(spec: Spec, each: int, key: jax.Array, block: Waiting) -> jax.Array:
    del each
    bits = randomness.key_bits(jax.random.split(key, block.lanes.shape))
    return random_action(spec, bits, _taken(state_of(block.play), block.lanes))


def _advanced(
    spec: Spec, each: int, block: Waiting, action: jax.Array, level: Level
) -> tuple[Waiting, tuple[Seen, jax.Array, jax.Array]]:
    """Begin the moves, beat until enough boards are quiet, and show these."""
    terrain = survey(spec, with_boards_axis(level))
    play = block.play.awake()
    wanted = from_action(spec, jnp.full(play.stage.shape, -1, jnp.int32).at[block.lanes].set(action))
    allowed = legal_moves(play.board)
    moves = play.board.fence(Moves(allowed.across & wanted.across, allowed.down & wanted.down))
    bits = play.board.fence(randomness.fold(block.keys, play.books.made))
    score = block.score.at[block.lanes].set(play.books.score[block.lanes])
    play = begin(terrain, play, moves, bits)
    enough = play.stage.shape[0] - each
    play = lax.while_loop(lambda p: jnp.sum(in_turn(p)) > enough, lambda p: beat(terrain, p.awake()), play)
    play = shuffle_all(terrain, finish(terrain, play.awake())[0])
    lanes = _longest_waiting(play, block.lanes, each)
    handed = _taken(state_of(play), lanes)
    seen = shown(spec, glance(spec, handed, level))
    reward = (play.books.score - score)[lanes].astype(jnp.float32)
    return Waiting(play, block.keys, lanes, score), (seen, reward, lanes)


def _longest_waiting(play: Play, before: jax.Array, each: int) -> jax.Array:
    """Quiet boards, int32[each]; first those that were quiet but not handed over last time."""
    quiet = play.stage == RESTING
    again = jnp.zeros_like(quiet).at[before].set(True)
    order = jnp.where(quiet, again.astype(jnp.int32), 2)
    places = jnp.cumsum(order == 0) - 1
    later = jnp.cumsum(order == 1) - 1 + jnp.sum(order == 0)
    place = jnp.where(order == 0, places, jnp.where(order == 1, later, order.shape[0]))
    lanes = jnp.zeros(order.shape, jnp.int32).at[place].set(jnp.arange(order.shape[0], dtype=jnp.int32), mode="drop")
    return lanes[:each]


def _taken(state: State, lanes: jax.Array) -> State:
    """Some of the boards."""
    taken: State = jax.tree.map(lambda x: jnp.take(x, lanes, axis=-1), state)
    return taken
