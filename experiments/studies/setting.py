"""What a study is given, and how it lets players play: results go into a store, so that a broken run goes on."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from crush_gym.support import write_bytes
from experiments import report
from experiments.results.origin import origin
from experiments.results.row import Row
from experiments.results.task import Task
from experiments.running.evaluation import evaluate
from experiments.running.grouping import MOST_GAMES
from experiments.statistics import Array, Interval, t_quantile

STORE = "studies.sqlite"


class StudyError(RuntimeError):
    """A study that cannot be finished, with the sentence that says why."""


@dataclass(frozen=True)
class Setting:
    """quick: about a minute instead of the paper's numbers; folder: where everything goes; seed: of all attempts.

    people: logs of people's games, where the study has them compared
    sizes: what is done more or less often than usual, by the study's own names
    """

    quick: bool
    folder: Path
    seed: int = 0
    people: tuple[Path, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)

    @property
    def store(self) -> Path:
        """Where every attempt is kept."""
        return self.folder / STORE

    def play(
        self, agents: Sequence[str], tasks: Task | Sequence[Task], attempts: int, games: int = MOST_GAMES
    ) -> dict[str, list[Row]]:
        """The attempts of each agent on each task; those that the store has are not played again.

        games: compiled games at most
        """
        results = evaluate(list(agents), tasks, attempts, self.seed, store=self.store, games=games)
        if results.errors:
            raise StudyError(f"the study needs what could not be played: {results.errors[0]}")
        rows: dict[str, list[Row]] = {agent: [] for agent in agents}
        for row in results.rows:
            rows[row.agent].append(row)
        return rows

    def kept(self, name: str, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What was measured by this name in this folder, at this size and with this seed, or is measured now."""
        path = self.folder / f"measured{'-quick' if self.quick else ''}-{self.seed}.json"
        known = json.loads(path.read_text()) if path.exists() else {}
        if name not in known:
            known[name] = measure()
            write_bytes(path, json.dumps(known, indent=1).encode())
        found: dict[str, Any] = json.loads(json.dumps(known[name]))
        return found

    def command(self, study: str) -> str:
        """What gives the same results again."""
        quick = " --quick" if self.quick else ""
        people = f" --people {shlex.join(path.name for path in self.people)}" if self.people else ""
        sizes = "".join(f" --size {name}={value}" for name, value in self.sizes.items())
        return f"crush-gym study {study}{quick}{sizes} --seed {self.seed}{people}"

    def facts(self) -> dict[str, str]:
        """Versions, hardware and the seed, for the end of a page."""
        known = origin()
        hardware = known["hardware"]
        return {
            "versions": ", ".join(f"{name} {version}" for name, version in known["versions"].items()),
            "hardware": f"{hardware['cpu']}, {report.counted(hardware['cores'], 'core')}, {hardware['system']}",
            "seed": str(self.seed),
        }


def scores(rows: Sequence[Row]) -> Array:
    """Final scores, float64[attempts]."""
    return np.array([row.score for row in rows], np.float64)


def mean_of(values: Array) -> Interval:
    """The mean of a sample of at least two, with Student's 95 % limits."""
    mean, half = float(values.mean()), t_quantile(0.95, values.size - 1) * float(values.std(ddof=1)) / values.size**0.5
    return Interval(mean, mean - half, mean + half)
