"""The figures of a leaderboard: profile, levels, cost, distributions."""

from __future__ import annotations

import math

import numpy as np

from experiments import report
from experiments.ranking.leaderboard import Leaderboard
from experiments.report import HALF, Point, Scale, Section, Series
from experiments.report.words import rate_of, value_of, with_limits
from experiments.statistics import features, profile_band

DETAILED = 60
"""Rows of a table of details, at most; scores are drawn for at most a tenth as many levels."""


def profile(board: Leaderboard) -> Section:
    """On how many levels each player does how well."""
    means = [values.mean() for s in board.standings for values in board.strata(s.agent)]
    low, high = min(0.0, *means), max(1.0, *means)
    limits = np.linspace(low, high, 101)
    series = []
    for s in board.standings:
        middle, below, above = profile_band(board.strata(s.agent), limits, 0)
        series.append(Series(s.agent, *(each.tolist() for each in (limits, middle, below, above))))
    name = "normalised result τ"
    figure = report.line_plot(
        series, name, "share of levels above τ", x=Scale(low, high, name),
        y=Scale(0, 1, "share of levels above τ", form=report.percent), bands=True, steps=True,
        title="performance profiles",
    )  # fmt: skip
    caption = "How many of the levels each player does better on than τ; the higher a line, the better. Bands are 95 %."
    return report.section("Performance profile", report.figure(figure, caption))


def levels(board: Leaderboard) -> Section:
    """All levels, the easiest first; colours are normalised, texts are what was measured."""
    field, agents = board.field, [s.agent for s in board.standings]
    ease = {t.identity: float(np.mean([_share(board, a, i) for a in agents])) for i, t in enumerate(board.tasks)}
    order = sorted(range(len(board.tasks)), key=lambda i: -ease[board.tasks[i].identity])
    shares = [[_share(board, agent, i) for i in order] for agent in agents]
    texts = [
        [value_of(board.tasks[i], float(field.values(agent, board.tasks[i]).mean())) for i in order] for agent in agents
    ]
    names = [board.tasks[i].label for i in order]
    figure = report.heat_map(
        agents, names, shares, texts, ends=("random player", "reference or more"), title="levels and players"
    )
    caption = "Levels from the easiest to the hardest for these players. Colours are normalised results"
    numbers = "; texts are success rates, or mean scores on levels without goals." if len(names) <= DETAILED else "."
    rows = [_level(board, i, place) for place, i in enumerate(order, 1)]
    head = ("", "level", "identity", "counts", "0 is", "1 is", "best player", "its result")
    table = report.table(head, rows, left=(1, 2, 3, 6))
    return report.section("Levels", report.figure(figure, caption + numbers), report.folded("All levels", table))


def _share(board: Leaderboard, agent: str, level: int) -> float:
    task = board.tasks[level]
    scale = board.yardsticks[task.identity]
    return float((board.field.values(agent, task).mean() - scale.zero) / (scale.one - scale.zero))


def _level(board: Leaderboard, level: int, place: int) -> tuple[report.Content, ...]:
    task = board.tasks[level]
    scale = board.yardsticks[task.identity]
    results = {agent: float(board.field.values(agent, task).mean()) for agent in board.field.agents}
    best = max(results, key=lambda agent: results[agent])
    counts = "success" if task.goal else "score"
    limits = (value_of(task, scale.zero), value_of(task, scale.one))
    identity = report.tag("code", task.identity)
    return (f"{place:,}", task.label, identity, counts, *limits, report.breakable(best), value_of(task, results[best]))


def cost(board: Leaderboard) -> Section:
    """What strength costs in time."""
    points = [Point(s.agent, s.seconds, *s.iqm) for s in board.standings if s.seconds > 0]
    x = report.scale_of([p.x for p in points], "time of an attempt", log=True, form=report.duration, margin=0.12)
    figure = report.scatter_plot(points, x.name, "interquartile mean", x=x, title="cost against strength")
    caption = (
        "Wall-clock time of an attempt, where many are played at once, on the hardware named below; its scale is "
        "logarithmic. Up and to the left is better."
    )
    return report.section("Cost against strength", report.figure(figure, caption))


def scores(board: Leaderboard) -> Section | None:
    """What attempts look like, where there are few enough levels to look at each."""
    field, agents = board.field, [s.agent for s in board.standings]
    if len(field.tasks) * len(agents) > DETAILED:
        return None
    boxes = [report.figure(_boxes(board, i), task.label, width=HALF) for i, task in enumerate(field.tasks)]
    head = (
        "level and player", "success", "mean score", "SD", "score, best 5 %", "score, best 15 %",
        "moves left, mean", "best 5 %", "best 15 %",
    )  # fmt: skip
    rows = [_features(board, agent, i) for i in range(len(field.tasks)) for agent in agents]
    table = report.folded("Features of the distributions", report.table(head, rows, stacked=True))
    drawn = [report.beside(*boxes)] if len(field.tasks) <= DETAILED // 10 else []
    text = "Scores of single attempts. Moves left count as 0 where an attempt was not won."
    return report.section("Scores and moves left", report.prose(text), *drawn, table)


def _boxes(board: Leaderboard, level: int) -> report.Drawing:
    task = board.field.tasks[level]
    boxes = [
        report.Box.of(s.agent, board.field.of(s.agent, task).score.tolist(), place)
        for place, s in enumerate(board.standings)
    ]
    return report.box_plot(boxes, "score", title=f"scores on {task.label}")


def _features(board: Leaderboard, agent: str, level: int) -> tuple[report.Content, ...]:
    task = board.field.tasks[level]
    played = board.field.of(agent, task)
    found = features(played.won, played.score, played.moves_left)
    success = with_limits(*rate_of(played.success))
    numbers = ("\N{EN DASH}" if math.isnan(value) else report.plain(value) for value in found[1:])
    name = report.join(task.label, ", ", report.breakable(agent))
    return (name, success if task.goal else "\N{EN DASH}", *numbers)
