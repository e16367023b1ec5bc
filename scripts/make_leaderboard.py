"""`make leaderboard`: docs/leaderboard/index.html, from the rows that ship in docs/leaderboard/rows.csv.gz.

`python -m scripts.make_leaderboard --play AGENT ...` has agents play what is missing of them first, and enters their
rows. With `--only PART`, such as combo, it is only those parts. Who played all parts is ranked on all of them; each
part has its own ranking of all who played it.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
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
from scripts.make_references import lasts

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "leaderboard"
ROWS, PAGE = FOLDER / "rows.csv.gz", FOLDER / "index.html"

SEED = 20_260_101
"""Of the attempts: no training and no judgement during training uses it."""

GRID = {"points:7x7": 200, "combo": 200, "basics": 20, "tour": 10, "thesis": 10, "ladder": 10}
"""Attempts of each player at each level."""

GAMES = 1
"""Compiled games of each set of rules: the attempts are few, and compiling some players takes minutes."""

LADDER = 40
"""Levels of `ladder` that are played: of the first of its random fifths, every fifth one."""

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
    for attempts in sorted({GRID[name] for name in options.only}) if options.play else ():
        tasks = [task for name in options.only if GRID[name] == attempts for task in levels[name]]
        played = evaluate(options.play, tasks, attempts, SEED, store=options.store, games=GAMES)
        for error in played.errors:
            print(error)
        rows = list({(row.agent, row.task, row.attempt): row for row in (*rows, *played.rows)}.values())
        write_bytes(ROWS, packed(rows))
    write_page(levels, rows)


def levels_of(name: str) -> tuple[Task, ...]:
    """The levels of a part of the grid, but those of points against the clock, where good players never end."""
    chosen = {level.name for level in load_pack(name).folds(5)[0][1][:: 200 // LADDER]} if name == "ladder" else None
    tasks = (task for task in tasks_of(name) if chosen is None or task.name in chosen)
    return tuple(task for task in tasks if not lasts(task.level))


def known(levels: dict[str, tuple[Task, ...]]) -> list[Row]:
    """The rows that ship, of the attempts that count."""
    if not ROWS.exists():
        return []
    tasks = [task for name in GRID for task in tasks_of(name)]
    attempts = {task.identity: GRID[name] for name, some in levels.items() for task in some}
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "rows.csv"
        plain.write_bytes(gzip.decompress(ROWS.read_bytes()))
        return [row._replace(seed=SEED) for row in read_scores(plain, tasks) if row.attempt < attempts.get(row.task, 0)]


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
    """The ranking of those who played all parts, one for each part, and how trained players were made."""
    part_of = {task.identity: name for name, some in levels.items() for task in some}
    parts: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        parts[part_of[row.task]].append(row)
    there = {name: parts[name] for name in levels if len(who_played(identities(levels[name]), parts[name])) > 1}
    everywhere = [row for part in there.values() for row in part]
    field = field_of(everywhere, who_played(identities(task for name in there for task in levels[name]), everywhere))
    agents = sorted({row.agent for row in rows})
    commands = {agent: [f"python -m scripts.make_leaderboard --play '{agent}'"] for agent in agents}
    facts = {"attempts": f"{len(rows):,}, with seed {SEED:,}", "hardware": "2 cores of a virtual machine, CPU only"}
    page = leaderboard_page(rank(field, None), Origins(facts, commands), "Leaderboard")
    sections = [section_of(name, levels[name], part) for name, part in there.items()]
    body = (*page.sections[:1], *sections, trained(), beside(), *page.sections[1:])
    Page(page.title, page.lead, body, page.facts).write(PAGE)
    print(PAGE)


def identities(tasks: Iterable[Task]) -> frozenset[str]:
    """Of tasks, by which rows name them."""
    return frozenset(task.identity for task in tasks)


def who_played(tasks: AbstractSet[str], rows: Iterable[Row]) -> list[str]:
    """The players who played all of these levels."""
    played: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        played[row.agent].add(row.task)
    return sorted(agent for agent, found in played.items() if found >= tasks)


def section_of(name: str, levels: Sequence[Task], rows: Sequence[Row]) -> Section:
    """The ranking on one part of the grid, of all who played the whole of it."""
    board = rank(field_of(rows, who_played(identities(levels), rows)), None)
    goals = any(task.goal for task in board.tasks)
    head = ("player", "rank", "IQM", "success" if goals else "mean score", "an attempt")
    scores: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        scores[row.agent].append(row.score)
    body = []
    for s in board.standings:
        result = with_limits(*rate_of(s.success)) if s.success else report.escape(f"{np.mean(scores[s.agent]):,.0f}")
        name_of_player, iqm = report.breakable(s.agent), with_limits(*decimal(s.iqm))
        body.append((name_of_player, ranks(s.best, s.worst), iqm, result, report.duration(s.seconds)))
    played = f"{report.counted(len(levels), 'level')}, {GRID[name]} attempts each"
    return report.section(f"{name}: {played}", report.table(head, body, stacked=True))


def beside() -> Section:
    """What lies beside this page."""
    return report.section(
        "More of these players",
        report.bullets(
            "[How the trained ones learned](curves.html): scores against moves.",
            "[How well each of them predicts people](predictors.html): synthetic ones, on `ladder`.",
        ),
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
    return report.section("Trained players", report.table(head, body, stacked=True))


if __name__ == "__main__":
    main()
