"""What the commands that read a store of results share."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from crush_gym.cli import common
from crush_gym.cli.common import CommandError, UsageError

if TYPE_CHECKING:
    from experiments.people import Reading
    from experiments.report import Page
    from experiments.results.row import Row
    from experiments.results.store import Store

STORE = "runs.sqlite"
"""Where results are kept, unless something else is said."""

Found = TypeVar("Found")
Runs = list[dict[str, Any]]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the store and what is read of it."""
    parser.add_argument(
        "stores", nargs="*", type=Path, default=[Path(STORE)], metavar="STORE",
        help=f"what `crush-gym evaluate` wrote; several count as one (default: {STORE})",
    )  # fmt: skip
    parser.add_argument(
        "--levels", action="append", metavar="PATTERN",
        help="only levels whose names fit, such as 'look-alike*'; may be given several times",
    )  # fmt: skip
    parser.add_argument(
        "--over-levels", action="store_true", help="intervals for levels like these, instead of for just these"
    )
    parser.add_argument("--seed", type=common.seed, default=0, help="of the bootstrap's resamples (default: 0)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write a page (.html)")
    common.add_json(parser)


def read(paths: Sequence[Path]) -> tuple[list[Row], Runs]:
    """All results of some stores, each attempt once, and what is known of their runs; or a sentence."""
    from experiments.results.merging import MergeError, united

    with contextlib.ExitStack() as open_stores, told():
        stores = [open_stores.enter_context(opened(path)) for path in dict.fromkeys(paths)]
        try:
            return united(store.rows() for store in stores), [r for store in stores for r in store.runs().values()]
        except MergeError as error:
            raise CommandError(str(error)) from None


def opened(path: Path) -> Store:
    """A store that is there already."""
    from experiments.results.store import Store

    if not path.exists():
        raise UsageError(f"there is no store {str(path)!r}: `crush-gym evaluate` writes one")
    if path.suffix == ".csv":
        raise UsageError(f"{str(path)!r} is no store: `crush-gym merge STORE {path}` makes one of scores in CSV")
    return Store(path)


@contextlib.contextmanager
def told() -> Iterator[None]:
    """Say what is wrong with a store in its sentence."""
    from experiments.results.store import StoreError

    try:
        yield
    except StoreError as error:
        raise CommandError(str(error)) from None


def refused(work: Callable[[], Found]) -> Found:
    """Do it; what cannot be ranked is wrong usage."""
    from experiments.ranking import RankingError

    try:
        return work()
    except RankingError as error:
        raise UsageError(str(error)) from None


def write_page(page: Page, path: Path) -> None:
    """Write a page that was asked for, or fail in one sentence."""
    from experiments.report import PageError

    if not path.absolute().parent.is_dir():
        raise CommandError(f"the page {str(path)!r} cannot be written: the folder {str(path.parent)!r} is not there")
    try:
        page.write(path)
    except PageError as error:
        raise CommandError(str(error)) from None


def problems(reading: Reading) -> list[dict[str, Any]]:
    """What was odd about a file of people's results, for programs."""
    return [{**problem._asdict(), "sentence": problem.sentence} for problem in reading.problems]


def as_json(interval: Sequence[float] | None) -> dict[str, float] | None:
    """An interval for programs."""
    return None if interval is None else dict(zip(("value", "low", "high"), map(float, interval), strict=True))
