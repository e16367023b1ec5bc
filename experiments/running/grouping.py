"""Tasks in few groups, each played by one compiled Game: compiling takes longer than most of the playing."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from agents.attempts import PolicyError
from crush_gym import Game
from crush_gym.engine.mechanics import ALL
from crush_gym.engine.plan import plan
from crush_gym.engine.spec import Spec
from experiments.results.task import Task

MOST_GAMES = 8
"""Groups that the tasks of one rule set are put into at most."""

WORK = {mechanic.name: 1 + len(mechanic.planes) for mechanic in ALL}
"""What a mechanic costs a beat on each row, about; `BASE` is the rest, and `PORTALS` that of a layer of portals."""
BASE, PORTALS = 20, 10

COMPILING = {True: 200_000, False: 1_000}
"""Attempts that take as long as compiling the game does, for quick agents and for others, about."""

SIZES = ("height", "portal_layers")
"""Static sizes that cost something. Those that are left out are data, or next to nothing."""

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Group:
    """Tasks under the same rules that one compiled Game plays."""

    tasks: tuple[Task, ...]

    @cached_property
    def identity(self) -> str:
        """Sixteen hexadecimal digits of the tasks in it."""
        return hashlib.sha256("".join(task.identity for task in self.tasks).encode()).hexdigest()[:16]

    def game(self, known: Game | None = None) -> Game:
        """The game that plays all of them. known: the only one that its player can play in, if there is one."""
        first = self.tasks[0]
        if known is not None:
            return self._accepted(known)
        return Game([task.level for task in self.tasks], rules=first.rules, adjacency=first.adjacency)

    def _accepted(self, game: Game) -> Game:
        """The game, refused where it does not play all of them."""
        first = self.tasks[0]
        if (game.spec.rules, game.spec.adjacency) != (first.rules, first.adjacency):
            raise PolicyError(
                f"the agent's game has the rules {game.spec.rules!r}, but {first.name!r} is played by {first.rules!r} "
                f"(adjacency {first.adjacency!r})"
            )
        strange = [task.name for task in self.tasks if not game.accepts(task.level)]
        if strange:
            raise PolicyError(
                f"the agent's game cannot play {strange[0]!r}, which is larger or has what the game was not made for: "
                "adapt(model, game=...) takes the game of all levels that it was trained on"
            )
        return game


def grouped(
    tasks: Sequence[Task], most: int = MOST_GAMES, attempts: int = 100, quick: bool = True
) -> tuple[Group, ...]:
    """Put the tasks of each rule set into at most `most` groups, and fewer where that is less work.

    attempts: on each task; quick: whether the agent plays within `game.rollout`, so that compiling takes longest
    """
    if most < 1:
        raise ValueError(f"tasks need at least one compiled game, not {most}")
    by_rules: dict[tuple[str, str], list[Task]] = {}
    for task in tasks:
        by_rules.setdefault((task.rules, task.adjacency), []).append(task)
    compiling = COMPILING[quick]
    return tuple(group for same in by_rules.values() for group in _merged(same, most, attempts, compiling))


def _merged(tasks: Sequence[Task], most: int, attempts: int, compiling: int) -> list[Group]:
    """From one group for each kind of game, the two whose union saves most, or costs least, are merged."""
    kinds: dict[Spec, list[int]] = {}
    for n, task in enumerate(tasks):
        kinds.setdefault(plan([task.level], task.rules, task.adjacency), []).append(n)
    members = list(kinds.values())
    weights = np.array([len(m) * attempts + compiling for m in members])
    traits = np.array([_traits(spec) for spec in kinds])
    loss = np.stack([_loss(traits, weights, i, compiling) for i in range(len(members))])
    for left in range(len(members), 1, -1):
        i, j = sorted(divmod(int(loss.argmin()), len(members)))
        if left <= most and loss[i, j] > 0:
            break
        members[i], members[j] = sorted(members[i] + members[j]), []
        weights[i], traits[i] = weights[i] + weights[j] - compiling, np.maximum(traits[i], traits[j])
        loss[j], loss[:, j] = np.inf, np.inf
        loss[i] = loss[:, i] = np.where(np.isinf(loss[i]), np.inf, _loss(traits, weights, i, compiling))
    return [Group(tuple(tasks[n] for n in m)) for m in members if m]


def _traits(spec: Spec) -> list[int]:
    """What decides the cost of a game; that of a union is the greatest of each."""
    return [int(spec.has(name)) for name in WORK] + [getattr(spec, size) for size in SIZES]


def _loss(traits: Array, weights: Array, i: int, compiling: int) -> Array:
    """How much more work there is when group i is merged with each of the others; with itself, infinitely much."""
    alone = _cost(traits) * weights
    loss = _cost(np.maximum(traits, traits[i])) * (weights + weights[i] - compiling) - alone - alone[i]
    loss[i] = np.inf
    return loss


def _cost(traits: Array) -> Array:
    """The work of a beat, float[...] from int[..., traits]."""
    height, portals = traits[..., -2], traits[..., -1]
    return height * (BASE + traits[..., : len(WORK)] @ np.array(list(WORK.values())) + PORTALS * portals) * 1.0
