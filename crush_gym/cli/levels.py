"""`crush-gym levels`: what levels there are, how one looks, what is wrong with level files, and new ones."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crush_gym.cli import common, generate
from crush_gym.cli.common import LEVEL_HELP, PACK_HELP, Subparsers, add_command, add_json
from crush_gym.cli.interrupts import NOTHING_KEPT, interruptible
from crush_gym.cli.listing import facts, print_levels

if TYPE_CHECKING:
    from crush_gym.levels import Level, LevelPack


def register(subparsers: Subparsers) -> Subparsers:
    """Add the command with its parts, to which others may be added."""
    summary = "list, show, check, make, rate and compare levels"
    parser = add_command(subparsers, "levels", list_levels, summary, "levels list basics", "levels show basics jelly")
    parts = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    listing = add_command(
        parts, "list", list_levels, "list the packs that ship, or the levels of a pack", "levels list basics"
    )
    listing.add_argument("pack", nargs="?", metavar="PACK", help=PACK_HELP)

    showing = add_command(
        parts, "show", show_level, "show a level's board and what it asks for",
        "levels show basics jelly", "levels show my-levels.json 0 --svg board.svg",
        "levels show tour Castle --random 7",
    )  # fmt: skip
    showing.add_argument("pack", metavar="PACK", help=PACK_HELP)
    showing.add_argument("level", nargs="?", metavar="LEVEL", help=f"{LEVEL_HELP} (default: the only one)")
    showing.add_argument(
        "--random", type=common.seed, metavar="SEED", help="with the candies that an attempt of this seed begins with"
    )
    showing.add_argument("--svg", type=Path, metavar="FILE", help="write the board's picture to a file")

    checking = add_command(
        parts, "validate", validate, "say everything that is wrong with level files, a line each",
        "levels validate my-levels.json",
    )  # fmt: skip
    checking.add_argument("files", nargs="+", metavar="FILE", help="a pack, or a single level")
    for part in (listing, showing, checking):
        add_json(part)
    generate.register(parts)
    return parts


def list_levels(options: argparse.Namespace) -> int:
    """`levels list [PACK]`."""
    if options.pack is None:
        return _list_packs(options.json)
    pack = common.find_pack(options.pack)
    if options.json:
        common.print_json({"pack": pack.name, "levels": [facts(i, level) for i, level in enumerate(pack)]})
    else:
        print_levels(pack)
    return 0


def _list_packs(as_json: bool) -> int:
    from crush_gym.levels.pack import shipped_packs

    packs = {name: common.find_pack(name) for name in shipped_packs()}
    if as_json:
        common.print_json({"packs": [{"name": name, "levels": len(pack)} for name, pack in packs.items()]})
        return 0
    rows = [(name, str(len(pack)), _kinds(pack)) for name, pack in packs.items()]
    common.print_table([("pack", "levels", "kinds"), *rows], left=(0, 2))
    print("\n`crush-gym levels list PACK` names a pack's levels.")
    return 0


def _kinds(pack: LevelPack) -> str:
    from crush_gym.cli import describe

    return ", ".join(dict.fromkeys(describe.kind(level) for level in pack))


def show_level(options: argparse.Namespace) -> int:
    """`levels show PACK [LEVEL]`."""
    from crush_gym import render
    from crush_gym.cli import describe

    pack, level = common.find(options.pack, options.level)
    rows = describe.rows(level) if options.random is None else _filled(level, options.random)
    if options.svg:
        common.write_text(options.svg, render.svg(rows, level))
    if options.json:
        index = next(i for i, other in enumerate(pack) if other is level)
        report = {"pack": pack.name, **facts(index, level), "contents": describe.contents(level)}
        common.print_json({**report, "hash": level.content_hash(), "level": level.to_dict(), "board": rows})
        return 0
    title = " / ".join(dict.fromkeys(name for name in (pack.name, level.name) if name))
    colours = f"{int(level.colours)} colours"
    facts_of = f"{describe.kind(level)}, {describe.size(level)}, {colours}, {describe.limit(level)}"
    print(f"{common.plain(title or 'level')}: {facts_of}\n")
    print(render.ansi(rows, level, colour=common.colour_wanted()))
    print()
    print(*common.folded("goals", describe.goals(level) or ["none, it is played to the end"]), sep="\n")
    print(f"stars: {', '.join(f'{int(score):,}' for score in level.stars)}" if level.stars.any() else "stars: none")
    print(*common.folded("board", describe.contents(level) or ["plain candies"]), sep="\n")
    if options.svg:
        print(f"picture: {options.svg}")
    return 0


def _filled(level: Level, seed: int) -> list[str]:
    """The board that an attempt begins with; this compiles."""
    import jax

    from crush_gym import Game

    game = Game(level)
    with interruptible(lambda: NOTHING_KEPT):
        rows: list[str] = game.text(game.reset(jax.random.key(seed)))
    return rows


def validate(options: argparse.Namespace) -> int:
    """`levels validate FILE...`."""
    reports = [_check(path) for path in options.files]
    wrong = any(report["problems"] for report in reports)
    if options.json:
        common.print_json({"ok": not wrong, "files": reports})
        return int(wrong)
    for report in reports:
        for problem in report["problems"]:
            print(common.plain(f"{report['file']}: {problem['text']}"))
        if not report["problems"]:
            held = "1 level" if report["levels"] == 1 else f"{report['levels']} levels"
            print(f"{report['file']}: no problems, {held}")
    return int(wrong)


def _check(path: str) -> dict[str, Any]:
    """Everything that is wrong with one file."""
    from crush_gym.levels import LevelError, LevelPack

    try:
        return {"file": path, "levels": len(LevelPack.load(path)), "problems": []}
    except LevelError as error:
        problems = [
            {"level": p.level, "row": p.row, "column": p.column, "message": p.message, "text": str(p)}
            for p in error.problems
        ]
        return {"file": path, "levels": None, "problems": problems}
