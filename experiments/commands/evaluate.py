"""`crush-gym evaluate`: let agents play levels and keep every attempt."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crush_gym.cli import common
from crush_gym.cli.common import CommandError, Subparsers, UsageError, add_command, add_json
from experiments.commands.terminal import interruptible, players_print_to_stderr, quiet_xla, safe_in

if TYPE_CHECKING:
    from experiments.results.row import Row
    from experiments.results.task import Task
    from experiments.running.evaluation import Results
    from experiments.running.events import ShardError
    from experiments.running.executors.here import Executor

STORE = "runs.sqlite"
DASH = "\N{EN DASH}"


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, "evaluate", run, "let agents play levels, and keep every attempt in a store",
        "evaluate random first --levels thesis --attempts 100",
        "evaluate random my_agents:Careful --levels points:7x7 --levels tour --processes 2 --time-limit 600",
        "evaluate random --levels ladder --out ladder.sqlite --export ladder.csv --json",
    )  # fmt: skip
    parser.add_argument("agents", nargs="+", metavar="AGENT", help="name, name:parameter=value,... or module:attribute")
    parser.add_argument(
        "--levels", action="append", required=True, metavar="LEVELS",
        help="pack, pack/level, points, combo, points:7x7 or a file; may be given several times",
    )  # fmt: skip
    parser.add_argument("--attempts", type=positive, default=100, help="of each agent on each level (default: 100)")
    parser.add_argument("--seed", type=common.seed, default=0, help="of the attempts' random keys (default: 0)")
    parser.add_argument(
        "--out", type=Path, default=Path(STORE), metavar="STORE",
        help="SQLite file; what it holds already is not played again (default: %(default)s)",
    )  # fmt: skip
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--processes", type=positive, metavar="N", help="play on N processes, each on its own cores")
    where.add_argument("--ray", type=positive, metavar="N", help="play on N actors of a Ray cluster")
    where.add_argument("--devices", action="store_true", help="play on all devices that JAX finds, such as GPUs")
    parser.add_argument(
        "--time-limit", type=seconds, metavar="S",
        help="seconds that a shard may take, compiling included; then it is an error (with --processes or --ray)",
    )  # fmt: skip
    parser.add_argument("--export", type=Path, metavar="FILE", help="also write the results as .csv or .parquet")
    add_json(parser)


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


def run(options: argparse.Namespace) -> int:
    """Play what is missing and report; 1 where something could not be played."""
    if options.time_limit and not (options.processes or options.ray):
        raise UsageError("--time-limit needs --processes N or --ray N: what hangs in this process cannot be ended")
    if options.export and options.export.suffix not in (".csv", ".parquet"):
        raise UsageError(f"--export {str(options.export)!r} must end in .csv or .parquet")
    quiet_xla()
    with interruptible(lambda: safe_in(options.out)):
        results = _evaluated(options)
    _report(options, results)
    return int(bool(results.errors))


def _evaluated(options: argparse.Namespace) -> Results:
    """Play what is missing."""
    with players_print_to_stderr():
        _check_names(options.agents)
    from experiments.results.export import ExportError, export
    from experiments.results.store import Store, StoreError
    from experiments.running.evaluation import evaluate
    from experiments.running.executors.here import ExecutorError

    tasks = tasks_named(options.levels)
    try:
        with Store(options.out) as store, players_print_to_stderr():
            how = options.attempts, options.seed, _executor(options), store
            results = evaluate(options.agents, tasks, *how)
        if options.export:
            export(results.rows, options.export)
    except (StoreError, ExecutorError, ExportError) as error:
        raise CommandError(str(error)) from None
    return results


def tasks_named(levels: list[str]) -> tuple[Task, ...]:
    """What `--levels` names; or a sentence."""
    from crush_gym.levels import LevelError
    from experiments.results.assignment import tasks_of

    try:
        return tuple(task for text in levels for task in tasks_of(text))
    except LevelError as error:
        raise common.failure(error) from None
    except ValueError as error:
        raise UsageError(str(error)) from None


def _check_names(names: list[str]) -> None:
    """Refuse misspelt names before hours of work; whatever else is wrong with an agent only costs its own attempts."""
    from agents import registry

    for text in names:
        name, _, rest = text.partition(":")
        if name not in registry.known() and (not rest or "=" in rest.partition(":")[0]):
            try:
                registry.make(text)
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


def _report(options: argparse.Namespace, results: Results) -> None:
    from experiments.results.row import without_goals

    by_agent: dict[str, list[Row]] = defaultdict(list)
    for row in results.rows:
        by_agent[row.agent].append(row)
    endless = without_goals(results.rows)
    lines = {agent: _summary(rows, endless) for agent, rows in by_agent.items()}
    if options.json:
        errors = [{"agent": e.agent, "levels": e.levels, "attempts": e.attempts, "error": e.sentence}
                  for e in results.errors]  # fmt: skip
        common.print_json({"store": str(options.out), "seed": options.seed, "agents": lines, "errors": errors})
        return
    table = [
        (agent, *_won(s), f"{s['mean_score']:,.0f}", f"{s['moves_per_second']:,.0f}") for agent, s in lines.items()
    ]
    if table:
        common.print_table([("agent", "won", "success", "mean score", "moves/s"), *table])
    print(f"\n{len(results.rows):,} results in {options.out}")
    for sentence in in_short(results.errors):
        print(f"error: {sentence}")
    if results.errors:
        print("The same command plays what is missing.")


def _won(summary: dict[str, Any]) -> tuple[str, str]:
    """Wins and their share in words, dashes where nothing could be won."""
    if summary["success"] is None:
        return DASH, DASH
    return f"{summary['won']:,} of {summary['winnable']:,}", f"{summary['success']:.1%}"


def _summary(rows: list[Row], endless: Collection[str]) -> dict[str, Any]:
    """How an agent did on all levels together; moves a second of one worker, compiling not counted.

    endless: tasks without goals, whose attempts nobody can win
    """
    took, winnable = sum(row.seconds for row in rows), [row.won for row in rows if row.task not in endless]
    return {
        "attempts": len(rows),
        "winnable": len(winnable),
        "won": sum(winnable),
        "success": sum(winnable) / len(winnable) if winnable else None,
        "mean_score": sum(row.score for row in rows) / len(rows),
        "moves_per_second": sum(row.moves for row in rows) / took if took else 0.0,
    }


def in_short(errors: Sequence[ShardError]) -> list[str]:
    """One sentence for all shards of an agent that failed alike."""
    from experiments.running.events import ShardError

    alike: dict[tuple[str, str], list[ShardError]] = defaultdict(list)
    for error in errors:
        alike[error.agent, error.sentence].append(error)
    sentences = []
    for (agent, sentence), same in alike.items():
        levels = tuple(dict.fromkeys(level for error in same for level in error.levels))
        sentences.append(str(ShardError(agent, levels, sum(error.attempts for error in same), sentence)))
    return sentences
