"""What the commands that read a store of results share."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from crush_gym.cli import common
from crush_gym.cli.common import CommandError, UsageError
from experiments.commands.evaluate import STORE

if TYPE_CHECKING:
    from experiments.report import Page
    from experiments.results.row import Row

Found = TypeVar("Found")
Runs = list[dict[str, Any]]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the store and what is read of it."""
    parser.add_argument(
        "store", nargs="?", type=Path, default=Path(STORE), metavar="STORE",
        help="what `crush-gym evaluate` wrote (default: %(default)s)",
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


def read(path: Path) -> tuple[list[Row], Runs]:
    """All results of a store, and what is known of its runs; or a sentence."""
    from experiments.results.store import Store, StoreError

    if not path.exists():
        raise UsageError(f"there is no store {str(path)!r}: `crush-gym evaluate` writes one")
    try:
        with Store(path) as store:
            return list(store.rows()), list(store.runs().values())
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

    try:
        page.write(path)
    except PageError as error:
        raise CommandError(str(error)) from None


def as_json(interval: Sequence[float] | None) -> dict[str, float] | None:
    """An interval for programs."""
    return None if interval is None else dict(zip(("value", "low", "high"), map(float, interval), strict=True))
