"""The work, cut up: each piece is played on its own, anywhere, and again if need be, with the same results."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from agents import registry
from agents.attempts import play
from agents.protocol import Agent, Policy, bound
from crush_gym import OUTCOMES, REASONS, Game, LevelPack, Stats, sizes
from crush_gym.keys import attempt_key
from crush_gym.runtime.memory import spare_memory
from experiments.results.origin import origin
from experiments.results.row import Row
from experiments.running.clock import CompileClock, PlayClock
from experiments.running.events import Advanced, Compiling, Event, Program, Started
from experiments.running.grouping import Group

QUICK, SLOW = 8192, 512
"""Attempts of a shard at most, for agents that play within `game.rollout` and for the others."""

FEW = 2048
"""Attempts of a quick agent on a group up to which it plays move by move, by the programs that all agents share: its
own one, with the game in it, takes longer to compile than it saves."""

LEAST = 32
"""Attempts below which a shard is not cut up for several workers: boards that play together cost less."""

OURS = ("agents", "crush_gym", "experiments")
"""The packages of this distribution."""

Told = Callable[[Event], None]
"""Told what happens to a shard while it is played; in `Advanced`, attempts that only fill it up count too."""


class Manner(NamedTuple):
    """What is known of an agent once it has been made.

    spec: what makes it again, for JSON; origin: of its worker, for JSON
    quick: whether it plays whole attempts within `game.rollout`
    """

    name: str
    spec: dict[str, Any]
    quick: bool
    origin: dict[str, Any]


class Job(Protocol):
    """A piece of work. program: jobs with the same one share most that is compiled; attempts: how many it plays.

    home: the stranger's module that it lets in, which may change whatever lies in its process; "" for none
    """

    @property
    def home(self) -> str: ...

    @property
    def program(self) -> Hashable: ...

    @property
    def attempts(self) -> int: ...

    def do(self, table: Table, told: Told) -> Any:
        """Do it, on a worker's table."""
        ...


@dataclass
class Table:
    """What a worker keeps between jobs: the agents it made, and the policy it last bound. known: that agent's game."""

    agents: dict[str, Agent] = field(default_factory=dict)
    bound: tuple[Program, Game, Policy, LevelPack] | None = None
    known: Game | None = None

    def agent(self, wanted: str | Agent) -> Agent:
        """The agent, made once."""
        if not isinstance(wanted, str):
            return wanted
        if wanted not in self.agents:
            self.agents[wanted] = registry.make(wanted)
        return self.agents[wanted]

    def policy(
        self, program: Program, wanted: str | Agent, group: Group, shared: bool = False
    ) -> tuple[Game, Policy, LevelPack]:
        """The agent bound to the game of a group, and the levels of the group.

        shared: whether the programs of the agent before may be of use, if it played the same group
        """
        if self.bound is None or self.bound[0] != program:
            agent = self.agent(wanted)
            game, pack = self._game(program, group, getattr(agent, "game", None))
            policy = bound(agent, game)
            if self.bound is not None:
                useful = shared and self.bound[0].group == program.group
                if not (useful or _alike(self.bound[1:3], (game, policy))):
                    self.bound = None
                    spare_memory()
            self.bound = program, game, policy, pack
        return self.bound[1:]

    def _game(self, program: Program, group: Group, known: Game | None) -> tuple[Game, LevelPack]:
        """The game of a group and its levels, the last ones where they are the same. known: see `Group.game`."""
        same = self.bound is not None and self.bound[0].group == program.group and self.known is known
        self.known = known
        if same and self.bound is not None:
            return self.bound[1], self.bound[3]
        nameless = [dataclasses.replace(task.level, name="") for task in group.tasks]  # two packs may share a name
        return group.game(known), LevelPack(nameless)


def _alike(one: tuple[Game, Policy], other: tuple[Game, Policy]) -> bool:
    """Whether two players, each in a game, share all that is compiled for them."""
    (game, policy), (second, another) = one, other
    return game.spec == second.spec and (policy.act, policy.start) == (another.act, another.start)


@dataclass(frozen=True)
class Trial:
    """Find out about an agent, before anything is played. place: its number among the agents that were asked for."""

    place: int
    wanted: str | Agent
    group: Group

    @property
    def home(self) -> str:
        return home_of(self.wanted)

    @property
    def program(self) -> str:
        return named(self.wanted)

    attempts = 0

    def do(self, table: Table, told: Told) -> Manner:
        """Make the agent and bind it to a game."""
        agent = table.agent(self.wanted)
        _, policy, _ = table.policy(program_of(agent.name, self.group), agent, self.group)
        return Manner(agent.name, spec_of(agent), policy.traceable, origin())


@dataclass(frozen=True)
class Shard:
    """Attempts of one agent on the tasks of one group, whose results are entered all at once.

    items: (number of the task in the group, attempt); size: attempts that are played, the last item again and
    again to fill up: each number of attempts would be compiled anew
    shared: whether it is played move by move, by the programs that all agents share
    patience, traits: see `experiments.running.series`
    """

    name: str
    wanted: str | Agent
    group: Group
    seed: int
    items: tuple[tuple[int, int], ...]
    size: int
    shared: bool = False
    patience: tuple[int, ...] = ()
    traits: Any = None

    @property
    def home(self) -> str:
        return home_of(self.wanted)

    @property
    def label(self) -> Program:
        """What is compiled for it, for people."""
        return program_of(self.name, self.group)

    @property
    def program(self) -> Program:
        return program_of("", self.group) if self.shared else self.label

    @property
    def attempts(self) -> int:
        return len(self.items)

    def do(self, table: Table, told: Told) -> list[Row]:
        """Play the attempts."""
        told(Started(self.label, self.attempts))
        with CompileClock(lambda seconds: told(Compiling(self.label, seconds))):
            return self._played(table, told)

    def _played(self, table: Table, told: Told) -> list[Row]:
        game, policy, pack = table.policy(self.label, self.wanted, self.group, self.shared)
        where, attempts = np.array(self.items + self.items[-1:] * (self.size - len(self.items))).T
        words = np.array([int(task.identity[:8], 16) for task in self.group.tasks], np.uint32)
        keys = attempt_keys(jax.random.key(self.seed), words[where], attempts.astype(np.uint32))
        with PlayClock() as clock:
            progress = functools.partial(_tell, told, self.name)
            stats = play(policy, game, keys, pack.stack(where), progress, self.traits, move_by_move=self.shared)
            stats = jax.tree.map(np.asarray, stats)
        return self._rows(stats, clock.seconds / self.size)

    def _rows(self, stats: Stats, seconds: float) -> list[Row]:
        """The rows of the items; the last results are those of what filled up."""
        words = {"outcome": OUTCOMES, "reason": REASONS}
        columns = {name: values.tolist() for name, values in stats._asdict().items() if name in Row._fields}
        columns |= {name: [words[name][number] for number in columns[name]] for name in words}
        rows = []
        for place, (number, attempt) in enumerate(self.items):
            task = self.group.tasks[number]
            known: dict[str, Any] = {"agent": self.name, "task": task.identity, "level": task.name, "seed": self.seed}
            known |= {name: values[place] for name, values in columns.items()}
            rows.append(Row(**known, attempt=attempt, seconds=seconds))
        return rows


def _tell(told: Told, name: str, over: int) -> None:
    """So many more attempts are over."""
    told(Advanced(name, over))


@jax.jit
def attempt_keys(key: jax.Array, words: jax.Array, attempts: jax.Array) -> jax.Array:
    """Many of `tasks.attempt_key` at once: keys[n] from the seed's key and, of each, the task's word and its number."""
    series = attempt_key(jnp.broadcast_to(key, words.shape), words)
    return attempt_key(series, attempts)


def cut(
    manner: Manner, wanted: str | Agent, group: Group, seed: int, attempts: int, done: set[tuple[str, int]], parts: int
) -> Iterator[Shard]:
    """What is missing of the attempts on a group, in shards of one size, if possible the one before an interruption.

    parts: shards that there should be at least, where that makes sense.
    """
    total = len(group.tasks) * attempts
    most = QUICK if manner.quick else SLOW
    size = -(-total // max(-(-total // most), 1 if manner.quick else min(parts, -(-total // LEAST))))
    missing = [
        (n, attempt)
        for attempt in range(attempts)
        for n, task in enumerate(group.tasks)
        if (task.identity, attempt) not in done
    ]
    shared = not manner.quick or len(missing) <= FEW
    for start in range(0, len(missing), size):
        items = tuple(missing[start : start + size])
        # A few attempts of a dear agent take longer to fill up than to compile for.
        filled = size if manner.quick or 2 * len(items) >= size else len(items)
        if manner.quick and shared:  # more attempts than boards need no other programs
            filled = max(len(items), min(size, sizes.FOREIGN))
        yield Shard(manner.name, wanted, group, seed, items, filled, shared)


def program_of(agent: str, group: Group) -> Program:
    """What is compiled for an agent to play a group."""
    return Program(agent, group.identity, group.tasks[0].name, len(group.tasks))


def named(wanted: str | Agent) -> str:
    """What an agent is called before it has been made."""
    return wanted if isinstance(wanted, str) else wanted.name


def home_of(wanted: str | Agent) -> str:
    """The module that an agent comes from, "" where that is one of ours."""
    if isinstance(wanted, str):
        name = wanted.partition(":")[0]
        entries = metadata.entry_points(group=registry.GROUP, name=name)
        module = next((entry.module for entry in entries), name)
    else:
        player = getattr(wanted, "player", wanted)  # of an adapted one
        module = str(getattr(player, "__module__", type(player).__module__))
    return "" if module.partition(".")[0] in OURS else module


def spec_of(agent: Agent) -> dict[str, Any]:
    """What an agent is, for JSON: its class, and where it is a dataclass the parameters that tell it from others."""
    made_by = f"{type(agent).__module__}:{type(agent).__qualname__}"
    known = dataclasses.is_dataclass(agent)
    fields = [f.name for f in dataclasses.fields(agent) if f.compare] if known else []  # type: ignore[arg-type]
    parameters = {name: getattr(agent, name) for name in fields}
    plain = {k: v if isinstance(v, bool | int | float | str | None) else repr(v) for k, v in parameters.items()}
    return {"name": agent.name, "made_by": made_by, "parameters": plain}
