"""`crush-gym study`: repeat a paper's measurements and write a page with its figures beside ours."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crush_gym.cli import common
from crush_gym.cli.common import CommandError, Subparsers, UsageError, add_command
from crush_gym.cli.interrupts import interruptible
from experiments.commands.terminal import quiet_xla, safe_in

if TYPE_CHECKING:
    from experiments.report import Page
    from experiments.studies.setting import Setting


class Study(NamedTuple):
    """A study that can be named. home: `module:function` of what measures and gives the page; people: whether it
    compares people's games where it is given some; sizes: names of what may be done more or less often."""

    summary: str
    home: str
    people: bool = False
    sizes: tuple[str, ...] = ()

    def load(self) -> Callable[[Setting], Page]:
        module, _, name = self.home.partition(":")
        found: Callable[[Setting], Page] = getattr(importlib.import_module(module), name)
        return found


STUDIES = {
    "phase1": Study(
        "the theses on tree search: state space, trees, time", "experiments.studies.theses.phase1_page:study"
    ),
    "phase2": Study(
        "the theses' eight sweeps over the search's parameters", "experiments.studies.theses.phase2_page:study"
    ),
    "phase3": Study(
        "the theses' bots beside people on early levels",
        "experiments.studies.theses.bots_page:phase3",
        sizes=("levels", "attempts"),
    ),
    "phase4": Study(
        "the theses' bots and play testers beside people on late levels",
        "experiments.studies.theses.bots_page:phase4",
        sizes=("levels", "attempts"),
    ),
    "mcadams": Study("McAdams' match-three players on seven sizes of board", "experiments.studies.mcadams.page:study"),
    "candycrush-ai": Study(
        "CandyCrush.ai's players on its game", "experiments.studies.candycrush_ai:study", people=True
    ),
    "lookahead": Study(
        "a look ahead, by how its time is spent", "experiments.studies.lookahead:study", sizes=("games",)
    ),
    "learned-search": Study(
        "tree search with trained players as prior and playout",
        "experiments.studies.learned_search.page:study",
        sizes=("attempts", "searched"),
    ),
    "population": Study(
        "the synthetic population beside aggregates of real people",
        "experiments.studies.population.page:study",
        sizes=("players",),
    ),
    "king": Study(
        "a network that imitates players predicts how hard levels are for them",
        "experiments.studies.king.page:study",
        sizes=("levels", "players", "pairs", "epochs", "attempts", "few", "searched", "simulations", "searches"),
    ),
    "king-networks": Study(
        "King's networks and this suite's, imitating a tree search",
        "experiments.studies.king_networks.page:study",
        sizes=("levels", "pairs", "simulations", "epochs", "grid_levels", "grid_epochs", "batch"),
    ),
}


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, "study", run, "repeat a paper's measurements and write a page with its figures beside ours",
        "study mcadams --quick", "study candycrush-ai --out results/studies",
    )  # fmt: skip
    known = "; ".join(f"{name}: {study.summary}" for name, study in STUDIES.items())
    parser.add_argument("name", choices=tuple(STUDIES), metavar="NAME", help=known)
    parser.add_argument("--quick", action="store_true", help="small numbers, about a minute once compiled")
    parser.add_argument(
        "--out", type=Path, default=Path("results/studies"), metavar="FOLDER",
        help="where the page and all results go; a run that was broken off goes on there (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--people", type=Path, nargs="+", default=[], metavar="LOG",
        help="people's games, logs of `crush-gym play`, to compare in a study of players (candycrush-ai)",
    )  # fmt: skip
    parser.add_argument(
        "--size", action="append", default=[], metavar="NAME=N",
        help="do more or less of something, in a study that lets you: "
        + "; ".join(f"{name} has {', '.join(study.sizes)}" for name, study in STUDIES.items() if study.sizes),
    )  # fmt: skip
    parser.add_argument("--seed", type=common.seed, default=0, help="of all attempts (default: 0)")


def run(options: argparse.Namespace) -> int:
    """Measure and write the page."""
    study, folder = STUDIES[options.name], Path(options.out)
    if options.people and not study.people:
        raise UsageError(f"the study {options.name} compares no people's games: leave out --people")
    sizes = _sizes(options.size, options.name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"the folder {str(folder)!r} cannot be made: {error.strerror}") from None
    quiet_xla()
    from experiments.report import PageError
    from experiments.results.store import StoreError
    from experiments.studies.setting import Setting, StudyError

    page = folder / f"{options.name}{'-quick' if options.quick else ''}.html"
    try:
        with interruptible(lambda: _safe(folder, study)):
            setting = Setting(options.quick, folder, options.seed, tuple(options.people), sizes)
            study.load()(setting).write(page)
    except (StudyError, StoreError, PageError) as error:
        raise CommandError(str(error)) from None
    print(f"page: {page}")
    return 0


def _safe(folder: Path, study: Study) -> str:
    """What is told of an interrupted study."""
    from experiments.studies.setting import STORE

    if study.sizes:
        return f"what was finished is safe in {str(folder)!r}; the same command goes on from there"
    return safe_in(folder / STORE)


def _sizes(words: list[str], name: str) -> dict[str, int]:
    """Sizes from "name=number" each."""
    known, found = STUDIES[name].sizes, {}
    for word in words:
        key, _, value = word.partition("=")
        if key not in known:
            there = f"there are {', '.join(known)}" if known else "it has none"
            raise UsageError(f"the study {name} has no size {key!r}; {there}")
        if not (value.isascii() and value.isdigit()):
            raise UsageError(f"--size {key} must be a whole number, not {value!r}")
        found[key] = int(value)
    return found
