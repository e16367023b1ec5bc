"""Reference scores that ship: how three players did on every level of every pack, for normalised rankings.

The players are the agents `random`, `greedy` (agents/greedy.py) and `lookahead:samples=2` (agents/lookahead.py), the
strongest of those that learn nothing. It does not play levels that last for as long as there is time, of which it
would gain so much that it makes thousands of moves. Leaderboards take the first and the last for their scale where both
have played.

    from crush_gym import references

    known = references.load("tour")                   # or "basics", "thesis", "ladder", "points", "combo"
    known["First Steps"]["random"].success            # share of attempts won
    known.normalised("First Steps", score=5000.0)     # 0 is random's mean score, 1 is lookahead's

`make references` makes them anew. `known.pack_hash` tells which levels they were measured on.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

FORMAT = 2
"""The version of the files' format."""

RANDOM, GREEDY, LOOKAHEAD = "random", "greedy", "lookahead:samples=2"

PLAYERS = (RANDOM, GREEDY, LOOKAHEAD)
"""Whose results these are, by the names from which `agents.registry.make` makes them."""

SCALE = (RANDOM, LOOKAHEAD)
"""The players that are 0 and 1 of normalised scores."""


@dataclass(frozen=True)
class Reference:
    """How one player did on one level. score, spread: mean and standard deviation of its attempts' final scores."""

    attempts: int
    won: int
    score: float
    spread: float

    @property
    def success(self) -> float:
        """The share of attempts won."""
        return self.won / self.attempts


@dataclass(frozen=True)
class References(Mapping[str, Mapping[str, Reference]]):
    """What is known of a pack, or of a rule set without level files: level name -> player -> `Reference`.

    environment: the id; pack_hash: `LevelPack.content_hash` of the levels, "" without level files
    seed: of the attempts, see `experiments.results.assignment.attempt_key`; versions: what they were played with
    tasks: of each level, `experiments.results.task.Task.identity`: sixteen digits of all that decides how it is played
    """

    name: str
    environment: str
    pack_hash: str
    seed: int
    versions: Mapping[str, str]
    levels: Mapping[str, Mapping[str, Reference]]
    tasks: Mapping[str, str]

    def __getitem__(self, level: str) -> Mapping[str, Reference]:
        return self.levels[level]

    def __iter__(self) -> Iterator[str]:
        return iter(self.levels)

    def __len__(self) -> int:
        return len(self.levels)

    def normalised(self, level: str, score: float | None = None, success: float | None = None) -> float:
        """A mean score, or a success rate, where the players of `SCALE` have 0 and 1; NaN if these are equal, or
        the level was not played by both.

        The upper one is no bound: what is better has more than 1, and where few attempts are won at all, the two
        players may lie close together.
        """
        if (score is None) == (success is None):
            raise TypeError("give the mean score or the success rate, one of them: score=..., or success=...")
        measure, value = ("score", score) if score is not None else ("success", success)
        known = self.levels[level]
        assert value is not None
        if not all(player in known for player in SCALE):
            return float("nan")
        low, high = (getattr(known[player], measure) for player in SCALE)
        return float((value - low) / (high - low)) if high != low else float("nan")


def names() -> tuple[str, ...]:
    """What there are references for."""
    found = (entry.name for entry in resources.files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".json") for name in found if name.endswith(".json")))


def load(name: str) -> References:
    """The references of a shipped pack, or of "points" or "combo" with their default options."""
    if name not in names():
        raise ValueError(f"there are no references for {name!r}: there are some for {', '.join(names())}")
    text = resources.files(__name__).joinpath(f"{name}.json").read_text(encoding="utf-8")
    return of_dict(json.loads(text))


def of_task(task: str) -> Mapping[str, Reference] | None:
    """How the players did on a level of any shipped pack, by its identity; None where it is none of those."""
    return _by_task().get(task)


@functools.lru_cache(maxsize=1)
def _by_task() -> dict[str, Mapping[str, Reference]]:
    return {known.tasks[level]: players for known in map(load, names()) for level, players in known.items()}


def of_dict(value: dict[str, Any]) -> References:
    """From what a file holds, see `scripts/make_references.py`."""
    if value["format"] != FORMAT:
        raise ValueError(f"these references are of format {value['format']}, but this version reads {FORMAT}")
    levels = {
        row["level"]: {player: Reference(*row[player]) for player in PLAYERS if player in row}
        for row in value["levels"]
    }
    return References(
        value["name"],
        value["environment"],
        value["pack_hash"],
        value["seed"],
        dict(value["versions"]),
        levels,
        {row["level"]: row["task"] for row in value["levels"]},
    )
