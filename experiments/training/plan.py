"""What a run learns, how, and how it is judged: all that its results depend on, in one object that a file can hold."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from agents.learning.algorithms import AlgorithmError, algorithm, with_settings
from agents.learning.demonstrations import Demonstrations
from agents.learning.inputs import inputs_of
from agents.learning.learner import Learner
from agents.learning.networks import Architecture, NetworkError
from agents.learning.pairs import digest
from agents.learning.practice import Practice
from crush_gym import LevelError, functional
from experiments.results.assignment import tasks_of
from experiments.results.task import SEEDS, Task

__all__ = ["Plan", "PlanError"]

FORMAT = 1

IDS = {"saga": "Crush/Saga-v0", "points": "Crush/Points-v0", "combo": "Crush/Combo-v0"}

REWARDS = ("auto", "score", "progress", "win")
"""auto: progress where a level has other goals than a score, else the score."""

BY_REWARD: Mapping[str, Mapping[str, float]] = {
    "score": {"discount": 0.9, "trace": 0.8},
    "progress": {"discount": 0.98, "trace": 0.9},
    "win": {"discount": 0.99, "trace": 0.95},
}
"""Settings where nothing else is said: what a move brings in points it brings at once, while goals take their time."""

JUDGED_SEED = 900_000
"""Of the attempts by which weights are judged while they learn; learning draws its boards from other keys."""


class PlanError(ValueError):
    """A run that cannot work, with the sentence that says why."""


@dataclass(frozen=True)
class Plan:
    """A run.

    levels: as `crush-gym evaluate --levels` takes them, of one rule set; where it learns from pairs, those on which its
    weights are judged by playing, too, or none
    pairs: the folder of recorded moves to learn from, where the algorithm does that
    steps: moves on all boards together; schedules go by them
    network: as `Architecture.parse` reads it, or "auto", the algorithm's own
    reward: one of REWARDS; preview: whether the network sees what each move brings by itself, where its algorithm can
    show that
    settings: of the algorithm, those that differ from its defaults for these levels
    every: moves between two judgements; attempts: of a judgement, shared among the levels
    """

    levels: tuple[str, ...] = ()
    algorithm: str = "ppo"
    steps: int = 1_000_000
    seed: int = 0
    network: str = "auto"
    reward: str = "auto"
    preview: bool = True
    settings: Mapping[str, Any] = field(default_factory=dict)
    every: int = 32_768
    attempts: int = 400
    pairs: str = ""

    def __post_init__(self) -> None:
        for name, most in (("steps", 10**12), ("every", 10**12), ("attempts", 10**6)):
            if not 1 <= getattr(self, name) <= most:
                raise PlanError(f"{name} must be from 1 to {most:,}, not {getattr(self, name)}")
        if not 0 <= self.seed < SEEDS:
            raise PlanError(f"the seed must be a whole number from 0 to {SEEDS - 1}, not {self.seed}")
        if self.reward not in REWARDS:
            raise PlanError(f"reward must be one of {', '.join(REWARDS)}, not {self.reward!r}")
        if not self.levels and not self.pairs:
            raise PlanError("there are no levels to learn on")

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """What `to_json` wrote."""
        try:
            content = json.loads(text)
            if content.pop("format") != FORMAT:
                raise PlanError(f"this run's config is not of format {FORMAT}, which this version reads")
            return cls(**content | {"levels": tuple(content["levels"])})
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            if isinstance(error, PlanError):
                raise
            raise PlanError(f"this is no config of a run: {' '.join(str(error).split())[:200]}") from None

    def to_json(self) -> str:
        """All of it, for a file."""
        return json.dumps({"format": FORMAT} | dataclasses.asdict(self), indent=2) + "\n"

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits of all of it."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:8]

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """The levels."""
        try:
            found = tuple({task.identity: task for text in self.levels for task in tasks_of(text)}.values())
        except (LevelError, ValueError) as error:
            raise PlanError(str(error)) from None
        if len({(task.rules, task.adjacency) for task in found}) > 1:
            raise PlanError("the levels have different rules, and one run learns one game: give levels of one rule set")
        return found

    @property
    def rewarded(self) -> str:
        """The reward, where "auto" has been decided; "" where nothing is rewarded."""
        if self.pairs:
            return ""
        if self.reward != "auto":
            return self.reward
        return "progress" if any(asks_for_more_than_points(task) for task in self.tasks) else "score"

    @property
    def metric(self) -> str:
        """By what weights are judged: "top1" of recorded moves; else "success" where a level can be won, or "score"."""
        if self.pairs:
            return "top1"
        return "success" if any(can_be_won(task) for task in self.tasks) else "score"

    def learner(self) -> Learner:
        """The learner, or a `PlanError`; nothing is compiled yet."""
        try:
            kind, settings = algorithm(self.algorithm)
            if kind.from_pairs != bool(self.pairs):
                raise PlanError(
                    f"{self.algorithm} learns from recorded moves: say where they are (--pairs FOLDER, which "
                    "`crush-gym record` writes)" if kind.from_pairs else
                    f"{self.algorithm} learns by playing, not from recorded moves: leave the pairs out"
                )  # fmt: skip
            known = {field.name for field in dataclasses.fields(settings)}
            usual = {name: value for name, value in BY_REWARD.get(self.rewarded, {}).items() if name in known}
            chosen = with_settings(settings(), usual | dict(self.settings), self.algorithm)
            architecture = self._architecture(kind)
            learner: Learner = kind(self._source(architecture, chosen), architecture, chosen, self.steps)
        except (AlgorithmError, NetworkError, ValueError) as error:
            raise PlanError(str(error)) from None
        if architecture.needs_previews and not learner.inputs.preview:
            raise PlanError(
                f"the network {architecture} needs what moves bring by themselves, which it is not shown here: choose "
                "the network edge, or an algorithm that shows previews, with previews"
            )
        self._check_size(learner)
        return learner

    def _architecture(self, kind: Any) -> Architecture:
        """The network that is asked for, or the learner's own."""
        if self.network != "auto":
            return Architecture.parse(self.network)
        own: Architecture = kind.architecture
        return own.foreseeing() if kind.foresees and self.preview else own

    def _source(self, architecture: Architecture, settings: Any) -> Practice | Demonstrations:
        """What is learned from."""
        if self.pairs:
            found = _demonstrations(self.pairs, settings.levels, digest(self.pairs))
            return dataclasses.replace(found, preview=self.preview)
        levels = [task.level for task in self.tasks]
        env = functional.make(IDS[self.tasks[0].rules], pack=levels, reward=self.rewarded)
        return Practice(env, inputs_of(env.game, self.preview, architecture.sees_planes))

    def _check_size(self, learner: Learner) -> None:
        """Refuse levels that the network cannot play, where it learns from elsewhere."""
        for task in self.tasks if not learner.architecture.any_size else ():
            height, width = int(task.level.height), int(task.level.width)
            if (height, width) != learner.shape:
                rows, columns = learner.shape
                raise PlanError(
                    f"the network {learner.architecture} plays boards of {rows}x{columns} only, and the level "
                    f"{task.name!r} has {height}x{width}: leave it out, or choose the network edge"
                )


@functools.lru_cache(maxsize=2)
def _demonstrations(folder: str, levels: int, content: str) -> Demonstrations:
    """The pairs of a folder, read once as long as it holds the same. content: their digest."""
    return Demonstrations.open(folder, levels)


def can_be_won(task: Task) -> bool:
    """Whether the level has a goal."""
    return task.level.goal_score > 0 or asks_for_more_than_points(task)


def asks_for_more_than_points(task: Task) -> bool:
    """Whether the level has a goal besides a score."""
    level = task.level
    return bool(level.goal_jelly or level.goal_cherry > 0 or level.goal_hazelnut > 0 or (level.orders > 0).any())
