"""`crush-gym play`: a level in the terminal, by keys or by a list of actions."""

from __future__ import annotations

import argparse
import re
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from crush_gym.cli import common
from crush_gym.cli.common import LEVEL_HELP, PACK_HELP, SPEED_HELP, CommandError, Subparsers, UsageError, add_command
from crush_gym.cli.interrupts import NOTHING_KEPT, interruptible, raising

if TYPE_CHECKING:
    from crush_gym import Game, Level
    from crush_gym.session import Session

DEFAULT = ("basics", "plain")
"""What is played when nothing is said."""

BOARD = re.compile(r"(\d{1,2})x(\d{1,2})")
ENOUGH_NAMES = 10_000


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, "play", run, "play a level in the terminal",
        "play basics jelly --seed 7", "play --rules combo", "play basics plain --seed 7 --actions moves.txt",
    )  # fmt: skip
    parser.add_argument("pack", nargs="?", metavar="PACK", help=f"{PACK_HELP} (default: {DEFAULT[0]})")
    parser.add_argument("level", nargs="?", metavar="LEVEL", help=f"{LEVEL_HELP} (without PACK: {DEFAULT[1]})")
    parser.add_argument("--rules", choices=("points", "combo"), help="play one of the simple games instead")
    parser.add_argument("--board", metavar="HxW", help="rows x columns of a simple game, such as 7x7")
    parser.add_argument("--seed", type=common.seed, help="what decides all candies (default: a new one)")
    parser.add_argument(
        "--actions",
        metavar="FILE",
        help="make these moves, numbers of actions, instead of asking for keys; - reads stdin",
    )
    parser.add_argument("--log", type=Path, metavar="FILE", help="where the log goes (default: LEVEL-SEED.json here)")
    parser.add_argument("--speed", type=common.speed, default=1.0, metavar="X", help=SPEED_HELP)


def run(options: argparse.Namespace) -> int:
    """Play."""
    if options.log and not options.log.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {str(options.log.parent)!r} for the log")
    actions = _actions(options.actions)
    title, level, rules = _chosen(options)
    seed = secrets.randbelow(2**16) if options.seed is None else options.seed
    if actions is not None:
        with interruptible(lambda: NOTHING_KEPT):
            return _by_list(title, level, rules, seed, actions, options.log)
    return _by_keys(title, level, rules, seed, options.log, options.speed)


def _by_keys(title: str, level: Level | None, rules: str, seed: int, log: Path | None, speed: float) -> int:
    from crush_gym.cli.terminal import Terminal

    terminal = Terminal()
    print("Preparing the board; the first time takes some seconds ...", flush=True)
    from crush_gym.cli.keys import Player

    session = _session(level, rules, seed)
    with interruptible(lambda: NOTHING_KEPT):
        session.prepare()
    player = Player(session, terminal, title=f"{title}, seed {seed}", speed=speed, colour=common.colour_wanted())
    try:
        with raising(), terminal:
            player.play()
    finally:
        _finish(session, log, title)
    return 0


def _by_list(title: str, level: Level | None, rules: str, seed: int, actions: list[int], log: Path | None) -> int:
    from crush_gym import render
    from crush_gym.swaps import swap_of

    session = _session(level, rules, seed)
    wrong = ""
    for number, action in enumerate(actions):
        if session.over:
            wrong = f"the attempt is over after {number} of {len(actions)} actions"
        elif not session.may(action):
            place = swap_of(action, session.level.shape) if 0 <= action < session.game.actions else "no such action"
            wrong = f"move {number}, action {action}, is not legal ({place}): nothing after it was played"
        if wrong:
            break
        turn = session.step(action)
        swap = swap_of(action, session.level.shape)
        print(f"move {number}: {swap}, {int(turn.score):,} points in {int(turn.waves)} waves")
    print(render.ansi(session.rows(), session.level, colour=common.colour_wanted()))
    _finish(session, log, title)
    if wrong:
        raise CommandError(wrong)
    return 0


def _chosen(options: argparse.Namespace) -> tuple[str, Level | None, str]:
    """What is to be played: its title, its level (None for a simple game's own), its rules."""
    if options.rules and options.pack:
        raise UsageError("give either a pack and a level, or --rules, not both")
    if options.board and not options.rules:
        raise UsageError("--board is the board of a simple game: give --rules points or combo with it")
    if options.rules:
        return options.rules, _simple(options.rules, options.board), options.rules
    pack, level = common.find(*((options.pack, options.level) if options.pack else DEFAULT))
    return common.plain(level.name or pack.name or "level"), level, "saga"


def _simple(rules: str, board: str | None) -> Level | None:
    if board is None:
        return None
    from crush_gym import Game

    match = BOARD.fullmatch(board)
    sides = (int(match[1]), int(match[2])) if match else (0, 0)
    if not all(3 <= side <= 16 for side in sides):
        raise UsageError(f"--board must be rows x columns from 3 to 16, such as 7x7, not {board!r}")
    return Game(rules=rules, shape=sides).level


def _session(level: Level | None, rules: str, seed: int) -> Session:
    from crush_gym import Game
    from crush_gym.session import Session

    game: Game = Game(level, rules=rules)
    assert game.level is not None
    return Session(game, game.level, seed)


def _finish(session: Session, log: Path | None, title: str) -> None:
    """Say how it went, and write the log of it."""
    from crush_gym.cli.describe import counted
    from crush_gym.cli.screen import ending

    score = int(session.state.books.score)
    made = counted(len(session.actions), "move")
    print(f"{title}, seed {session.seed}: {made}, score {score:,}, {ending(session.outcome, session.reason)}")
    if not session.actions and log is None:
        return
    path = log or free_name(title, session.seed)
    try:
        session.record().save(path)
    except OSError as error:
        raise CommandError(f"the log cannot be written to {str(path)!r}: {error.strerror}") from None
    print(f"log: {path} (`crush-gym replay {path}` shows it again)")


def free_name(title: str, seed: int) -> Path:
    """A name for a log that no file in this folder has."""
    stem = f"{re.sub('[^a-z0-9]+', '-', title.lower()).strip('-') or 'level'}-{seed}"
    names = (Path(f"{stem}{f'-{n}' if n > 1 else ''}.json") for n in range(1, ENOUGH_NAMES))
    return next((path for path in names if not path.exists()), Path(f"{stem}.json"))


def _actions(source: str | None) -> list[int] | None:
    """The moves to be made without keys: from a file, or piped in; None where keys are to be read."""
    if source is None:
        if sys.stdin is None or sys.stdin.isatty():
            return None
        text = sys.stdin.read()
        return _numbers(text, "standard input") if text.strip() else None
    if source == "-":
        return _numbers(sys.stdin.read(), "standard input")
    try:
        return _numbers(Path(source).read_text(encoding="utf-8"), repr(source))
    except OSError as error:
        raise CommandError(f"{source!r} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CommandError(f"{source!r} is not text: expected action numbers") from None


def _numbers(text: str, source: str) -> list[int]:
    words = text.replace(",", " ").replace("[", " ").replace("]", " ").split()
    wrong = next((word for word in words if not re.fullmatch("[0-9]{1,9}", word)), None)
    if wrong is not None:
        raise CommandError(f"{source} holds {wrong[:40]!r}, expected action numbers: whole numbers with blanks between")
    return [int(word) for word in words]
