"""`crush-gym`: finds the subcommand, runs it, and turns what goes wrong into one sentence and an exit code."""

from __future__ import annotations

import argparse
import errno
import functools
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from typing import Any

import crush_gym
from crush_gym.cli import bench, doctor, levels, play, replay
from crush_gym.cli.common import CommandError, Subparsers, plain
from crush_gym.cli.interrupts import INTERRUPTED, leave_at_once
from crush_gym.cli.parser import Parser

GROUP = "crush_gym.commands"
"""Entry points of this group are functions (subparsers) -> None that add a subcommand, whose `run` default is a
function (options) -> exit code. `crush_gym.cli.common.add_command` does both. One whose name has a dot, as in
`levels.rate`, adds a part to the command before the dot."""

BUILT_IN: dict[str, Callable[[Subparsers], Subparsers | None]] = {
    "levels": levels.register,
    "play": play.register,
    "replay": replay.register,
    "bench": bench.register,
    "doctor": doctor.register,
}

BROKEN_PIPE = 141
"""The exit code, as a shell would give it."""


def console() -> int:
    """Run the command line as a program of its own."""
    signal.signal(signal.SIGINT, leave_at_once)
    status = main()
    if status == INTERRUPTED:  # where XLA may still be compiling on threads, which would crash
        sys.stdout.flush()
        leave_at_once()
    return status


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; its exit code: 0 for well, 1 for a finding or a failure, 2 for wrong usage."""
    _replace_what_cannot_be_written()
    try:
        status = _run(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except CommandError as error:
        return _complain(str(error), error.status)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _close_output()
        return BROKEN_PIPE
    except OSError as error:
        if error.errno in FULL:
            _close_output()
            return _complain(f"the output cannot be written: {error.strerror}", 1)
        if error.filename is None:
            raise
        return _complain(f"{str(error.filename)!r}: {error.strerror}", 1)
    return status


FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
"""What a disk says on which nothing more can be written."""


def _replace_what_cannot_be_written() -> None:
    """A terminal that lacks a character shows another one in its place."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _close_output() -> None:
    """What is still buffered has nowhere to go: nothing may complain about it at the interpreter's end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: list[str]) -> int:
    parser, homes = _parser()
    _add_others(homes, arguments[0] if arguments else "")
    try:
        options = parser.parse_args(arguments)
    except SystemExit as end:
        return int(end.code or 0)
    if not hasattr(options, "run"):
        parser.print_help(sys.stderr)
        return 2
    return int(options.run(options))


def _parser() -> tuple[argparse.ArgumentParser, dict[str, Subparsers]]:
    """The parser; and what subcommands are added to, by the command that they are a part of, "" for none."""
    parser: argparse.ArgumentParser = Parser(
        prog="crush-gym",
        description="Match-3 as a suite of reinforcement-learning environments: look at levels, let players play them, "
        "learn, and rank who did.",
        epilog="examples:\n  crush-gym levels list\n  crush-gym play basics jelly\n"
        "  crush-gym levels rate basics/jelly\n  crush-gym doctor\n\n"
        "`crush-gym COMMAND --help` explains a command.",
        formatter_class=functools.partial(argparse.RawDescriptionHelpFormatter, max_help_position=18),
    )
    parser.add_argument("--version", action="version", version=f"crush-gym {crush_gym.__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND")
    homes = {"": subparsers}
    for name, register in BUILT_IN.items():
        parts = register(subparsers)
        homes |= {} if parts is None else {name: parts}
    return parser, homes


def _add_others(homes: dict[str, Subparsers], command: str) -> None:
    """Let other packages add what may be meant; a broken one costs a sentence and nothing else."""
    wanted = command if command in BUILT_IN else ""
    for entry in sorted(metadata.entry_points(group=GROUP), key=lambda entry: entry.name):
        home = entry.name.rpartition(".")[0]
        if home != wanted:
            continue
        try:
            register: Any = entry.load()
            register(homes[home])
        except Exception as reason:
            said = " ".join(str(reason).split())
            _complain(f"the command {entry.name!r} ({entry.value}) is broken: {type(reason).__name__}: {said}", 1)


def _complain(sentence: str, status: int) -> int:
    print(f"crush-gym: {plain(sentence)}", file=sys.stderr)
    return status
