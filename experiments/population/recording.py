"""Synthetic people's moves as state-action pairs, for learning to play as they do; see `agents.learning.pairs`.

Attempts that were played are played again, with the same keys, and every position and move is kept. What is seen are
the planes of the environments' view `king`.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from agents.learning.pairs import About, Pairs, Writer, packed_cells, packed_mask
from agents.protocol import Policy
from crush_gym import OUTCOMES, Game, Level, LevelPack, State
from crush_gym.envs.views import king_channels, view
from crush_gym.keys import move_key, player_key
from crush_gym.policies import legal, planes
from experiments.population.people import People
from experiments.population.traits import skill_at
from experiments.results.row import Row
from experiments.results.task import Task
from experiments.running.jobs import attempt_keys
from experiments.running.series import FIRST, MOST

TRAITS = ("skill", "haste", "goals", "specials", "skill here")
"""What is told of who moves; the last is the skill on the level, what its board adds included."""

LANES = 256
"""Attempts that are played again at a time."""

TOLERATED = 0.001
"""Share of attempts that may come out otherwise, and are left out: rounding differs with the number of boards, and
of two moves that a player likes alike to seven digits another one may be made."""

Told = Callable[[int], None]
"""Told how many more pairs are written."""


class RecordingError(RuntimeError):
    """Attempts that cannot be played again, with the sentence that says why."""


def chosen(rows: Iterable[Row], pairs: int) -> list[Row]:
    """Whole attempts with about so many moves on each level: players' first attempts, then their second ones, ..."""
    of_level: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        of_level[row.task].append(row)
    found = []
    for known in of_level.values():
        known.sort(key=lambda row: ((row.attempt - FIRST) % MOST, row.player))
        before = np.cumsum([0, *(row.moves for row in known)])[:-1]
        found += [row for row, moves in zip(known, before, strict=True) if moves < pairs]
    return found


def record(
    people: People, tasks: Sequence[Task], rows: Sequence[Row], folder: Path, seed: int, told: Told = lambda n: None
) -> int:
    """Write the moves of attempts, whatever their order in a mixed one; how many pairs there are.

    Args:
        rows: the attempts, as `evaluate` gave them.
        folder: a new one.
        seed: of the evaluation.
    """
    recorder = Recorder.of(people, tasks, seed)
    mixed = [rows[n] for n in np.random.default_rng(seed).permutation(len(rows))]
    written = missed = 0
    with Writer(folder, recorder.about()) as writer:
        for start in range(0, len(mixed), LANES):
            pairs, wrong = recorder.pairs(mixed[start : start + LANES])
            writer.add(pairs)
            written, missed = written + pairs.number, missed + wrong
            told(pairs.number)
            if missed > max(1, TOLERATED * (start + LANES)):
                raise RecordingError(
                    f"{missed:,} attempts came out otherwise when they were played again: they are of other players, "
                    "or another version played them"
                )
    return written


@dataclass(frozen=True)
class Recorder:
    """Plays attempts of people on tasks again, all in one game."""

    people: People
    tasks: tuple[Task, ...]
    seed: int
    game: Game
    policy: Policy
    pack: LevelPack

    @classmethod
    def of(cls, people: People, tasks: Sequence[Task], seed: int) -> Recorder:
        """For tasks under one set of rules."""
        if len({(task.rules, task.adjacency) for task in tasks}) != 1:
            raise RecordingError("moves are recorded in one game: record levels of other rules by themselves")
        levels = [replace(task.level, name=str(n)) for n, task in enumerate(tasks)]
        game = Game(levels, rules=tasks[0].rules, adjacency=tasks[0].adjacency)
        return cls(people, tuple(tasks), seed, game, people.agent.bind(game), LevelPack(levels))

    def about(self) -> About:
        """What the pairs are of."""
        return About(
            planes=king_channels(self.game.spec),
            shape=self.game.shape,
            actions=self.game.actions,
            levels=tuple((task.name, task.level.content_hash()) for task in self.tasks),
            traits=TRAITS,
            probabilities=self.policy.logits is not None,
            origin={
                "population": f"family {self.people.family}: synthetic players, no people",
                "player": self.people.agent.name, "players": len(self.people.patience), "seed": self.seed,
            },
        )  # fmt: skip

    def pairs(self, rows: Sequence[Row]) -> tuple[Pairs, int]:
        """The pairs of some attempts, and how many attempts came out otherwise and are left out."""
        filled = [*rows, *[rows[-1]] * (LANES - len(rows))]
        found, state, level = self._played(filled)
        stats = self.game.stats(state, level)
        same = np.array([row.score for row in filled]) == np.asarray(stats.score)
        same &= np.array([row.moves for row in filled]) == np.asarray(stats.moves)
        real = np.arange(LANES) < len(rows)
        return _joined(found, same & real), int((real & ~same).sum())

    def _played(self, rows: Sequence[Row]) -> tuple[list[tuple[np.ndarray[Any, Any], Pairs]], State, Level]:
        """For every move the boards still played, bool[LANES], and the pairs of all; the last positions."""
        place = {task.identity: n for n, task in enumerate(self.tasks)}
        where = np.array([place[row.task] for row in rows])
        words = np.array([int(row.task[:8], 16) for row in rows], np.uint32)
        keys = attempt_keys(jax.random.key(self.seed), words, np.array([row.attempt for row in rows], np.uint32))
        level, who = self.pack.stack(where), np.array([row.player for row in rows])
        traits = jax.tree.map(lambda x: jnp.asarray(x)[who], self.people.traits)
        fixed = {
            "level": where.astype(np.int32), "player": who.astype(np.int32),
            "attempt": np.array([(row.attempt - FIRST) % MOST for row in rows], np.int32),
            "traits": np.stack([*map(np.asarray, traits[:4]), np.asarray(skill_at(traits, level))], axis=1),
        }  # fmt: skip
        state = self.game.reset(keys, level)
        memory = self.game.start(self.policy, player_key(keys), state, level, traits)
        found = []
        while (playing := np.asarray(state.books.outcome) == OUTCOMES.index("playing")).any():
            moves = move_key(keys, state.books.made)
            known = self._seen(memory, state, level) | {"move": np.asarray(state.books.made)}
            action, memory = self.game.act(self.policy, player_key(moves), memory, state, level)
            found.append((playing, Pairs(**fixed, **known, action=np.asarray(action).astype(np.int16))))
            state, _ = self.game.step(moves, state, action, level)
        return found, state, level

    def _seen(self, memory: Any, state: State, level: Level) -> dict[str, Any]:
        """What players see of the boards, and how likely they are to make each move, where that is known."""
        board, moves = _view(self.game.spec)(state, level)
        known: dict[str, Any] = {"planes": packed_cells(np.asarray(board)), "legal": packed_mask(np.asarray(moves).T)}
        if self.policy.logits is not None:
            chances = _chances(self.policy.logits)(self.policy.params, memory, state, level, moves)
            known["probabilities"] = np.asarray(chances).T
        return known


@functools.lru_cache(maxsize=8)
def _view(spec: Any) -> Any:
    def seen(state: State, level: Level) -> tuple[jax.Array, jax.Array]:
        return view(spec, "king", planes(spec, state, level), jnp), legal(spec, state)

    return jax.jit(seen)


@functools.lru_cache(maxsize=8)
def _chances(logits: Any) -> Any:
    def chances(params: Any, memory: Any, state: State, level: Level, mask: jax.Array) -> jax.Array:
        known = jnp.where(mask, logits(params, memory, state, level), -jnp.inf)
        return jax.nn.softmax(known, axis=0).astype(jnp.float16)

    return jax.jit(chances)


def _joined(found: Sequence[tuple[np.ndarray[Any, Any], Pairs]], kept: np.ndarray[Any, Any]) -> Pairs:
    """The pairs of the boards kept, while they were played."""
    names = [name for name in Pairs._fields if getattr(found[0][1], name) is not None]
    return Pairs(
        **{name: np.concatenate([getattr(pairs, name)[playing & kept] for playing, pairs in found]) for name in names}
    )
