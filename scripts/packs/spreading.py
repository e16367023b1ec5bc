"""Choosing generated levels so that the heuristic player's success over them is spread evenly."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crush_gym.game import Game
from crush_gym.generator import Trials, play
from crush_gym.generator.dice import Dice
from crush_gym.generator.trials import only_score, rehearse, with_limit
from crush_gym.levels import Level
from scripts.packs.families import Family

ATTEMPTS = 176
NEAR = 0.05
"""A level is taken for a place if its success can be brought this close to the one wanted there."""

FEWEST_MOVES, MOST_MOVES = 6, 45
EASIEST, HARDEST = 0.99, 0.01
FRESH_SEEDS = 10_000
"""Attempts that no limit was chosen by begin with this seed."""


def targets(number: int, seed: object) -> list[float]:
    """Success rates in a random order: deciles from 6 % to 94 %, so a little more of the hard and of the easy."""
    evenly = np.linspace(0.0, 1.0, number)
    both_ends = evenly * evenly * (3 - 2 * evenly)
    return Dice("targets", seed).shuffled((HARDEST + (EASIEST - HARDEST) * (evenly + both_ends) / 2).tolist())


def choose(
    family: Family, pools: Sequence[tuple[int, int]], spare: float = 0.6
) -> tuple[list[list[Level]], list[NDArray[np.float64]]]:
    """For each pool (first seed, number of levels) the levels, and their success in attempts with fresh seeds.

    All pools of a family are played in one game. Levels that cannot be brought near any success wanted are left
    out, and spare ones of the same family take their places.
    """
    drawn = [_candidates(family, first, number, spare) for first, number in pools]
    everything = [level for levels in drawn for level in levels]
    game = Game(everything)
    trials = rehearse(everything, range(ATTEMPTS), game)
    chosen, start = [], 0
    for (first, number), levels in zip(pools, drawn, strict=True):
        part = trials[start : start + len(levels)]
        start += len(levels)
        chosen.append(_places(levels, part, targets(number, (family.name, first))))
    fresh = range(FRESH_SEEDS, FRESH_SEEDS + ATTEMPTS)
    won = play([level for levels in chosen for level in levels], fresh, game=game).won.mean(axis=1)
    return chosen, np.split(won, np.cumsum([len(levels) for levels in chosen])[:-1])


def _candidates(family: Family, first: int, number: int, spare: float) -> list[Level]:
    count = round(number * (1 + spare))
    return [family.draw(first + i, i / (count - 1)) for i in range(count)]


def _places(levels: list[Level], trials: list[Trials], wanted: list[float]) -> list[Level]:
    """One level for each success wanted, in the order of the levels; the nearest free one where none is near."""
    step = len(levels) / len(wanted)
    free = set(range(len(levels)))
    taken: dict[int, Level] = {}
    for place, success in enumerate(wanted):
        options = sorted(free, key=lambda i: abs(i - place * step))
        best: tuple[float, int, Level] | None = None
        for i in options:
            level, share = with_limit(levels[i], success, trials[i])
            miss = abs(share - success) + (0.0 if _sensible(level) else 1.0)
            if best is None or miss < best[0]:
                best = miss, i, level
            if miss <= NEAR:
                break
        assert best is not None
        free.discard(best[1])
        taken[best[1]] = best[2]
    return [taken[i] for i in sorted(taken)]


def _sensible(level: Level) -> bool:
    """Whether the limit is one that a person would set."""
    if only_score(level):
        return bool(level.goal_score >= 500)
    return bool(FEWEST_MOVES <= level.moves <= MOST_MOVES)


def named(levels: Sequence[Level], name: str, first: int = 1) -> list[Level]:
    """The levels with a name and a number each."""
    return [dataclasses.replace(level, name=f"{name} {n}") for n, level in enumerate(levels, first)]
