"""Playing many levels in one compiled game: whether they can be won, and limits that make them as hard as meant."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from crush_gym.game import Game
from crush_gym.levels import Level, LevelPack
from crush_gym.policies import NAMES

FEWEST_MOVES, MOST_MOVES = 5, 60
CLOCKS = tuple(range(15, 95, 5))
"""Seconds that a level with a clock and other goals than a score is tried with."""


class Trials(NamedTuple):
    """Attempts at levels, [levels, attempts] each; attempt i has the key `jax.random.key(seeds[i])`.

    won: bool; moves made, score: int32
    """

    won: NDArray[np.bool_]
    moves: NDArray[np.int32]
    score: NDArray[np.int32]

    def of(self, levels: int | slice) -> Trials:
        """The attempts at one level or at some."""
        return Trials(self.won[levels], self.moves[levels], self.score[levels])


def play(levels: Sequence[Level], seeds: Iterable[int], player: str = "heuristic", game: Game | None = None) -> Trials:
    """Attempts with each seed at each level, by the heuristic or another player of `crush_gym.policies`.

    `game`: one that accepts the levels; by default one is made of them all.
    """
    if player not in NAMES:
        raise ValueError(f"player must be one of {', '.join(map(repr, NAMES))}, not {player!r}")
    game = Game(levels) if game is None else game
    keys = jax.vmap(jax.random.key)(np.array(list(seeds), np.int64).astype(np.uint32))
    pack, attempts = LevelPack([_nameless(level) for level in levels]), len(keys)
    stack, lanes = pack.stack(np.arange(len(pack))), len(pack) * attempts
    # Attempt n of the rollout is at level n modulo their number.
    _, stats = game.rollout(keys[np.arange(lanes) // len(pack)], level=stack, policy=player, attempts=lanes)
    columns = (np.asarray(x).reshape(attempts, len(pack)).T for x in (stats.won, stats.moves, stats.score))
    return Trials(*columns)


def winnable(
    levels: Sequence[Level], attempts: int = 64, seed: int = 0, player: str = "heuristic", game: Game | None = None
) -> NDArray[np.float64]:
    """The share of attempts that the player wins at each level: float64[levels]; above 0, the level can be won.

    The levels share one compiled game. Attempt i has the key `jax.random.key(seed + i)`.
    """
    won: NDArray[np.float64] = play(levels, range(seed, seed + attempts), player, game).won.mean(axis=1)
    return won


def calibrate(
    levels: Sequence[Level],
    success: Sequence[float],
    attempts: int = 200,
    seed: int = 0,
    game: Game | None = None,
) -> tuple[list[Level], NDArray[np.float64]]:
    """The levels with the limit or the goal score at which the heuristic player's success comes closest to `success`.

    Also returns the share of these attempts that is won with the limits set; float64[levels].
    """
    trials = rehearse(levels, range(seed, seed + attempts), game)
    found = [with_limit(*three) for three in zip(levels, success, trials, strict=True)]
    return [level for level, _ in found], np.array([share for _, share in found])


def rehearse(levels: Sequence[Level], seeds: Iterable[int], game: Game | None = None) -> list[Trials]:
    """What `with_limit` chooses by: attempts of the heuristic player at each level, in one game.

    Nothing on a board depends on how many moves are left or what score is wanted, so one attempt with far more
    moves than a level will have tells what any smaller number would have brought, and one to the end what score
    it would have reached. Time is different, since a +5 never brings more than there was at the start: a level
    with a clock is played with each number of seconds in `CLOCKS`. Trials: [versions of the level, attempts].
    """
    versions = [_versions(level) for level in levels]
    trials = play([version for some in versions for version in some], seeds, game=game)
    ends = np.cumsum([len(some) for some in versions])
    return [trials.of(slice(end - len(some), end)) for some, end in zip(versions, ends.tolist(), strict=True)]


def _versions(level: Level) -> list[Level]:
    if only_score(level):
        return [dataclasses.replace(level, goal_score=np.array(1, np.int32))]
    if level.seconds > 0:
        return [dataclasses.replace(level, seconds=np.array(seconds, np.int32)) for seconds in CLOCKS]
    return [dataclasses.replace(level, moves=np.array(MOST_MOVES, np.int32))]


def with_limit(level: Level, wanted: float, trials: Trials) -> tuple[Level, float]:
    """The level with its limit, and the share of the attempts that are won with it. trials: of `rehearse`."""
    if only_score(level):
        scores = np.where(trials.won, trials.score, 0)
        goals = np.unique(np.maximum(scores // 100 * 100, 100))
        goal, share = _closest(goals, [(scores >= goal).mean() for goal in goals], wanted)
        return dataclasses.replace(level, goal_score=np.array(goal, np.int32)), share
    if level.seconds > 0:
        seconds, share = _closest(np.array(CLOCKS), trials.won.mean(axis=1).tolist(), wanted)
        return dataclasses.replace(level, seconds=np.array(seconds, np.int32)), share
    need = np.where(trials.won, trials.moves, MOST_MOVES + 1)
    limits = np.arange(FEWEST_MOVES, MOST_MOVES + 1)
    moves, share = _closest(limits, [(need <= limit).mean() for limit in limits], wanted)
    return dataclasses.replace(level, moves=np.array(moves, np.int32)), share


def only_score(level: Level) -> bool:
    """Whether a score is all that the level asks for."""
    others = level.goal_jelly or level.goal_cherry or level.goal_hazelnut or np.any(level.orders)
    return bool(level.goal_score > 0) and not others


def _closest(choices: NDArray[np.int64], shares: Sequence[float], wanted: float) -> tuple[int, float]:
    i = int(np.argmin(np.abs(np.array(shares) - wanted)))
    return int(choices[i]), float(shares[i])


def _nameless(level: Level) -> Level:
    return dataclasses.replace(level, name="")
