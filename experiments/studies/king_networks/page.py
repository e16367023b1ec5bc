"""The page of the study of King's networks."""

from __future__ import annotations

from experiments import report
from experiments.report import Page, Section, Span
from experiments.report.words import NDASH, rate_of, with_limits
from experiments.statistics import Interval, rate, rate_difference
from experiments.studies.king_networks.measuring import FULL, PACK, Learned, Measured, measured
from experiments.studies.king_networks.paper import BATCHES, BEST, NETWORKS, ORDER, RANDOM, RATES, Compared
from experiments.studies.setting import Setting


def study(setting: Setting) -> Page:
    """Record, learn, and write it up."""
    return page(measured(setting), setting)


def page(found: Measured, setting: Setting) -> Page:
    """The whole page."""
    sizes = found.sizes
    less = "" if sizes == FULL else f" **This is less than the full study, which has {FULL}.**"
    lead = (
        "S. F. Gudmundsson and others, “Human-Like Playtesting with Deep Learning”, table I: how often networks name "
        "the move that a tree search made, in attempts kept back. Here "
        f"{report.counted(sizes.levels, 'level')} with {found.pairs:,} moves of `{found.player}` in all, "
        f"{report.counted(sizes.epochs, 'epoch')} over nine elevenths of them.{less}"
    )
    sections = (
        _table(found), _order(found), _grid(found), _differs(found),
        report.section("Again", report.commands(setting.command("king-networks"))),
    )  # fmt: skip
    return Page("Networks that imitate a tree search", lead, tuple(filter(None, sections)), setting.facts())


def _rate(value: float | None) -> str:
    return NDASH if value is None else f"{100 * value:.2f}\N{NO-BREAK SPACE}%"


def _tested(found: Measured, learned: Learned) -> Interval:
    """Top-1 on the test's moves, with Wilson's interval."""
    number = found.known["test"]
    return rate(round(learned.test["top1"] * number), number)


def _table(found: Measured) -> Section:
    rows: list[tuple[report.Content, ...]] = []
    spans = []
    for place, (network, learned) in enumerate(found.table.items()):
        if learned.top1 is None:
            rows.append((network.label, _rate(network.accuracy), "broke down", *[NDASH] * 5))
            continue
        tested = _tested(found, learned)
        spans.append(Span(network.label, *tested, place))
        rows.append(
            (network.label, _rate(network.accuracy), _rate(learned.top1), with_limits(*rate_of(tested)),
             f"{learned.test['nll']:.3f}", _chosen(network, learned), f"{learned.weights:,}",
             f"{learned.minutes:.1f}")
        )  # fmt: skip
    random = next((each.test["random"] for each in found.table.values() if each.test), None)
    rows.append(("random", _rate(RANDOM), NDASH, _rate(random), *[NDASH] * 4))
    head = (
        "network", "paper, validation", "here, validation", "here, test", "test, -log p",
        "learned with", "weights", "minutes",
    )  # fmt: skip
    text = (
        f"Share of moves that are a network's likeliest one: of {found.known['validation']:,} moves for validation, by "
        f"which the best of its judgements is chosen, and of {found.known['test']:,} for a test, with Wilson's 95 % "
        "intervals. Moves of one attempt resemble each other, so that these are somewhat too narrow. -log p is the "
        "mean negative log-likelihood of the moves; `edge` is this suite's own network. What can be reached is not "
        "known: the search does not tell how likely it was to make each move."
    )
    x = report.scale_of(
        [v for span in spans for v in (span.low, span.high)] or [0, 1], "top-1, test", form=report.percent
    )
    figure = report.figure(report.interval_plot(spans, x.name, x=x)) if spans else None
    table = report.table(head, rows, left=(0, 5), stacked=True)
    return report.section("Table I", report.prose(text), *([figure] if figure else []), table)


def _chosen(network: Compared, learned: Learned) -> str:
    left_out = f", {learned.chosen.left_out:.0%} left out" if network.drops else ""
    return f"rate {learned.chosen.rate:g}, batches of {learned.chosen.batch}{left_out}"


def _order(found: Measured) -> Section | None:
    known = {network.label: learned for network, learned in found.table.items() if learned.top1 is not None}
    number, rows = found.known["test"], []
    for sentence, better, worse in ORDER:
        if better not in known or worse not in known:
            continue
        counts = [(round(known[name].test["top1"] * number), number) for name in (better, worse)]
        here = rate_difference(counts[0], counts[1])
        paper = {network.label: network.accuracy or 0.0 for network in NETWORKS}
        limits = f"({100 * here.low:+.1f} to {100 * here.high:+.1f})"
        rows.append(
            (sentence, f"{100 * (paper[better] - paper[worse]):+.1f}",
             with_limits(f"{100 * here.value:+.1f}", limits), verdict(here))
        )  # fmt: skip
    if not rows:
        return None
    text = "Differences of top-1 in points of a hundred, here on the test's moves with Newcombe's 95 % intervals."
    head = ("the paper's table says", "paper", "here", "")
    return report.section("Its order", report.prose(text), report.table(head, rows, left=(0, 3), stacked=True))


def verdict(difference: Interval) -> str:
    """Whether a difference that should be above 0 is."""
    if difference.low > 0:
        return "holds"
    return "does not hold" if difference.high < 0 else "is not decided"


def _grid(found: Measured) -> Section | None:
    if not found.grid:
        return None
    blocks = []
    for network, tried in found.grid.items():
        plain = {(each.chosen.rate, each.chosen.batch): each for each in tried if each.chosen.left_out == 0.5}
        rows = [(f"rate {rate:g}", *(_rate(plain[rate, batch].top1) for batch in BATCHES)) for rate in RATES]
        others = [each for each in tried if each.chosen.left_out != 0.5]
        more = "; ".join(f"{_chosen(network, each)}: {_rate(each.top1)}" for each in others)
        table = report.table(("", *(f"batches of {batch}" for batch in BATCHES)), rows)
        blocks += [report.subheading(network.label), table, *([report.prose(f"{more}.")] if more else [])]
    sizes = found.sizes
    text = (
        f"Top-1 on moves for validation after {report.counted(sizes.grid_epochs, 'epoch')} over "
        f"{report.counted(sizes.grid_levels, 'level')}; each network learned the table with its best. The paper found "
        "5e-4 and 512 best."
    )
    return report.section("The search of hyper-parameters", report.prose(text), *blocks)


def _differs(found: Measured) -> Section:
    sizes = found.sizes
    search = (
        f"The search of hyper-parameters had {report.counted(sizes.grid_levels, 'level')} and few epochs, and shares "
        "of units left out were tried only with the best rate and batch; the paper does not say its own."
        if sizes.grid_levels
        else f"No hyper-parameters were searched: all networks learned with the paper's best rate, {BEST[0]:g}, and "
        f"batches of {sizes.batch} (the paper's best: {BEST[1]})."
    )
    return report.section(
        "What differs",
        report.bullets(
            f"The paper does not say on how many pairs of how many levels table I rests. Here it is {sizes}; the full "
            f"study has {FULL}, which is what two cores can do.",
            f"Levels are those of the pack `{PACK}`, evenly spaced, and the search is this suite's, with as many "
            "simulations a move as in the paper (200) in the full study, and partial goals. How hard its moves are to "
            "foretell depends on both, so that orders compare, not numbers.",
            search,
            "Moves that are not legal have no probability here. The paper shows the network the cells of legal moves, "
            "as here, and masks nothing.",
            "Planes are those of the view `king`: fewer than the paper's 102, since levels have fewer kinds of items.",
            "The full layers of 12Conv+ReLU+FC+Dropout have 256 units and one for each action; the paper does not say. "
            "Rates fall in a straight line to a tenth of themselves, by Adam.",
        ),
    )
