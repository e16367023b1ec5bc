"""`crush-gym population`: synthetic players who stand for people, where no people's results are there."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crush_gym.cli import common
from crush_gym.cli.common import CommandError, Subparsers, UsageError, add_command
from crush_gym.cli.interrupts import interruptible
from experiments.commands.playing import positive, tasks_named
from experiments.commands.terminal import quiet_xla, safe_in

if TYPE_CHECKING:
    from experiments.population import People
    from experiments.population.playing import Pair
    from experiments.results.task import Task
    from experiments.running.evaluation import Results

SYNTHETIC = "synthetic players, no people"

FAMILY_HELP = "A: players who weigh moves that they imagine; B: players of habits (default: A)"


def register(subparsers: Subparsers) -> None:
    """Add the command with its parts."""
    summary = "synthetic players who stand for people: let them play, and meet some of them"
    parser = add_command(
        subparsers, "population", play, summary, "population play tour --players 500 --family A --out people.csv",
        "population personas basics jelly",
    )  # fmt: skip
    parts = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_play(parts)
    _add_personas(parts)
    _add_calibrate(parts)


def _add_play(parts: Subparsers) -> None:
    playing = add_command(
        parts, "play", play, "let synthetic players play levels until they clear them or give up",
        "population play tour --players 500 --family A --out people.csv",
        "population play my-levels.json --players 100 --family B --seed 7 --out people.csv --json",
    )  # fmt: skip
    playing.add_argument(
        "levels", nargs="+", metavar="LEVELS", help="pack, pack/level or a level file; several may be given"
    )
    playing.add_argument("--players", type=positive, default=100, help="how many players (default: 100)")
    playing.add_argument("--family", choices=("A", "B"), default="A", help=FAMILY_HELP)
    playing.add_argument(
        "--seed", type=common.seed, default=0, help="of who the players are, and of their attempts (default: 0)"
    )
    playing.add_argument(
        "--out", type=Path, required=True, metavar="FILE",
        help="the results (.csv), which `crush-gym people` reads; every attempt goes into a store beside it, from "
        "which a run that was broken off goes on",
    )  # fmt: skip
    playing.add_argument(
        "--as-moves", type=Path, metavar="FOLDER",
        help="also write positions and the moves made in them, for imitation (see agents.learning.pairs)",
    )  # fmt: skip
    playing.add_argument(
        "--pairs", type=positive, default=5500, metavar="N", help="of --as-moves, on each level, about (default: 5500)"
    )
    common.add_json(playing)


def _add_personas(parts: Subparsers) -> None:
    meeting = add_command(
        parts, "personas", personas, "list the players with names, and how they do on a level",
        "population personas", "population personas basics jelly --attempts 2000",
    )  # fmt: skip
    meeting.add_argument("pack", nargs="?", metavar="PACK", help=f"let them play, too: {common.PACK_HELP}")
    meeting.add_argument("level", nargs="?", metavar="LEVEL", help=f"{common.LEVEL_HELP} (default: the only one)")
    meeting.add_argument("--attempts", type=positive, default=1000, help="of each on the level (default: 1000)")
    meeting.add_argument("--family", choices=("A", "B"), default="A", help=FAMILY_HELP)
    meeting.add_argument("--seed", type=common.seed, default=0, help="of the attempts (default: 0)")
    common.add_json(meeting)


def _add_calibrate(parts: Subparsers) -> None:
    calibrating = add_command(
        parts, "calibrate", calibrate, "bring a family to where its players do as people did on levels kept for that",
        "population calibrate results/calibration --family A",
    )  # fmt: skip
    calibrating.add_argument(
        "folder", type=Path, metavar="FOLDER",
        help="where the family's numbers and every attempt go; a search that was broken off goes on there",
    )  # fmt: skip
    calibrating.add_argument("--family", choices=("A", "B"), default="A", help=FAMILY_HELP)
    calibrating.add_argument("--players", type=positive, default=200, help="of each round (default: 200)")
    calibrating.add_argument("--seed", type=common.seed, default=20_000, help="of the players (default: 20000)")


def calibrate(options: argparse.Namespace) -> int:
    """Search, tell each round, and write the family's file."""
    quiet_xla()
    from experiments.population.calibration import CalibrationError, Search
    from experiments.results.store import StoreError

    search = Search(options.family, options.folder, options.players, options.seed)
    try:
        with interruptible(lambda: f"every round so far is safe in {str(options.folder)!r}; the same command goes on"):
            numbers = search.run(lambda sentence: print(sentence, flush=True))
    except (CalibrationError, StoreError) as error:
        raise CommandError(str(error)) from None
    common.write_text(search.file, json.dumps(numbers, indent=1) + "\n")
    print(f"the family's numbers: {search.file}")
    return 0


def play(options: argparse.Namespace) -> int:
    """Play what is missing, write the table, and report."""
    if options.out.suffix != ".csv":
        raise UsageError(f"--out {str(options.out)!r} must end in .csv")
    if options.as_moves and options.as_moves.exists() and any(options.as_moves.iterdir()):
        raise UsageError(f"--as-moves {str(options.as_moves)!r} is not empty: moves go into a folder of their own")
    quiet_xla()
    tasks = tasks_named(options.levels).tasks
    from experiments.population import draw
    from experiments.population.playing import PlayingError, check, csv_of, pairs_of

    try:
        check(tasks)
    except PlayingError as error:
        raise UsageError(str(error)) from None
    store = options.out.with_suffix(".sqlite")
    people = draw(options.family, options.players, options.seed)
    with interruptible(lambda: safe_in(store)):
        results = _played(people, tasks, store, options.seed)
        pairs = pairs_of(results.rows, tasks)
        common.write_text(options.out, csv_of(pairs, tasks))
        moves = _recorded(options, people, tasks, results) if options.as_moves else None
    _report(options, pairs, tasks, len(results.rows), moves, store)
    return 0


def _played(people: People, tasks: tuple[Task, ...], store: Path, seed: int) -> Results:
    from experiments.results.store import StoreError
    from experiments.running.evaluation import evaluate

    try:
        results = evaluate(
            people.agent, tasks, seed=seed, store=store, until_cleared=people.patience, traits=people.traits
        )
    except StoreError as error:
        raise CommandError(str(error)) from None
    if results.errors:
        raise CommandError(f"{results.errors[0]}")
    return results


def _recorded(options: argparse.Namespace, people: People, tasks: tuple[Task, ...], results: Results) -> int:
    """Write moves; how many."""
    from agents.learning.pairs import PairsError
    from experiments.population.recording import chosen, record
    from experiments.recording import RecordingError

    rows = chosen(results.rows, options.pairs)
    wanted, done = sum(row.moves for row in rows), 0

    def told(pairs: int) -> None:
        nonlocal done
        done += pairs
        if sys.stderr.isatty():
            print(f"\r{done:,} of {wanted:,} moves written", end="", file=sys.stderr)

    try:
        return record(people, tasks, rows, options.as_moves, options.seed, told)
    except (RecordingError, PairsError) as error:
        raise CommandError(str(error)) from None


def _report(
    options: argparse.Namespace,
    pairs: list[Pair],
    tasks: tuple[Task, ...],
    attempts: int,
    moves: int | None,
    store: Path,
) -> None:
    cleared = sum(pair.cleared for pair in pairs)
    known = {
        "out": str(options.out), "store": str(store), "population": f"family {options.family}: {SYNTHETIC}",
        "players": options.players, "seed": options.seed, "levels": len(tasks), "attempts": attempts,
        "success": cleared / attempts, "cleared": cleared / len(pairs), "moves": moves,
    }  # fmt: skip
    if options.json:
        common.print_json(known)
        return
    print(
        f"{options.players:,} {SYNTHETIC} (family {options.family}) made {attempts:,} attempts on {len(tasks):,} levels"
    )
    print(f"won: {cleared / attempts:.1%} of the attempts; cleared: {cleared / len(pairs):.1%} of players' levels")
    print(f"results: {options.out}; every attempt: {store}")
    if moves is not None:
        print(f"{moves:,} positions with the moves made in them: {options.as_moves}")


def personas(options: argparse.Namespace) -> int:
    """List the personas; with a level, let them play it."""
    from experiments.population import ABOUT, PERSONAS

    won = _success(options) if options.pack is not None else {}
    if options.json:
        listed = [_persona(name, won.get(name)) for name in PERSONAS]
        common.print_json({"population": f"family {options.family}: {SYNTHETIC}", "personas": listed})
        return 0
    heading = ("persona", "skill", "haste", "goals", "specials", *(["success"] if won else []), "")
    rows = [
        (name, *(f"{value:+.1f}" for value in PERSONAS[name][:4]), *([f"{won[name]:.1%}"] if won else []), ABOUT[name])
        for name in PERSONAS
    ]
    common.print_table([heading, *rows], left=(0, len(heading) - 1))
    return 0


def _persona(name: str, success: float | None) -> dict[str, Any]:
    from experiments.population import ABOUT, PERSONAS

    traits = {key: value for key, value in PERSONAS[name]._asdict().items() if key not in ("leaning", "number")}
    return {"persona": name, "about": ABOUT[name], "traits": traits, "success": success}


def _success(options: argparse.Namespace) -> dict[str, float]:
    """The share of attempts that each persona wins on the level."""
    _, level = common.find(options.pack, options.level)
    quiet_xla()
    from experiments.population import PERSONAS
    from experiments.population.personas import success_of

    with interruptible(lambda: "nothing is kept of what personas play"):
        return success_of(list(PERSONAS), options.family, level, options.attempts, options.seed)
