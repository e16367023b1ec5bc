"""`generate`: a level of a kind, from a seed."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from crush_gym import layout
from crush_gym.generator.dice import Dice
from crush_gym.generator.draft import Draft
from crush_gym.generator.effort import SCORED, estimate
from crush_gym.generator.features import FEATURES, lay
from crush_gym.generator.goals import KINDS, draw_goals, parts_of
from crush_gym.generator.ground import PORTAL_ROWS, draw_ground
from crush_gym.generator.shapes import SHAPES, SYMMETRIES, shapes_for
from crush_gym.levels import Level
from crush_gym.levels.values import did_you_mean

LEAST_SIDE = 5
FEWEST_COLOURS = 3
LEAST_MOVES, MOST_MOVES = 5, 60


def generate(
    seed: int,
    kind: str = "jelly",
    features: Iterable[str] = (),
    size: tuple[int, int] = (9, 9),
    *,
    colours: int | None = None,
    shape: str = "any",
    symmetry: str = "any",
    success: float = 0.5,
    name: str | None = None,
) -> Level:
    """A level of this kind that holds these features; the same arguments give the same level.

    kind: see `KINDS`; features: of `FEATURES`; size: (height, width), 5 to 16 each; colours: 3 to 7, drawn
    unless given; shape: "any" or of `SHAPES`; symmetry: "any" or of `SYMMETRIES`, of the floor and of all that
    lies on it at the start, but for ingredients, which lie at the top
    success: the share of attempts that the heuristic player is to win. Its moves, or its goal score, are set by an
    estimate fitted to rollouts (see `crush_gym.generator.effort`). `winnable` checks by playing that a level can be
    won, and `calibrate` sets its limit so.
    """
    if not isinstance(success, (int, float)) or not 0.02 <= success <= 0.98:
        raise ValueError(f"success must be a number from 0.02 to 0.98, not {success!r}")
    level = draw_level(seed, kind, features, size, colours, shape, symmetry, name)
    return set_goal(level, kind, success)


def draw_level(
    seed: int,
    kind: str,
    features: Iterable[str],
    size: tuple[int, int],
    colours: int | None = None,
    shape: str = "any",
    symmetry: str = "any",
    name: str | None = None,
) -> Level:
    """What `generate` makes, before its moves or goal score are set; see there."""
    seed = _whole("seed", seed, -(2**63), 2**63 - 1)
    features = _checked(kind, features, size, shape, symmetry)
    dice = Dice("crush_gym.generate", seed, kind, sorted(features), tuple(size))
    drawn = dice.between(4, 6)  # drawn in any case: an option that is given must not change what is not
    colours = drawn if colours is None else _whole("colours", colours, FEWEST_COLOURS, layout.MAX_COLOURS)
    symmetry, shape = _form(dice, symmetry, shape)
    ground = draw_ground(dice, (int(size[0]), int(size[1])), shape, symmetry, "portals" in features)
    draft = Draft(ground, colours)
    lay(draft, dice, {*features, *parts_of(kind, features)})
    content = {
        "name": f"{kind} {seed}" if name is None else name,
        "colours": colours,
        **_limit(dice, kind),
        "goals": draw_goals(draft, dice, kind, features),
        "board": draft.rows(),
        **_places(draft),
    }
    return Level.from_dict(content)


def set_goal(level: Level, kind: str, success: float) -> Level:
    """The level with the moves, or the goal score, that this share of attempts is estimated to need."""
    value = estimate(level, kind, success)
    if kind in SCORED:
        return dataclasses.replace(level, goal_score=np.array(max(200, round(value, -2)), np.int32))
    return dataclasses.replace(level, moves=np.array(min(max(round(value), LEAST_MOVES), MOST_MOVES), np.int32))


def _limit(dice: Dice, kind: str) -> dict[str, int]:
    """Moves or seconds; those of a level without a goal score are set when its goals are known."""
    if kind == "timed":
        return {"seconds": 5 * dice.between(8, 20)}
    return {"moves": dice.between(12, 35) if kind == "moves" else MOST_MOVES}


def _places(draft: Draft) -> dict[str, Any]:
    ground = draft.ground
    places: dict[str, Any] = {}
    if ground.portals:
        places["portals"] = [[list(one), list(other)] for one, other in sorted(ground.portals.items())]
    if ground.entries != ground.default_entries:
        places["entries"] = [list(cell) for cell in sorted(ground.entries)]
    if draft.exits:
        places["exits"] = [list(cell) for cell in sorted(draft.exits)]
    return places | ({"spawn": draft.spawn} if draft.spawn else {})


def _form(dice: Dice, symmetry: str, shape: str) -> tuple[str, str]:
    """A symmetry and a shape that has it."""
    usual = ("mirror",) * 9 + ("rotation",) * 4 + ("both",) * 4 + ("none",) * 3
    drawn = dice.pick([name for name in usual if shape == "any" or shape in shapes_for(name)])
    symmetry = drawn if symmetry == "any" else symmetry
    fitting = ("organic",) if symmetry == "none" else ("organic", *shapes_for(symmetry))
    drawn = dice.pick(fitting)
    return symmetry, drawn if shape == "any" else shape


def _checked(kind: str, features: Iterable[str], size: Sequence[int], shape: str, symmetry: str) -> frozenset[str]:
    """The features, where all options are right and go together."""
    _one_of("kind", kind, KINDS)
    if isinstance(features, str):
        raise TypeError(f"features must be a collection of names, such as ({features!r},), not the string {features!r}")
    features = frozenset(features)
    for feature in sorted(features, key=repr):
        _one_of("a feature", feature, FEATURES)
    if not isinstance(size, Sequence) or len(size) != 2:
        raise ValueError(f"size must be two whole numbers, (height, width), not {size!r}")
    for side, length in zip(("the height", "the width"), size, strict=True):
        _whole(side, length, LEAST_SIDE, layout.MAX_SIDE)
    _one_of("shape", shape, ("any", *SHAPES))
    _one_of("symmetry", symmetry, ("any", *SYMMETRIES))
    if shape != "any" and symmetry != "any" and shape not in shapes_for(symmetry):
        raise ValueError(f"shape {shape!r} has no symmetry {symmetry!r}: expected {', '.join(shapes_for(symmetry))}")
    if "portals" in features and size[0] < PORTAL_ROWS:
        raise ValueError(f"portals need a board of at least {PORTAL_ROWS} rows, not {size[0]}")
    return features


def _one_of(what: str, value: object, known: Sequence[str]) -> None:
    if value not in known:
        raise ValueError(f"{what} must be one of {', '.join(known)}, not {value!r}{did_you_mean(value, known)}")


def _whole(what: str, value: Any, least: int, most: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} must be a whole number, not {value!r}") from None
    if not least <= number <= most:
        raise ValueError(f"{what} must be from {least} to {most}, not {number}")
    return number
