"""Likeness to somebody's moves: whoever knows the probabilities reaches all that can be reached, and nobody more."""

import numpy as np
import pytest

from agents.learning.likeness import likeness
from agents.learning.pairs import mask
from tests.agents.learning.demonstrators import ACTIONS, pairs_of

PAIRS = pairs_of(4000, likes=2.0)


def log(p: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(p)


def test_who_knows_the_probabilities_is_as_like_as_can_be() -> None:
    known = likeness(log(PAIRS.probabilities.astype(np.float32)), PAIRS)
    assert known["share"] == pytest.approx(1) and known["divergence"] == pytest.approx(0, abs=1e-3)
    assert known["entropy"] == pytest.approx(known["demonstrator"], abs=1e-3)
    assert known["nll"] == pytest.approx(known["demonstrator"], abs=0.03)
    assert known["top1"] == pytest.approx(known["reachable"], abs=0.03) and known["off"] < 0.03


def test_a_random_player_is_as_uncertain_as_there_are_moves() -> None:
    legal = mask(PAIRS.legal, ACTIONS)
    number = legal.sum(axis=1)
    known = likeness(log(legal / number[:, None]), PAIRS)
    assert known["nll"] == pytest.approx(np.log(number).mean()) == known["entropy"]
    assert known["random"] == pytest.approx((1 / number).mean())
    assert known["divergence"] == pytest.approx(known["nll"] - known["demonstrator"])
    assert known["share"] < 0.9


def test_too_much_certainty_shows() -> None:
    p = PAIRS.probabilities.astype(np.float64)
    sharp = p**4 / (p**4).sum(axis=1, keepdims=True)
    fair, sure = likeness(log(p), PAIRS), likeness(log(sharp), PAIRS)
    assert sure["share"] == pytest.approx(fair["share"]) and sure["top1"] == fair["top1"]
    assert sure["off"] > fair["off"] + 0.1 and sure["divergence"] > 0.1 and sure["entropy"] < fair["entropy"]


def test_without_probabilities_what_they_tell_is_left_out() -> None:
    legal = mask(PAIRS.legal, ACTIONS)
    known = likeness(log(legal / legal.sum(axis=1)[:, None]), PAIRS._replace(probabilities=None))
    assert set(known) == {"top1", "random", "nll", "entropy", "off"}
