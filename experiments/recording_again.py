"""Attempts whose moves are known, played again: people's logs become pairs, and recordings are checked move by move."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from agents.attempts import PolicyError
from agents.learning.pairs import Pairs, PairsError, Writer, read, shards
from agents.protocol import Memory, Policy, bound
from crush_gym import Game, Level, State
from crush_gym.attempt_log import Record, RecordError
from crush_gym.policies import random_action
from crush_gym.swaps import converted
from experiments.recording import PIECE, Attempt, Recorder, RecordingError
from experiments.results.task import Task

__all__ = ["check", "record_logs"]

Array = np.ndarray[Any, Any]

NONE = -1


@dataclass(frozen=True)
class Again:
    """Makes the moves that it is given as traits, int32[moves, attempts]; where there is none, any legal one."""

    name: str = "people"

    def bind(self, game: Game) -> Policy:
        """See `Agent`."""
        return _again(game.spec)


@functools.lru_cache(maxsize=8)
def _again(spec: Any) -> Policy:
    def start(params: Any, key: jax.Array, state: State, level: Level, given: Any = None) -> Memory:
        return given

    def act(params: Any, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[jax.Array, Memory]:
        place = jnp.minimum(state.books.made, memory.shape[0] - 1)
        known = jnp.take_along_axis(memory, place[None], axis=0)[0]
        given = (known != NONE) & (state.books.made < memory.shape[0])
        return jnp.where(given, known, random_action(spec, key, state)), memory

    return Policy(act, start)


def record_logs(logs: Sequence[Path], folder: Path, previews: bool = False) -> int:
    """Write the moves of logs of `crush-gym play`, each played again and refused where it ends otherwise; their number.

    Args:
        logs: of levels under one set of rules; attempts that were broken off count as far as they go.
        folder: a new one.
        previews: whether what each move brings by itself is written, too.
    """
    records = [_log(path) for path in logs]
    if not sum(len(record.actions) for record in records):
        raise RecordingError("there is no move in these logs")
    played = [Task(record.level, record.rules, record.adjacency) for record in records]
    tasks = list({task.identity: task for task in played}.values())
    recorder = Recorder.of(Again(), tasks, 0, previews)
    place, shape = {task.identity: n for n, task in enumerate(tasks)}, recorder.game.shape
    moves = [converted(np.array(r.actions, np.int32), r.level.shape, shape) for r in records]
    attempts = [Attempt(place[task.identity], n, 0, n) for n, task in enumerate(played)]
    with Writer(folder, recorder.about(origin={"logs": len(records)})) as writer:
        for start in range(0, len(records), PIECE):
            some = slice(start, start + PIECE)
            seeds = np.array([record.seed for record in records[some]], np.uint32)
            writer.add(_played(recorder, attempts[some], moves[some], jax.vmap(jax.random.key)(seeds)))
        writer.flush()
        return writer.number


def _log(path: Path) -> Record:
    try:
        record = Record.load(path)
    except RecordError as error:
        raise RecordingError(str(error)) from None
    if wrong := record.differences():
        raise RecordingError(f"{str(path)!r} does not end as it says: {wrong[0]}")
    return record


def _played(recorder: Recorder, attempts: Sequence[Attempt], moves: Sequence[Array], keys: Any = None) -> Pairs:
    """The pairs of attempts whose moves are known, one attempt after the other; of each as far as its moves go."""
    table = np.full((max(map(len, moves)), len(moves)), NONE, np.int32)
    for column, known in enumerate(moves):
        table[: len(known), column] = known
    pairs, owner, _ = recorder.pairs(attempts, len(attempts), jnp.asarray(table), keys=keys)
    return pairs.some(pairs.move < np.array([len(known) for known in moves])[owner])


def check(recorder: Recorder, folder: Path) -> int:
    """Play all attempts of a recording again, by the moves that it holds; how many moves there were.

    A `PairsError` says which attempt comes out otherwise.
    """
    if read(folder) != recorder.about():
        raise PairsError(f"{str(folder)!r} holds pairs of something else")
    player = Again()
    again = replace(recorder, agent=player, policy=bound(player, recorder.game))
    checked = 0
    for pairs in shards(folder):
        pairs = pairs.some(np.lexsort((pairs.move, pairs.attempt, pairs.level)))
        starts = np.flatnonzero(pairs.move == 0)
        ends = [*starts[1:], pairs.number]
        for first in range(0, len(starts), PIECE):
            mine = range(first, min(first + PIECE, len(starts)))
            attempts = [
                Attempt(int(pairs.level[starts[n]]), int(pairs.attempt[starts[n]]), 0, int(pairs.attempt[starts[n]]))
                for n in mine
            ]
            written = pairs.some(slice(starts[mine[0]], ends[mine[-1]]))
            try:
                played = _played(again, attempts, [pairs.action[starts[n] : ends[n]] for n in mine])
            except PolicyError:
                raise PairsError(f"{str(folder)!r}: a move is not legal where it is played") from None
            _compare(written, played, folder)
            checked += written.number
    return checked


def _compare(written: Pairs, played: Pairs, folder: Path) -> None:
    for name in ("level", "attempt", "move", "planes", "legal", "action", "gains"):
        one, other = getattr(written, name), getattr(played, name)
        if one is None and other is None:
            continue
        if one.shape != other.shape:
            raise PairsError(f"{str(folder)!r}: attempts of other lengths are played than are written")
        wrong = np.flatnonzero((one != other).reshape(len(one), -1).any(axis=1))
        if wrong.size:
            n = wrong[0]
            raise PairsError(
                f"{str(folder)!r}: {name} of move {written.move[n]} of attempt {written.attempt[n]} on level "
                f"{written.level[n]} is not what is played there"
            )
