"""Agents ranked by how well each alone predicts people, as a page."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import report
from experiments.prediction.single import Predictor, Unfit
from experiments.prediction.testing import Split
from experiments.report import Page, Point, Span
from experiments.report.words import with_limits


def predictors_page(
    found: Sequence[Predictor], failed: Sequence[Unfit], split: Split, source: str, command: str
) -> Page:
    """The page. source: who the people are."""
    best, floor = found[0], found[0].measured.floor
    lead = (
        f"Of {report.counted(len(found), 'agent')}, **{best.agent}** is the one that alone predicts best how hard "
        f"levels are for {source}: it is off by {100 * best.measured.mae.value:.2f} pp on levels that it was not "
        f"fitted on, where {100 * floor:.2f} pp would be chance alone."
    )
    rows = [
        (
            report.join(report.sign(place), report.breakable(one.agent)),
            with_limits(
                f"{100 * one.measured.mae.value:.2f} pp",
                f"{100 * one.measured.mae.low:.2f} to {100 * one.measured.mae.high:.2f}",
            ),
            report.percent(1 - one.measured.outside.value), f"{one.measured.kappa:.2f}",
            f"{one.measured.spearman.value:.3f}", report.percent(one.success), report.duration(one.seconds),
        )
        for place, one in enumerate(found)
    ]  # fmt: skip
    head = ("agent", "MAE", "inside 95 %", "SD(κ)", "Spearman", "own success", "an attempt")
    spans = [_span(place, one) for place, one in enumerate(found)]
    points = [Point(one.agent, one.seconds, 100 * one.measured.mae.value) for one in found]
    seconds = report.scale_of(
        [p.x for p in points], "seconds of an attempt", log=True, form=report.duration, margin=0.1
    )
    name = "mean absolute error, percentage points"
    text = (
        f"Success of people is predicted from each agent's alone, on levels that the model was not fitted on "
        f"({split.name}; {found[0].measured.levels:,} levels, {found[0].attempts:,} attempts of each agent at each)."
    )
    blocks = [report.prose(text), report.table(head, rows, stacked=True)]
    blocks += [report.note(f"Not tried: {one.sentence}") for one in failed]
    sections = (
        report.section("Ranking", *blocks, report.figure(report.interval_plot(spans, name))),
        report.section("Cost", report.figure(report.scatter_plot(points, seconds.name, name, x=seconds))),
        report.section("Again", report.commands(command)),
    )
    return Page("Agents as predictors of people", lead, sections)


def _span(place: int, one: Predictor) -> Span:
    value, low, high = (100 * number for number in one.measured.mae)
    return Span(one.agent, value, low, high, place)
