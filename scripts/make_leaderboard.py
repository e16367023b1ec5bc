"""`make leaderboard`: docs/leaderboard/index.html, from the rows that ship in docs/leaderboard/rows.csv.gz.

`python -m scripts.make_leaderboard --play AGENT ...` has agents play what is missing of them first, and enters their
rows. With `--only GRID`, such as combo, it is only that part, for agents whose games take long to compile.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from agents.learning.files import read, shipped
from crush_gym import load_pack
from crush_gym.support import write_bytes
from experiments import report
from experiments.ranking import field_of, rank
from experiments.ranking.origins import Origins
from experiments.report import Page, Section
from experiments.report.leaderboard import leaderboard_page
from experiments.report.words import decimal, ranks, rate_of, with_limits
from experiments.results.assignment import tasks_of
from experiments.results.row import Row
from experiments.results.scores import read_scores
from experiments.results.task import Task
from experiments.running.evaluation import evaluate

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "leaderboard"
ROWS, PAGE = FOLDER / "rows.csv.gz", FOLDER / "index.html"

SEED = 20_260_101
"""Of the attempts: no training and no judgement during training uses it."""

GRID = {"points:7x7": 200, "combo": 200, "basics": 20, "tour": 10, "thesis": 10, "ladder": 6}
"""Attempts of each player at each level; of `ladder`, a random fifth of the levels."""

COLUMNS = ("agent", "task", "attempt", "won", "score", "moves", "seconds")
"""Of the rows that ship; the seed is always the same."""


def main() -> None:
    """Play what the command line asks for, and write the page."""
    FOLDER.mkdir(exist_ok=True)
    parser = argparse.ArgumentParser(prog="python -m scripts.make_leaderboard", description=__doc__)
    parser.add_argument("--play", nargs="+", default=[], metavar="AGENT", help="who plays what is missing")
    parser.add_argument("--only", nargs="+", default=list(GRID), choices=list(GRID), help="parts that are played")
    parser.add_argument("--store", type=Path, help="keep what is played there, too, in case it is broken off")
    options = parser.parse_args()
    levels = {name: levels_of(name) for name in GRID}
    rows = known(levels)
    for name in options.only if options.play else ():
        played = evaluate(options.play, levels[name], GRID[name], SEED, store=options.store)
        for error in played.errors:
            print(error)
        rows = list({(row.agent, row.task, row.attempt): row for row in (*rows, *played.rows)}.values())
        write_bytes(ROWS, packed(rows))
    write_page(levels, rows)


def levels_of(name: str) -> tuple[Task, ...]:
    """The levels of a part of the grid."""
    if name != "ladder":
        return tasks_of(name)
    fifth = {level.name for level in load_pack(name).folds(5)[0][1]}
    return tuple(task for task in tasks_of(name) if task.name in fifth)


def known(levels: dict[str, tuple[Task, ...]]) -> list[Row]:
    """The rows that ship."""
    if not ROWS.exists():
        return []
    tasks = [task for some in levels.values() for task in some]
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "rows.csv"
        plain.write_bytes(gzip.decompress(ROWS.read_bytes()))
        return [row._replace(seed=SEED) for row in read_scores(plain, tasks)]


def packed(rows: Iterable[Row]) -> bytes:
    """Rows as they ship: always the same bytes for the same rows."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in sorted(rows, key=lambda row: (row.agent, row.task, row.attempt)):
        values = row._asdict() | {"won": int(row.won), "seconds": f"{row.seconds:.3g}"}
        writer.writerow([values[name] for name in COLUMNS])
    return gzip.compress(text.getvalue().encode(), mtime=0)


def write_page(levels: dict[str, tuple[Task, ...]], rows: Sequence[Row]) -> None:
    """The ranking on the levels that all players played, one for each part, and how trained players were made."""
    part_of = {task.identity: name for name, some in levels.items() for task in some}
    parts: dict[str, list[Row]] = {name: [] for name in levels}
    for row in rows:
        parts[part_of[row.task]].append(row)
    field = field_of(rows)
    commands = {agent: [f"python -m scripts.make_leaderboard --play '{agent}'"] for agent in field.agents}
    facts = {"attempts": f"{len(rows):,}, with seed {SEED:,}", "hardware": "2 cores of a virtual machine, CPU only"}
    page = leaderboard_page(rank(field, None), Origins(facts, commands), "Leaderboard")
    sections = [section_of(name, len(levels[name]), part) for name, part in parts.items() if part]
    body = (*page.sections[:1], *sections, trained(), *page.sections[1:])
    Page(page.title, page.lead, body, page.facts).write(PAGE)
    print(PAGE)


def section_of(name: str, levels: int, rows: Sequence[Row]) -> Section:
    """The ranking on one part of the grid, of all who played the whole of it."""
    board = rank(field_of(rows), None)
    head = ("player", "rank", "IQM", "mean score", "success", "an attempt")
    scores: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        scores[row.agent].append(row.score)
    body = []
    for s in board.standings:
        success = "\N{EN DASH}" if s.success is None else rate_of(s.success)[0]
        mean = f"{np.mean(scores[s.agent]):,.0f}"
        body.append(
            (s.agent, ranks(s.best, s.worst), with_limits(*decimal(s.iqm)), mean, success, report.duration(s.seconds))
        )
    return report.section(
        f"{name}: {report.counted(levels, 'level')}, {GRID[name]} attempts each", report.table(head, body)
    )


def trained() -> Section:
    """How the networks that ship were made."""
    head = ("player", "learned by", "on", "moves", "minutes", "hardware", "weights")
    body = []
    for name in shipped():
        net = read(name)
        about = net.about
        body.append(
            (f"policy:{name}", about["algorithm"], str(about["number_of_levels"]), f"{about['steps']:,}",
             f"{about['minutes']:g}", about["hardware"], net.digest)
        )  # fmt: skip
    return report.section("Trained players", report.table(head, body))


if __name__ == "__main__":
    main()
