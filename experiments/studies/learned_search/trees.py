"""Tree search with trained players as prior and playout, at equal time: how many simulations each affords, and how it
plays then."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from agents.registry import make
from experiments.results.assignment import tasks_of
from experiments.results.row import Row
from experiments.results.task import Task
from experiments.running.evaluation import evaluate
from experiments.statistics import Interval, rate
from experiments.studies.setting import Setting

LEVELS = ("thesis/look-alike 13", "thesis/look-alike 77", "thesis/look-alike 100")

NETWORK, LINEAR = "policy:ppo-tour", "linear"
"""A network of convolutions, and the linear policy over what swaps bring at once."""

PLAIN = 100
"""Simulations of a move of the plain search, which decide how much time all the others have."""

MOST = 1000
"""Simulations of a move, however cheap."""

PROBED, PROBES = 10, 120
"""Simulations, and attempts on each level, by which costs are measured."""


@dataclass(frozen=True)
class Way:
    """A search whose number of simulations is left open."""

    label: str
    agent: str

    def named(self, simulations: int) -> str:
        """The agent's own name, with so many simulations."""
        mark = "," if "=" in self.agent else ":"
        return make(f"{self.agent}{mark}simulations={simulations}").name


WAYS = (
    Way("plain", "mcts"),
    Way("linear playouts", f"mcts:playout={LINEAR}"),
    Way("the network as prior", f"mcts:prior={NETWORK}"),
)
"""The first one is what the others are measured against."""


@dataclass(frozen=True)
class Result:
    """One way. cost: CPU-milliseconds of a simulation, about; simulations: of a move; won: on each level."""

    way: Way
    cost: float
    simulations: int
    won: tuple[Interval, ...]
    overall: Interval


def measured(setting: Setting, attempts: int) -> list[Result]:
    """Costs, one way after the other; then attempts, with as many simulations as the plain search's time allows."""
    tasks = [task for levels in LEVELS for task in tasks_of(levels)]
    costs = setting.kept("costs of simulations", lambda: {way.label: cost_of(way, tasks) for way in WAYS})
    simulations = {way: simulations_for(costs[way.label], costs[WAYS[0].label]) for way in WAYS}
    found = []
    for way in WAYS:
        name = way.named(simulations[way])
        rows = setting.play([name], tasks, attempts, games=1)[name]
        found.append(_result(way, costs[way.label], simulations[way], rows, tasks))
    return found


def simulations_for(cost: float, plain: float) -> int:
    """How many simulations of this cost take as long as the plain search's."""
    return max(1, min(MOST, round(PLAIN * plain / cost)))


def cost_of(way: Way, tasks: Sequence[Task]) -> float:
    """CPU-milliseconds of a simulation, of many attempts at once."""

    def played(seed: int) -> float:
        began = time.process_time()
        rows = evaluate(way.named(PROBED), tasks, PROBES, seed, games=1, progress=False).rows
        return 1e3 * (time.process_time() - began) / (PROBED * sum(row.moves for row in rows))

    return min(played(seed) for seed in (1, 2))  # the first one compiles


def _result(way: Way, cost: float, simulations: int, rows: Sequence[Row], tasks: Sequence[Task]) -> Result:
    of_level = [[row.won for row in rows if row.task == task.identity] for task in tasks]
    won = tuple(rate(sum(known), len(known)) for known in of_level)
    return Result(way, cost, simulations, won, rate(sum(row.won for row in rows), len(rows)))
