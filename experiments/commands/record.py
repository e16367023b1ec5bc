"""`crush-gym record`: write down the moves of a player, for others to learn to play as it does."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from crush_gym.cli import common
from crush_gym.cli.common import CommandError, Subparsers, UsageError, add_command
from crush_gym.cli.interrupts import interruptible
from experiments.commands import playing
from experiments.commands.terminal import players_print_to_stderr, quiet_xla


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, "record", run, "write down a player's moves and what it saw, for imitation",
        "record heuristic --levels tour --pairs 5500 --out moves",
        "record mcts:simulations=200,signal=partial --levels basics/jelly --levels basics/icing --out moves",
        "train imitation --pairs moves --out imitator",
    )  # fmt: skip
    parser.add_argument("agent", metavar="AGENT", help=playing.AGENT_HELP)
    parser.add_argument(
        "--levels", action="append", required=True, metavar="LEVELS",
        help=f"{playing.LEVELS_HELP}; may be given several times, under one set of rules",
    )  # fmt: skip
    parser.add_argument(
        "--pairs", type=playing.positive, default=5500, metavar="N",
        help="positions with their moves on each level, about: attempts are written whole (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--seed", type=common.seed, default=0, help="of the attempts (default: 0)")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FOLDER",
        help="where they go (agents.learning.pairs says in which form); the same command goes on there, and a larger "
        "--pairs adds to them",
    )  # fmt: skip
    common.add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Record what is missing, and say how much is there."""
    quiet_xla()
    from agents import registry
    from agents.attempts import PolicyError
    from agents.learning.pairs import PairsError
    from experiments.recording import RecordingError, record

    tasks = playing.tasks_named(options.levels).tasks
    with interruptible(lambda: f"what was written is safe in {str(options.out)!r}; the same command goes on"):
        try:
            with players_print_to_stderr():
                agent = registry.make(options.agent)
                number = record(
                    agent, tasks, options.pairs, options.out, options.seed, _Line(options.pairs * len(tasks))
                )
        except registry.AgentError as error:
            raise UsageError(str(error)) from None
        except (RecordingError, PairsError, PolicyError) as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"{str(options.out)!r} cannot be written to: {error.strerror}") from None
    if options.json:
        known = {"out": str(options.out), "agent": agent.name, "levels": len(tasks), "pairs": number}
        common.print_json(known | {"seed": options.seed})
    else:
        print(f"{number:,} moves of {agent.name} on {len(tasks):,} levels: {options.out}")
        print(f"  imitate it: crush-gym train imitation --pairs {options.out}")
    return 0


class _Line:
    """How far a recording is, on stderr where that is a terminal."""

    def __init__(self, wanted: int) -> None:
        self.wanted, self.done = wanted, 0

    def __call__(self, pairs: int) -> None:
        self.done += pairs
        if sys.stderr.isatty():
            share = min(1.0, self.done / self.wanted)
            print(f"\r{share:4.0%}  {self.done:,} moves written", end="", file=sys.stderr, flush=True)
            if share == 1.0:
                print(file=sys.stderr)
