"""How a look ahead should spend its time: moves and futures, halving, depth, and what counts, at three times a move."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from agents.lookahead import Lookahead
from experiments import report
from experiments.report import Html, Page, Scale, Section, Series, scale_of
from experiments.results.assignment import tasks_of
from experiments.results.row import Row
from experiments.statistics import Interval, rate
from experiments.studies.setting import Setting, StudyError, mean_of, scores

TIMES = (0.05, 0.5, 5.0)
"""Milliseconds a move, about, on two cores of the machine on which `Played.speed` was measured."""

ATTEMPTS = {0.05: 200, 0.5: 96, 5.0: 16}
"""On each level: the longer a move takes, the fewer."""

QUICK_TIMES, QUICK_ATTEMPTS = (0.05, 0.5), 12


@dataclass(frozen=True)
class Played:
    """What is played. speed: moves simulated in a millisecond, about; goals: whether success is what counts."""

    title: str
    levels: tuple[str, ...]
    speed: int
    goals: bool = False


GAMES = (
    Played("Combo 9x9", ("combo",), 2500),
    Played("icing, chocolate and orders of basics", ("basics/icing", "basics/chocolate", "basics/orders"), 400, True),
    Played("Points 7x7", ("points:7x7",), 1500),
)


@dataclass(frozen=True)
class Way:
    """A way to spend a time: a look ahead whose number of futures is left open. quick: whether quick runs try it."""

    label: str
    player: Lookahead
    quick: bool = False
    goals: bool = False

    def at(self, simulated: float) -> Lookahead:
        """The player that simulates so many moves for one of its own, about."""
        player = self.player
        samples = max(1, round(simulated / (player.considered * (player.depth + 1))))
        return Lookahead(**{**vars(player), "samples": samples})


WAYS = (
    Way("8 moves", Lookahead(8), quick=True),
    Way("16 moves", Lookahead(16), quick=True),
    Way("all moves", Lookahead(40)),
    Way("16 moves, halving", Lookahead(16, halving=True), quick=True),
    Way("all moves, halving", Lookahead(40, halving=True)),
    Way("16 moves, then 2 random ones", Lookahead(16, depth=2), quick=True),
    Way("16 moves, then 2 greedy ones", Lookahead(16, depth=2, then="greedy")),
    Way("16 moves, goals", Lookahead(16, worth="progress"), quick=True, goals=True),
    Way("16 moves, goals, halving", Lookahead(16, worth="progress", halving=True), goals=True),
)
"""Up to 40 moves are all of a 9x9 board's, nearly always. The ways with goals are for levels that have some."""


class Result(NamedTuple):
    """One way at one time. samples: futures of a move; seconds: of a move; mean: of scores, or the success rate."""

    way: Way
    time: float
    samples: int
    seconds: float
    mean: Interval


def study(setting: Setting) -> Page:
    """Play it and write it up."""
    number = setting.sizes.get("games", len(GAMES))
    if not 1 <= number <= len(GAMES):
        raise StudyError(f"games must be from 1 to {len(GAMES)}, not {number}")
    return page({game: list(measured(game, setting)) for game in GAMES[:number]}, setting)


def measured(game: Played, setting: Setting) -> Iterator[Result]:
    """All ways at all times."""
    tasks = [task for levels in game.levels for task in tasks_of(levels)]
    for time in QUICK_TIMES if setting.quick else TIMES:
        attempts = QUICK_ATTEMPTS if setting.quick else ATTEMPTS[time]
        ways = [way for way in WAYS if (game.goals or not way.goals) and (way.quick or not setting.quick)]
        players = {way: way.at(time * game.speed) for way in ways}
        # One compiled game for all levels: compiling takes longer than playing.
        found = setting.play([player.name for player in players.values()], tasks, attempts, games=1)
        for way, player in players.items():
            yield _result(way, time, player.samples, found[player.name], game.goals)


def _result(way: Way, time: float, samples: int, rows: list[Row], goals: bool) -> Result:
    seconds = sum(row.seconds for row in rows) / sum(row.moves for row in rows)
    mean = rate(sum(row.won for row in rows), len(rows)) if goals else mean_of(scores(rows))
    return Result(way, time, samples, seconds, mean)


# ------------------------------------------------------------------ the page


def page(found: dict[Played, list[Result]], setting: Setting) -> Page:
    """The whole page."""
    times = ", ".join(f"{time:g}" for time in (QUICK_TIMES if setting.quick else TIMES))
    lead = (
        "The player `lookahead` plays every move that it considers several times on the simulator, each time with "
        "other candies, and makes the one that brought most on average. How should it spend its time? Ways to do so, "
        f"with as many futures as about {times} ms a move allow{' (a quick run)' if setting.quick else ''}."
    )
    if left := [game.title for game in GAMES if game not in found]:
        lead += f" The full study also has {' and '.join(left)}."
    sections = [_summary(found), *(_game(game, results) for game, results in found.items()), _reading(setting.quick)]
    sections.append(report.section("Again", report.commands(setting.command("lookahead"))))
    return Page("A look ahead, by how its time is spent", lead, tuple(sections), setting.facts())


def _summary(found: dict[Played, list[Result]]) -> Section:
    rows = []
    for game, results in found.items():
        for time in sorted({result.time for result in results}):
            mine = sorted((r for r in results if r.time == time), key=lambda r: -r.mean.value)
            rivals = [r.way.label for r in mine[1:] if r.mean.high > mine[0].mean.low]
            best = f"{mine[0].way.label}, {mine[0].samples:,} futures each"
            rows.append((game.title, f"{time:g} ms", best, _value(game, mine[0].mean), "; ".join(rivals)))
    head = ("game", "time", "best figures", "mean, 95 % interval", "intervals that overlap with it")
    return report.section("The best at each time", report.table(head, rows, left=(0, 2, 4), stacked=True))


def _value(game: Played, mean: Interval) -> str:
    form = report.percent if game.goals else report.plain
    return f"{form(mean.value)} ({form(mean.low)} to {form(mean.high)})"


def _game(game: Played, results: list[Result]) -> Section:
    rows = [
        (r.way.label, f"{r.time:g} ms", f"{r.samples:,}", report.duration(r.seconds), _value(game, r.mean))
        for r in results
    ]
    head = ("way", "meant for", "futures of a move", "a move took", "mean, 95 % interval")
    return report.section(game.title, _figure(game, results), report.folded("All of them", report.table(head, rows)))


def _figure(game: Played, results: list[Result]) -> Html:
    series = []
    for way in dict.fromkeys(r.way for r in results):
        mine = sorted((r for r in results if r.way is way), key=lambda r: r.seconds)
        middle, low, high = zip(*(r.mean for r in mine), strict=True)
        series.append(Series(way.label, [r.seconds for r in mine], middle, low, high))
    x = scale_of([r.seconds for r in results], "time of a move", log=True, form=report.duration, margin=0.06)
    y = Scale(0, 1, "success", form=report.percent) if game.goals else None
    name = "success" if game.goals else "points of a game"
    figure = report.line_plot(series, x.name, name, x=x, y=y, title=game.title)
    return report.figure(
        figure, "Mean and 95 % interval; times are those of one move of one of many games played at once."
    )


def _reading(quick: bool) -> Section:
    tried = dict.fromkeys(QUICK_TIMES, QUICK_ATTEMPTS) if quick else ATTEMPTS
    attempts = ", ".join(f"{number} at {time:g} ms" for time, number in tried.items())
    return report.section(
        "How to read it",
        report.bullets(
            "“Moves” are how many are tried, drawn at random from the legal ones; “halving” spends the same number of "
            "futures in rounds, of which each keeps the better half of them; “then” are moves that every future goes "
            "on with; “goals” counts the share of the level's goals in place of points.",
            "The number of futures is set by how many moves are simulated, so that all ways that are meant for a time "
            "simulate equally many; what a move really took is measured, and differs by machine.",
            f"Attempts of each way, on each level: {attempts}.",
        ),
    )
