"""`make curves`: docs/leaderboard/curves.html, from the judgements that ship in docs/leaderboard/curves.csv.

`python -m scripts.make_curves RUN ...` enters runs of `crush-gym train` first, each the folder of one seed:

    crush-gym train ppo --levels combo --steps 98304 --every 8192 --seeds 3 --out runs/ppo
    python -m scripts.make_curves runs/ppo/seed-0 runs/ppo/seed-1 runs/ppo/seed-2
"""

from __future__ import annotations

import argparse
import csv
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from agents.learning.files import read
from experiments import report
from experiments.report import Page, Section, Series
from experiments.training.card import command_of
from experiments.training.plan import Plan
from experiments.training.run import BEST, LOG, read_plan
from scripts.make_leaderboard import known as known_rows
from scripts.make_leaderboard import levels_of

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "leaderboard"
POINTS, PAGE = FOLDER / "curves.csv", FOLDER / "curves.html"

OTHERS = ("random", "greedy", "mcts", "lookahead", "foresight")
"""Players that learn nothing, by the rows of the leaderboard."""


class Judged(NamedTuple):
    """A judgement of one run. command: that makes the run; speed: moves a second, the median of the run's calls."""

    algorithm: str
    seed: int
    steps: int
    score: float
    attempts: int
    speed: float
    command: str


def main() -> None:
    """Enter the runs that the command line names, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m scripts.make_curves", description=__doc__)
    parser.add_argument("runs", nargs="*", type=Path, metavar="RUN", help="folders of runs")
    known = {(point.algorithm, point.seed, point.steps): point for point in points()}
    for folder in parser.parse_args().runs:
        known |= {(point.algorithm, point.seed, point.steps): point for point in judged(folder)}
    found = [known[key] for key in sorted(known)]
    with POINTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([Judged._fields, *found])
    write_page(found, scores_of_others())


def scores_of_others() -> dict[str, float]:
    """Mean scores of players that learn nothing on Combo 9x9."""
    scores: dict[str, list[int]] = defaultdict(list)
    for row in known_rows({"combo": levels_of("combo")}):
        scores[row.agent].append(row.score)
    return {name: mean(scores[name]) for name in OTHERS if name in scores}


def points() -> Iterable[Judged]:
    """The judgements that ship."""
    if not POINTS.exists():
        return
    with POINTS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            seed, steps, attempts = (int(row[name]) for name in ("seed", "steps", "attempts"))
            score, speed = float(row["score"]), float(row["speed"])
            yield Judged(row["algorithm"], seed, steps, score, attempts, speed, row["command"])


def judged(folder: Path) -> Iterable[Judged]:
    """The judgements of a run."""
    plan = read_plan(folder)
    attempts, speed = read(folder / BEST).about["judged"]["attempts"], round(speed_of(folder), 1)
    for line in (folder / LOG).read_text(encoding="utf-8").splitlines():
        found = json.loads(line)
        if "judged/score" in found:
            score = round(found["judged/score"], 1)
            yield Judged(plan.algorithm, plan.seed, found["steps"], score, attempts, speed, command(plan))


def command(plan: Plan) -> str:
    """The command of a run without its seed."""
    return command_of(plan).replace(f" --seed {plan.seed}", "")


def speed_of(folder: Path) -> float:
    """Moves a second, the median of a run's calls; judgements are not counted."""
    events = EventAccumulator(str(folder))
    events.Reload()
    speeds = [float(event.tensor_proto.float_val[0]) for event in events.Tensors("run/steps_per_second")]
    return median(speeds)


# ------------------------------------------------------------------ the page


def write_page(found: Sequence[Judged], others: Mapping[str, float]) -> None:
    """Curves by moves and by minutes, and a table."""
    by_algorithm: dict[str, list[Judged]] = defaultdict(list)
    for point in found:
        by_algorithm[point.algorithm].append(point)
    seeds = max(len({p.seed for p in each}) for each in by_algorithm.values())
    lead = (
        f"What networks score on Combo 9x9 while they learn, {seeds} seeds of each algorithm. All were judged by the "
        f"harness with the likeliest move, on the same {found[0].attempts} attempts, which learning never sees."
    )
    commands = [f"{each[0].command} --seeds {len({p.seed for p in each})}" for each in by_algorithm.values()]
    sections = (
        curves(by_algorithm, others, "moves", "By moves that were learned from"),
        curves(by_algorithm, others, "minutes", "By minutes of one core"),
        table(by_algorithm, others),
        report.section("Run it again", report.commands(*commands, "python -m scripts.make_curves RUNS")),
    )
    Page(
        "Learning curves", lead, sections, {"hardware": "one core of a virtual machine that others used, CPU only"}
    ).write(PAGE)
    print(PAGE)


def curves(
    by_algorithm: Mapping[str, Sequence[Judged]], others: Mapping[str, float], unit: str, heading: str
) -> Section:
    """The mean over seeds at each judgement, and the lowest and the highest of them."""
    series = []
    for algorithm, each in by_algorithm.items():
        at: dict[int, list[Judged]] = defaultdict(list)
        for point in each:
            at[point.steps].append(point)
        scores = [[p.score for p in at[steps]] for steps in sorted(at)]
        x = [steps if unit == "moves" else steps / speed(each) / 60 for steps in sorted(at)]
        low, high = [min(some) for some in scores], [max(some) for some in scores]
        series.append(Series(algorithm, x, [sum(some) / len(some) for some in scores], low, high))
    farthest = min(max(one.x) for one in series)
    for name in ("greedy", "lookahead"):
        least = min(min(one.x) for one in series)
        most = max(max(one.x) for one in series) if unit == "moves" else farthest
        series.append(Series(name, [least, most], [others[name]] * 2, dashed=True))
    name = "moves" if unit == "moves" else "minutes"
    drawn = report.line_plot(series, name, "mean score", title=f"mean score by {name}")
    caption = "Lines are means over the seeds, bars reach from the worst seed to the best one. " + (
        "Dashed: players that learn nothing." if unit == "moves" else
        "Compiling, some ten seconds to a minute, and judging are not counted."
    )  # fmt: skip
    return report.section(heading, report.figure(drawn, caption))


def speed(each: Sequence[Judged]) -> float:
    """Moves a second of an algorithm: the fastest run, since others used the machine, too."""
    return max(point.speed for point in each)


def table(by_algorithm: Mapping[str, Sequence[Judged]], others: Mapping[str, float]) -> Section:
    """The last judgements."""
    head = ("algorithm", "moves", "moves a second", "minutes", "mean score of each seed")
    body = []
    for algorithm, each in by_algorithm.items():
        last = max(point.steps for point in each)
        scores = ", ".join(f"{point.score:,.0f}" for point in each if point.steps == last)
        body.append((algorithm, f"{last:,}", f"{speed(each):,.0f}", f"{last / speed(each) / 60:.1f}", scores))
    body += [(name, *("\N{EN DASH}",) * 3, f"{score:,.0f}") for name, score in others.items()]
    return report.section("At the end", report.table(head, body, left=(0,), stacked=True))


if __name__ == "__main__":
    main()
