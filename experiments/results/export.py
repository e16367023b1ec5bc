"""Results as a file for other programs: CSV, or Parquet where pyarrow is installed."""

from __future__ import annotations

import csv
import importlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from experiments.results.row import Row


class ExportError(RuntimeError):
    """A file that cannot be written, with the sentence that says why."""


def export(rows: Iterable[Row], path: str | os.PathLike[str]) -> None:
    """Write rows to a .csv or a .parquet file, all of them or, where that fails, nothing."""
    target = Path(path)
    writers = {".csv": _csv, ".parquet": _parquet}
    if target.suffix not in writers:
        raise ExportError(f"{str(target)!r} must end in .csv or .parquet, which says how results are written")
    half = target.with_name(f"{target.name}.part")
    try:
        writers[target.suffix](rows, half)
        half.replace(target)
    except OSError as error:
        raise ExportError(f"{str(target)!r} cannot be written: {error.strerror or error}") from None
    finally:
        half.unlink(missing_ok=True)


def _csv(rows: Iterable[Row], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(Row._fields)
        writer.writerows(rows)


def _parquet(rows: Iterable[Row], path: Path) -> None:
    try:
        arrow: Any = importlib.import_module("pyarrow")
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise ExportError("Parquet needs pyarrow: `pip install pyarrow`, or name a file that ends in .csv") from None
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in Row._fields]
    parquet.write_table(arrow.table(dict(zip(Row._fields, columns, strict=True))), path)
