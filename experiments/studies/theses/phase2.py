"""Phase 2 of the theses: eight sweeps over the parameters of the search, on look-alikes of three levels."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from agents.mcts import Mcts
from experiments.results.row import Row
from experiments.studies.setting import Setting
from experiments.studies.theses import paper
from experiments.studies.theses.phase1 import task_of


@dataclass(frozen=True)
class Plan:
    """What is played. attempts: of each setup on each level; simulations: of a move; levels; sweeps: their numbers."""

    attempts: int
    simulations: int
    levels: tuple[str, ...]
    sweeps: tuple[int, ...]

    @property
    def chosen(self) -> tuple[paper.Sweep, ...]:
        return tuple(sweep for sweep in paper.SWEEPS if sweep.number in self.sweeps)

    def agent(self, sweep: paper.Sweep, value: object) -> Mcts:
        """The setup of a sweep at one of its values; what the sweep does not name is as in the theses."""
        changes: dict[str, Any] = {**sweep.setting, sweep.parameter: value, "simulations": self.simulations}
        return dataclasses.replace(Mcts(), **changes)


FULL = Plan(paper.ATTEMPTS, 100, paper.LEVELS, tuple(sweep.number for sweep in paper.SWEEPS))
QUICK = Plan(32, 50, ("13",), (3, 6, 7))


@dataclass
class Measured:
    """rows: by level and agent."""

    plan: Plan
    rows: dict[tuple[str, str], list[Row]] = field(default_factory=dict)

    def won(self, level: str, agent: Mcts) -> int:
        return sum(row.won for row in self.rows[level, agent.name])


def measured(setting: Setting) -> Measured:
    """Play all setups."""
    found = Measured(QUICK if setting.quick else FULL)
    sweeps = found.plan.chosen
    names = dict.fromkeys(found.plan.agent(sweep, value).name for sweep in sweeps for value in sweep.values)
    for level in found.plan.levels:
        for name, rows in setting.play(list(names), task_of(level), found.plan.attempts).items():
            found.rows[level, name] = rows
    return found
