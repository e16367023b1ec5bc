"""The page of the study of King's network as a predictor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments import report
from experiments.report import Html, Page, Scale, Section
from experiments.report.clouds import cloud_plot
from experiments.report.forecasts import TABLE_II
from experiments.report.words import with_limits
from experiments.statistics import bootstrap
from experiments.statistics.ranks import spearman
from experiments.studies.king.measuring import FULL, IMITATED, PACK, Measured, Result, measured
from experiments.studies.setting import Setting


def study(setting: Setting) -> Page:
    """Measure it and write it up."""
    return page(measured(setting), setting)


def page(found: Measured, setting: Setting) -> Page:
    """The whole page."""
    sizes = found.sizes
    less = "" if sizes == FULL else f" **This is less than the full study, which has {FULL}.**"
    lead = (
        "S. F. Gudmundsson and others, “Human-Like Playtesting with Deep Learning”: a network that imitates players "
        "plays levels, and from its success follows theirs. **The people here are synthetic, two families of "
        f"{sizes.players} players, and nothing is a claim about people.** The network imitates family {IMITATED} "
        f"({found.pairs:,} moves on fitting levels of the pack `{PACK}`), so that on family {IMITATED} it predicts "
        f"those whom it was made from.{less}"
    )
    sections = (
        _table(found), _figure(found), _shapes(found), _personas(found), _played(found),
        report.section("Again", report.commands(setting.command("king"))),
    )  # fmt: skip
    return Page("A network that imitates players predicts them", lead, sections, setting.facts())


def _table(found: Measured) -> Section:
    head = ("agent", "attempts", "people", "fitted on", "MAE", "outside the 95 % band", "SD of random effects", "floor")
    theirs = [
        (f"paper: {row.agent} ({row.game})", f"{row.attempts:,}", "real players", "800 levels", f"{row.mae} %",
         f"{row.outside} %", f"{row.sd} %", "")
        for row in TABLE_II
    ]  # fmt: skip
    ours = [
        (r.agent, f"{r.attempts:,}", f"family {r.family}{', imitated' * r.clone}", report.counted(r.fitted, "level"),
         _mae(r), report.percent(r.measures.outside.value),
         f"{100 * r.measures.kappa:.0f} %", _pp(r.measures.floor))
        for r in found.results
    ]  # fmt: skip
    top, random = found.top1
    text = (
        f"The network names {report.percent(top)} of the moves that were made in attempts kept back; a random legal "
        f"move would be right in {report.percent(random)} of them. MAE in percentage points, with its 95 % interval "
        "over levels; the floor is the MAE of who knows the true rates."
    )
    return report.section("Table II", report.prose(text), report.table(head, [*theirs, *ours]))


def _mae(result: Result) -> Html:
    mae = result.measures.mae
    return with_limits(_pp(mae.value), f"{100 * mae.low:.1f} to {100 * mae.high:.1f}")


def _pp(value: float) -> str:
    return f"{100 * value:.1f} %"


def _figure(found: Measured) -> Section:
    """The paper's figure 4, of the network with most attempts, for both families."""
    scale = {name: Scale(0, 1, name, form=report.percent) for name in ("predicted success", "observed success")}
    figures = []
    for result in (r for r in found.results if r.agent.startswith("CNN") and r.attempts == found.sizes.attempts):
        band = result.forecast.bands[0.95]
        order = np.argsort(result.forecast.median)
        median = result.forecast.median[order].tolist()
        low, high = (list(zip(median, side[order].tolist(), strict=True)) for side in band)
        points = list(zip(median, result.people.rates[order].tolist(), strict=True))
        drawn = cloud_plot(
            points, scale["predicted success"], scale["observed success"], low=low, high=high, diagonal=True
        )
        caption = f"{result.agent}, family {result.family}. The band: the 95 % band of observed rates."
        figures.append(report.figure(drawn, caption, width=report.HALF))
    pairs = [report.beside(*figures[n : n + 2]) for n in range(0, len(figures), 2)]
    return report.section("Predicted against observed", *pairs)


def _shapes(found: Measured) -> Section:
    """What the paper found, and whether it is so here."""
    sizes, rows = found.sizes, []
    for family in sorted({result.family for result in found.results}):
        own = {(r.agent, r.attempts): r for r in found.results if r.family == family}
        best, sampled = own["CNN, likeliest move", sizes.attempts], own["CNN, sampled", sizes.attempts]
        few = own["CNN, likeliest move", sizes.few]
        search = next(result for (agent, _), result in own.items() if agent.startswith("MCTS"))
        rows += [
            (f"family {family}", what, _pp(one.measures.mae.value), _pp(other.measures.mae.value), *_said(one, other))
            for what, one, other in (
                ("the network predicts better than the search", best, search),
                (f"{sizes.attempts:,} attempts predict better than {sizes.few:,}", best, few),
                ("moves by chance predict better than the likeliest ones (their future work)", sampled, best),
            )
        ]  # fmt: skip
    head = ("people", "what", "MAE", "against", "difference", "here")
    return report.section("Shapes", report.table(head, rows, left=(0, 1)))


def _said(one: Result, other: Result) -> tuple[Html, str]:
    """By how much one is nearer than the other on the same levels, and whether these levels decide it."""
    errors = (np.abs(each.forecast.median - each.people.rates) for each in (one, other))
    differences = np.subtract(*errors)[:, None]
    found = bootstrap(list(differences), lambda means: means.mean(axis=-1), 0, over_levels=True)
    said = "so" if found.high < 0 else "not so" if found.low > 0 else "not decided"
    return with_limits(f"{100 * found.value:+.1f}", f"{100 * found.low:+.1f} to {100 * found.high:+.1f}"), said


def _personas(found: Measured) -> Section:
    """Whether personas rank levels alike."""
    names = list(found.personas)
    means = {name: float(values.mean()) for name, values in found.personas.items()}
    rows: list[Sequence[str]] = []
    for name in names:
        alike = [
            spearman(found.personas[name], found.personas[other], 0).value for other in names if other != name
        ]  # fmt: skip
        rows.append((name, report.percent(means[name]), f"{np.nanmean(alike):.2f}"))
    text = (
        f"Players of family {IMITATED} with the traits of personas on some of the tested levels: how often they win, "
        "and how alike levels are ranked by that."
    )
    return report.section(
        "Personas", report.prose(text), report.table(("persona", "success", "Spearman with the others, mean"), rows)
    )


def _played(found: Measured) -> Section:
    """Distributions of moves used and of scores, of people and of the network."""
    head = ("", "attempts", "won", "moves, median (quartiles)", "score, median (quartiles)")
    rows = []
    for name, some in found.played.items():
        won = float(np.mean([row.won for row in some]))
        rows.append(
            (
                name,
                f"{len(some):,}",
                report.percent(won),
                _quartiles([r.moves for r in some]),
                _quartiles([r.score for r in some]),
            )
        )
    return report.section("How they play", report.table(head, rows))


def _quartiles(values: Sequence[int]) -> str:
    first, middle, third = np.percentile(values, (25, 50, 75))
    return f"{middle:,.0f} ({first:,.0f} to {third:,.0f})"
