"""The page of McAdams' study."""

from __future__ import annotations

import itertools

import numpy as np

from agents.beam import Beam
from experiments import pages
from experiments.pages import Compared, Page, Section, Series
from experiments.statistics import Welch
from experiments.studies import mcadams_paper as paper
from experiments.studies.mcadams import HEURISTICS, Measured, players_of
from experiments.studies.setting import Setting, mean_of

CERTAIN = 99.9

QUICK = " (a quick run: the paper had 500, and t grows with the square root of that number)"


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
        _against_random(found), _heuristics(found), _scores(found), _depths(found), _ties(found), _variants(found),
        _legal(found), _differences(), pages.section("Again", pages.commands(setting.command("mcadams"))),
    )  # fmt: skip
    return Page("Match-three players", lead, tuple(filter(None, sections)), setting.facts())


def label(player: Beam) -> str:
    """A player as the paper calls it, S.H1.2, and what it does not know."""
    extra = [player.variant] * (player.variant != "text") + ["NS"] * (player.ties == "off")
    return " ".join([f"S.{player.heuristic.upper()}.{player.depth}", *extra])


def _against_random(found: Measured) -> Section:
    sizes, simplest = _square(found), Beam(1, "h1")
    known = [found.compared(size, simplest, "random") for size in sizes]
    ours, theirs = [each.t for each in known], [paper.RANDOM_T[size] for size in sizes]
    rising = all(a < b for a, b in itertools.pairwise(ours))
    sides = [int(size.split("x")[0]) for size in sizes]
    lines = [Series("here", sides, ours), Series("paper", sides, theirs, dashed=True)]
    rows = [
        Compared(size, f"t = {t}", f"t = {pages.plain(each.t)}", f"here {_gain(each, found, size)}")
        for size, t, each in zip(sizes, theirs, known, strict=True)
    ]
    return pages.section(
        "The simplest player against random play",
        pages.prose(
            "S.H1.1 looks one move ahead and counts points. The paper finds it better than random play on every size, "
            f"the more the larger the board is. Here t is {'positive' if min(ours) > 0 else 'not always positive'} "
            f"and {'rises' if rising else 'does not always rise'} with the size."
        ),
        pages.figure(pages.line_plot(lines, "side of the board", "Welch's t of S.H1.1 against random play")),
        pages.against_paper(rows),
    )


def _gain(known: Welch, found: Measured, size: str) -> str:
    return f"{pages.percent(known.difference.value / found.of(size, 'random').mean())} more points"


def _square(found: Measured) -> list[str]:
    return [size for size in found.plan.sizes if size in paper.RANDOM_T]


def _heuristics(found: Measured) -> Section:
    deepest = {"text": found.plan.depths, "pseudocode": found.plan.both}
    tables = []
    for variant, depths in deepest.items():
        rows = [
            _heuristic(found, size, depth, variant) for size in _square(found) for depth in _depths_of(depths, size)
        ]
        tables += [pages.subheading(f"The {variant}'s player"), pages.against_paper(rows)]
    return pages.section(
        "H2 against H1",
        pages.prose(
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


def _claimed(claim: paper.Claim) -> str:
    t = "" if claim.t is None else f" (t = {claim.t})"
    return f"{claim.better or 'neither'}, {claim.confidence} %{t}"


def _ours(known: Welch, first: str, second: str) -> str:
    better = first if known.t > 0 else second
    return f"{better}, {_confidence(known)} % (t = {pages.plain(known.t)})"


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


def _scores(found: Measured) -> Section:
    blocks = [pages.prose("Points of a game: mean with its 95 % interval, standard deviation, median.")]
    for size in found.plan.sizes:
        rows = [_row(found, size, "R", "random")]
        rows += [_row(found, size, label(player), player) for player in dict.fromkeys(players_of(found.plan, size))]
        head = ("player", "mean", "± ", "SD", "median", "t against R")
        blocks += [pages.folded(f"{size}: {len(rows)} players", pages.table(head, rows))]
    depths = sorted({1, min(3, *found.plan.depths.values())})
    shown = [Beam(depth, heuristic) for heuristic in HEURISTICS for depth in depths]
    lines = [Series(label(player), *_gains(found, player)) for player in shown]
    figure = pages.line_plot(lines, "side of the board", "times random play's points")
    return pages.section("Scores", pages.figure(figure, "Mean scores as multiples of random play's."), *blocks)


def _gains(found: Measured, player: Beam) -> tuple[list[float], list[float]]:
    sizes = [size for size in _square(found) if found.plan.depths[size] >= player.depth]
    gains = [float(found.of(size, player).mean() / found.of(size, "random").mean()) for size in sizes]
    return [float(size.split("x")[0]) for size in sizes], gains


def _row(found: Measured, size: str, name: str, player: str | Beam) -> tuple[str, ...]:
    values = found.of(size, player)
    t = "" if player == "random" else pages.plain(found.compared(size, player, "random").t)
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
    for size in _square(found):
        for heuristic in HEURISTICS:
            steps = [
                pages.plain(found.compared(size, Beam(d, heuristic), Beam(d - 1, heuristic)).t)
                for d in range(2, found.plan.depths[size] + 1)
            ]
            rows.append((f"{size}, {heuristic.upper()}", *(steps + [""] * 3)[:3]))
    return pages.section(
        "Deeper",
        pages.prose(
            "Welch's t of each depth against the one before. The paper: depth 4 was never better than depth 3 with a "
            "confidence of 95 % (t above 1.96)."
        ),
        pages.table(("", "2 against 1", "3 against 2", "4 against 3"), rows),
    )


def _ties(found: Measured) -> Section:
    rows = []
    for depth in range(1, found.plan.ties + 1):
        known = found.compared(paper.TALL, Beam(depth, "h1"), Beam(depth, "h1", ties="off"))
        claim, sides = paper.TIES[depth], ("sorted", "not")
        rows.append(Compared(f"depth {depth}", _claimed(claim), _ours(known, *sides), _agreement(claim, known, sides)))
    return pages.section(
        "Ties broken downwards",
        pages.prose(
            "H1 on 10 rows and 5 columns, where equal moves are ordered by the mean row they clear, lowest first "
            "(sorted), or taken from the top (not)."
        ),
        pages.against_paper(rows),
    )


def _variants(found: Measured) -> Section:
    rows = []
    for size, deepest in found.plan.both.items():
        for heuristic in HEURISTICS:
            for depth in range(1, deepest + 1):
                text, code = Beam(depth, heuristic), Beam(depth, heuristic, "pseudocode")
                known = found.compared(size, code, text)
                means = (f"{found.of(size, player).mean():.1f}" for player in (text, code))
                rows.append((f"{size}, {label(text)}", *means, pages.plain(known.t), pages.plain(known.p)))
    return pages.section(
        "Text and pseudocode",
        pages.prose(
            "The paper describes its player twice, and not alike: how the beam narrows (9, 3, 1 or 9, 4, 1), whether "
            "it prunes before or after it looks deeper, and H2 by piece or by pair, a colour bomb by its best "
            "neighbour or by all. All other tables show the text's player. Positive t: the pseudocode's is better."
        ),
        pages.table(("player", "text", "pseudocode", "t", "p"), rows),
    )


def _legal(found: Measured) -> Section:
    rows = [
        Compared(
            size, f"{paper.LEGAL_MOVES[size]}", f"{known.playing:.2f} in play, {known.opening:.2f} in openings",
            f"{pages.percent(known.playing / paper.LEGAL_MOVES[size] - 1)} in play",
        )
        for size, known in found.legal.items()
    ]  # fmt: skip
    return pages.section(
        "Legal moves of a position",
        pages.prose(
            "In play: over all positions of games played at random. Openings are boards filled without runs, and with "
            "a legal move. The paper does not say which positions it means."
        ),
        pages.against_paper(rows),
    )


def _differences() -> Section:
    return pages.section(
        "What differs",
        pages.bullets(
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
