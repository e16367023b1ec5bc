"""The page of the theses' phase 1."""

from __future__ import annotations

import math

from experiments import report
from experiments.report import Compared, Page, Section, Series
from experiments.statistics import rate
from experiments.studies.setting import Setting
from experiments.studies.theses import paper
from experiments.studies.theses.phase1 import Measured, measured


def study(setting: Setting) -> Page:
    """Measure it and write it up."""
    return page(measured(setting), setting)


def page(found: Measured, setting: Setting) -> Page:
    """The whole page."""
    lead = (
        "“Crushing Candy Crush”, phase 1: the size of the state space, two search trees, and the time of a simulation, "
        "on look-alikes of the levels 13, 77 and 100. The theses' levels are not public: ours have the same numbers of "
        "cells, moves, colours, jelly and kinds of blocker, other boards, and the rules of this package."
    )
    sections = (
        _spaces(found), _bot(found), _trees(found), _time(found),
        report.section("Again", report.commands(setting.command("phase1"))),
    )  # fmt: skip
    return Page("State space and search trees", lead, sections, setting.facts())


def _spaces(found: Measured) -> Section:
    rows = []
    for number, ours in found.spaces.items():
        theirs = paper.SPACES[number]
        implied = 10 ** (theirs.digits / theirs.depth) / theirs.actions
        rows += [
            Compared(f"level {number}: legal moves", f"{theirs.actions}", f"{ours.actions:.2f}"),
            Compared("depth (moves)", f"{theirs.depth}", f"{ours.depth:.1f}", "ours may end before its last move"),
            Compared(
                "state space", f"10^{theirs.digits}", f"10^{ours.digits:.0f}",
                f"their K is about {implied:,.0f}; ours is colours ^ cells cleared in a move ({ours.cleared:.1f})",
            ),
            Compared("won at random", f"{theirs.won:.1%}", f"{ours.won:.2%}"),
        ]  # fmt: skip
    attempts = f"{found.plan.random:,}"
    return report.section(
        "State space",
        report.prose(
            f"{attempts} attempts at random on each level (the theses: 10,000). The estimate is their formula 3.5: the "
            "product over the moves of the number of legal moves and a constant K, the positions that a move may lead "
            "to. They do not print K; beside it stands what their figures imply."
        ),
        report.against_paper(rows),
    )


def _bot(found: Measured) -> Section:
    ours, theirs = rate(found.won, found.plan.attempts), rate(paper.WON, paper.ATTEMPTS)
    row = Compared(
        "won of level 13", f"{paper.WON} of {paper.ATTEMPTS} ({theirs.value:.0%})",
        f"{found.won} of {found.plan.attempts} ({ours.value:.0%}, {ours.low:.0%} to {ours.high:.0%})",
        "the look-alike is another board",
    )  # fmt: skip
    text = "100 simulations a move, binary signal, random playouts."
    return report.section("The bot on level 13", report.prose(text), report.against_paper([row]))


def _trees(found: Measured) -> Section:
    drawn = [
        report.picture(svg, f"C = {exploration:g}. Circles are positions, squares actions; orange: playouts that won.")
        for exploration, svg in found.trees.items()
    ]
    return report.section(
        "Two trees",
        report.prose(
            "Searches of 100 simulations from the same opening of level 13. The theses: with the smaller C the tree is "
            "less even and deeper, for more simulations go through one move."
        ),
        *drawn,
    )


def _time(found: Measured) -> Section:
    moves = list(range(1, len(found.search) + 1))
    micro = [1e6 * seconds for seconds in found.search]
    bare = [1e6 * seconds for seconds in found.playouts]
    mean = sum(found.search) / len(found.search)
    lines = [Series("a simulation", moves, micro), Series("a playout without a tree", moves, bare)]
    faster = paper.SECONDS_OF_A_SIMULATION / mean
    rows = [
        Compared("seconds of a simulation", "about 0.15", f"{mean:.6f}", f"{_times(faster)} as fast, on many boards"),
        Compared("early and late searches", "about equal", _trend(micro), "playouts get shorter as the level ends"),
    ]  # fmt: skip
    return report.section(
        "Time",
        report.prose(
            f"Of searches on {found.plan.boards} boards at once, move by move. A simulation is the descent in the "
            "tree, one turn to a new position, a playout and the way back up; beside it a bare playout from the same "
            "positions, on the same number of boards."
        ),
        report.figure(report.line_plot(lines, "move of the attempt", "microseconds")),
        report.against_paper(rows),
    )


def _times(factor: float) -> str:
    digits = 10 ** max(0, int(math.log10(factor)) - 1)
    return f"{round(factor / digits) * digits:,} times"


def _trend(micro: list[float]) -> str:
    third = max(1, len(micro) // 3)
    early, late = sum(micro[:third]) / third, sum(micro[-third:]) / third
    return f"{early:.0f} and {late:.0f} microseconds"
