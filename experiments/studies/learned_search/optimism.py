"""What a search through mctx expects of its move, beside what comes of it: it keeps one outcome of each move, so that
where candies are refilled the best of many moves is partly the luckiest."""

from __future__ import annotations

import functools
from dataclasses import asdict, dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from agents.gumbel import Gumbel, Search
from agents.search.cores import over_cores
from crush_gym import OUTCOMES, Game
from crush_gym.keys import move_key, player_key
from experiments.results.assignment import attempt_key, tasks_of
from experiments.statistics import Array, Interval
from experiments.studies.setting import Setting, mean_of


@dataclass(frozen=True)
class Searched:
    """A level and the player that guides the search on it."""

    label: str
    levels: str
    guide: str
    simulations: tuple[int, ...]


GAMES = (
    Searched("Combo 9x9, refilled", "combo", "policy:ppo-combo", (16, 128)),
    Searched("jelly, refilled", "basics/jelly", "policy:ppo-tour", (64,)),
    Searched("no refill", "basics/no refill", "policy:ppo-tour", (64,)),
)

BESIDE = "basics/jelly", "basics/no refill"
"""Levels that one game holds, so that both are searched by one program."""


@dataclass(frozen=True)
class Optimism:
    """Means over attempts of means over their moves, in the units of the guide's values.

    guessed: by the guide before the search; expected: by the search of the move that it makes; came: what that move and
    those after it, searched in the same way, really brought, discounted as the guide does; over: expected - came
    """

    guessed: Interval
    expected: Interval
    came: Interval
    over: Interval


def measured(setting: Setting, attempts: int) -> dict[tuple[Searched, int], Optimism]:
    """All games with all numbers of simulations."""
    found = {}
    for game in GAMES:
        for simulations in game.simulations:
            name = f"optimism, {game.label}, {simulations}"
            known = setting.kept(name, functools.partial(_of_game, game, simulations, attempts, setting.seed))
            found[game, simulations] = Optimism(**{key: Interval(*value) for key, value in known.items()})
    return found


def _of_game(searched: Searched, simulations: int, attempts: int, seed: int) -> dict[str, Any]:
    return asdict(of_game(searched, simulations, attempts, seed))


def of_game(searched: Searched, simulations: int, attempts: int, seed: int) -> Optimism:
    """Attempts side by side to their ends."""
    (task,) = tasks_of(searched.levels)
    beside = BESIDE if searched.levels in BESIDE else (searched.levels,)
    level = task.level
    game = Game([t.level for name in beside for t in tasks_of(name)], rules=task.rules, adjacency=task.adjacency)
    search, params = Gumbel(searched.guide, simulations).searcher(game)
    keys = jnp.stack([attempt_key(seed, task.identity, n) for n in range(attempts)])
    state, told, gained = game.reset(keys, level), [], []
    worth = jax.jit(lambda state: search.brought(state, level))
    while (going := np.asarray(state.books.outcome) == OUTCOMES.index("playing")).any():
        move = move_key(keys, state.books.made)
        found = over_cores(Search.found, search, search.spec, params, player_key(move), state, level)
        before = np.asarray(worth(state))
        state, _ = game.step(move, state, np.maximum(found.action, 0), level)
        told.append(np.where(going, np.stack([found.guessed, found.expected]), np.nan))
        gained.append(np.where(going, np.asarray(worth(state)) - before, 0.0))
    return summed(np.array(told), np.array(gained), float(params.discount))


def summed(told: Array, gained: Array, discount: float) -> Optimism:
    """Of what was told, [moves, 2, attempts], NaN after an attempt's end, and what moves brought, [moves, attempts]."""
    came, after = np.zeros_like(gained), np.zeros(gained.shape[1])
    for move in reversed(range(len(gained))):
        came[move] = after = gained[move] + discount * after
    came = np.where(np.isnan(told[:, 0]), np.nan, came)
    guessed, expected, real = (np.nanmean(x, axis=0) for x in (told[:, 0], told[:, 1], came))
    parts: Any = (mean_of(x.astype(np.float64)) for x in (guessed, expected, real, expected - real))
    return Optimism(*parts)
