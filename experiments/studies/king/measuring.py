"""People, a network that imitates them, a tree search, and what each of the two says of how hard levels are for people.

The people are synthetic, of two families. The network imitates one of them and predicts both: a clone of one family
says little about how it would predict people whom nobody recorded.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from agents.attempts import PolicyError
from agents.learning.pairs import PairsError
from agents.protocol import Agent, Policy
from agents.registry import make
from crush_gym import Game, load_pack
from experiments.population import FAMILIES, PERSONAS, draw
from experiments.population.personas import success_of
from experiments.population.playing import log_of_pairs, pairs_of
from experiments.population.recording import chosen, record
from experiments.prediction import Levels, People, PredictionError, fit
from experiments.prediction.looking import people_of
from experiments.prediction.measures import Forecast, measure
from experiments.prediction.measures import Measured as Measures
from experiments.prediction.validation import forecast_of
from experiments.recording import RecordingError
from experiments.results.assignment import tasks_of
from experiments.results.row import Row
from experiments.results.task import Task
from experiments.running.evaluation import evaluate
from experiments.statistics import Array
from experiments.studies.setting import Setting, StudyError
from experiments.training.plan import Plan, PlanError
from experiments.training.run import BEST, carried_out

PACK, IMITATED, NETWORK = "ladder", "A", "king"
"""Whose levels are played, whom the network imitates, and the paper's network: 12 convolutions, ELU, means of cells."""

Places = npt.NDArray[np.int64]

TESTED_SHARE = 5
"""One level in so many is predicted, the others are fitted on, as in the paper; these are dealt out at random."""


@dataclass(frozen=True)
class Sizes:
    """How much is done.

    levels: of the pack, evenly spaced; players: of each family; pairs: of each fitting level; epochs: over them
    attempts, few: of the network at each level; searched: fitting levels that the search plays, besides all tested
    simulations, searches: of a move, and attempts of the search at a level
    """

    levels: int = 1000
    players: int = 80
    pairs: int = 1500
    epochs: int = 3
    attempts: int = 1000
    few: int = 100
    searched: int = 300
    simulations: int = 200
    searches: int = 50

    def __str__(self) -> str:
        return ", ".join(f"{name}={value:,}" for name, value in vars(self).items())


FULL = Sizes()
QUICK = Sizes(
    levels=15, players=20, pairs=120, epochs=1, attempts=40, few=20, searched=8, simulations=10, searches=10
)  # fmt: skip


def sizes_of(setting: Setting) -> Sizes:
    """The sizes that are asked for; a `StudyError` where they cannot be."""
    sizes = dataclasses.replace(QUICK if setting.quick else FULL, **setting.sizes)
    limits = {"levels": (15, len(load_pack(PACK))), "few": (2, sizes.attempts), "searched": (8, sizes.levels)}
    for name, value in vars(sizes).items():
        least, most = limits.get(name, (2 if name in ("players", "searches") else 1, 10**6))
        if not least <= value <= most:
            raise StudyError(f"{name} must be from {least:,} to {most:,}, not {value:,}")
    return sizes


class Result(NamedTuple):
    """How an agent's success predicts people. family: of the people; fitted: levels; clone: whether the agent imitates
    just these people."""

    agent: str
    attempts: int
    family: str
    fitted: int
    clone: bool
    measures: Measures
    forecast: Forecast
    people: People


class Played(NamedTuple):
    """An agent's attempts, by the place of the level."""

    label: str
    rows: Mapping[int, Sequence[Row]]

    def rates(self, attempts: int) -> tuple[Array, Array]:
        """Successes and attempts of the first so many, [levels that were played]."""
        first = [sorted(self.rows[n], key=lambda row: row.attempt)[:attempts] for n in sorted(self.rows)]
        return np.array([sum(r.won for r in rows) for rows in first], float), np.array([len(r) for r in first], float)


@dataclass(frozen=True)
class Measured:
    """All of it. pairs: that the network learned from; top1: how often it names the move that was made, and a random
    player would; personas: success, [personas, levels]; played: scores and moves of people and of the network"""

    sizes: Sizes
    pairs: int
    top1: tuple[float, float]
    results: tuple[Result, ...]
    personas: Mapping[str, Array]
    played: Mapping[str, Sequence[Row]]


def measured(setting: Setting) -> Measured:
    """Do what is not done yet."""
    sizes = sizes_of(setting)
    place = setting.folder / "king" / f"{sizes.levels}-{sizes.players}-{sizes.pairs}-{sizes.epochs}-seed-{setting.seed}"
    place.mkdir(parents=True, exist_ok=True)
    try:
        return _Work(setting, sizes, place, levels_of(sizes.levels)).measured()
    except (PairsError, RecordingError, PolicyError, PlanError, PredictionError) as error:
        raise StudyError(str(error)) from None


def levels_of(number: int) -> tuple[Task, ...]:
    """So many levels, evenly spaced, in the pack's order."""
    tasks = tasks_of(PACK)
    places = np.linspace(0, len(tasks) - 1, number).round().astype(int)
    return tuple(tasks[n] for n in places)


@dataclass(frozen=True)
class InGame:
    """An agent that plays in one game, whatever the levels."""

    agent: Agent
    game: Game

    @property
    def name(self) -> str:
        """The agent's."""
        return self.agent.name

    def bind(self, game: Game) -> Policy:
        """The agent's player."""
        return self.agent.bind(game)


@dataclass(frozen=True)
class _Work:
    setting: Setting
    sizes: Sizes
    place: Path
    tasks: tuple[Task, ...]

    def measured(self) -> Measured:
        order = np.random.default_rng(self.setting.seed).permutation(len(self.tasks))
        tested = np.sort(order[: len(order) // TESTED_SHARE])
        fitted = np.sort(order[len(order) // TESTED_SHARE :])
        rows = {family: self._people(family) for family in FAMILIES}
        pairs = self._recorded(rows[IMITATED], fitted)
        weights, top1 = self._learned(pairs)
        sizes = self.sizes
        best, sampled = (self._network(f"policy:{weights}:{how}") for how in ("blind=True", "play=sample,blind=True"))
        searched = np.sort(np.concatenate([order[len(tested) :][: sizes.searched], tested]))
        search = self._search(searched)
        people = {family: people_of(log_of_pairs(pairs_of(rows[family], self.tasks), self.tasks)) for family in rows}
        results = [
            self._predicted(played, attempts, family, people[family], fitted, tested)
            for family in FAMILIES
            for played, attempts in (
                (best, sizes.attempts), (best, sizes.few), (sampled, sizes.attempts), (sampled, sizes.few),
                (search, sizes.searches),
            )
        ]  # fmt: skip
        together = {"people": rows[IMITATED], best.label: _all(best), sampled.label: _all(sampled)}
        return Measured(sizes, pairs, top1, tuple(results), self._personas(tested), together)

    def _people(self, family: str) -> Sequence[Row]:
        people = draw(family, self.sizes.players, self.setting.seed)
        results = evaluate(
            people.agent, self.tasks, seed=self.setting.seed, store=self.place / f"people-{family}.sqlite",
            until_cleared=people.patience, traits=people.traits,
        )  # fmt: skip
        if results.errors:
            raise StudyError(f"the study needs what could not be played: {results.errors[0]}")
        return results.rows

    def _recorded(self, rows: Sequence[Row], fitted: Places) -> int:
        """Write the moves of people on fitting levels, if they are not there yet; how many there are."""
        done, folder = self.place / "recorded", self.place / "moves"
        if done.exists():
            return int(done.read_text(encoding="utf-8"))
        tasks = [self.tasks[n] for n in fitted]
        known = {task.identity for task in tasks}
        some = chosen([row for row in rows if row.task in known], self.sizes.pairs)
        print(f"recording {sum(row.moves for row in some):,} moves", file=sys.stderr, flush=True)
        for old in folder.glob("*") if folder.exists() else ():
            old.unlink()
        people = draw(IMITATED, self.sizes.players, self.setting.seed)
        pairs = record(people, tasks, some, folder, self.setting.seed)
        done.write_text(str(pairs), encoding="utf-8")
        return pairs

    def _learned(self, pairs: int) -> tuple[Path, tuple[float, float]]:
        """The network's file, and its share of moves named, beside a random player's."""
        settings = {"mirror": False, "recolour": False, "batch": min(512, max(16, pairs // 16)), "updates": 1}
        if pairs >= 1 << 15:
            settings["updates"] = 8
        plan = Plan(
            algorithm="imitation", pairs=str(self.place / "moves"), network=NETWORK, steps=self.sizes.epochs * pairs,
            every=pairs, seed=self.setting.seed, settings=settings,
        )  # fmt: skip
        print(f"learning from {self.sizes.epochs * pairs:,} moves", file=sys.stderr, flush=True)
        carried_out(plan, self.place / "network")
        from agents.learning.files import read

        weights = self.place / "network" / BEST
        test = read(weights).about["test"]
        return weights, (float(test["top1"]), float(test["random"]))

    def _network(self, agent: str) -> Played:
        label = "CNN, sampled" if "sample" in agent else "CNN, likeliest move"
        return self._played(label, InGame(make(agent), self.game), range(len(self.tasks)), self.sizes.attempts)

    @cached_property
    def game(self) -> Game:
        """One for all levels: the network plays boards of the size that it learned on."""
        return Game([dataclasses.replace(task.level, name=str(n)) for n, task in enumerate(self.tasks)])

    def _search(self, places: Places) -> Played:
        agent = f"mcts:signal=partial,simulations={self.sizes.simulations}"
        label = f"MCTS, {self.sizes.simulations} simulations"
        return self._played(label, make(agent), places.tolist(), self.sizes.searches)

    def _played(self, label: str, agent: Agent, places: Sequence[int], attempts: int) -> Played:
        number = {self.tasks[n].identity: n for n in places}
        found: dict[int, list[Row]] = {n: [] for n in places}
        tasks = [self.tasks[n] for n in places]
        results = evaluate(agent, tasks, attempts, self.setting.seed, store=self.place / "agents.sqlite", games=1)
        if results.errors:
            raise StudyError(f"the study needs what could not be played: {results.errors[0]}")
        for row in results.rows:
            found[number[row.task]].append(row)
        return Played(label, found)

    def _predicted(
        self, played: Played, attempts: int, family: str, people: People, fitted: Places, tested: Places
    ) -> Result:
        """Fitted on the fitting levels that the agent played, tested on the others."""
        there = np.array(sorted(played.rows))
        successes, tries = played.rates(attempts)
        levels = Levels(
            tuple(self.tasks[n].name for n in there), ("agent",), successes[:, None], tries[:, None]
        )  # fmt: skip
        own = people.at(there)
        fits, tests = np.flatnonzero(np.isin(there, fitted)), np.flatnonzero(np.isin(there, tested))
        model = fit(levels.at(fits), own.at(fits))
        shown = own.at(tests)
        forecast = forecast_of(model, levels.at(tests), shown, self.setting.seed)
        clone = family == IMITATED and played.label.startswith("CNN")
        measures = measure(forecast, shown, self.setting.seed)
        return Result(played.label, attempts, family, len(fits), clone, measures, forecast, shown)

    def _personas(self, tested: Places) -> dict[str, Array]:
        """Success of each persona on some tested levels, from easy to hard as they come."""
        some = tested[:: max(1, len(tested) // 12)][:12]
        attempts = min(100, self.sizes.attempts)
        each = [success_of(tuple(PERSONAS), IMITATED, self.tasks[n].level, attempts, game=self.game) for n in some]
        return {name: np.array([found[name] for found in each]) for name in PERSONAS}


def _all(played: Played) -> list[Row]:
    return [row for rows in played.rows.values() for row in rows]
