"""What happens in an evaluation, told to whoever listens while it happens; and how it is told to stop.

An evaluation begins with one `Wanted`, and there is one `Planned` for each agent. Its missing attempts are played in
shards: each begins with `Started`, has pairs of `Compiling` and now and then `Advanced`, and ends with `Finished` or
`Failed`. The attempts of all `Advanced` together are those wanted, unless the evaluation is stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from experiments.results.row import Row


@dataclass(frozen=True)
class ShardError:
    """Attempts that were not played, and why. levels: names, in order; final: whether they would fail again."""

    agent: str
    levels: tuple[str, ...]
    attempts: int
    sentence: str
    final: bool = False

    def __str__(self) -> str:
        where = self.levels[0] if len(self.levels) == 1 else f"{len(self.levels)} levels"
        return f"{self.agent} on {where}, {self.attempts:,} attempts: {self.sentence}"


class Program(NamedTuple):
    """What is compiled for an agent to play a group of levels; jobs of one program share it.

    group: `Group.identity`; level: the name of the group's first level; levels: how many there are
    """

    agent: str
    group: str
    level: str
    levels: int

    def __str__(self) -> str:
        more = f" and {self.levels - 1:,} more" if self.levels > 1 else ""
        return f"{self.agent} for {self.level}{more}"


class Wanted(NamedTuple):
    """So many attempts of all agents on all levels, those that the store holds already included."""

    attempts: int


class Planned(NamedTuple):
    """An agent is known, and so many of its attempts are missing; they take so many programs."""

    agent: str
    attempts: int
    programs: int


class Started(NamedTuple):
    """A worker begins with a shard of so many attempts."""

    program: Program
    attempts: int


class Compiling(NamedTuple):
    """A worker compiles for its shard; or it is ready to go on, after `seconds` of compiling for this shard so far."""

    program: Program
    seconds: float | None = None


class Advanced(NamedTuple):
    """So many more attempts are over: played to their ends, or else found in the store or given up."""

    agent: str
    attempts: int
    played: bool = True


class Finished(NamedTuple):
    """The rows of a shard are in the store."""

    program: Program
    rows: tuple[Row, ...]


class Failed(NamedTuple):
    """Attempts cannot be played. program: of the shard; None where the agent could not even be made."""

    error: ShardError
    program: Program | None = None


Event = Wanted | Planned | Started | Compiling | Advanced | Finished | Failed

Listener = Callable[[Event], None]
"""Is told every event, on the thread that called `evaluate`."""


class Stop(Protocol):
    """What ends an evaluation between two calls: a `threading.Event`, for one."""

    def is_set(self) -> bool: ...


class Stopped(BaseException):
    """Ends the job that is being played. No Exception: an agent's `except` must not keep it up."""
