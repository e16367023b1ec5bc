"""The pages of the theses' phases 3 and 4."""

from __future__ import annotations

import numpy as np

from experiments import report
from experiments.report import Box, Compared, Page, Scale, Section, Series
from experiments.report.clouds import cloud_plot
from experiments.statistics import Array
from experiments.studies.setting import Setting
from experiments.studies.theses.bots import BOT_DIFFERS, DIFFERS, FAMILY, PEOPLE, TESTER, Measured, Told, measured

RATE = Scale(0, 1, "people's success", form=report.percent)


def phase3(setting: Setting) -> Page:
    """Early levels."""
    return page(measured(3, setting), setting)


def phase4(setting: Setting) -> Page:
    """Late levels, with play testers."""
    return page(measured(4, setting), setting)


def page(found: Measured, setting: Setting) -> Page:
    """The whole page."""
    phase = found.phase
    smaller = (found.attempts, len(found.names)) != (phase.attempts, phase.levels)
    theirs = f"; the theses had {phase.levels} levels and {phase.attempts} attempts" if smaller else ""
    testers = " Each play tester is another such player." if phase.testers else ""
    lead = (
        f"“Crushing Candy Crush”, {phase.name[:-1]} {phase.name[-1]}: how far bots are from people on {phase.title}, "
        f"{found.attempts} attempts of each on {len(found.names)} levels of the pack `ladder` ({found.names[0]} to "
        f"{found.names[-1]}){theirs}. **The people here are {PEOPLE} synthetic players of family {FAMILY}, and no "
        f"claim about people follows.**{testers} The theses' levels and people are a company's own: only shapes "
        "compare."
    )
    sections = [_short(found), _accumulated(found), _by_people(found), _boxes(found)]
    if any(told.adjusted for told in phase.told.values()):
        sections.append(_adjusted(found))
    again = report.section("Again", report.commands(setting.command(phase.name)))
    return Page(f"Bots beside people: {phase.title}", lead, (*sections, again), setting.facts())


def _short(found: Measured) -> Section:
    rows = []
    for name in found.players:
        told, delta = found.phase.told[name], found.delta(name)
        rows.append(
            Compared(_title(name), _told(told), f"{_points(delta)}, trend {found.trend(name):+.2f}", _differs(name))
        )
    text = (
        "Delta is a player's success minus people's, mean and standard deviation over levels; its trend is the slope "
        "over people's success."
    )
    return report.section("In short", report.prose(text), report.against_paper(rows), report.prose(_nearest(found)))


def _nearest(found: Measured) -> str:
    """Whose success is nearest to people's, and the order of the theses."""
    error = {name: float(np.abs(found.delta(name)).mean()) for name in found.players}
    means = {name: float(found.delta(name).mean()) for name in found.players}
    ours = sorted(means, key=lambda name: means[name])
    theirs = sorted(means, key=lambda name: found.phase.told[name].mean)
    same = "as in the theses" if ours == theirs else f"in the theses {', '.join(map(_title, theirs))}"
    best = min(error, key=lambda name: error[name])
    return (
        f"Nearest to people level by level: {_title(best)}, {100 * error[best]:.1f} points off on average. From weak "
        f"to strong: {', '.join(map(_title, ours))}; {same}."
    )


def _title(name: str) -> str:
    return name if name in ("heuristic", TESTER) else f"bot {name}"


def _differs(name: str) -> str:
    return DIFFERS.get(name, BOT_DIFFERS)


def _told(told: Told) -> str:
    return f"{told.mean:+.1f} ± {told.sd:.1f} points"


def _points(values: Array) -> str:
    return f"{100 * values.mean():+.1f} ± {100 * values.std(ddof=1):.1f} points"


def _accumulated(found: Measured) -> Section:
    """Success summed over the levels in their order."""
    number = list(range(1, len(found.names) + 1))
    lines = [Series("people", number, np.cumsum(found.people).tolist(), dashed=True)]
    for name, rates in found.players.items():
        lines.append(Series(_title(name), number, np.cumsum(np.atleast_2d(rates).mean(axis=0)).tolist()))
    drawn = report.line_plot(lines, "level", "accumulated success", bands=True)
    return report.section("Accumulated success", report.figure(drawn, "Each line sums success level by level."))


def _by_people(found: Measured) -> Section:
    """Delta over people's success, one figure a player, with its trend."""
    deltas = [v for name in found.players for v in found.delta(name)]
    up = report.scale_of(deltas, "delta", include=[0.0], form=report.percent)
    figures = []
    for name in found.players:
        x = np.broadcast_to(found.people, found.players[name].shape).ravel()
        slope, base = np.polyfit(x, found.delta(name), 1)
        points = list(zip(x.tolist(), found.delta(name).tolist(), strict=True))
        drawn = cloud_plot(points, RATE, up, title=_title(name))
        caption = f"{_title(name)}: delta = {base:+.2f} {slope:+.2f} x people's success"
        figures.append(report.figure(drawn, caption, width=report.HALF))
    pairs = [report.beside(*figures[n : n + 2]) for n in range(0, len(figures), 2)]
    return report.section("By people's success", *pairs)


def _boxes(found: Measured) -> Section:
    boxes = [Box.of(_title(name), found.delta(name).tolist(), place) for place, name in enumerate(found.players)]
    values = [v for name in found.players for v in found.delta(name)]
    across = report.scale_of(values, "success minus people's", include=[0.0], form=report.percent)
    return report.section("Delta", report.figure(report.box_plot(boxes, across.name, x=across, zero=0.0)))


def _adjusted(found: Measured) -> Section:
    """Delta in standard deviations of one attempt."""
    boxes, rows = [], []
    for place, name in enumerate(found.players):
        values, told = found.adjusted(name), found.phase.told[name].adjusted
        boxes.append(Box.of(_title(name), values.tolist(), place))
        theirs = f"{told[0]:+.3f} ± {told[1]:.3f}" if told else ""
        rows.append(Compared(_title(name), theirs, f"{values.mean():+.3f} ± {values.std(ddof=1):.3f}", _differs(name)))
    drawn = report.figure(report.box_plot(boxes, "adjusted delta", zero=0.0))
    text = "Delta divided by the standard deviation of one attempt, the square root of p (1 - p) of people's success p."
    return report.section("Adjusted delta", report.prose(text), report.against_paper(rows), drawn)
