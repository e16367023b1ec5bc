"""Whole attempts by any policy: in `game.rollout` where it has a `choice`, else move by move on lanes that refill."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from agents.protocol import Memory, Policy, choice_of, own_key
from crush_gym import OUTCOMES, Game, State, Stats
from crush_gym.checks import whole_actions
from crush_gym.levels import Level
from crush_gym.runtime.vmap import lanes_for

LANES = 704
"""Boards that a policy without a wish of its own is asked for at a time."""

Progress = Callable[[int], None]
"""Told how many more attempts are over."""

Array = np.ndarray[Any, np.dtype[Any]]


class PolicyError(RuntimeError):
    """A policy that does what no policy may do; the sentence says what."""


def play(policy: Policy, game: Game, key: jax.Array, level: Level, progress: Progress | None = None) -> Stats:
    """Play attempts to their ends. key: of the attempts, keys[n]; level: one for all, or one each; stats[n].

    Attempt with key k: the game plays with k, as everywhere; the player's keys are `own_key`s.
    """
    attempts, told = key.shape[0], progress or (lambda _: None)
    choice = choice_of(policy)
    if choice is not None:
        _, stats = game.rollout(key, level=level, policy=choice, attempts=attempts)
        known: Stats = jax.tree.map(np.asarray, stats)
        if (strayed := int(np.sum(known.strayed))) > 0:
            raise PolicyError(
                f"the policy named an illegal action for {strayed:,} of {int(np.sum(known.moves)):,} moves: choose one "
                f"of the {game.actions} actions for which game.legal(state, level) is true"
            )
        told(attempts)
        return known
    lanes = _Lanes(policy, game, key, level, min(attempts, lanes_for(getattr(policy, "lanes", LANES))))
    while lanes.busy.any():
        over = lanes.move()
        if over.any():
            lanes.refill(over)
            told(int(over.sum()))
    return lanes.stats()


class _Lanes:
    """Boards that move together; those whose attempt is over take the next attempts, while there are any."""

    def __init__(self, policy: Policy, game: Game, keys: jax.Array, level: Level, lanes: int) -> None:
        self.policy, self.game, self.keys, self.all_levels = policy, game, keys, level
        self.attempt = np.arange(lanes)
        self.busy = np.ones(lanes, bool)
        self.next = lanes
        self.rows: dict[str, Array] = {}
        self.level, self.state, self.memory = self._start()

    def _start(self) -> tuple[Level, State, Memory]:
        """The openings of the lanes' attempts."""
        level = self.all_levels
        if np.ndim(level.height):
            level = jax.tree.map(lambda x: jnp.take(x, self.attempt % x.shape[-1], axis=-1), level)
        keys = self.keys[self.attempt]
        state = self.game.reset(keys, level)
        return level, state, self.policy.start(own_key(keys), state, level)

    def move(self) -> Array:
        """One move of every lane; the lanes whose attempts it ended, bool[lanes]."""
        keys = jax.vmap(jax.random.fold_in)(self.keys[self.attempt], self.state.books.made)
        answer, self.memory = self.policy.act(own_key(keys), self.memory, self.state, self.level)
        action = _whole(answer, len(self.attempt))
        self.state, turn = self.game.step(keys, self.state, whole_actions(action), self.level)
        playing = np.asarray(turn.outcome) == OUTCOMES.index("playing")
        wrong = np.flatnonzero(np.asarray(turn.illegal) & playing & self.busy)
        if wrong.size:
            raise PolicyError(
                f"the policy chose action {action[wrong[0]]}, which is not legal, as move "
                f"{int(self.state.books.made[wrong[0]]) + 1} of an attempt: choose one of the {self.game.actions} "
                "actions for which game.legal(state, level) is true"
            )
        return np.asarray(~playing & self.busy)

    def refill(self, over: Array) -> None:
        """Enter the results of these lanes and give them the next attempts."""
        for name, values in self.game.stats(self.state, self.level)._asdict().items():
            known = np.asarray(values)
            table = self.rows.setdefault(name, np.zeros(self.keys.shape[0], known.dtype))
            table[self.attempt[over]] = known[over]
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
