"""H2's structure on random boards, against a plain rewrite of the paper's text and of its pseudocode."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction

import jax
import numpy as np
import pytest

from agents.search.structure import SIXTHS, structure
from crush_gym import Game, LevelPack, State
from crush_gym.layout import PLANES
from crush_gym.levels import Level
from tests.plain_beam import by_pseudocode, by_text

PLAIN = {"text": by_text, "pseudocode": by_pseudocode}
POINTS = ["{}", "{}", "{}-", "{}|", "*"]
SAGA = [*POINTS, "{}@", "{}@", "_", "#"]


def boards(forms: list[str], number: int, seed: int) -> list[list[str]]:
    """Random boards of 4 rows and 6 columns with many specials."""
    dice = random.Random(seed)
    return [
        [" ".join(dice.choice(forms).format(dice.choice("abcd")) for _ in range(6)) for _ in range(4)]
        for _ in range(number)
    ]


def measured(tokens: list[list[str]], rules: str, variant: str) -> list[Fraction]:
    levels = [
        Level.from_dict({"name": str(i), "colours": 4, "moves": 5, "board": rows, "spawn_candies": False})
        for i, rows in enumerate(tokens)
    ]
    spec, stack = Game(levels, rules=rules).spec, LevelPack(levels).stack(range(len(levels)))
    planes = np.stack([stack.start[PLANES.index(name)][: spec.height] for name in spec.planes])
    state = State(planes, None)  # type: ignore[arg-type]
    sixths = jax.jit(lambda state, level: structure(spec, state, level, variant))(state, stack)
    return [Fraction(int(value), SIXTHS) for value in sixths]


@pytest.mark.parametrize("variant", ["text", "pseudocode"])
@pytest.mark.parametrize(("rules", "forms"), [("points", POINTS), ("saga", SAGA)])
def test_structure_is_that_of_the_paper(rules: str, forms: list[str], variant: str) -> None:
    tokens = boards(forms, 60, seed=len(forms))
    plain: Callable[[list[str]], Fraction] = PLAIN[variant]
    assert measured(tokens, rules, variant) == [plain(rows) for rows in tokens]


def test_a_striped_candy_counts_a_third_of_its_line() -> None:
    """One plain and one striped candy of a colour, side by side on 4 x 6."""
    rows = ["a- a b c b c", "b c d b c d", "c d b c d b", "d b c d b c"]
    assert measured([rows], "points", "text") == [Fraction(6, 3) + 1]
    assert measured([rows], "points", "pseudocode") == [Fraction(6, 3)]


def test_a_colour_bomb_takes_its_best_neighbour_in_the_text_and_all_of_them_in_the_pseudocode() -> None:
    rows = ["* b c d b c", "a c b c d d", "c b d b c b", "d a a d b a"]
    others = by_text([rows[0].replace("*", "_"), *rows[1:]])
    assert measured([rows], "points", "text") == [others + sum(row.split().count("b") for row in rows)]
    pairs = by_pseudocode([rows[0].replace("*", "_"), *rows[1:]])
    right, below = (sum(row.split().count(colour) for row in rows) - 1 for colour in "ba")
    assert measured([rows], "points", "pseudocode") == [pairs + right + below]
