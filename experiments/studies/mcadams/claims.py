"""What McAdams' paper says in figures, beside ours."""

from __future__ import annotations

import itertools

from agents.beam import Beam
from experiments import report
from experiments.report import Compared, Section, Series
from experiments.statistics import Welch
from experiments.studies.mcadams import paper
from experiments.studies.mcadams.games import Measured

CERTAIN = 99.9
"""Percent beyond which the paper tells no two confidences apart."""


def against_random(found: Measured) -> Section:
    """The simplest player, size by size."""
    sizes, simplest = found.square, Beam(1, "h1")
    known = [found.compared(size, simplest, "random") for size in sizes]
    ours, theirs = [each.t for each in known], [paper.RANDOM_T[size] for size in sizes]
    rising = all(a < b for a, b in itertools.pairwise(ours))
    sides = [int(size.split("x")[0]) for size in sizes]
    lines = [Series("here", sides, ours), Series("paper", sides, theirs, dashed=True)]
    rows = [
        Compared(size, f"t = {t}", f"t = {report.plain(each.t)}", f"here {_gain(each, found, size)}")
        for size, t, each in zip(sizes, theirs, known, strict=True)
    ]
    return report.section(
        "The simplest player against random play",
        report.prose(
            "S.H1.1 looks one move ahead and counts points. The paper finds it better than random play on every size, "
            f"the more the larger the board is. Here t is {'positive' if min(ours) > 0 else 'not always positive'} "
            f"and {'rises' if rising else 'does not always rise'} with the size."
        ),
        report.figure(report.line_plot(lines, "side of the board", "Welch's t of S.H1.1 against random play")),
        report.against_paper(rows),
    )


def _gain(known: Welch, found: Measured, size: str) -> str:
    return f"{report.percent(known.difference.value / found.of(size, 'random').mean())} more points"


def heuristics(found: Measured) -> Section:
    """H2 against H1, for the players of both descriptions."""
    deepest = {"text": found.plan.depths, "pseudocode": found.plan.both}
    tables = []
    for variant, depths in deepest.items():
        rows = [_heuristic(found, size, depth, variant) for size in found.square for depth in _depths_of(depths, size)]
        tables += [report.subheading(f"The {variant}'s player"), report.against_paper(rows)]
    return report.section(
        "H2 against H1",
        report.prose(
            "H1 counts points, H2 also what the position promises. The paper finds H2 better at depth 1 from 6x6 up, "
            "less so the deeper the search is, more so the larger the board is. Positive t: H2 is better. Sure means "
            "95 % here."
        ),
        *tables,
    )


def _depths_of(depths: dict[str, int], size: str) -> range:
    return range(1, depths.get(size, 0) + 1)


def _heuristic(found: Measured, size: str, depth: int, variant: str) -> Compared:
    known = found.compared(size, Beam(depth, "h2", variant), Beam(depth, "h1", variant))
    claim = paper.HEURISTICS.get((size, depth))
    said = _claimed(claim) if claim else "not played"
    return Compared(f"{size}, depth {depth}", said, _ours(known, "H2", "H1"), _agreement(claim, known))


def ties(found: Measured) -> Section:
    """Ties broken downwards, or not."""
    rows = []
    for depth in range(1, found.plan.ties + 1):
        known = found.compared(paper.TALL, Beam(depth, "h1"), Beam(depth, "h1", ties="off"))
        claim, sides = paper.TIES[depth], ("sorted", "not")
        rows.append(Compared(f"depth {depth}", _claimed(claim), _ours(known, *sides), _agreement(claim, known, sides)))
    return report.section(
        "Ties broken downwards",
        report.prose(
            "H1 on 10 rows and 5 columns, where equal moves are ordered by the mean row they clear, lowest first "
            "(sorted), or taken from the top (not)."
        ),
        report.against_paper(rows),
    )


def legal_moves(found: Measured) -> Section:
    """How many moves positions have."""
    rows = [
        Compared(
            size, f"{paper.LEGAL_MOVES[size]}", f"{known.playing:.2f} in play, {known.opening:.2f} in openings",
            f"{report.percent(known.playing / paper.LEGAL_MOVES[size] - 1)} in play",
        )
        for size, known in found.legal.items()
    ]  # fmt: skip
    return report.section(
        "Legal moves of a position",
        report.prose(
            "In play: over all positions of games played at random. Openings are boards filled without runs, and with "
            "a legal move. The paper does not say which positions it means."
        ),
        report.against_paper(rows),
    )


def _claimed(claim: paper.Claim) -> str:
    t = "" if claim.t is None else f" (t = {claim.t})"
    return f"{claim.better or 'neither'}, {claim.confidence} %{t}"


def _ours(known: Welch, first: str, second: str) -> str:
    better = first if known.t > 0 else second
    return f"{better}, {_confidence(known)} % (t = {report.plain(known.t)})"


def _confidence(known: Welch) -> str:
    percent = 100 * (1 - known.p)
    return f"> {CERTAIN}" if percent > CERTAIN else f"{percent:.1f}"


def _agreement(claim: paper.Claim | None, known: Welch, sides: tuple[str, str] = ("H2", "H1")) -> str:
    """In a word or two: whether the paper and we are sure of different things."""
    if claim is None:
        return ""
    ours = (sides[0] if known.t > 0 else sides[1]) if known.p < 0.05 else ""
    theirs = claim.better if claim.confidence.startswith(">") else ""
    if ours == theirs:
        return "the same" if ours else "neither is sure"
    return "contrary" if ours and theirs else f"only {'we are' if ours else 'the paper is'} sure"
