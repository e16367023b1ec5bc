"""The leaderboard as a page."""

from __future__ import annotations

from crush_gym import references
from experiments import report
from experiments.ranking.field import PlayedTask
from experiments.ranking.leaderboard import Leaderboard, Standing
from experiments.ranking.origins import Origins
from experiments.ranking.yardstick import BEST, LOOKAHEAD, PLAYED, RANDOM, SHIPPED
from experiments.report import Html, Page, Section, Span
from experiments.report import leaderboard_figures as figures
from experiments.report.words import decimal, ranks, rate_of, with_limits

FEW = 20
"""Attempts below which intervals are too narrow to be taken at their word."""


def leaderboard_page(board: Leaderboard, origins: Origins, title: str = "Leaderboard") -> Page:
    """The page."""
    sections: list[Section | None] = [
        _ranking(board),
        figures.profile(board),
        figures.levels(board),
        figures.cost(board),
        figures.scores(board),
        _again(board, origins),
        _reading(board),
    ]
    return Page(title, lead(board), tuple(each for each in sections if each), origins.facts)


def lead(board: Leaderboard) -> str:
    """One sentence on who is ahead, and how surely."""
    first, levels = board.standings[0], report.counted(len(board.tasks), "level")
    figure = "interquartile mean {}, 95 % interval {}".format(*decimal(first.iqm))
    if len(board.standings) == 1:
        return f"**{first.agent}** on {levels}: {figure}."
    if first.worst == 1:
        return f"**{first.agent}** leads {len(board.standings)} players on {levels}: {figure}."
    rivals = ", ".join(s.agent for s in board.standings[1:] if s.best == 1)
    return f"On {levels}, **{first.agent}** has the best figures ({figure}), but chance may put {rivals} first."


def _ranking(board: Leaderboard) -> Section:
    head = ("player", "rank", "IQM", "mean", "gap to 1", "success", "attempts")
    rows = [_row(place, s) for place, s in enumerate(board.standings)]
    spans = [Span(s.agent, *s.iqm, place=place) for place, s in enumerate(board.standings)]
    figure = report.interval_plot(spans, "interquartile mean of normalised results", zero=0.0)
    blocks = [report.table(head, rows, stacked=True), *map(report.note, warnings(board))]
    return report.section("Ranking", *blocks, report.figure(figure, _about_intervals(board)))


def _row(place: int, s: Standing) -> tuple[Html, ...]:
    success = ("\N{EN DASH}", "") if s.success is None else rate_of(s.success)
    return (
        report.join(report.sign(place), report.breakable(s.agent)),
        report.escape(ranks(s.best, s.worst)),
        with_limits(*decimal(s.iqm)),
        with_limits(*decimal(s.mean)),
        with_limits(*decimal(s.gap)),
        with_limits(*success),
        with_limits(f"{s.attempts:,}", f"{report.duration(s.seconds)} each"),
    )


def _about_intervals(board: Leaderboard) -> str:
    drawn = "levels are drawn again: they speak about levels like these" if board.over_levels else (
        "attempts are drawn again within each level: they speak about more attempts at just these levels"
    )  # fmt: skip
    return f"Bars are 95 % bootstrap intervals; {drawn}. Ranks are what the same resamples leave open."


def warnings(board: Leaderboard) -> list[str]:
    """What keeps a reader from taking the figures at their word."""
    found = []
    if board.field.fewest() < FEW:
        found.append(f"Some player has only {board.field.fewest()} attempts at some level: intervals are too narrow.")
    if len(board.origins()) > 1 or len({task.goal for task in board.tasks if _is_best(board, task)}) == 2:
        found.append(
            f"Levels are ranked together whose 1 is not the same: {_ones(board)}. Naming a reference (`--reference`) "
            "makes one player the 1 of all."
        )
    if board.useless:
        names = _some([task.label for task in board.useless])
        found.append(f"Without a clear 0 and 1, and so left out of the ranking: {names}.")
    if board.field.left_out:
        found.append(f"Not played by all of these players, and so left out: {_some(board.field.left_out)}.")
    return found


ORIGINS = {
    SHIPPED: f"{LOOKAHEAD}, as `crush_gym.references` has it",
    PLAYED: f"{LOOKAHEAD}, as it played here",
    BEST: "winning always, or the best mean score of these players where a level has no goals",
}
"""What is 1, by where a scale comes from."""


def _is_best(board: Leaderboard, task: PlayedTask) -> bool:
    return board.yardsticks[task.identity].origin == BEST


def _ones(board: Leaderboard) -> str:
    """What is 1, and on how many levels."""
    if board.reference is not None:
        return board.reference
    known = board.origins()
    if len(known) == 1:
        return ORIGINS[next(iter(known))]
    return "; ".join(f"{ORIGINS[origin]} ({report.counted(number, 'level')})" for origin, number in known.items())


def _some(names: tuple[str, ...] | list[str]) -> str:
    shown = ", ".join(names[:8])
    return shown if len(names) <= 8 else f"{shown} and {len(names) - 8:,} more"


def _again(board: Leaderboard, origins: Origins) -> Section | None:
    blocks = []
    for s in board.standings:
        if s.agent in origins.commands:
            blocks.append(report.subheading(report.breakable(s.agent)))
            blocks.append(report.commands(*origins.commands[s.agent]))
    text = "The same command gives the same rows on any machine with these versions: only times differ."
    return report.section("Run it again", report.prose(text), report.folded("Commands", *blocks)) if blocks else None


def scale_of(board: Leaderboard) -> str:
    """One sentence on what 0 and 1 are."""
    by_random = sum(_knows_random(board, task) for task in board.tasks)
    nothing = "that of winning never, or of no points"
    zero = f"the result of the player {RANDOM!r}" if by_random else nothing
    if 0 < by_random < len(board.tasks):
        zero = f"{zero} on the {by_random:,} of {len(board.tasks):,} levels where that is known, elsewhere {nothing}"
    return f"0 is {zero}; 1 is that of {_ones(board)}."


def _knows_random(board: Leaderboard, task: PlayedTask) -> bool:
    return (RANDOM, task.identity) in board.field.played or references.of_task(task.identity) is not None


def _reading(board: Leaderboard) -> Section:
    return report.section(
        "How to read it",
        report.bullets(
            "Results, success rates or mean scores where a level has no goals, are normalised on each level: "
            f"{scale_of(board)} Both are taken as exact.",
            "The interquartile mean drops a quarter of the levels, rounded down, at each end and averages the "
            "rest; the gap to 1 is how far a player stays below the reference on average: being above does not help.",
            "A bootstrap cannot see what no attempt has shown: an interval from 0 to 0 means that nothing was won, not "
            "that nothing can be. Intervals of success rates are Wilson's, over all attempts.",
        ),
    )
