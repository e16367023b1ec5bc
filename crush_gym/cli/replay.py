"""`crush-gym replay`: a log as an animation, and whether the attempt still goes as it was recorded."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crush_gym.cli import common
from crush_gym.cli.common import SPEED_HELP, CommandError, Subparsers, add_command, add_json
from crush_gym.cli.interrupts import NOTHING_KEPT, interruptible

if TYPE_CHECKING:
    from crush_gym.attempt_log import Record

FRAME_SECONDS = 0.25
CLEAR = "\x1b[H\x1b[2J"


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, "replay", run, "show the log of an attempt, and check that it plays as recorded",
        "replay plain-7.json", "replay plain-7.json --svg plain.svg --gif plain.gif",
    )  # fmt: skip
    parser.add_argument("log", metavar="LOG", help="a file that `crush-gym play` wrote")
    parser.add_argument(
        "--svg", type=Path, metavar="FILE", help="write it as an animated picture, instead of showing it"
    )
    parser.add_argument("--gif", type=Path, metavar="FILE", help="the same as a GIF (needs the extra `render`)")
    parser.add_argument("--speed", type=common.speed, default=1.0, metavar="X", help=SPEED_HELP)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Check, then show or write."""
    from crush_gym.attempt_log import Record, RecordError

    try:
        record = Record.load(options.log)
    except RecordError as error:
        raise CommandError(str(error)) from None
    with interruptible(lambda: NOTHING_KEPT):
        return _again(record, options)


def _again(record: Record, options: argparse.Namespace) -> int:
    """Play it again, show it and report."""
    if sys.stderr.isatty():
        print("Playing the log; the first time takes some seconds ...", file=sys.stderr, flush=True)
    differences = record.differences()
    if not differences:
        _show(record, options)
    _report(record, differences, options)
    return int(bool(differences))


def _show(record: Record, options: argparse.Namespace) -> None:
    """Write the pictures that are asked for; without any, animate the terminal."""
    from crush_gym import render

    seconds = FRAME_SECONDS / options.speed
    animate = sys.stdout.isatty() and not (options.svg or options.gif or options.json)
    if not (options.svg or options.gif or animate):
        return
    frames = render.frames_of_attempt(record.game(), record.key(), record.actions, record.level)
    if options.svg:
        common.write_text(options.svg, render.animated_svg(frames, record.level, seconds_per_frame=seconds))
    if options.gif:
        _write_gif(frames, options.gif, record, seconds)
    if animate:
        _animate(frames, record, seconds)


def _write_gif(frames: Any, path: Path, record: Record, seconds: float) -> None:
    from crush_gym import render

    try:
        render.gif(frames, path, record.level, seconds_per_frame=seconds)
    except ImportError as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        raise CommandError(f"{str(path)!r} cannot be written: {error.strerror or error}") from None


def _animate(frames: Any, record: Record, seconds: float) -> None:
    from crush_gym import render

    for frame in frames:
        board = render.ansi(frame, record.level, colour=common.colour_wanted())
        print(f"{CLEAR}{_name(record)}, seed {record.seed}\n\n{board}\n", flush=True)
        time.sleep(seconds)


def _name(record: Record) -> str:
    """What was played, for the terminal."""
    return common.plain(record.level.name or record.rules)


def _report(record: Record, differences: list[str], options: argparse.Namespace) -> None:
    from crush_gym.attempt_log import versions
    from crush_gym.cli.describe import counted

    final = record.final
    if options.json:
        report = {"level": record.level.name, "rules": record.rules, "seed": record.seed}
        report |= {"moves": len(record.actions), "score": final.score, "outcome": final.outcome}
        common.print_json({**report, "reproduces": not differences, "differences": differences})
        return
    moves = counted(len(record.actions), "move")
    print(f"{_name(record)}, seed {record.seed}: {moves}, score {final.score:,}, {final.outcome}")
    if not differences:
        print("The log reproduces: score, outcome and board are as recorded.")
    for difference in differences:
        print(common.plain(f"The log does not reproduce: {difference}"))
    changed = [
        f"{n} {was} (here {versions()[n]})" for n, was in record.versions.items() if versions().get(n, was) != was
    ]
    if differences and changed:
        print(common.plain(f"It was recorded with {', '.join(changed)}."))
    for path in (options.svg, options.gif):
        if path and not differences:
            print(f"picture: {path}")
