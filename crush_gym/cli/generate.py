"""`crush-gym levels generate`: levels of a kind from seeds, as a pack."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from crush_gym.cli import common
from crush_gym.cli.common import CommandError, Subparsers, UsageError, add_command, add_json
from crush_gym.cli.listing import facts, print_levels

if TYPE_CHECKING:
    from crush_gym.levels import Level

MOST = 10_000
"""Levels at most: a pack that nobody can read helps nobody."""


def register(parts: Subparsers) -> None:
    """Add the command, a part of `levels`."""
    parser = add_command(
        parts, "generate", run, "make levels of a kind from seeds, and write them as a pack",
        "levels generate --kind jelly --size 7x7 --count 10 --out jellies.json",
        "levels generate --kind mixed --features locks icing portals --success 0.3 --seed 100 --out hard.json",
    )  # fmt: skip
    parser.add_argument(
        "--kind", default="jelly", help="moves, jelly, ingredients, timed, orders or mixed (%(default)s)"
    )
    parser.add_argument("--size", type=size, default=(9, 9), metavar="HxW", help="5x5 to 16x16 (default: 9x9)")
    parser.add_argument(
        "--features", nargs="+", default=[], metavar="FEATURE",
        help="what lies on the boards: portals, ingredients, locks, marmalade, icing, chocolate, swirls, specials, "
        "bombs, plus5, drops, jelly (default: what the kind needs)",
    )  # fmt: skip
    parser.add_argument("--colours", type=int, metavar="N", help="3 to 7 (default: 4 to 6, drawn)")
    parser.add_argument("--shape", default="any", help="of the board, such as full, round or ring (default: any)")
    parser.add_argument("--symmetry", default="any", help="mirror, rotation, both or none (default: any)")
    parser.add_argument(
        "--success", type=float, default=0.5, metavar="P",
        help="the share of attempts that the heuristic player is estimated to win, 0.02 to 0.98 (default: 0.5); "
        "`crush-gym levels rate` measures it",
    )  # fmt: skip
    parser.add_argument("--count", type=int, default=1, metavar="N", help="how many levels (default: 1)")
    parser.add_argument("--seed", type=common.seed, default=0, help="of the first; the next ones follow (default: 0)")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the pack to write; it must be new")
    add_json(parser)


def size(text: str) -> tuple[int, int]:
    """Read a height and a width."""
    found = re.fullmatch("([0-9]{1,3})x([0-9]{1,3})", text)
    if not found:
        raise argparse.ArgumentTypeError(f"expected HEIGHTxWIDTH, such as 7x7, not {text!r}")
    return int(found[1]), int(found[2])


def run(options: argparse.Namespace) -> int:
    """Make, write and list them."""
    if not 1 <= options.count <= MOST:
        raise UsageError(f"--count must be from 1 to {MOST:,}, not {options.count}")
    if options.out.exists():
        raise CommandError(f"{str(options.out)!r} is there already: name another file, or remove that one")
    from crush_gym.levels import LevelPack

    pack = LevelPack([made(options, options.seed + n) for n in range(options.count)], options.out.stem)
    common.saved(lambda: pack.save(options.out), options.out)
    if options.json:
        levels = [facts(i, level) for i, level in enumerate(pack)]
        common.print_json({"pack": pack.name, "file": str(options.out), "levels": levels})
        return 0
    print_levels(pack)
    print(f"\n{options.out}: `crush-gym levels show` draws its levels, `levels rate` measures how hard they are.")
    return 0


def made(options: argparse.Namespace, seed: int) -> Level:
    """The level of a seed, as the options ask for it."""
    from crush_gym.generator import generate

    form = {"colours": options.colours, "shape": options.shape, "symmetry": options.symmetry}
    try:
        return generate(seed, options.kind, options.features, options.size, success=options.success, **form)
    except ValueError as error:
        raise UsageError(str(error)) from None
