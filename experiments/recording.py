"""Moves of any player as state-action pairs, for learning to play as it does; see `agents.learning.pairs`.

What is seen are the planes of the environments' view `king`, and, if it is wanted, what each move brings by itself. A
recording is written in pieces of whole attempts, each a file of its own, while the next one is played: one that was
broken off goes on after its last piece, and ends as if it had never stopped.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from agents.attempts import Asked, play
from agents.learning.inputs import GAINS, gains_of
from agents.learning.pairs import About, Pairs, Writer, packed_cells, packed_mask, shards
from agents.protocol import Agent, Policy, bound
from crush_gym import Game, Level, LevelPack, State, Stats
from crush_gym.envs.views import king_channels, view
from crush_gym.policies import legal, planes
from experiments.results.task import Task
from experiments.running.jobs import attempt_keys

__all__ = ["Attempt", "Recorder", "RecordingError", "record"]

PIECE = 512
"""Attempts of a piece at most: some ten thousand pairs."""

USUAL_MOVES = 25
"""Of an attempt, where a level does not limit them."""

Told = Callable[[int], None]
"""Told how many more pairs are written."""

Array = np.ndarray[Any, Any]


class RecordingError(RuntimeError):
    """Moves that cannot be recorded, with the sentence that says why."""


class Attempt(NamedTuple):
    """An attempt whose moves are wanted. task: its number among the recorder's; number: by which its key is made.

    player, attempt: as the pairs tell them
    """

    task: int
    number: int
    player: int = 0
    attempt: int = 0


def record(
    agent: Agent,
    tasks: Sequence[Task],
    pairs: int,
    folder: Path,
    seed: int = 0,
    told: Told | None = None,
    previews: bool = False,
) -> int:
    """Let an agent play, and write whole attempts with about so many moves on each level; how many pairs there are.

    Args:
        tasks: levels under one set of rules.
        folder: a new one, or that of the same recording, which goes on.
        seed: of the attempts, which are those of `evaluate` with this seed.
        told: is told how many more pairs there are.
        previews: whether what each move brings by itself is written, too.
    """
    told = told or (lambda _: None)
    recorder = Recorder.of(agent, tasks, seed, previews)
    have, begun = np.zeros(len(tasks), int), np.zeros(len(tasks), int)
    written: list[Future[None]] = []
    with Writer(folder, recorder.about(), shard=1 << 40, resume=True) as writer, ThreadPoolExecutor(1) as beside:

        def write(found: Pairs) -> None:
            writer.add(found)
            writer.flush()
            told(found.number)

        for known in shards(folder) if writer.number else ():
            have += np.bincount(known.level, minlength=len(tasks))
            np.maximum.at(begun, known.level, known.attempt + 1)
        told(int(have.sum()))
        limits = [int(task.level.moves) or USUAL_MOVES for task in tasks]
        size = int(min(PIECE, sum(-(-pairs // limit) for limit in limits)))
        while (have < pairs).any():
            wanted = next_attempts(have, begun, limits, pairs, size)
            found, owner, _ = recorder.pairs(wanted, size)
            kept = within(wanted, np.bincount(owner, minlength=len(wanted)), have, pairs)
            found = found.some(kept[owner])
            if not found.number:
                raise RecordingError(
                    f"{agent.name} made no move in {len(wanted):,} attempts: there is nothing to record"
                )
            _wait_for(written)
            written.append(beside.submit(write, found))
            have += np.bincount(found.level, minlength=len(tasks))
            np.maximum.at(begun, found.level, found.attempt + 1)
        _wait_for(written)
    return int(have.sum())


def _wait_for(written: list[Future[None]]) -> None:
    """Until everything is written; what went wrong there is raised here."""
    while written:
        written.pop().result()


def next_attempts(have: Array, begun: Array, limits: Sequence[int], pairs: int, size: int) -> list[Attempt]:
    """So many attempts, on levels that lack pairs, as many on each as it probably needs, the others in turn.

    Args:
        have, begun: pairs and attempts of each level so far.
        limits: moves of an attempt, where nothing is known yet.
    """
    each = np.where(begun > 0, have / np.maximum(begun, 1), limits)
    needs = np.ceil((pairs - have) / np.maximum(each, 1)).astype(int)
    lacking = np.flatnonzero(have < pairs)
    turns = sorted((k >= needs[level], k, level) for level in lacking.tolist() for k in range(size))
    return [Attempt(level, int(begun[level]) + k, 0, int(begun[level]) + k) for _, k, level in turns[:size]]


def within(attempts: Sequence[Attempt], moves: Sequence[int] | Array, have: Array, pairs: int) -> Array:
    """Which attempts are kept: on each level, in their order, until there are so many moves. bool[attempts]."""
    before, kept = have.copy(), np.zeros(len(attempts), bool)
    for place in sorted(range(len(attempts)), key=lambda n: attempts[n].attempt):
        task = attempts[place].task
        kept[place] = before[task] < pairs
        before[task] += moves[place] if kept[place] else 0
    return kept


@dataclass(frozen=True)
class Recorder:
    """Lets an agent play attempts on tasks, all in one game, and keeps every position and move."""

    agent: Agent
    tasks: tuple[Task, ...]
    seed: int
    game: Game
    policy: Policy
    pack: LevelPack
    previews: bool = False

    @classmethod
    def of(cls, agent: Agent, tasks: Sequence[Task], seed: int, previews: bool = False) -> Recorder:
        """For tasks under one set of rules. previews: whether what each move brings by itself is recorded."""
        if len({(task.rules, task.adjacency) for task in tasks}) != 1:
            raise RecordingError("moves are recorded in one game: record levels of other rules by themselves")
        levels = [replace(task.level, name=str(n)) for n, task in enumerate(tasks)]
        game = Game(levels, rules=tasks[0].rules, adjacency=tasks[0].adjacency)
        return cls(agent, tuple(tasks), seed, game, bound(agent, game), LevelPack(levels), previews)

    def about(self, traits: Sequence[str] = (), origin: Mapping[str, Any] | None = None) -> About:
        """What the pairs are of. traits: names; origin: what is to be told besides."""
        known = {"player": self.agent.name, "seed": self.seed, "rules": self.tasks[0].rules}
        return About(
            planes=king_channels(self.game.spec),
            shape=self.game.shape,
            actions=self.game.actions,
            levels=tuple((task.name, task.level.content_hash()) for task in self.tasks),
            traits=tuple(traits),
            probabilities=self.policy.logits is not None,
            origin=known | dict(origin or {}),
            gains=GAINS if self.previews else (),
        )

    def pairs(
        self,
        attempts: Sequence[Attempt],
        size: int,
        given: Any = None,
        told: Array | None = None,
        keys: jax.Array | None = None,
    ) -> tuple[Pairs, Array, Stats]:
        """The pairs of some attempts, one attempt after the other.

        Args:
            size: attempts that are played, the last one again and again: each number would be compiled anew.
            given: for the player's start, see `agents.attempts.play`.
            told: of who plays, as the pairs tell it, float32[attempts, traits].
            keys: of the attempts, keys[size], where they are not those of `evaluate`.

        Returns:
            The pairs, the place in `attempts` of each, and the results of the attempts.
        """
        number, filled = len(attempts), [*attempts, *[attempts[-1]] * (size - len(attempts))]
        where = np.array([attempt.task for attempt in filled])
        if keys is None:
            words = np.array([int(self.tasks[n].identity[:8], 16) for n in where], np.uint32)
            keys = attempt_keys(jax.random.key(self.seed), words, np.array([a.number for a in filled], np.uint32))
        traits = np.zeros((size, 0), np.float32) if told is None else np.resize(told, (size, told.shape[1]))
        fixed = {
            "level": where.astype(np.int32), "traits": traits.astype(np.float32),
            "player": np.array([attempt.player for attempt in filled], np.int32),
            "attempt": np.array([attempt.attempt for attempt in filled], np.int32),
        }  # fmt: skip
        found: list[tuple[Array, dict[str, Array]]] = []

        def see(asked: Asked) -> None:
            mine = asked.busy & (asked.attempts < number)
            seen = self._seen(asked) | {name: x[asked.attempts] for name, x in fixed.items()}
            found.append((asked.attempts[mine], {name: x[mine] for name, x in seen.items()}))

        stats = play(self.policy, self.game, keys, self.pack.stack(where), traits=given, watch=see)
        owner = np.concatenate([which for which, _ in found])
        whole = {name: np.concatenate([known[name] for _, known in found]) for name in found[0][1]}
        order = np.lexsort((whole["move"], owner))
        first: Stats = jax.tree.map(lambda x: np.asarray(x)[..., :number], stats)
        return Pairs(**whole).some(order), owner[order], first

    def _seen(self, asked: Asked) -> dict[str, Array]:
        """What the player saw of the boards and did, and how likely each move was, where it knows that."""
        board, moves, *gains = _view(self.game.spec, self.previews)(asked.state, asked.level)
        known: dict[str, Array] = {
            "planes": packed_cells(np.asarray(board)),
            "legal": packed_mask(np.asarray(moves).T),
            "action": np.asarray(asked.action).astype(np.int16),
            "move": np.asarray(asked.state.books.made).astype(np.int32),
        }
        if gains:
            known["gains"] = np.asarray(gains[0])
        if self.policy.logits is not None:
            chances = _chances(self.policy.logits)
            known["probabilities"] = np.asarray(
                chances(self.policy.params, asked.memory, asked.state, asked.level, moves)
            ).T
        return known


@functools.lru_cache(maxsize=8)
def _view(spec: Any, previews: bool) -> Any:
    def seen(state: State, level: Level) -> tuple[jax.Array, ...]:
        known = view(spec, "king", planes(spec, state, level), jnp), legal(spec, state)
        return (*known, gains_of(spec, state, level)) if previews else known

    return jax.jit(seen)


@functools.lru_cache(maxsize=8)
def _chances(logits: Any) -> Any:
    def chances(params: Any, memory: Any, state: State, level: Level, mask: jax.Array) -> jax.Array:
        known = jnp.where(mask, logits(params, memory, state, level), -jnp.inf)
        return jax.nn.softmax(known, axis=0).astype(jnp.float16)

    return jax.jit(chances)
