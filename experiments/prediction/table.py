"""From agents' attempts and level files to the numbers that a model is made of."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from crush_gym import layout, traits_of
from crush_gym.generator.trials import only_score
from crush_gym.levels import Level
from crush_gym.traits import TRAITS
from experiments.features import Gathered, Record
from experiments.prediction.data import Levels, PredictionError, Recipe

SHARES = (0.7, 0.85, 1.2, 1.45)
"""Of a level's moves, under which agents' success is looked at as well."""

PARTS = ("all attempts", "the best 15 %", "the best 5 %")


class Look(NamedTuple):
    """A level and what agents did. lifted: the limit of moves that they had; below 1: there is a clock."""

    level: Level
    lifted: int
    records: tuple[Record | None, ...]

    @property
    def limit(self) -> int:
        """Of moves, below 1 where there is a clock."""
        return int(self.level.moves)


class Group(NamedTuple):
    """Covariates of one kind: their names, from the agents', and their values, NaN where unknown."""

    names: Callable[[Sequence[str]], list[str]]
    values: Callable[[Look], list[float]]


def table_of(found: Gathered, groups: Sequence[str] = ()) -> Levels:
    """Levels for a model: agents' successes, and the covariates of these groups.

    Args:
        found: what agents did. Its `tasks` may be other versions of what was played, with another limit of moves, or
            where a score is all that is asked for and attempts had no more moves than that, with another goal score.
        groups: of `GROUPS`.
    """
    for group in groups:
        if group not in GROUPS:
            raise PredictionError(f"there is no group {group!r} of covariates: there are {', '.join(GROUPS)}")
    names = tuple(player.name for player in found.players)
    looks = [
        Look(task.level, int(played.level.moves), tuple(found.records[n].get(played.identity) for n in names))
        for task, played in zip(found.tasks, found.played, strict=True)
    ]
    shape = (len(looks), len(names))
    counts = [[(_wins(r, look), r.attempts) if r else (0, 0) for r in look.records] for look in looks]
    wins, attempts = np.array(counts, np.float64).reshape(*shape, 2).transpose(2, 0, 1)
    columns = {group: GROUPS[group].names(names) for group in groups}
    values = [[value for group in groups for value in GROUPS[group].values(look)] for look in looks]
    covariates = tuple(name for group in groups for name in columns[group])
    return Levels(
        unique([task.name for task in found.tasks]), names, wins, attempts, covariates,
        np.array(values, np.float64).reshape(len(looks), len(covariates)),
        tuple(group for group in groups for _ in columns[group]),
        Recipe(found.attempts, found.seed, tuple(player.weights for player in found.players)),
    )  # fmt: skip


def unique(names: Sequence[str]) -> tuple[str, ...]:
    """Names that tell levels apart, also where some have none or the same."""
    numbers, found = Counter(names), Counter[str]()
    told = []
    for name in names:
        found[name] += 1
        plain = bool(name) and numbers[name] == 1
        told.append(name if plain else f"{name or 'level'} ({found[name]})")
    return tuple(told)


def _wins(record: Record, look: Look) -> int:
    """Attempts that win the level. Where they had just its moves or time, a score decides by itself."""
    if look.limit == look.lifted and only_score(look.level):
        return int((record.score >= int(look.level.goal_score))[record.over == 0].sum())
    return record.successes(look.limit if look.limit > 0 else None)


# ---------------------------------------------------------------------------------- success under other limits


def _bend(look: Look) -> list[float]:
    """The square of agents' mean logit: people, who are of many skills, gain less than agents on the easiest levels."""
    logits = [_logit(_wins(record, look), record.attempts) for record in look.records if record is not None]
    return [float(np.mean(logits)) ** 2 if logits else math.nan]


def _ingredients(look: Look) -> list[float]:
    """Which part of what a level asks for is ingredients, by kinds of goals: people bring them down better than agents
    who look at the next swap only.
    """
    level = look.level
    ingredients = bool(level.goal_cherry > 0 or level.goal_hazelnut > 0)
    others = (level.goal_score > 0, level.goal_jelly, (np.asarray(level.orders) > 0).any())
    asked = ingredients + sum(map(bool, others))
    return [ingredients / asked if asked else math.nan]


def _curve_names(agents: Sequence[str]) -> list[str]:
    return [f"{agent} with {share:.0%} of the moves" for agent in agents for share in SHARES]


def _curve(look: Look) -> list[float]:
    """How much the logit of success changes."""
    return [_change(record, look.limit, share) for record in look.records for share in SHARES]


def _change(record: Record | None, limit: int, share: float) -> float:
    if record is None or limit < 1:
        return math.nan
    other = max(round(share * limit), 1)
    return _logit(record.successes(other), record.attempts) - _logit(record.successes(limit), record.attempts)


def _logit(wins: int, attempts: int) -> float:
    return math.log((wins + 0.5) / (attempts - wins + 0.5))


# ---------------------------------------------------------------------------------- scores and goals


def _part_names(what: str) -> Callable[[Sequence[str]], list[str]]:
    return lambda agents: [f"{what} of {agent}, {part}" for agent in agents for part in PARTS]


def _scores(look: Look) -> list[float]:
    """Logarithms of scores as shares of the score asked for."""
    goal = int(look.level.goal_score)
    return [
        math.log((value + 1) / goal) if goal > 0 else math.nan
        for record in look.records
        for value in _paths(record, look)[:3]
    ]


def _goals(look: Look) -> list[float]:
    """What is left of all goals but the score, as a share of all of it."""
    whole = units(look.level)
    return [value / whole if whole else math.nan for record in look.records for value in _paths(record, look)[3:]]


def _paths(record: Record | None, look: Look) -> list[float]:
    return [math.nan] * 6 if record is None else record.path(look.limit, look.lifted).tolist()


def units(level: Level) -> int:
    """How much a level asks for besides a score; a layer of jelly is one."""
    planes = [level.start[layout.PLANES.index(name)] for name in layout.JELLY] if level.goal_jelly else []
    jelly = sum(int(np.bitwise_count(plane).sum()) for plane in planes)
    counts = (level.goal_cherry, level.goal_hazelnut, *np.asarray(level.orders))
    return jelly + sum(max(int(count), 0) for count in counts)


# ---------------------------------------------------------------------------------- boards and files


def _board_names(agents: Sequence[str]) -> list[str]:
    return [f"{what} of {agent}" for agent in agents for what in ("legal moves", "shuffles")]


def _board(look: Look) -> list[float]:
    """Logarithms of how many moves are legal, and of 1 + shuffles of an attempt."""
    means = [np.full(2, math.nan) if r is None else r.means.mean(axis=0, dtype=np.float64) for r in look.records]
    return [value for legal, shuffles in means for value in (math.log(legal + 0.1), math.log1p(shuffles))]


def _file(look: Look) -> list[float]:
    """Logarithms of 1 + traits."""
    return [math.log1p(value) for value in traits_of(look.level).values()]


GROUPS = {
    "bend": Group(lambda agents: ["the bend of success"], _bend),
    "ingredients": Group(lambda agents: ["ingredients among the goals"], _ingredients),
    "curve": Group(_curve_names, _curve),
    "scores": Group(_part_names("score"), _scores),
    "goals": Group(_part_names("what is left"), _goals),
    "board": Group(_board_names, _board),
    "file": Group(lambda agents: [f"file: {name}" for name in TRAITS], _file),
}
"""What can be known of levels besides agents' success: the square of its logit; whether ingredients are asked for;
agents' success with fewer and with more moves; their scores as shares of the score asked for; what they leave of other
goals; how many moves are legal; what the level's file says."""
