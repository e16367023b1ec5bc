"""Phases 3 and 4 of the theses: bots, a heuristic and play testers beside the people of early and of late levels.

Their people are a company's own. Ours are synthetic players of family A, who are no people; so are the play testers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import numpy as np

from agents.mcts import Mcts
from experiments.population import Traits, draw
from experiments.results.assignment import tasks_of
from experiments.results.row import Row
from experiments.results.task import Task
from experiments.running.evaluation import evaluate
from experiments.statistics import Array
from experiments.studies.setting import Setting, StudyError

FAMILY, PEOPLE, TESTERS = "A", 80, 3
"""Who the people are, how many, and how many play testers there are, who are others of the same family."""

HEURISTIC, TESTER = "heuristic", "play testers"

BOTS = {
    "B1": Mcts(simulations=50),
    "B2": Mcts(simulations=100),
    "B3": Mcts(simulations=100, playout="heuristic"),
    "B4": Mcts(simulations=150),
}
"""Tables 4.3 and 4.5: three outcomes of an action, C = 0.6, no depth limit, the score as signal."""

DIFFERS = {HEURISTIC: "another hand-made value of moves", TESTER: "synthetic, of the family of the people"}
BOT_DIFFERS = "the same search on other levels"
"""What differs from the theses' players."""


class Told(NamedTuple):
    """What the theses' tables say of a player beside people: mean and standard deviation, in percentage points; the
    adjusted ones, in standard deviations of one attempt, where they are told."""

    mean: float
    sd: float
    adjusted: tuple[float, float] | None = None


@dataclass(frozen=True)
class Phase:
    """One of the phases. first: of our levels in `ladder`, counted from 0; players: and what the theses say of them."""

    name: str
    title: str
    first: int
    levels: int
    told: Mapping[str, Told]
    attempts: int = 50
    testers: bool = False

    @property
    def bots(self) -> dict[str, str]:
        """Agents by their names in the theses."""
        return {name: BOTS[name].name for name in self.told if name in BOTS} | {HEURISTIC: HEURISTIC}


PHASES = {
    3: Phase("phase3", "early levels", 49, 48, {
        HEURISTIC: Told(7.46, 13.5), "B1": Told(19.4, 16.6), "B2": Told(30.1, 16.2), "B3": Told(42.9, 19.0),
    }),
    4: Phase("phase4", "late levels", 949, 50, {
        TESTER: Told(6.63, 16.6, (0.245, 0.718)), HEURISTIC: Told(-15.4, 10.7, (-0.406, 0.182)),
        "B2": Told(-3.12, 11.6, (-0.105, 0.278)), "B4": Told(-1.29, 9.97, (-0.041, 0.247)),
    }, testers=True),
}  # fmt: skip
"""Tables 4.4 and 4.6."""

QUICK_LEVELS, QUICK_ATTEMPTS = 5, 10
"""A quick run has the weakest bot only."""


@dataclass(frozen=True)
class Measured:
    """people: success rates, [levels]; players: of each player, [levels], or [testers, levels] of the testers."""

    phase: Phase
    names: tuple[str, ...]
    attempts: int
    people: Array
    players: Mapping[str, Array]

    def delta(self, name: str) -> Array:
        """Success above people's, [levels], or of all testers [testers x levels]."""
        return np.asarray(self.players[name] - self.people).ravel()

    def adjusted(self, name: str) -> Array:
        """The same in standard deviations of one attempt, on levels that some people won and some lost."""
        open_ = (self.people > 0) & (self.people < 1)
        spread = np.sqrt(self.people * (1 - self.people))[open_]
        return np.asarray((self.players[name] - self.people)[..., open_] / spread).ravel()

    def trend(self, name: str) -> float:
        """The slope of delta over people's success."""
        x = np.broadcast_to(self.people, self.players[name].shape).ravel()
        return float(np.polyfit(x, self.delta(name), 1)[0])


def measured(number: int, setting: Setting) -> Measured:
    """Let people, bots and testers play."""
    phase, quick = PHASES[number], setting.quick
    count, attempts = sizes_of(phase, setting)
    tasks = tasks_of("ladder")[phase.first : phase.first + count]
    weakest = next(name for name in phase.bots if name in BOTS)
    bots = {name: agent for name, agent in phase.bots.items() if not quick or name in (weakest, HEURISTIC)}
    rows = setting.play(list(bots.values()), tasks, attempts, games=1)
    players = {name: _rates(rows[agent], tasks) for name, agent in bots.items()}
    if phase.testers:
        players[TESTER] = _testers(phase, tasks, attempts, setting)
    ordered = {name: players[name] for name in phase.told if name in players}
    return Measured(phase, tuple(task.name for task in tasks), attempts, _people(phase, tasks, setting), ordered)


def sizes_of(phase: Phase, setting: Setting) -> tuple[int, int]:
    """How many levels, and attempts at each; a `StudyError` where there cannot be so many."""
    usual = (QUICK_LEVELS, QUICK_ATTEMPTS) if setting.quick else (phase.levels, phase.attempts)
    sizes = {"levels": usual[0], "attempts": usual[1], **setting.sizes}
    for name, most in (("levels", phase.levels), ("attempts", 10**6)):
        if not 2 <= sizes[name] <= most:
            raise StudyError(f"{name} must be from 2 to {most:,}, not {sizes[name]:,}")
    return sizes["levels"], sizes["attempts"]


def _rates(rows: Sequence[Row], tasks: Sequence[Task]) -> Array:
    """The share of attempts that were won, [levels]."""
    won: dict[str, list[bool]] = {task.identity: [] for task in tasks}
    for row in rows:
        won[row.task].append(row.won)
    return np.array([np.mean(won[task.identity]) for task in tasks])


def _people(phase: Phase, tasks: Sequence[Task], setting: Setting) -> Array:
    """Pooled over players who try until they win or give up."""
    people = draw(FAMILY, PEOPLE, setting.seed)
    return _rates(_played(f"{phase.name}-people", people.agent, people.traits, people.patience, tasks, setting), tasks)


def _testers(phase: Phase, tasks: Sequence[Task], attempts: int, setting: Setting) -> Array:
    """[testers, levels]. A tester's attempts are those of so many players who are all alike and try once."""
    testers = draw(FAMILY, TESTERS, setting.seed + 1)
    alike: Traits = jax.tree.map(lambda x: np.repeat(x, attempts), testers.traits)
    patience = np.ones(TESTERS * attempts, np.int64)
    rows = _played(f"{phase.name}-testers", testers.agent, alike, patience, tasks, setting)
    return np.stack([_rates([r for r in rows if r.player // attempts == n], tasks) for n in range(TESTERS)])


def _played(
    name: str, agent: Any, traits: Traits, patience: Any, tasks: Sequence[Task], setting: Setting
) -> Sequence[Row]:
    """Attempts in a store of their own: a store holds one population of an agent."""
    store = setting.folder / f"{name}{'-quick' if setting.quick else ''}.sqlite"
    results = evaluate(agent, tasks, seed=setting.seed, store=store, until_cleared=patience, traits=traits)
    if results.errors:
        raise StudyError(f"the study needs what could not be played: {results.errors[0]}")
    return results.rows
