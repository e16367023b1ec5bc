"""Whole attempts of any player: in `game.rollout` where it is traceable, or move by move on lanes that refill."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, overload

import jax
import jax.numpy as jnp
import numpy as np

from agents.protocol import Memory, Policy, Traits
from crush_gym import OUTCOMES, Game, Level, State, Stats
from crush_gym.keys import move_key, player_key
from crush_gym.runtime import lanes_for, sizes

Progress = Callable[[int], None]
"""Told how many more attempts are over."""

Array = np.ndarray[Any, np.dtype[Any]]


class Asked(NamedTuple):
    """What a player was asked, and what it did; boards' axes are last.

    attempts: numbers of those that the boards play; busy: boards whose attempt goes on, of which alone this is true
    memory, state, level: before the move
    """

    attempts: Array
    busy: Array
    memory: Memory
    state: State
    level: Level
    action: Array


Watch = Callable[[Asked], None]
"""Told every time a player was asked."""


class PolicyError(RuntimeError):
    """A policy that does what no policy may do; the sentence says what."""


@overload
def play(
    policy: Policy,
    game: Game,
    key: jax.Array,
    level: Level,
    progress: Progress | None = None,
    traits: Traits = None,
    *,
    move_by_move: bool = False,
    watch: Watch | None = None,
) -> Stats: ...
@overload
def play(
    policy: Policy,
    game: Game,
    key: jax.Array,
    level: Level,
    progress: Progress | None = None,
    traits: Traits = None,
    *,
    move_by_move: bool = False,
    watch: Watch | None = None,
    memories: Literal[True],
) -> tuple[Stats, Memory]: ...
def play(
    policy: Policy,
    game: Game,
    key: jax.Array,
    level: Level,
    progress: Progress | None = None,
    traits: Traits = None,
    *,
    move_by_move: bool = False,
    watch: Watch | None = None,
    memories: bool = False,
) -> Stats | tuple[Stats, Memory]:
    """Play attempts to their ends.

    Args:
        policy: a player bound to this game.
        key: of the attempts, keys[n]: the game plays with them, and the player with `player_key`s of them.
        level: one for all, or one each.
        progress: told how many more attempts are over.
        traits: for the player's start: a tree whose leaves end in the attempts' axis.
        move_by_move: whether a traceable player is asked so, too. Results are the same; all players share the programs
            that play the game then, where each would have one of its own with the game in it.
        watch: sees every move; the player is asked move by move then.
        memories: also return what the player remembered of each attempt when it was over.

    Returns:
        stats[n], and memories whose leaves end in the attempts' axis; an illegal action is a `PolicyError`.
    """
    attempts, told = key.shape[0], progress or (lambda _: None)
    if policy.traceable and not move_by_move and watch is None:
        given: Any = {"memories": True} if memories else {}
        _, *played = game.rollout(key, level=level, policy=policy, attempts=attempts, traits=traits, **given)
        known: Stats = jax.tree.map(np.asarray, played[0])
        if (strayed := int(np.sum(known.strayed))) > 0:
            raise strayed_error(game, f"named an illegal action for {strayed:,} of {int(np.sum(known.moves)):,} moves")
        told(attempts)
        return (known, played[1]) if memories else known
    most = policy.lanes or (sizes.FOREIGN if policy.traceable else sizes.ASKED)
    lanes = _Lanes(policy, game, key, level, traits, min(attempts, lanes_for(most)), memories, watch)
    while lanes.busy.any():
        over = lanes.move()
        if over.any():
            lanes.refill(over)
            told(int(over.sum()))
    return (lanes.stats(), lanes.memories) if memories else lanes.stats()


class _Lanes:
    """Boards that move together; those whose attempt is over take the next attempts, while there are any."""

    def __init__(
        self,
        policy: Policy,
        game: Game,
        keys: jax.Array,
        level: Level,
        traits: Traits,
        lanes: int,
        remember: bool = False,
        watch: Watch | None = None,
    ) -> None:
        self.policy, self.game, self.keys, self.all_levels, self.traits = policy, game, keys, level, traits
        self.watch = watch
        self.attempt = np.arange(lanes)
        self.busy = np.ones(lanes, bool)
        self.next = lanes
        self.rows: dict[str, Array] = {}
        self.level, self.state, self.memory = self._start()
        self.memories = _tables(self.memory, keys.shape[0]) if remember else None

    def _start(self) -> tuple[Level, State, Memory]:
        """The openings of the lanes' attempts."""
        level = self.all_levels
        if np.ndim(level.height):
            level = jax.tree.map(lambda x: jnp.take(x, self.attempt % x.shape[-1], axis=-1), level)
        keys = self.keys[self.attempt]
        state = self.game.reset(keys, level)
        traits = None if self.traits is None else jax.tree.map(lambda x: x[..., self.attempt], self.traits)
        return level, state, self.game.start(self.policy, player_key(keys), state, level, traits)

    def _asked(self, keys: jax.Array) -> tuple[Any, Memory]:
        """What the player answers, and remembers then. keys: of the moves."""
        if self.game.is_random(self.policy):  # which draws with the moves' own keys, as in rollouts
            return self.game.random_action(keys, self.state), self.memory
        return self.game.act(self.policy, player_key(keys), self.memory, self.state, self.level)

    def move(self) -> Array:
        """One move of every lane; the lanes whose attempts it ended, bool[lanes]."""
        keys = move_key(self.keys[self.attempt], self.state.books.made)
        before = self.memory
        answer, self.memory = self._asked(keys)
        action = _whole(answer, len(self.attempt))
        if self.watch is not None:
            self.watch(Asked(self.attempt.copy(), self.busy.copy(), before, self.state, self.level, action))
        self.state, turn = self.game.step(keys, self.state, action, self.level)
        playing = np.asarray(turn.outcome) == OUTCOMES.index("playing")
        wrong = np.flatnonzero(np.asarray(turn.illegal) & playing & self.busy)
        if wrong.size:
            move = int(self.state.books.made[wrong[0]]) + 1
            did = f"chose action {action[wrong[0]]}, which is not legal, as move {move} of an attempt"
            raise strayed_error(self.game, did)
        return np.asarray(~playing & self.busy)

    def refill(self, over: Array) -> None:
        """Enter the results of these lanes and give them the next attempts."""
        for name, values in self.game.stats(self.state, self.level)._asdict().items():
            known = np.asarray(values)
            table = self.rows.setdefault(name, np.zeros(self.keys.shape[0], known.dtype))
            table[self.attempt[over]] = known[over]
        if self.memories is not None:
            jax.tree.map(lambda table, x: _enter(table, self.attempt[over], x, over), self.memories, self.memory)
        takes = np.zeros_like(over)
        takes[np.flatnonzero(over)[: self.keys.shape[0] - self.next]] = True
        self.busy = self.busy & (~over | takes)
        if takes.any():
            self.attempt[takes] = np.arange(self.next, self.next + takes.sum())
            self.next += int(takes.sum())
            self.level, *new = self._start()
            self.state, self.memory = merged(takes, tuple(new), (self.state, self.memory))

    def stats(self) -> Stats:
        """The results of all attempts."""
        rows: dict[str, Any] = self.rows
        return Stats(**rows)


def _tables(memory: Memory, attempts: int) -> Memory:
    """Room for the memories of so many attempts, on the host."""
    return jax.tree.map(lambda x: np.zeros((*np.shape(x)[:-1], attempts), jnp.result_type(x)), memory)


def _enter(table: Array, places: Array, memory: Any, of: Array) -> None:
    table[..., places] = np.asarray(memory)[..., of]


def strayed_error(game: Game, did: str) -> PolicyError:
    """What is said of a player that named an illegal action."""
    return PolicyError(
        f"the policy {did}: choose one of the {game.actions} actions for which game.legal(state, level) is true"
    )


def merged(takes: Array, new: Any, old: Any) -> Any:
    """The new leaves on the boards that take them, the old ones elsewhere; boards last."""

    def leaf(n: Any, o: Any) -> Any:
        return np.where(takes, n, o) if isinstance(o, np.ndarray) else jnp.where(takes, n, o)

    return jax.tree.map(leaf, new, old)


def _whole(answer: Any, boards: int) -> Array:
    """A policy's actions, refused in one sentence where they are none."""
    actions = np.asarray(answer)
    if actions.shape != (boards,):
        raise PolicyError(f"the policy gave actions of shape {actions.shape} for {boards} boards, expected ({boards},)")
    if not np.issubdtype(actions.dtype, np.integer):
        nan = np.issubdtype(actions.dtype, np.floating) and bool(np.isnan(actions).any())
        found = "NaN" if nan else str(actions.dtype)
        raise PolicyError(f"the policy gave {found} as actions: whole numbers are expected, indices into `legal`")
    return actions
