"""What the subcommands share: how they are declared, find levels, print and fail. Nothing here imports JAX."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from crush_gym.levels import Level, LevelError, LevelPack

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
Run = Callable[[argparse.Namespace], int]
"""What a subcommand does; its result is the exit code: 0 for well, 1 for a finding or a failure."""


PACK_HELP = "a pack that ships, by name (`crush-gym levels list` lists them), or a level file"
LEVEL_HELP = "one of its levels, by name or by number from 0; PACK/LEVEL is the same"
SPEED_HELP = "how many times as fast turns are shown, 0.1 to 10 (default: 1)"


class CommandError(Exception):
    """A command that fails, with the sentence that says why."""

    status = 1


class UsageError(CommandError):
    """A command that was asked for something that is not there."""

    status = 2


def add_command(subparsers: Subparsers, name: str, run: Run, summary: str, *examples: str) -> argparse.ArgumentParser:
    """Declare a subcommand: one sentence on what it does, and examples of how it is used."""
    shown = "\n".join(f"  crush-gym {example}" for example in examples)
    parser = subparsers.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=f"examples:\n{shown}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def add_json(parser: argparse.ArgumentParser) -> None:
    """Declare `--json`."""
    parser.add_argument("--json", action="store_true", help="print a JSON object instead of text")


def print_json(value: Any) -> None:
    """Print a report for programs."""
    print(json.dumps(value, indent=1, ensure_ascii=False))


def plain(text: str) -> str:
    """A text that came from elsewhere, for the terminal: what would steer it is written out, as in `\\x1b`."""
    known = (c if c.isprintable() or c in BLANKS else c.encode("unicode_escape").decode("ascii") for c in text)
    return "".join(known)


BLANKS = "\N{NO-BREAK SPACE}"
"""What steers nothing, though Python does not call it printable."""


def print_table(rows: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> None:
    """Print aligned columns under a line of headings; those in `left` to the left, the others to the right."""
    rows = [[plain(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        cells = [c.ljust(w) if i in left else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        print("  ".join(cells).rstrip())
        if number == 0:
            print("-" * min(sum(widths) + 2 * len(widths) - 2, shutil.get_terminal_size().columns))


def folded(label: str, phrases: Sequence[str]) -> list[str]:
    """A label and phrases after it, on as many lines as the terminal's width asks for."""
    width = max(shutil.get_terminal_size().columns, 40)
    return textwrap.wrap(plain(f"{label}: {', '.join(phrases)}"), width, subsequent_indent="  ", break_on_hyphens=False)


def seed(text: str) -> int:
    """Read a seed from the command line."""
    if not (text.isascii() and text.isdigit()) or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 to {2**32 - 1}, not {text!r}")
    return int(text)


def speed(text: str) -> float:
    """Read how many times faster than usual something is shown."""
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if not 0.1 <= factor <= 10:
        raise argparse.ArgumentTypeError(f"expected a number from 0.1 to 10, not {text!r}")
    return factor


def find_pack(name: str) -> LevelPack:
    """Load a pack by name or path, or fail in one sentence."""
    from crush_gym.levels import LevelError, load_pack

    try:
        return load_pack(name)
    except LevelError as error:
        raise failure(error) from None


def find(text: str, name: str | None) -> tuple[LevelPack, Level]:
    """A pack and its level: PACK and LEVEL, or PACK/LEVEL; or fail in one sentence."""
    from crush_gym.levels.pack import home_and_level

    home, within = home_and_level(text) if name is None else (text, "")
    pack = find_pack(home)
    return pack, _find_level(pack, name or within or None)


def _find_level(pack: LevelPack, name: str | None) -> Level:
    """A level of a pack by name or by its number from 0; the only one needs no name."""
    from crush_gym.levels import LevelError
    from crush_gym.levels.pack import level_named

    if name is None:
        if len(pack) == 1:
            return pack[0]
        raise UsageError(f"say which level of {pack.name!r}: `crush-gym levels list PACK` names its {len(pack)} levels")
    try:
        return level_named(pack, name)
    except LevelError as error:
        raise UsageError(_sentence(error)) from None
    except IndexError as error:
        raise UsageError(str(error)) from None


def failure(error: LevelError) -> CommandError:
    """A wrong level as a command's end: asked for wrongly if it is not there, a finding if it is there and wrong."""
    return (CommandError if error.source else UsageError)(_sentence(error))


def _sentence(error: LevelError) -> str:
    source = f"{error.source}: " if error.source else ""
    first = f"{source}{error.problems[0]}"
    more = len(error.problems) - 1
    return first if not more else f"{first} (and {more} more: `crush-gym levels validate` lists them)"


def write_text(path: Path, text: str) -> None:
    """Write a file that was asked for, or fail in one sentence."""
    from crush_gym.levels.files import write_file

    saved(lambda: write_file(path, text), path)


def saved(write: Callable[[], None], path: Path) -> None:
    """Write a file, or fail in one sentence."""
    try:
        write()
    except OSError as error:
        raise CommandError(f"{str(path)!r} cannot be written: {error.strerror}") from None


def colour_wanted() -> bool:
    """Whether what is printed may hold colours (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")
