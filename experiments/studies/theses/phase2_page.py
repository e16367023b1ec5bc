"""The page of the theses' phase 2."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import report
from experiments.report import Compared, Page, Section, Span
from experiments.statistics import Interval, rate
from experiments.studies.setting import Setting
from experiments.studies.theses import paper
from experiments.studies.theses.phase2 import Measured, measured

NAMES = {"outcomes": "B", "exploration": "C", "depth": "depth limit", "shrinking": "shrinking factor"}


def study(setting: Setting) -> Page:
    """Measure it and write it up."""
    return page(measured(setting), setting)


def page(found: Measured, setting: Setting) -> Page:
    """The whole page."""
    plan = found.plan
    quick = "; a quick run: the theses had 200, 100 and three levels" if setting.quick else ""
    lead = (
        f"“Crushing Candy Crush”, phase 2: one parameter of the search after the other, {plan.attempts} attempts of "
        f"each setup, {plan.simulations} simulations a move, on look-alikes of {_levels(plan.levels)}{quick}. "
        "The theses' bar charts are lost; what their texts say of each sweep stands beside ours."
    )
    rows = [Compared(_title(sweep), sweep.found, _said(found, sweep)) for sweep in plan.chosen]
    sections = (
        report.section("In short", report.against_paper(rows)),
        *(_sweep(found, sweep) for sweep in plan.chosen),
        report.section("Again", report.commands(setting.command("phase2"))),
    )
    return Page("Parameters of the search", lead, sections, setting.facts())


def _levels(numbers: Sequence[str]) -> str:
    return f"level{'s' * (len(numbers) > 1)} {', '.join(numbers)}"


def _title(sweep: paper.Sweep) -> str:
    others = ", ".join(f"{NAMES.get(k, k)} {v}" for k, v in sweep.setting.items())
    return f"{sweep.number}: {NAMES.get(sweep.parameter, sweep.parameter)} ({others})"


def _rate(found: Measured, sweep: paper.Sweep, value: object, level: str) -> Interval:
    return rate(found.won(level, found.plan.agent(sweep, value)), found.plan.attempts)


def _together(found: Measured, sweep: paper.Sweep, value: object) -> Interval:
    """Over the levels."""
    agent, levels = found.plan.agent(sweep, value), found.plan.levels
    return rate(sum(found.won(level, agent) for level in levels), found.plan.attempts * len(levels))


def _said(found: Measured, sweep: paper.Sweep) -> str:
    """The best and the worst value, and whether their intervals part."""
    known = {value: _together(found, sweep, value) for value in sweep.values}
    best = max(known, key=lambda value: known[value].value)
    worst = min(known, key=lambda value: known[value].value)
    apart = "apart" if known[best].low > known[worst].high else "their 95 % intervals overlap"
    return f"best {_value(best)} ({known[best].value:.0%}), worst {_value(worst)} ({known[worst].value:.0%}): {apart}"


def _value(value: object) -> str:
    return "none" if value is None else str(value)


def _sweep(found: Measured, sweep: paper.Sweep) -> Section:
    spans = []
    for value in sweep.values:
        known = _together(found, sweep, value)
        spans.append(Span(_value(value), known.value, known.low, known.high))
    head = (NAMES.get(sweep.parameter, sweep.parameter), *(f"level {level}" for level in found.plan.levels), "all")
    rows = []
    for value in sweep.values:
        cells = [_cell(_rate(found, sweep, value, level)) for level in found.plan.levels]
        rows.append((_value(value), *cells, _cell(_together(found, sweep, value))))
    return report.section(
        f"Test {_title(sweep)}",
        report.prose(f"The theses: {sweep.found}."),
        report.figure(report.interval_plot(spans, "success, with its 95 % interval")),
        report.table(head, rows),
    )


def _cell(known: Interval) -> str:
    return f"{known.value:.1%} ({known.low:.0%} to {known.high:.0%})"
