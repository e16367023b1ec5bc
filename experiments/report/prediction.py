"""Predictions as pages: of single levels, and of a pack."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments import report
from experiments.prediction import Looked
from experiments.prediction.sentences import compared, headline, movers, unusual
from experiments.prediction.spikes import Spike
from experiments.report import Page, Section, Series, Span
from experiments.report.words import rate_of, with_limits
from experiments.statistics import Interval

MOVERS = 10
SINGLE = 60
"""Levels that have a row of their own in a figure; more become a curve."""


def levels_page(looked: Looked, command: str) -> Page:
    """A page of some levels, each with its band, what moves it, and the curve over limits of moves."""
    names = looked.prediction.names
    sections = [_level(looked, n) for n in range(len(names))]
    return Page(
        f"How hard {report.counted(len(names), 'level')} {'is' if len(names) == 1 else 'are'} for people",
        source(looked), (*sections, report.section("Again", report.commands(command))), facts(looked),
    )  # fmt: skip


def source(looked: Looked) -> str:
    """Whose success is predicted, first of all."""
    model = looked.model
    return (
        f"Predicted success of **{model.fitted.source}**, by a model fitted on {model.fitted.levels:,} levels and "
        f"{model.fitted.attempts:,} of their attempts."
    )


def facts(looked: Looked) -> dict[str, str]:
    """What the predictions rest on."""
    recipe = looked.model.recipe
    attempts = "" if recipe is None else f", {recipe.attempts:,} attempts of each at each level, seed {recipe.seed}"
    return {"agents": f"{', '.join(looked.model.agents) or 'none'}{attempts}"}


def _level(looked: Looked, n: int) -> Section:
    said = looked.prediction
    blocks = [report.prose(f"**{headline(looked, n)}**", *compared(looked, n))]
    blocks += map(report.note, unusual(looked, n))
    parts = movers(looked, n)[:MOVERS]
    if parts:
        spans = [Span(name, value, min(value, 0.0), max(value, 0.0)) for name, value in parts]
        drawn = report.interval_plot(spans, "logits, compared with the mean of the levels fitted", zero=0.0)
        blocks += [report.subheading("What moves it"), report.figure(drawn)]
    if curve := looked.curve(n):
        limits = [float(point.limit) for point in curve]
        series = Series(
            "success", limits, [p.rate.value for p in curve], [p.rate.low for p in curve], [p.rate.high for p in curve]
        )
        scale = report.Scale(0, 1, "success of people", form=report.percent)
        own = next(point.limit for point in curve if point.own)
        caption = f"With its 95 % band. The level gives {report.counted(own, 'move')}."
        drawn = report.line_plot([series], "moves that the level gives", "success of people", y=scale, bands=True)
        blocks += [report.subheading("Under other limits of moves"), report.figure(drawn, caption)]
    return report.section(said.names[n], *blocks)


def pack_page(looked: Looked, found: Sequence[Spike], command: str) -> Page:
    """The difficulty curve of a pack."""
    said = looked.prediction
    sections = (
        _curve(looked, found), _spikes(looked, found), _all(looked, found),
        report.section("Again", report.commands(command)),
    )  # fmt: skip
    title = f"How hard {report.counted(len(said.names), 'level')} are for people"
    return Page(title, source(looked), tuple(filter(None, sections)), facts(looked))


def _curve(looked: Looked, found: Sequence[Spike]) -> Section:
    said, band = looked.prediction, looked.prediction.band()
    marked = {spike.place: spike for spike in found}
    name = "success of people"
    scale = report.Scale(0, 1, name, form=report.percent)
    if len(said.names) <= SINGLE:
        spans = [
            Span(level, float(said.median[n]), float(band.low[n]), float(band.high[n]), _place(marked.get(n)))
            for n, level in enumerate(said.names)
        ]
        drawn = report.interval_plot(spans, name, x=scale)
    else:
        places = [float(n + 1) for n in range(len(said.names))]
        lines = [Series("predicted", places, list(said.median), list(band.low), list(band.high))]
        drawn = report.line_plot(lines, "levels, in their order", name, y=scale, bands=True)
    text = (
        "The median of the predicted success rate with its 95 % band. What stands out has a sign of its own."
        if len(said.names) <= SINGLE
        else "The median of the predicted success rate with its 95 % band, level by level."
    )
    return report.section("Difficulty", report.prose(text), report.figure(drawn))


def _place(spike: Spike | None) -> int:
    return 0 if spike is None else 1 if spike.harder else 2


def _spikes(looked: Looked, found: Sequence[Spike]) -> Section:
    text = (
        "A level stands out if its success differs by 0.8 logits or more from the middle one of the five levels before "
        "it and the five after it, and does so with a probability of 90 % or more."
    )
    if not found:
        return report.section("Levels that stand out", report.prose(text, "None does."))
    said = looked.prediction
    rows = [
        (
            said.names[spike.place], "harder" if spike.harder else "easier", report.percent(said.median[spike.place]),
            report.percent(spike.around), report.percent(spike.probability),
        )
        for spike in found
    ]  # fmt: skip
    table = report.table(("level", "", "success", "around it", "probability"), rows, left=(0, 1), stacked=True)
    return report.section("Levels that stand out", report.prose(text), table)


def _all(looked: Looked, found: Sequence[Spike]) -> Section:
    said, band = looked.prediction, looked.prediction.band()
    order = np.argsort(said.median, kind="stable")
    rank = {int(n): place + 1 for place, n in enumerate(order)}
    rows = [
        (
            name, with_limits(*rate_of(Interval(*(float(x[n]) for x in (said.median, *band))))),
            report.percent(said.mean[n]), f"{rank[n]:,}", "unlike those of the fit" if said.far[n] else "",
        )
        for n, name in enumerate(said.names)
    ]  # fmt: skip
    table = report.table(("level", "success", "mean", "hardest first", ""), rows, left=(0, 4), stacked=True)
    shown = table if len(said.names) <= SINGLE else report.folded("All levels", table)
    return report.section("Level by level", shown)
