"""People's results as a page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from experiments import report
from experiments.people.levels import LevelResult
from experiments.people.reading import Reading
from experiments.people.summary import Summary
from experiments.report import Page, Section, Series, Span
from experiments.report.words import NDASH, rate_of, with_limits

SINGLE = 60
"""Levels that have a row of their own in a figure; more become a curve."""

GROUPS = 24
"""Points of the figures over the success rate, at most: each is the mean of levels of about one rate."""

REAL = ("0.59 (players), 0.57 (players from level to level)", "0.62 and 0.38")
"""Standard deviations of real players on 15 levels of a match-three game, all attempts and without replays."""


class Told(NamedTuple):
    """What the page says of how the results were read. replays: whether attempts after the first success count."""

    file: str
    command: str
    replays: bool
    players: int | None
    seed: int


def people_page(reading: Reading, summary: Summary, told: Told) -> Page:
    """The page."""
    attempts = sum(level.attempts for level in summary.levels)
    successes = sum(level.successes for level in summary.levels)
    who = f"{report.counted(summary.players, 'player')} made" if summary.players else "People made"
    lead = (
        f"{who} {attempts:,} attempts on {report.counted(len(summary.levels), 'level')} and won "
        f"**{report.percent(successes / attempts)}** of them."
    )
    sections = (
        _levels(summary, told), _by_difficulty(summary.levels), _players(summary), _file(reading, told),
        report.section("Again", report.commands(told.command)),
    )  # fmt: skip
    return Page("How people did", lead, tuple(filter(None, sections)), {"file": told.file, "seed": str(told.seed)})


def _levels(summary: Summary, told: Told) -> Section:
    levels = summary.levels
    head = ("level", "players", "attempts", "success", "design effect", "cleared", "replayed", "to clear", "90 % by")
    table = report.table(head, [_row(level) for level in levels], stacked=True)
    many = "" if told.players is None else f" Intervals are as they would be with {told.players:,} players a level."
    replays = "Attempts after the first success count too." if told.replays else "Attempts end with the first success."
    text = (
        "Success is successes over attempts of all players together, with its 95 % interval over players: attempts of "
        "one player are alike, and stop when the level is won, so that attempts are no coin tosses. The design effect "
        f"says how many times the variance of coin tosses the rate has. {replays}{many}"
    )
    shown = table if len(levels) <= SINGLE else report.folded("All levels", table)
    return report.section("Levels", report.prose(text), report.figure(_rates(levels), "", width=report.WIDE), shown)


def _rates(levels: Sequence[LevelResult]) -> report.Drawing:
    name = "success rate"
    scale = report.Scale(0, min(1.0, 1.05 * max(level.rate.high for level in levels)), name, form=report.percent)
    if len(levels) <= SINGLE:
        return report.interval_plot([Span(level.name, *level.rate) for level in levels], name, x=scale)
    values, low, high = ([float(level.rate[i]) for level in levels] for i in range(3))
    series = Series(name, list(range(1, len(levels) + 1)), values, low, high)
    return report.line_plot([series], "levels, in their order", name, y=scale, bands=True)


def _row(level: LevelResult) -> tuple[report.Content, ...]:
    return (
        level.name,
        f"{level.players:,}" if level.players else NDASH,
        f"{level.attempts:,}",
        with_limits(*rate_of(level.rate)),
        *(f"{value:.1f}" if math.isfinite(value) else NDASH for value in (level.design_effect,)),
        *(report.percent(share) if math.isfinite(share) else NDASH for share in (level.cleared, level.replayed)),
        *(f"{value:.0f}" if math.isfinite(value) else NDASH for value in (level.to_clear, level.to_clear_90)),
    )


def _by_difficulty(levels: Sequence[LevelResult]) -> Section | None:
    known = sorted((level for level in levels if math.isfinite(level.cleared)), key=lambda level: level.rate.value)
    if len(known) < 3:
        return None
    groups = [
        [known[i] for i in part] for part in np.array_split(np.arange(len(known)), min(GROUPS, len(known))) if part.size
    ]
    rates = [_mean([level.rate.value for level in group]) for group in groups]
    x = report.scale_of(rates, "success rate", log=min(rates) > 0, form=report.percent)
    needed = [
        Series("median", rates, [_mean([level.to_clear for level in group]) for group in groups]),
        Series("90 %", rates, [_mean([level.to_clear_90 for level in group]) for group in groups]),
        Series("attempts a player", rates, [_mean([g.attempts / g.players for g in group]) for group in groups]),
    ]
    cleared = Series("share cleared", rates, [_mean([level.cleared for level in group]) for group in groups])
    attempts = report.line_plot(needed, x.name, "attempts", x=x)
    shares = report.line_plot(
        [cleared], x.name, "share of players who cleared the level", x=x,
        y=report.Scale(0, 1, "players who cleared it", form=report.percent),
    )  # fmt: skip
    text = "How hard levels were played: attempts that those who cleared a level needed, and how many cleared it."
    if len(groups) < len(known):
        text += f" Each point is the mean of about {len(known) / len(groups):.0f} levels."
    drawn = report.beside(report.figure(attempts, width=report.HALF), report.figure(shares, width=report.HALF))
    return report.section("By difficulty", report.prose(text), drawn)


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if math.isfinite(value)]
    return float(np.mean(known)) if known else math.nan


def _players(summary: Summary) -> Section:
    found = summary.differences
    if found is None:
        return report.section("How much players differ", report.prose(f"Not known: {summary.unknown}."))
    spans = [
        Span("levels", *found.level), Span("players", *found.player, 1),
        Span("players from level to level", *found.player_level, 2),
    ]  # fmt: skip
    figure = report.interval_plot(spans, "standard deviation, logits", x=_from_zero(spans))
    drawn = "" if summary.drawn == summary.players else f" They are of {summary.drawn:,} players, drawn at random."
    text = (
        "The logit of an attempt's success is a level's ease, plus a player's skill, plus what that player makes of "
        f"that level; these are their standard deviations with 95 % intervals.{drawn} Real players of a match-three "
        f"game, on 15 levels: {REAL[0]}; without attempts after the first success {REAL[1]}."
    )
    return report.section("How much players differ", report.prose(text), report.figure(figure))


def _from_zero(spans: Sequence[Span]) -> report.Scale:
    return report.scale_of([span.high for span in spans], "standard deviation, logits", include=(0.0,))


def _file(reading: Reading, told: Told) -> Section:
    lines = [problem.sentence for problem in reading.problems]
    if reading.without_people:
        names = ", ".join((*reading.without_people[:12], *["..."][: len(reading.without_people[12:])]))
        lines.append(f"{report.counted(len(reading.without_people), 'level')} of the pack without people: {names}")
    text = f"`{told.file}` has {report.counted(reading.rows, 'row')}."
    blocks = [report.bullets(*lines)] if lines else [report.prose("Nothing is odd about them.")]
    return report.section("The file", report.prose(text), *blocks)
