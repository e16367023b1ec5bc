"""The page of McAdams' study."""

from __future__ import annotations

import numpy as np

from agents.beam import Beam
from experiments import report
from experiments.report import Page, Section, Series
from experiments.studies.mcadams.claims import against_random, heuristics, legal_moves, ties
from experiments.studies.mcadams.games import HEURISTICS, Measured, measured, players_of
from experiments.studies.setting import Setting, mean_of

QUICK = " (a quick run: the paper had 500, and t grows with the square root of that number)"


def study(setting: Setting) -> Page:
    """Play it and write it up."""
    return page(measured(setting), setting)


def page(found: Measured, setting: Setting) -> Page:
    """The whole page."""
    games = found.plan.games
    lead = (
        "G. McAdams, “Approximating Optimal Strategy in Match-Three Puzzle Games”: a beam search over sampled futures "
        f"against random play, with two heuristics, here with {games:,} games of 20 moves and six colours for each "
        f"player and size{QUICK if setting.quick else ''}. The paper gives no mean "
        "scores in its text, only t values and confidences: those stand beside ours."
    )
    sections = (
        against_random(found), heuristics(found), _scores(found), _depths(found), ties(found), _variants(found),
        legal_moves(found), _differences(), report.section("Again", report.commands(setting.command("mcadams"))),
    )  # fmt: skip
    return Page("Match-three players", lead, tuple(filter(None, sections)), setting.facts())


def label(player: Beam) -> str:
    """A player as the paper calls it, S.H1.2, and what it does not know."""
    extra = [player.variant] * (player.variant != "text") + ["NS"] * (player.ties == "off")
    return " ".join([f"S.{player.heuristic.upper()}.{player.depth}", *extra])


def _scores(found: Measured) -> Section:
    blocks = [report.prose("Points of a game: mean with its 95 % interval, standard deviation, median.")]
    for size in found.plan.sizes:
        rows = [_row(found, size, "R", "random")]
        rows += [_row(found, size, label(player), player) for player in dict.fromkeys(players_of(found.plan, size))]
        head = ("player", "mean", "± ", "SD", "median", "t against R")
        blocks += [report.folded(f"{size}: {len(rows)} players", report.table(head, rows))]
    depths = sorted({1, min(3, max(found.plan.depths.values()))})
    shown = [Beam(depth, heuristic) for heuristic in HEURISTICS for depth in depths]
    lines = [Series(label(player), *_gains(found, player)) for player in shown]
    figure = report.line_plot(lines, "side of the board", "times random play's points")
    return report.section("Scores", report.figure(figure, "Mean scores as multiples of random play's."), *blocks)


def _gains(found: Measured, player: Beam) -> tuple[list[float], list[float]]:
    sizes = [size for size in found.square if found.plan.depths[size] >= player.depth]
    gains = [float(found.of(size, player).mean() / found.of(size, "random").mean()) for size in sizes]
    return [float(size.split("x")[0]) for size in sizes], gains


def _row(found: Measured, size: str, name: str, player: str | Beam) -> tuple[str, ...]:
    values = found.of(size, player)
    t = "" if player == "random" else report.plain(found.compared(size, player, "random").t)
    mean = mean_of(values)
    return (
        name,
        f"{mean.value:.1f}",
        f"{mean.high - mean.value:.1f}",
        f"{values.std(ddof=1):.1f}",
        f"{np.median(values):.0f}",
        t,
    )


def _depths(found: Measured) -> Section | None:
    rows = []
    for size in found.square:
        for heuristic in HEURISTICS:
            steps = [
                report.plain(found.compared(size, Beam(d, heuristic), Beam(d - 1, heuristic)).t)
                for d in range(2, found.plan.depths[size] + 1)
            ]
            rows.append((f"{size}, {heuristic.upper()}", *(steps + [""] * 3)[:3]))
    return report.section(
        "Deeper",
        report.prose(
            "Welch's t of each depth against the one before. The paper: depth 4 was never better than depth 3 with a "
            "confidence of 95 % (t above 1.96)."
        ),
        report.table(("", "2 against 1", "3 against 2", "4 against 3"), rows),
    )


def _variants(found: Measured) -> Section:
    rows = []
    for size, deepest in found.plan.both.items():
        for heuristic in HEURISTICS:
            for depth in range(1, deepest + 1):
                text, code = Beam(depth, heuristic), Beam(depth, heuristic, "pseudocode")
                known = found.compared(size, code, text)
                means = (f"{found.of(size, player).mean():.1f}" for player in (text, code))
                rows.append((f"{size}, {label(text)}", *means, report.plain(known.t), report.plain(known.p)))
    return report.section(
        "Text and pseudocode",
        report.prose(
            "The paper describes its player twice, and not alike: how the beam narrows (9, 3, 1 or 9, 4, 1), whether "
            "it prunes before or after it looks deeper, and H2 by piece or by pair, a colour bomb by its best "
            "neighbour or by all. All other tables show the text's player. Positive t: the pseudocode's is better."
        ),
        report.table(("player", "text", "pseudocode", "t", "p"), rows),
    )


def _differences() -> Section:
    return report.section(
        "What differs",
        report.bullets(
            "McAdams' simulator resolves matches one at a time from the top left; this game resolves all at once, as "
            "the game it imitates does. So here several runs of one swap all count, and cascades differ.",
            "Where a colour bomb would turn candies striped, the paper draws each one's direction; here each counts "
            "the mean of both.",
            "The text's sentence that the last move is chosen by its score alone is followed to the letter: no "
            "structure is counted where no move is left. The pseudocode's player counts it.",
            "Values are averaged as in the pseudocode's procedure, in both variants: a node's own value with the mean "
            "of its kept children.",
            "Both players of a pair meet the same openings, as in the paper; candies that fall later differ once the "
            "moves do. Coming candies are sampled by the player and are not the game's.",
        ),
    )
