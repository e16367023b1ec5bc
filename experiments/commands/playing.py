"""What the commands that play share: how they are told what to play and where, and what they say of it."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from crush_gym.cli import common
from crush_gym.cli.common import CommandError, UsageError
from crush_gym.cli.interrupts import interruptible
from experiments.commands.terminal import players_print_to_stderr, quiet_xla, safe_in

if TYPE_CHECKING:
    from experiments.results.task import Task
    from experiments.running.evaluation import Results
    from experiments.running.events import ShardError
    from experiments.running.executors.here import Executor

LEVELS_HELP = "PACK, PACK/LEVEL, FILE, FILE/LEVEL, or points:7x7:moves=10,colours=4 (or combo) with any options or none"

AGENT_HELP = (
    "name, name:parameter=value,..., module:attribute, policy:FILE, or sb3:FILE, the zip file of a model of "
    "Stable-Baselines3, which runs what its maker put into it"
)

DASH = "\N{EN DASH}"


def add_options(parser: argparse.ArgumentParser, attempts: int, store: Path | None) -> None:
    """Declare how much is played, where, and where it is kept. store: None for nowhere, unless it is said."""
    each = "of each agent on each level (default: %(default)s)"
    parser.add_argument("--attempts", type=positive, default=attempts, metavar="N", help=each)
    parser.add_argument("--seed", type=common.seed, default=0, help="of the attempts' random keys (default: 0)")
    kept = "%(default)s" if store else "none, nothing is kept"
    parser.add_argument(
        "--out", type=Path, default=store, metavar="STORE",
        help=f"SQLite file; what it holds already is not played again (default: {kept})",
    )  # fmt: skip
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--processes", type=positive, metavar="N", help="play on N processes, each on its own cores")
    where.add_argument("--ray", type=positive, metavar="N", help="play on N actors of a Ray cluster")
    where.add_argument("--devices", action="store_true", help="play on all devices that JAX finds, such as GPUs")
    parser.add_argument(
        "--time-limit", type=seconds, metavar="S",
        help="seconds that a shard may take, compiling included; then it is an error (with --processes or --ray)",
    )  # fmt: skip
    common.add_json(parser)


def positive(text: str) -> int:
    """Read a number from 1 upwards."""
    if not (text.isascii() and text.isdigit()) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 upwards, not {text!r}")
    return int(text)


def seconds(text: str) -> float:
    """Read a time."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected seconds, more than 0, not {text!r}")
    return value


def played(options: argparse.Namespace, agents: Sequence[str], tasks: Sequence[Task]) -> Results:
    """Play what is missing. Call it within `ready`."""
    with players_print_to_stderr():
        _check_names(agents, not (options.processes or options.ray))
    from experiments.results.store import Store, StoreError
    from experiments.running.evaluation import evaluate
    from experiments.running.executors.here import ExecutorError

    try:
        with Store(options.out) as store, players_print_to_stderr():
            return evaluate(agents, tasks, options.attempts, options.seed, _executor(options), store)
    except (StoreError, ExecutorError) as error:
        raise CommandError(str(error)) from None


def ready(options: argparse.Namespace) -> AbstractContextManager[None]:
    """Refuse what does not go together; within, the terminal is kept readable and Ctrl-C ends at once."""
    if options.time_limit and not (options.processes or options.ray):
        raise UsageError("--time-limit needs --processes N or --ray N: what hangs in this process cannot be ended")
    quiet_xla()
    return interruptible(lambda: safe_in(options.out) if options.out else "nothing was kept: `--out STORE` keeps it")


class Asked(NamedTuple):
    """Levels that were asked for, each once, and what they are called where several are shown, by identity."""

    tasks: tuple[Task, ...]
    labels: dict[str, str]


def tasks_named(levels: Sequence[str]) -> Asked:
    """What `--levels` names; or a sentence."""
    from crush_gym.levels import LevelError
    from experiments.results.assignment import tasks_of
    from experiments.results.labels import labels

    tasks: dict[str, Task] = {}
    homes: dict[str, str] = {}
    try:
        for text in levels:
            for task in tasks_of(text):
                tasks.setdefault(task.identity, task)
                homes.setdefault(task.identity, text.removesuffix(f"/{task.name}"))
    except LevelError as error:
        raise common.failure(error) from None
    except (ValueError, IndexError) as error:
        raise UsageError(str(error)) from None
    return Asked(tuple(tasks.values()), labels({identity: task.name for identity, task in tasks.items()}, homes))


def _check_names(names: Sequence[str], here: bool) -> None:
    """Refuse what can never play, before hours of work. here: whether players play in this process.

    A stranger's module is let in only where it plays; what else is wrong with it costs its own attempts.
    """
    from agents import registry

    for text in names:
        try:
            if here and text.partition(":")[0] in registry.known():
                registry.make(text)
            elif here or registry.is_known(text):
                registry.check(text)
        except registry.AgentError as error:
            raise UsageError(str(error)) from None


def _executor(options: argparse.Namespace) -> Executor:
    from experiments.running.executors.here import Devices, InProcess

    if options.processes:
        from experiments.running.executors.processes import Processes

        return Processes(options.processes, options.time_limit)
    if options.ray:
        from experiments.running.executors.ray import OnRay

        return OnRay(options.ray, options.time_limit)
    return Devices() if options.devices else InProcess()


def errors_as_json(errors: Sequence[ShardError]) -> list[dict[str, Any]]:
    """What could not be played, for programs."""
    return [{"agent": e.agent, "levels": e.levels, "attempts": e.attempts, "error": e.sentence} for e in errors]


def in_short(errors: Sequence[ShardError]) -> list[str]:
    """One sentence for all shards of an agent that failed alike."""
    from experiments.running.events import ShardError

    alike: dict[tuple[str, str], list[ShardError]] = defaultdict(list)
    for error in errors:
        alike[error.agent, error.sentence].append(error)
    sentences = []
    for (agent, sentence), same in alike.items():
        levels = tuple(dict.fromkeys(level for error in same for level in error.levels))
        whole = ShardError(agent, levels, sum(error.attempts for error in same), sentence)
        sentences.append(common.plain(str(whole)))
    return sentences
