"""Calibrating a family: rounds come to rest where the aggregates are those sought, though each number moves all."""

from __future__ import annotations

import math

from experiments.population import calibration
from experiments.population.calibration import MOST_ROUNDS, Found, moved, near, wanted
from experiments.population.families import numbers_of
from experiments.population.people import Makeup


def played(makeup: Makeup) -> Found:
    """A world in which harder levels make players differ more, and whoever gives up sooner lowers the rates, too."""
    skill, patience = makeup.skill, math.log(makeup.giving_up / 0.1)
    logit = -1.0 + 0.8 * skill.mean + 0.3 * skill.sd - 0.5 * patience
    player = 0.6 * skill.sd + 0.1 * abs(logit)
    return Found(
        median=1 / (1 + math.exp(-logit)),
        player=player,
        player_level=math.hypot(0.6 * makeup.leaning, 0.25 + 0.2 * player),
        giving_up=makeup.giving_up * math.exp(0.4 * skill.mean + 0.3 * patience),
    )


def test_rounds_come_to_rest_where_players_do_as_people_did() -> None:
    makeup, target = Makeup.of(numbers_of("A")["people"]), wanted()
    rounds = 1
    while not near(played(makeup), target) and rounds < MOST_ROUNDS:
        makeup, rounds = moved(makeup, played(makeup), target), rounds + 1
    assert near(played(makeup), target), played(makeup)


def test_a_makeup_that_does_as_people_did_stays() -> None:
    makeup = Makeup.of(numbers_of("A")["people"])
    assert moved(makeup, wanted(), wanted()) == makeup


def test_a_step_goes_part_of_the_way() -> None:
    makeup, target = Makeup.of(numbers_of("A")["people"]), wanted()
    after = moved(makeup, target._replace(player=2 * target.player), target)
    assert math.isclose(after.skill.sd, makeup.skill.sd * 0.5**calibration.STEP, abs_tol=1e-3)
