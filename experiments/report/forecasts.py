"""A test of predictions as a page: the paper's figure 4 and table II, residuals, coverage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from experiments import report
from experiments.prediction import Tested
from experiments.report import Html, Page, Scale, Section, Series
from experiments.report.clouds import cloud_plot
from experiments.report.words import with_limits
from experiments.statistics import Array, Interval

ROLLED = 25
"""Levels whose bands are averaged where a band is drawn."""


class Paper(NamedTuple):
    """A row of table II: "Human-Like Playtesting with Deep Learning". mae, outside, sd: in percent."""

    agent: str
    attempts: int
    game: str
    mae: float
    outside: int
    sd: int


TABLE_II = (
    Paper("MCTS", 100, "CCS", 5.4, 4, 53), Paper("CNN", 1000, "CCS", 4.0, 11, 35),
    Paper("CNN", 100, "CCS", 4.9, 24, 33), Paper("CNN", 1000, "CCSS", 5.7, 17, 38),
    Paper("CNN", 100, "CCSS", 6.6, 23, 35),
)  # fmt: skip

HEAD = (
    "model", "MAE", "bias", "outside 95 %", "width", "after calibration", "SD(κ)", "CRPS", "Winkler", "Spearman",
    "Kendall",
)  # fmt: skip


def page_of(found: Tested, told: Mapping[str, str]) -> Page:
    """The page. told: how it was made; `command`, `people` and more."""
    whole = found.entrants[0].measured
    lead = (
        f"Success on {whole.levels:,} levels, each predicted by a model that was fitted without it "
        f"({found.split.name}): off by **{_pp(whole.mae.value)}** on average, where {_pp(whole.floor)} would be chance "
        f"alone, with {report.percent(whole.outside.value)} of observed rates outside the 95 % band."
    )
    sections = (
        _models(found), _figure_four(found), _residuals(found), _coverage(found), _thirds(found), _paper(found),
        report.section("Again", report.commands(told["command"])),
    )  # fmt: skip
    return Page("Predicted and observed", lead, sections, {name: told[name] for name in told if name != "command"})


def _pp(value: float) -> str:
    return f"{100 * value:.2f} pp"


def _limited(interval: Interval) -> Html:
    return with_limits(_pp(interval.value), f"{100 * interval.low:.2f} to {100 * interval.high:.2f}")


def _models(found: Tested) -> Section:
    rows = [
        (
            e.name, _limited(e.measured.mae), _pp(e.measured.bias), report.percent(e.measured.outside.value),
            _pp(e.measured.width), "" if e.calibrated is None else report.percent(e.calibrated.outside),
            f"{e.measured.kappa:.2f}", f"{100 * e.measured.crps:.2f}", f"{100 * e.measured.winkler:.1f}",
            f"{e.measured.spearman.value:.3f}", f"{e.measured.kendall.value:.3f}",
        )
        for e in found.entrants
    ]  # fmt: skip
    floor = found.entrants[0].measured.floor
    text = (
        f"Mean absolute errors (MAE) are of the median, with 95 % intervals over levels. Somebody who knows the true "
        f"rates would be off by {_pp(floor)} on average. SD(κ) is the standard deviation of the logits that the "
        "prediction leaves open. After calibration: the share outside once the band was corrected by 100 of the "
        "levels, drawn at random, the mean of 20 draws."
    )
    return report.section("Models", report.prose(text), report.table(HEAD, rows, stacked=True))


def _figure_four(found: Tested) -> Section:
    played = found.people.attempts > 0
    rates, median = found.people.rates[played], found.forecast.median[played]
    band = found.forecast.bands[0.95]
    order = np.argsort(median)
    x, low, high = (_rolled(side[order]) for side in (median, band.low[played], band.high[played]))
    most = min(1.0, 1.05 * float(max(rates.max(), median.max())))
    scale = {name: Scale(0, most, name, form=report.percent) for name in ("predicted success", "observed success")}
    drawn = cloud_plot(
        list(zip(median.tolist(), rates.tolist(), strict=True)), *scale.values(),
        low=list(zip(x, low, strict=True)), high=list(zip(x, high, strict=True)), diagonal=True,
    )  # fmt: skip
    caption = f"Each point is a level. The band is the 95 % band of observed rates, averaged over {ROLLED} levels."
    return report.section("Predicted against observed", report.figure(drawn, caption))


def _rolled(values: Array) -> list[float]:
    """Means of `ROLLED` neighbours, with the first and the last value."""
    size = min(ROLLED, values.size)
    means = np.convolve(values, np.full(size, 1 / size), "valid")
    return [float(values[0]), *means.tolist(), float(values[-1])]


def _residuals(found: Tested) -> Section:
    people = found.people
    played = people.attempts > 0
    smooth = (people.successes[played] + 0.5) / (people.attempts[played] + 1)
    away = np.log(smooth / (1 - smooth)) - found.forecast.logit[played]
    z = away / found.forecast.error[played]
    median = found.forecast.median[played]
    reach = max(4.0, float(np.abs(z).max()) * 1.05)
    x = Scale(0, min(1.0, 1.05 * float(median.max())), "predicted success", form=report.percent)
    y = Scale(-reach, reach, "error, in its standard deviations")
    drawn = cloud_plot(
        list(zip(median.tolist(), z.tolist(), strict=True)), x, y,
        low=[(x.low, -1.96), (x.high, -1.96)], high=[(x.low, 1.96), (x.high, 1.96)],
    )  # fmt: skip
    edges = [n / 10 for n in range(11)]
    pit = Series("levels", edges[:-1], list(found.entrants[0].measured.pit))
    places = report.histogram_plot(edges, [pit], "place in the predicted distribution", "share of levels")
    text = (
        "Left: errors of the logit in their standard deviations, noise of the observed rate included. Right: where "
        "observed rates lie in what was predicted; a right prediction is even."
    )
    return report.section(
        "Residuals", report.prose(text),
        report.beside(report.figure(drawn, width=report.HALF), report.figure(places, width=report.HALF)),
    )  # fmt: skip


def _coverage(found: Tested) -> Section:
    whole = found.entrants[0].measured
    rows = [(report.percent(share), report.percent(value)) for share, value in whole.coverage.items()]
    return report.section("Coverage", report.table(("band", "observed rates within it"), rows))


def _thirds(found: Tested) -> Section:
    rows = [
        (
            f"{report.percent(third.low)} to {report.percent(third.high)}", f"{third.levels:,}", _pp(third.mae),
            _pp(third.bias), report.percent(third.outside),
        )
        for third in found.entrants[0].measured.thirds
    ]  # fmt: skip
    return report.section(
        "By difficulty", report.table(("observed success", "levels", "MAE", "bias", "outside 95 %"), rows)
    )


def _paper(found: Tested) -> Section:
    theirs = [
        (f"{row.agent}, {row.attempts:,} attempts ({row.game})", f"{row.mae} %", f"{row.outside} %", f"{row.sd} %")
        for row in TABLE_II
    ]
    ours = [
        (
            f"here: {e.name}", f"{100 * e.measured.mae.value:.1f} %", report.percent(e.measured.outside.value),
            f"{100 * e.measured.kappa:.0f} %",
        )
        for e in found.entrants
    ]  # fmt: skip
    text = (
        "Table II of “Human-Like Playtesting with Deep Learning” (2018) has real people of two games, fitted on 800 "
        "levels and tested on the next 200. Their levels, people and noise are others: the figures stand side by side, "
        "and cannot be compared as such."
    )
    head = ("agent", "MAE", "outside the 95 % band", "SD of random effects")
    return report.section("The paper's table II", report.prose(text), report.table(head, [*theirs, *ours]))
