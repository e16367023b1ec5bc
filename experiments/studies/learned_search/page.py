"""The page of the study of searches with trained players."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments import report
from experiments.report import Page, Section, Span
from experiments.statistics import Interval
from experiments.studies.learned_search import optimism, trees
from experiments.studies.learned_search.optimism import Optimism, Searched
from experiments.studies.learned_search.trees import LEVELS, PLAIN, PROBED, PROBES, Result
from experiments.studies.setting import Setting

ATTEMPTS, SEARCHED = 200, 48
"""On each of three levels; and side by side with mctx."""

QUICK = 8


def study(setting: Setting) -> Page:
    """Play it and write it up."""
    attempts, searched = (QUICK, QUICK) if setting.quick else (ATTEMPTS, SEARCHED)
    found = trees.measured(setting, setting.sizes.get("attempts", attempts))
    known = optimism.measured(setting, setting.sizes.get("searched", searched))
    return page(found, known, setting)


def page(found: Sequence[Result], known: Mapping[tuple[Searched, int], Optimism], setting: Setting) -> Page:
    """The whole page."""
    lead = (
        "Does a tree search that runs on playouts gain by what was learned? The theses' search, `mcts`, with a "
        "trained network or a linear policy as prior (PUCT) and as the player of its playouts, all with the time that "
        f"the plain search takes for {PLAIN} simulations{' (a quick run)' if setting.quick else ''}; and what a search "
        "that keeps one outcome of every move believes of its own moves."
    )
    sections = (
        _success(found), _costs(found), _optimism(known), _reading(),
        report.section("Again", report.commands(setting.command("learned-search"))),
    )  # fmt: skip
    return Page("Searching with what was learned", lead, sections, setting.facts())


def _success(found: Sequence[Result]) -> Section:
    rows = [(r.way.label, f"{r.simulations:,}", *map(_percent, r.won), _percent(r.overall)) for r in found]
    spans = [Span(r.way.label, *r.overall, place=n) for n, r in enumerate(found)]
    x = report.scale_of([v for s in spans for v in (s.low, s.high)], "success on the three levels", form=report.percent)
    head = ("player", "simulations of a move", *(name.partition("/")[2] for name in LEVELS), "all three")
    return report.section(
        "Success at equal time",
        report.figure(report.interval_plot(spans, x.name, x=x)),
        report.table(head, rows, stacked=True),
        report.prose("Shares of attempts won, with Wilson's 95 % intervals."),
    )


def _percent(known: Interval) -> str:
    return f"{report.percent(known.value)} ({report.percent(known.low)} to {report.percent(known.high)})"


def _costs(found: Sequence[Result]) -> Section:
    plain = found[0].cost
    rows = [(r.way.label, f"{1e3 * r.cost:,.0f}", f"{r.cost / plain:.2f}", f"{r.simulations:,}") for r in found]
    return report.section(
        "What a simulation costs",
        report.table(("search", "CPU-µs", "plain ones", "simulations in the plain search's time"), rows),
        report.prose(
            f"Measured in one process, one search after the other, {PROBES} attempts on each level with {PROBED} "
            "simulations a move: the time of the process divided by all simulations, once everything is compiled."
        ),
    )


def _optimism(known: Mapping[tuple[Searched, int], Optimism]) -> Section:
    rows = [
        (game.label, f"{simulations}", *(_number(x) for x in (o.guessed, o.expected, o.came)),
         f"{_number(o.over)} ({_number(Interval(o.over.low, 0, 0))} to {_number(Interval(o.over.high, 0, 0))})")
        for (game, simulations), o in known.items()
    ]  # fmt: skip
    head = ("level", "simulations", "the guide guesses", "the search expects", "comes", "expected too much, 95 %")
    return report.section(
        "Optimism of a tree that keeps one outcome of each move",
        report.prose(
            "`gumbel` searches through mctx, whose tree holds one sampled outcome of every move for ever. Of each move "
            "that it makes: what its guide expects of the position (points on Combo, elsewhere shares of the goals and "
            "1 for the win, discounted by move), what the tree expects of the move, and what this move and the "
            "following ones, searched alike, brought. Where candies are refilled, the tree chooses among lucky draws."
        ),
        report.table(head, rows, stacked=True),
    )


def _number(known: Interval) -> str:
    return f"{known.value:,.0f}" if abs(known.value) >= 100 else f"{known.value:.3g}"


def _reading() -> Section:
    return report.section(
        "How to read it",
        report.bullets(
            "The network is `policy:ppo-tour`, which learned on the packs `basics` and `tour`. The linear policy is "
            "`linear`: two weights, of what a swap clears and makes at once and of its hand-made value, learned on "
            "`basics`. Neither learned on these three levels. In playouts, moves are drawn by their probabilities.",
            "A linear policy over all that a move brings before new candies come, `Game.preview`, is no playout that a "
            "CPU can afford: rollouts that ask for previews (`foresight`) play a twenty-fifth of the random player's "
            "moves on look-alike 13, and those of `heuristic` a third.",
            "With a prior, children are chosen by PUCT with the same constant, 0.6; without, by UCB1 as in the theses.",
            "Numbers of simulations follow from the costs, and differ by machine; then every attempt does not.",
        ),
    )
