"""CandyCrush.ai's study again: its baseline, its oracle and its three ways to learn, on its game of 50 turns."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agents.q_learning.features import NAMES, RETURN
from agents.q_learning.function import find
from crush_gym.attempt_log import Record, RecordError
from experiments import report
from experiments.report import Compared, Page, Section, Span
from experiments.results.assignment import Task, tasks_of
from experiments.results.row import Row
from experiments.statistics import Array, welch
from experiments.studies.setting import Setting, StudyError, mean_of, scores


@dataclass(frozen=True)
class Player:
    """A player of the comparison.

    games: to be played of it in a full run, the paper's number unless it says otherwise; paper: its name there
    said: games it played there; seconds: that a turn took there, "" where unknown
    """

    agent: str
    label: str
    games: int
    paper: str = "not played"
    said: str = ""
    seconds: str = ""


PLAYERS = (
    Player("random", "random", 1000),
    Player("first", "first legal move", 1000, "baseline", "1,000"),
    Player("greedy", "greedy", 1000, "oracle", "1,000", "much less than 1 s"),
    Player(
        "montecarlo", "values on the fly", 100, "Q-learning on the fly, ε = 0.25 as described", "100 (or 66)",
        "about 3 s",
    ),
    Player("montecarlo:epsilon=0.5", "values on the fly, ε = 0.5", 100, "the same, ε = 0.5 as reported"),
    Player("linear-q", "linear function", 100, "Q-learning with linear function approximation", "100 (or 66)",
           "about 5 s"),
    Player("network-q", "network", 100, "Q-learning with neural network", "100 (or 66)", "about 5 s"),
    Player("linear-q:weights=paper", "linear function, the paper's steps", 100, "the same, η = 1e-11"),
    Player("linear-q:weights=softmax", "linear function, softmax", 100, "future work"),
    Player("linear-q:weights=blind", "linear function, blind", 100),
    Player("network-q:weights=blind", "network, blind", 100),
    Player("lookahead", "one move ahead", 100),
)  # fmt: skip
"""The blind ones do not know the fifth feature, the sampled returns; the last is nobody's in the paper."""

PEOPLE = Player("", "people", 0, "human", "10", "about 8 s")

EXAMPLE = 59_580
"""Points of the only finished game that the paper shows (its figure 1); it does not say whose."""

TURNS = 50

QUICK = 10
"""A quick run plays one game in so many."""


class Result(NamedTuple):
    """player, its scores float64[games], and the seconds of one turn of one of many games played at once, or NaN."""

    player: Player
    scores: Array
    seconds: float


def study(setting: Setting) -> Page:
    """Play and write it up."""
    (task,) = tasks_of("combo")
    human = people(setting.people, task)
    found = []
    for games, players in itertools.groupby(PLAYERS, key=lambda player: player.games):
        chosen = tuple(players)
        rows = setting.play([player.agent for player in chosen], task, games // QUICK if setting.quick else games)
        found += [_result(player, rows[player.agent]) for player in chosen]
    return page([*found, *human], setting)


def _result(player: Player, rows: Sequence[Row]) -> Result:
    return Result(player, scores(rows), float(np.mean([row.seconds / row.moves for row in rows])))


def people(logs: Sequence[Path], task: Task) -> list[Result]:
    """People's games, from the logs that `crush-gym play --rules combo` writes; each is played again."""
    points = []
    for path in logs:
        try:
            record = Record.load(path)
        except RecordError as error:
            raise StudyError(str(error)) from None
        if Task(record.level, record.rules, record.adjacency).identity != task.identity:
            raise StudyError(f"{str(path)!r} is not of this study's game: `crush-gym play --rules combo` plays it")
        if record.final.outcome != "ended":
            raise StudyError(f"{str(path)!r} breaks off after {len(record.actions)} of {TURNS} turns: leave it out")
        if wrong := record.differences():
            raise StudyError(f"{str(path)!r} does not end as it says: {wrong[0]}")
        points.append(record.final.score)
    if len(points) == 1:
        raise StudyError("one game of people's tells no mean with an interval: give at least two logs, or none")
    return [Result(PEOPLE, np.array(points, np.float64), math.nan)] if points else []


def page(found: Sequence[Result], setting: Setting) -> Page:
    """The whole page."""
    size = "a tenth of its numbers of games" if setting.quick else "its numbers of games"
    lead = (
        "J. Lee, N. Balachandar, K. Singhal, “CandyCrush.ai: An AI Agent for Candy Crush”: 9x9 cells, five kinds, 50 "
        "turns, 10c(c-1)·i points for the i-th combo of a turn with a longest line of c. All its players, here with "
        f"{size}{' (a quick run)' if setting.quick else ''}. The paper's figure with the averages is lost, so its "
        "order is compared."
    )
    again = report.section("Again", report.commands(setting.command("candycrush-ai")))
    sections = (_averages(found), _order(found), _returns(found), _weights(), _pairs(found), _differences(), again)
    return Page("Players of CandyCrush.ai", lead, sections, setting.facts())


def _averages(found: Sequence[Result]) -> Section:
    spans = [Span(r.player.label, *mean_of(r.scores), place=n) for n, r in enumerate(found)]
    head = (
        "player",
        "in the paper",
        "games there",
        "a turn there",
        "games",
        "mean",
        "95 % interval",
        "SD",
        "a turn here",
    )
    return report.section(
        "Average scores",
        report.figure(report.interval_plot(spans, "points of a game, mean and 95 % interval")),
        report.table(head, [_average(r) for r in found], left=(0, 1), stacked=True),
        report.prose(
            f"The one finished game that the paper shows scored {EXAMPLE:,} points; whose it was is not said. A turn "
            "here is the time of one turn of one game while hundreds are played at once. “Blind” players do not know "
            "the fifth feature, the sampled returns."
        ),
    )


def _average(r: Result) -> tuple[str, ...]:
    mean = mean_of(r.scores)
    return (
        r.player.label, r.player.paper, r.player.said, r.player.seconds, f"{r.scores.size:,}",
        report.plain(mean.value), f"{report.plain(mean.low)} to {report.plain(mean.high)}",
        report.plain(r.scores.std(ddof=1)), "" if math.isnan(r.seconds) else report.duration(r.seconds),
    )  # fmt: skip


def _order(found: Sequence[Result]) -> Section:
    better = [
        ("greedy is better than the first legal move", "greedy", "first"),
        ("values on the fly are better than the first legal move", "montecarlo", "first"),
        ("the linear function is better than values on the fly", "linear-q", "montecarlo"),
        ("the network is better than values on the fly", "network-q", "montecarlo"),
    ]
    if any(r.player is PEOPLE for r in found):
        better += [("people are better than the first legal move", "", "first"),
                   ("greedy is better than people", "greedy", ""),
                   ("values on the fly are better than people", "montecarlo", "")]  # fmt: skip
    rows = [_compared(found, claim, one, other) for claim, one, other in better]
    return report.section(
        "The order",
        report.against_paper([*rows, _equal(found)]),
        report.prose("How values on the fly compare with greedy stood only in the lost figure; see the pairs."),
    )


def _scores_of(found: Sequence[Result], agent: str) -> Array:
    return next(r.scores for r in found if r.player.agent == agent)


def _compared(found: Sequence[Result], claim: str, better: str, worse: str) -> Compared:
    one, other = _scores_of(found, better), _scores_of(found, worse)
    known = welch(one, other)
    held = "holds" if known.t > 0 and known.p < 0.05 else "does not hold" if known.p < 0.05 else "is not decided"
    return Compared(claim, "yes", f"{report.plain(one.mean())} against {report.plain(other.mean())}", held)


def _equal(found: Sequence[Result]) -> Compared:
    """Whether both function approximations are about equal: within a tenth, for sure."""
    one, other = _scores_of(found, "network-q"), _scores_of(found, "linear-q")
    ends = [end / other.mean() for end in welch(one, other).difference[1:]]
    near = max(map(abs, ends)) < ABOUT
    far = min(ends) > ABOUT or max(ends) < -ABOUT
    said = f"the network's mean is {report.percent(ends[0])} to {report.percent(ends[1])} above the linear function's"
    return Compared("both functions are about equal", "yes", said, "holds" if near else
                    "does not hold" if far else "is not decided")  # fmt: skip


ABOUT = 0.1
"""About equal: the 95 % interval of the difference stays within this share of the mean."""


def _returns(found: Sequence[Result]) -> Section:
    rows = []
    for agent in ("linear-q", "network-q"):
        one, other = _scores_of(found, agent), _scores_of(found, f"{agent}:weights=blind")
        known = welch(one, other).difference
        limits = f"{report.plain(known.low)} to {report.plain(known.high)}"
        rows.append((agent, report.plain(one.mean()), report.plain(other.mean()), report.plain(known.value), limits))
    return report.section(
        "What the sampled returns are worth",
        report.prose(
            "The fifth feature samples 25 episodes of five moves that begin with the move and takes the median of "
            "their discounted returns: it looks ahead on the simulator. Without it, the others know the position, "
            "where the swap is, and what it clears at once."
        ),
        report.prose(_why()),
        report.table(("function", "with them", "without", "difference", "95 % interval"), rows, stacked=True),
    )


def _why() -> str:
    """Why the functions play as well as they do, by the weights of the linear one."""
    function = find("linear-q", "").function
    size = dict(zip(function.features, abs(function.params.layers[0].weights[:, 0]), strict=True))
    own = [name for name in NAMES[:6] if name not in ("legal moves", RETURN)]
    others = max(size[name] for name in own)
    return (
        "That is why both functions stand so far above values on the fly, which play every episode to the end of the "
        "game, where what the move itself brings drowns in what follows. It is `lookahead` with 25 futures of all "
        "legal moves (its own setting has 8 of 16 at most), and with four random moves after each, of which every one "
        "counts half as much as the one before: what the move leaves standing counts, too. The functions follow it "
        f"nearly alone: its standard deviation changes the linear one's Q by {report.plain(size[RETURN])} points, that "
        "of any other feature that differs between the moves of a position by "
        f"{report.plain(others)} at most."
    )


def _weights() -> Section:
    """Weights of the linear functions that ship, by what the value changes where a feature changes by its spread."""
    known = {name: find("linear-q", name).function for name in ("", "softmax", "blind", "paper")}
    spread = dict(zip(known[""].features, known[""].params.scale, strict=True))
    rows = []
    for feature in NAMES:
        cells = [feature]
        for function in known.values():
            places = dict(zip(function.features, range(len(function.features)), strict=True))
            n, params = places.get(feature, -1), function.params
            weight = float(params.layers[0].weights[n, 0] / params.scale[n] * spread[feature]) if n >= 0 else math.nan
            cells.append("" if math.isnan(weight) else f"{weight:+.3g}")
        rows.append(tuple(cells))
    head = ("feature", "standardised", "softmax", "blind", "the paper's steps")
    commands = [function.made["command"] for function in known.values()]
    return report.section(
        "Weights of the linear functions",
        report.prose(
            "Points that Q changes by where a feature changes by its standard deviation over legal moves. Only the "
            "first three, the fifth and the sixth differ between the moves of a position: the others do not change a "
            "choice."
        ),
        report.folded("All 24", report.table(head, rows, left=(0,))),
        report.folded("How they were learned", report.commands(*commands)),
    )


def _pairs(found: Sequence[Result]) -> Section:
    rows = []
    for n, one in enumerate(found):
        for other in found[n + 1 :]:
            known = welch(other.scores, one.scores)
            interval = f"{report.plain(known.difference.low)} to {report.plain(known.difference.high)}"
            pair = f"{other.player.label} minus {one.player.label}"
            rows.append(
                (pair, report.plain(known.difference.value), interval, report.plain(known.t), report.plain(known.p))
            )
    head = ("pair", "difference", "95 % interval", "Welch's t", "p")
    return report.section("Pairs", report.table(head, rows, stacked=True))


def _differences() -> Section:
    return report.section(
        "What differs",
        report.bullets(
            "In the paper the functions learn from simulated episodes at every turn of a game, move by move. Here they "
            "learn from whole games, of which half of the moves, or all in proportion to exp(Q / 100), explore; the "
            "paper's small steps are repeated over the same games until the weights stay, and the others are fitted to "
            "standardised features. The fourth feature counts legal moves.",
            "The baseline takes the first legal move by the numbers of the actions: horizontal pairs from the top "
            "left, then vertical ones. Which order the paper's had is not said.",
            "The paper's greedy player takes the greatest guaranteed increase of the score. The one here counts the "
            "candies that the swap clears at once, whereas two lines of three score no more than one; of equal moves "
            "it takes the one furthest down.",
            "On the fly, the first move of an episode follows Q, the mean final score so far, and the rest is random: "
            "positions behind the first are never met twice, so that nothing is known of them. The paper names an "
            "epsilon of 0.25 where it describes this and of 0.5 where it reports; both are here.",
            "Whether the paper's boards begin without runs, and how it shuffles, is not said; here they do.",
        ),
    )
