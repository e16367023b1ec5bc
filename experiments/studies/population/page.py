"""The page of the study of the synthetic population."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments import report
from experiments.people import LevelResult
from experiments.population import FAMILIES, published
from experiments.population.families import numbers_of
from experiments.report import Page, Section, Series, Span
from experiments.report.words import NDASH, decimal, rate_of, with_limits
from experiments.statistics import Interval
from experiments.studies.population.likeness import Likeness, hard, measured
from experiments.studies.setting import Setting

PEOPLE = "people"


def study(setting: Setting) -> Page:
    """Let both families play, and write it up."""
    return page(measured(setting), setting)


def page(found: dict[str, Likeness], setting: Setting) -> Page:
    """The whole page."""
    one = next(iter(found.values()))
    players, levels = report.counted(len(one.people.patience), "player"), len(one.summary.levels)
    quick = " This is a quick run: its numbers are rough." if setting.quick else ""
    lead = (
        "Synthetic players stand for people where no people's results are there. **They are no people, and nothing "
        f"here is a claim about people.** Two families of {players} each played {levels} levels, which are kept for "
        "calibrating them, until they won or gave up. Beside them stand aggregates of real players on 15 levels of a "
        f"match-three game, from a public teaching data set of a game company, by the same estimators.{quick}"
    )
    sections = (
        _differences(found), _by_difficulty(found), _hard(found), _levels(found), _players(), _calibration(),
        _not_alike(), report.section("Again", report.commands(setting.command("population"))),
    )  # fmt: skip
    return Page("The synthetic population", lead, tuple(filter(None, sections)), setting.facts())


def _name(family: str) -> str:
    return f"family {family}, {FAMILIES[family]}"


def _differences(found: dict[str, Likeness]) -> Section:
    spans, rows = [], []
    for what, real, first, field in (
        ("players", published.PLAYER, published.PLAYER_FIRST, "player"),
        ("players from level to level", published.PLAYER_LEVEL, published.PLAYER_LEVEL_FIRST, "player_level"),
    ):
        own = {family: _of(likeness, field) for family, likeness in found.items()}
        spans += [Span(f"{what}: people", *real)]
        spans += [
            Span(f"{what}: family {f}", *value, place) for place, (f, value) in enumerate(own.items(), 1) if value
        ]
        ours = [with_limits(*decimal(value)) if value else NDASH for value in own.values()]
        rows.append((what, with_limits(*decimal(real)), f"{first:.2f}", *ours))
    effects = [f"{np.nanmean([level.design_effect for level in one.summary.levels]):.1f}" for one in found.values()]
    real_effect = f"{np.mean([level.design_effect for level in published.LEVELS]):.1f}"
    rows.append(("design effect of a level's rate, mean", real_effect, "", *effects))
    text = (
        "The logit of an attempt's success is a level's ease, plus a player's skill, plus what that player makes of "
        "that level; these are their standard deviations, with 95 % intervals. Synthetic people stop at their first "
        "win, so that people's results up to theirs are what compares best; both were aimed between."
    )
    head = ("", PEOPLE, "people, up to the first win", *(f"family {family}" for family in found))
    figure = report.figure(report.interval_plot(spans, "standard deviation, logits", zero=0.0))
    return report.section("How much players differ", report.prose(text), figure, report.table(head, rows))


def _of(likeness: Likeness, field: str) -> Interval | None:
    differences = likeness.summary.differences
    return None if differences is None else getattr(differences, field)


def _by_difficulty(found: dict[str, Likeness]) -> Section:
    rates = [level.rate for level in published.LEVELS]
    scale = report.scale_of([0.01, 1.0], "success rate", log=True, form=report.percent)

    def figure(name: str, real: list[float], ours: str, percent: bool) -> Any:
        order = np.argsort(rates)
        lines = [Series(PEOPLE, [rates[n] for n in order], [real[n] for n in order], dashed=True)]
        for family, likeness in found.items():
            known = _sorted(likeness)
            lines.append(
                Series(f"family {family}", [x.rate.value for x in known], [_value(level, ours) for level in known])
            )
        up = report.Scale(0, 1, name, form=report.percent) if percent else None
        return report.figure(report.line_plot(lines, scale.name, name, x=scale, y=up), width=report.HALF)

    cleared = figure("players who cleared it", [level.cleared for level in published.LEVELS], "cleared", True)
    each = figure("attempts a player", [level.each for level in published.LEVELS], "each", False)
    text = "Each point is a level. On easy levels people made some attempts after their first win, too."
    return report.section("By difficulty", report.prose(text), report.beside(cleared, each))


def _sorted(likeness: Likeness) -> list[LevelResult]:
    """Levels that were won often enough to stand in a figure, the hardest first."""
    return sorted((x for x in likeness.summary.levels if x.rate.value >= 0.01), key=lambda level: level.rate.value)


def _value(level: LevelResult, name: str) -> float:
    return level.attempts / level.players if name == "each" else float(getattr(level, name))


def _hard(found: dict[str, Likeness]) -> Section:
    rows: list[tuple[report.Content, ...]] = []
    for number, (median, most) in published.TO_CLEAR.items():
        level = published.LEVELS[number - 1]
        rows.append(
            (f"people, level {number}", _rate(level.rate), f"{level.each:.1f}", report.percent(level.cleared),
             str(median), str(most))
        )  # fmt: skip
    for family, likeness in found.items():
        known = hard(likeness.summary.levels)
        if known is None:
            rows.append((f"family {family}: no level as hard", *[NDASH] * 5))
            continue
        rows.append(
            (f"family {family}, mean of {report.counted(known.levels, 'level')}", _rate(known.rate),
             f"{known.each:.1f}", report.percent(known.cleared), f"{known.to_clear:.1f}", f"{known.to_clear_90:.1f}")
        )  # fmt: skip
    head = ("", "success", "attempts a player", "cleared", "attempts to clear, median", "90 % by")
    text = "Levels of which about one attempt in 25 is won, where patience shows."
    return report.section("Hard levels", report.prose(text), report.table(head, rows, stacked=True))


def _rate(value: float) -> str:
    return f"{100 * value:.1f}\N{NO-BREAK SPACE}%"


def _levels(found: dict[str, Likeness]) -> Section:
    names = [level.name for level in next(iter(found.values())).summary.levels]
    by_name = [{level.name: level for level in likeness.summary.levels} for likeness in found.values()]
    rows = [
        (name, *(with_limits(*rate_of(levels[name].rate)) if name in levels else NDASH for levels in by_name))
        for name in names
    ]
    text = (
        "Forty generated levels, of seeds that no level that ships has: eight recipes, such as those of the pack "
        "`ladder`, in turn, with limits that the heuristic player is estimated to win as often as people won the "
        "published levels. Nothing is ever tested on them, so that no result on other levels rests on what the players "
        "were calibrated to. `experiments.population.tuning` makes them."
    )
    shown = report.folded("All levels", report.table(("level", *(f"family {f}" for f in found)), rows))
    return report.section("The levels", report.prose(text), shown)


def _players() -> Section:
    rows = []
    for family in FAMILIES:
        people = numbers_of(family)["people"]
        spreads = (f"{people[name]['mean']:+.2f} ± {people[name]['sd']:.2f}" for name in _TRAITS)
        rows.append((f"family {family}", *spreads, f"{people['leaning']:.2f}", report.percent(people["giving_up"])))
    head = ("", *_TRAITS, "leaning", "gives up after a lost attempt")
    blocks = [
        report.prose(
            "**Family A weighs.** A player looks at some legal moves, drawn by how they strike the eye, plays each "
            "through in mind with imagined candies, as many waves and as often as skill allows, likes goals, special "
            "candies, cleared candies and opened blockers, each as much as its traits say, and draws a move from the "
            "softmax of that; now and then it plays the first one seen.",
            "**Family B has habits.** A player has a list of patterns, such as a colour bomb to make or a run that "
            "serves a goal, notices each with a probability, and makes any move of the first one noticed.",
            "In both, a player's skill is the same on all levels but for what each level's board adds to it, always "
            "the same for one player (leaning: its standard deviation). Traits are normal, mean ± SD:",
        ),
        report.table(head, rows, stacked=True),
        report.prose("`crush-gym population personas` lists the players with names."),
    ]
    return report.section("The players", *blocks)


_TRAITS = ("skill", "haste", "goals", "specials")


def _calibration() -> Section:
    blocks, by_hand = [], []
    for family in FAMILIES:
        run = numbers_of(family).get("calibration")
        if run is None:
            by_hand.append(family)
            continue
        rows = [_round(f"round {n}", each) for n, each in enumerate(run["rounds"], 1)]
        rows.append(("sought", "", "", "", "", *_found(run["target"])))
        blocks.append(report.subheading(f"Family {family}: {run['players']} players, seed {run['seed']:,}"))
        blocks.append(report.table(_ROUND, rows, stacked=True))
    text = (
        "Four numbers of each family were moved until four aggregates were those sought, each round by playing all "
        "tuning levels: skill's mean by the median level's success rate, which stands for how well people play these "
        "levels and is a convention, since the published levels cannot be played; skill's spread and the leaning by "
        "the standard deviations; giving up by the shares that clear. All else was set by hand."
    )
    if by_hand:
        blocks.append(
            report.prose(
                f"Of {' and '.join(f'family {family}' for family in by_hand)} these four are set by hand, too, as near "
                "as the tables above show: no search was run. `crush-gym population calibrate` is that search."
            )
        )
    rounds = len(by_hand) < len(FAMILIES)
    return report.section("The calibration", *[report.prose(text)] * rounds, *blocks)


_ROUND = (
    "", "skill, mean", "skill, SD", "leaning", "giving up",
    "median level", "SD players", "SD level to level", "gave up",
)  # fmt: skip


def _round(name: str, each: dict[str, Any]) -> tuple[str, ...]:
    people = each["people"]
    tried = (f"{people['skill']['mean']:+.2f}", f"{people['skill']['sd']:.2f}", f"{people['leaning']:.2f}")
    return (name, *tried, f"{people['giving_up']:.3f}", *_found(each["found"]))


def _found(values: dict[str, float]) -> tuple[str, ...]:
    return (
        _rate(values["median"]), f"{values['player']:.2f}", f"{values['player_level']:.2f}",
        f"{values['giving_up']:.3f}",
    )  # fmt: skip


def _not_alike() -> Section:
    return report.section(
        "What is not alike",
        report.bullets(
            "How well these players play at all, and which levels they find harder than others: nothing public says "
            "what people do on levels whose layouts are known.",
            "Patience belongs to a player and is the same on all levels; people's may depend on the level and the day.",
            "Nobody learns from attempt to attempt, buys boosters, comes back after a win, or stops playing for good.",
            "Published levels are few, and of one game.",
        ),
    )
