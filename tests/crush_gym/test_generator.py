"""Generated levels: valid, the same for the same seed, never twice the same, and as symmetric as asked."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

from crush_gym import Game, Level, generate, layout, traits_of
from crush_gym.generator import FEATURES, KINDS, SHAPES, SYMMETRIES, calibrate, estimate, winnable
from crush_gym.generator.shapes import images, shapes_for

PLANES = ("lock", "marmalade", "icing0", "icing1", "icing2", "chocolate", "jelly1", "jelly2", "drop", "plus5", "timer0")


def words(level: Level) -> dict[str, np.ndarray]:
    """The planes that share the board's symmetry, uint16[16] each."""
    return {"floor": level.floor} | {name: level.start[layout.PLANES.index(name)] for name in PLANES}


def cells(plane: np.ndarray) -> set[tuple[int, int]]:
    return {(r, c) for r, word in enumerate(plane.tolist()) for c in range(16) if word >> c & 1}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_with_every_feature_is_a_valid_level_of_that_kind(kind: str) -> None:
    for feature in (None, *FEATURES):
        for size in ((9, 9), (7, 5), (16, 16)):
            level = generate(3, kind, () if feature is None else (feature,), size)
            again = Level.from_dict(level.to_dict())
            assert again == level and level.shape == size and level.name == f"{kind} 3"
            assert (level.seconds > 0) == (kind == "timed")
            score_only = not (level.goal_jelly or level.goal_cherry or level.goal_hazelnut or level.orders.any())
            assert score_only == (kind in ("moves", "timed")) and (level.goal_score > 0) == score_only
            if kind == "mixed":
                collected = level.goal_cherry + level.goal_hazelnut
                assert sum(map(bool, (level.goal_jelly, collected, level.orders.any()))) == 2


@pytest.mark.parametrize("feature", FEATURES)
def test_a_feature_that_is_asked_for_is_there(feature: str) -> None:
    shown = {"portals": "portals", "ingredients": "ingredients"}.get(feature, feature)
    for seed in range(8):
        assert traits_of(generate(seed, "moves", (feature,)))[shown] > 0
        assert traits_of(generate(seed, "moves"))[shown] == 0


def test_the_same_arguments_give_the_same_level_and_others_another() -> None:
    features = ("icing", "locks", "portals")
    one = generate(5, "jelly", features, (9, 8))
    assert one == generate(5, "jelly", reversed(features), [9, 8])  # type: ignore[arg-type]
    assert one.content_hash() == "77dc4e95f2cb11c94ac4bc511826df3a460bf00cf884bbef24c14e52693c8b5c"
    others = [generate(6, "jelly", features, (9, 8)), generate(5, "orders", features, (9, 8))]
    others += [generate(5, "jelly", features[:2], (9, 8)), generate(5, "jelly", features, (8, 9))]
    assert len({level.content_hash() for level in [one, *others]}) == 5


def test_no_two_of_three_hundred_levels_are_alike() -> None:
    levels = [generate(seed, KINDS[seed % 6], FEATURES[seed % 3 :: 3][: seed % 5]) for seed in range(300)]
    assert len({level.content_hash() for level in levels}) == 300
    plain = [generate(seed, "jelly") for seed in range(300)]
    assert len({level.content_hash() for level in plain}) == 300


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_what_lies_on_a_board_is_as_symmetric_as_asked(symmetry: str) -> None:
    features = ("locks", "marmalade", "icing", "chocolate", "swirls", "drops", "plus5", "bombs", "jelly", "portals")
    for seed in range(30):
        size = (7 + seed % 3, 6 + seed % 4)
        level = generate(seed, "jelly", features[seed % 4 :: 3], size, symmetry=symmetry)
        for plane in words(level).values():
            there = cells(plane)
            assert all(images(cell, size, symmetry) <= there for cell in there)


def test_every_shape_has_the_symmetries_that_it_says_and_is_not_noise() -> None:
    for symmetry in SYMMETRIES:
        for shape in shapes_for(symmetry):
            level = generate(1, "moves", shape=shape, symmetry=symmetry)
            floor = cells(level.floor)
            assert len(floor) >= 40
            for r, c in floor:  # every cell is in a line of three
                lines = [[(r, c + d + i) for i in range(3)] for d in (-2, -1, 0)]
                lines += [[(r + d + i, c) for i in range(3)] for d in (-2, -1, 0)]
                assert any(floor.issuperset(line) for line in lines)


def test_options_that_are_given_leave_the_rest_as_it_was() -> None:
    one = generate(7, "jelly")
    assert generate(7, "jelly", colours=int(one.colours)) == one
    easy, hard = generate(7, "jelly", success=0.9), generate(7, "jelly", success=0.1)
    assert easy.moves > one.moves > hard.moves and (easy.start == hard.start).all()
    assert generate(7, "moves", success=0.9).goal_score < generate(7, "moves", success=0.1).goal_score
    assert generate(7, "jelly", name="mine").name == "mine"
    assert estimate(one, "jelly", 0.5) == pytest.approx(int(one.moves), abs=0.51)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "jely"}, "kind must be one of moves, .*, not 'jely'; did you mean 'jelly'"),
        ({"features": ("lock",)}, "a feature must be one of portals, .*, not 'lock'; did you mean 'locks'"),
        ({"size": (4, 9)}, "the height must be from 5 to 16, not 4"),
        ({"size": (9, 17)}, "the width must be from 5 to 16, not 17"),
        ({"size": 9}, r"size must be two whole numbers, \(height, width\), not 9"),
        ({"colours": 2}, "colours must be from 3 to 7, not 2"),
        ({"shape": "hart"}, "shape must be one of any, .*; did you mean 'heart'"),
        ({"symmetry": "radial"}, "symmetry must be one of any, mirror, rotation, both, none, not 'radial'"),
        ({"shape": "heart", "symmetry": "both"}, "shape 'heart' has no symmetry 'both': expected organic, full"),
        ({"features": ("portals",), "size": (6, 9)}, "portals need a board of at least 7 rows, not 6"),
        ({"success": 0.0}, "success must be a number from 0.02 to 0.98, not 0.0"),
    ],
)
def test_wrong_options_are_refused_in_one_sentence(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        generate(0, **options)
    assert "\n" not in str(caught.value)


def test_wrong_types_are_refused_too() -> None:
    with pytest.raises(TypeError, match=r"seed must be a whole number, not 1\.5"):
        generate(1.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="features must be a collection of names, such as"):
        generate(0, "jelly", "locks")


def test_all_shapes_can_be_asked_for() -> None:
    assert {shape for symmetry in SYMMETRIES for shape in shapes_for(symmetry)} == set(SHAPES)


# ------------------------------------------------------------------------------ played in one game


@pytest.fixture(scope="module")
def levels() -> list[Level]:
    """Small levels of one kind."""
    return [generate(seed, "jelly", size=(6, 6), colours=4, shape="full", success=0.8) for seed in range(4)]


@pytest.mark.slow
def test_levels_can_be_won_and_calibrated(levels: list[Level]) -> None:
    game = Game(levels)
    rates = winnable(levels, attempts=44, game=game)
    assert rates.shape == (4,) and (rates > 0).all()
    assert (rates >= winnable(levels, attempts=44, player="random", game=game)).all()
    done, shares = calibrate(levels, [0.9, 0.7, 0.5, 0.8], attempts=44, game=game)
    assert np.abs(shares - [0.9, 0.7, 0.5, 0.8]).max() < 0.2
    assert (winnable(done, attempts=44, game=game) == shares).all()
    with pytest.raises(ValueError, match=r"player must be one of .*'heuristic'.* not 'best'"):
        winnable(levels, player="best", game=game)


def test_the_heuristic_player_takes_the_move_that_is_worth_most() -> None:
    board = ["a b c d e f", "b c d e f a", "a a b a a c", "d e a f b d", "e f c b d e", "f a d c e f"]
    level = Level.from_dict({"colours": 6, "moves": 5, "board": board})
    game = Game(level)
    state = game.reset(jax.random.split(jax.random.key(0), 3))
    keys = jax.random.split(jax.random.key(1), 3)
    five = 6 * 5 + 2 * 6 + 2  # the candy below the gap of a a _ a a goes up
    assert game.choose("heuristic", keys, state).tolist() == [five] * 3
