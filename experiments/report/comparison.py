"""A comparison of two players as a page."""

from __future__ import annotations

from experiments import report
from experiments.ranking.comparison import Comparison, LevelDifference
from experiments.ranking.origins import Origins
from experiments.report import Page, Section, Series, Span
from experiments.report.words import difference_of, p_value, rate_of, signed, t_value, value_of, with_limits
from experiments.statistics import Interval

SINGLE = 60
"""Levels that have a row of their own in a figure; more become a curve."""

SCORES, SUCCESS = "difference of mean scores", "difference of success rates"


def comparison_page(found: Comparison, origins: Origins) -> Page:
    """The page."""
    again = [
        block for player in (found.first, found.second) if player in origins.commands
        for block in (report.subheading(report.breakable(player)), report.commands(*origins.commands[player]))
    ]  # fmt: skip
    sections = [
        _overall(found),
        _levels(found),
        *([report.section("Run it again", *again)] if again else []),
        _reading(),
    ]
    return Page(f"{found.first} against {found.second}", found.verdict, tuple(sections), origins.facts)


def counts(found: Comparison) -> str:
    """On how many levels each is better for itself, and how many of those chance alone would give."""
    better, worse = found.clear
    number = len(found.levels)
    text = f"On its own interval, {found.first} is better on {better:,} and {found.second} on {worse:,} of {number:,}"
    if number < 20:
        return f"{text} levels."
    return f"{text} levels; equal players would show about {0.025 * number:.0f} each way."


def _overall(found: Comparison) -> Section:
    rows: list[tuple[report.Content, ...]] = [
        ("how often an attempt of the first beats one of the second", with_limits(*rate_of(found.improvement))),
    ]
    if found.success is not None:
        rows.append((f"mean {SUCCESS}", with_limits(*_points(found.success))))
    rows.append(("fewest attempts at a level", f"{found.fewest:,}"))
    return report.section(
        "All levels together", report.table(("", "95 % interval below"), rows), report.prose(counts(found))
    )


def _points(difference: Interval) -> tuple[str, str]:
    value, low, high = (signed(f"{100 * each:+.1f}") for each in difference)
    return f"{value} pp", f"{low} to {high}"


def _levels(found: Comparison) -> Section:
    figures = []
    for goal, name in ((True, SUCCESS), (False, SCORES)):
        levels = [each for each in found.levels if each.task.goal == goal]
        if levels:
            figures.append(report.figure(_figure(levels, name, goal)))
    head = ("level", found.first, found.second, "difference", "beats", "t of scores")
    table = report.table([report.breakable(each) for each in head], [_row(each) for each in found.levels], stacked=True)
    text = (
        f"Differences are {found.first} minus {found.second}: right of the dashed line, or above 0, {found.first} is "
        "better. Each interval is for its level alone, at 95 %."
    )
    shown = table if len(found.levels) <= SINGLE else report.folded("All levels", table)
    return report.section("Level by level", report.prose(text), *figures, shown)


def _figure(levels: list[LevelDifference], name: str, goal: bool) -> report.Drawing:
    form = report.percent if goal else report.plain
    ordered = sorted(levels, key=lambda each: -each.difference.value)
    limits = [value for each in levels for value in each.difference]
    if len(levels) <= SINGLE:
        spans = [Span(each.task.label, *each.difference) for each in ordered]
        scale = report.scale_of(limits, name, include=(0.0,), form=form)
        return report.interval_plot(spans, name, x=scale, zero=0.0)
    values, low, high = ([float(each.difference[i]) for each in ordered] for i in range(3))
    places = list(range(1, len(ordered) + 1))
    scale = report.scale_of(limits, name, include=(0.0,), form=form)
    return report.line_plot(
        [Series(name, places, values, low, high)], "levels, by difference", name, y=scale, bands=True
    )


def _row(each: LevelDifference) -> tuple[report.Content, ...]:
    task, scores = each.task, each.scores
    results = (value_of(task, each.first), value_of(task, each.second))
    difference = with_limits(*difference_of(task, each.difference))
    return (
        task.label, *results, difference, report.percent(each.improvement),
        with_limits(t_value(scores.t), f"{report.plain(scores.dof)} dof, p {p_value(scores.p)}"),
    )  # fmt: skip


def _reading() -> Section:
    return report.section(
        "How to read it",
        report.bullets(
            "Levels with goals compare wins, levels without compare scores. Intervals of differences are Newcombe's "
            "for success rates and Welch's for scores; their mean over levels has their errors added in squares.",
            "How often an attempt beats another is over all pairs of attempts at the same level, averaged over levels, "
            "with a stratified bootstrap interval; 50 % is what equal players have.",
            "pp are percentage points. t, degrees of freedom (dof) and the two-sided p are Welch's, of scores, also "
            "where wins are what counts.",
        ),
    )
