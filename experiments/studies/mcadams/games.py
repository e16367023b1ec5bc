"""McAdams' study again: random play, the beam player with both heuristics, its depths, its ties, its two texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import jax
import numpy as np

from agents.beam import Beam
from crush_gym import Game, LevelPack
from crush_gym.keys import move_key
from experiments.results.assignment import Task, attempt_key, tasks_of
from experiments.statistics import Array, Welch, welch
from experiments.studies.mcadams import paper
from experiments.studies.setting import Setting, scores

HEURISTICS = ("h1", "h2")


@dataclass(frozen=True)
class Plan:
    """What is played. depths, both: of the text's player and of the pseudocode's, by size; ties: depths without it."""

    games: int
    depths: dict[str, int]
    both: dict[str, int]
    ties: int

    @property
    def sizes(self) -> tuple[str, ...]:
        return tuple(self.depths)


FULL = Plan(paper.GAMES, paper.DEPTHS, {size: 3 for size in paper.SIZES}, 3)
"""The pseudocode's player builds the whole tree before it prunes: a fourth level costs ten times the third."""

QUICK = Plan(100, {"5x5": 2, "7x7": 2, paper.TALL: 1}, {"5x5": 2}, 1)


class Legal(NamedTuple):
    """Mean number of legal moves: of the positions of whole games played at random, and of openings."""

    playing: float
    opening: float


@dataclass
class Measured:
    """legal: by size; scores: float64[games] by size and player."""

    plan: Plan
    legal: dict[str, Legal] = field(default_factory=dict)
    scores: dict[tuple[str, str], Array] = field(default_factory=dict)

    @property
    def square(self) -> list[str]:
        """The sizes of square boards."""
        return [size for size in self.plan.sizes if size in paper.RANDOM_T]

    def of(self, size: str, player: str | Beam) -> Array:
        """The scores of a player."""
        return self.scores[size, player if isinstance(player, str) else player.name]

    def compared(self, size: str, one: str | Beam, other: str | Beam) -> Welch:
        """Welch's t of the first player against the second."""
        return welch(self.of(size, one), self.of(size, other))


def measured(setting: Setting) -> Measured:
    """Play what the paper played, and more."""
    plan = QUICK if setting.quick else FULL
    found = Measured(plan)
    for size in plan.sizes:
        (task,) = tasks_of(f"points:{size}")
        players = ["random", *(player.name for player in dict.fromkeys(players_of(plan, size)))]
        for name, rows in setting.play(players, task, plan.games).items():
            found.scores[size, name] = scores(rows)
        found.legal[size] = legal_moves(task, plan.games, setting.seed)
    return found


def players_of(plan: Plan, size: str) -> Iterator[Beam]:
    """The beam players that play on boards of this size."""
    for heuristic in HEURISTICS:
        for depth in range(1, plan.depths[size] + 1):
            yield Beam(depth, heuristic)
        for depth in range(1, plan.both.get(size, 0) + 1):
            yield Beam(depth, heuristic, "pseudocode")
    if size == paper.TALL:
        for depth in range(1, plan.ties + 1):
            yield Beam(depth, "h1")
            yield Beam(depth, "h1", ties="off")


def legal_moves(task: Task, games: int, seed: int) -> Legal:
    """Play games at random and count the moves of every position."""
    game, level = Game(task.level, rules=task.rules), LevelPack([task.level]).stack(np.zeros(games, int))
    keys = jax.vmap(lambda n: attempt_key(seed, task.identity, n))(np.arange(games))
    state, numbers = game.reset(keys, level), []
    for _ in range(int(task.level.moves)):
        numbers.append(float(np.asarray(game.legal(state)).sum(0).mean()))
        keys = move_key(keys, state.books.made)
        state, _ = game.step(keys, state, game.random_action(keys, state), level)
    return Legal(float(np.mean(numbers)), numbers[0])
