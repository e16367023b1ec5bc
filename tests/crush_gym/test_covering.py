"""Games for levels that are not known yet: a level plays in them as in its own game, but for the actions' numbers."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

from crush_gym import OUTCOMES, Game, Level, load_pack
from crush_gym.engine.covering import NAMES
from crush_gym.engine.mechanics import ALL
from crush_gym.generator import FEATURES
from crush_gym.swaps import conversion, converted

BASIC: dict[str, Any] = {"name": "basic", "colours": 4, "moves": 9, "board": ["? ? ? ?"] * 4}


def assert_played_alike(wide: Game, level: Level, moves: int, seed: int) -> str:
    """An attempt of random moves in the level's own game and in the wide one, compared move by move; its outcome."""
    own = Game(level, rules=wide.spec.rules)
    assert wide.accepts(level) and wide.spec != own.spec
    dice, key = np.random.default_rng(seed), jax.random.key(seed)
    one, other = own.reset(key), wide.reset(key, level)
    there = conversion(own.shape, wide.shape)
    for move in range(moves):
        assert own.text(one) == wide.text(other, level)
        mask = np.asarray(wide.legal(other, level))
        assert np.array_equal(own.legal(one), mask[there]) and mask.sum() == mask[there].sum()
        number = int(dice.choice(np.flatnonzero(mask))) if mask.any() else 0
        move_key = jax.random.fold_in(key, move)
        one, turn = own.step(move_key, one, converted(number, wide.shape, own.shape))
        other, found = wide.step(move_key, other, number, level)
        for name in turn._fields:
            assert np.array_equal(getattr(turn, name), getattr(found, name)), name
    assert own.text(one) == wide.text(other, level)
    for name in ("score", "moves", "time", "made", "waves", "cherry", "hazelnut", "drops", "outcome", "shuffles"):
        assert np.array_equal(getattr(one.books, name), getattr(other.books, name)), name
    return OUTCOMES[int(one.books.outcome)]


def test_levels_of_several_sizes_play_in_one_covering_game_as_in_their_own() -> None:
    wide, pack = Game.covering((8, 9), 6, ["dry"], rules="combo", orders=()), load_pack("basics")
    assert wide.level is None and wide.shape == (8, 9)
    for level in (pack["plain"], pack["no refill"]):
        outcomes = {assert_played_alike(wide, level, int(level.moves), seed) for seed in range(4)}
        assert "playing" not in outcomes


@pytest.mark.slow
def test_rich_levels_play_in_the_game_for_everything_as_in_their_own() -> None:
    wide = Game.covering()
    for pack, names in (
        ("basics", ("plain", "everything", "timed", "portals", "no refill")),
        ("tour", ("First Cherry", "Bomb Squad", "Grand Finale")),
    ):
        for name in names:
            assert_played_alike(wide, load_pack(pack)[name], 8, seed=5)


def test_the_usual_game_accepts_every_level_of_its_size() -> None:
    usual = Game.covering()
    for pack in ("basics", "tour", "thesis"):
        assert all(usual.accepts(level) for level in load_pack(pack))
    assert usual.spec == Game.covering((9, 9), 7, NAMES).spec


def test_each_name_of_a_mechanic_or_feature_covers_what_generate_makes_of_it() -> None:
    from crush_gym import generate

    assert {*FEATURES, *(mechanic.name for mechanic in ALL)} <= set(NAMES)
    for feature in FEATURES:
        level = generate(3, "moves", (feature,), (7, 7))
        assert Game.covering((7, 7), 6, (feature,)).accepts(level), feature
        others = [name for name in FEATURES if name not in (feature, "specials", "plus5")]
        if feature not in ("specials", "plus5"):
            assert not Game.covering((7, 7), 6, others).accepts(level), feature


def test_timed_and_dry_levels_are_mechanics_too() -> None:
    timed = Level.from_dict({"name": "timed", "colours": 4, "seconds": 30, "board": BASIC["board"]})
    dry = Level.from_dict({**BASIC, "spawn_candies": False})
    assert [Game.covering((4, 4), 4, [name]).accepts(level) for name in ("timed", "dry") for level in (timed, dry)] == [
        True, False, False, True,
    ]  # fmt: skip


def test_what_a_covering_game_has_no_room_for_it_does_not_accept() -> None:
    holes = {**BASIC, "board": ["? # ? ?", "? ? ? ?", "? ? ? ?", "? ? ? ?"]}
    portals = {**BASIC, "board": ["? ? ? ?"] * 4, "portals": [[[1, 0], [2, 1]], [[1, 2], [2, 3]]]}
    order = {**BASIC, "goals": {"orders": {"a": 4}}}
    spawning = {**BASIC, "spawn": {"swirl": {"quota": 1}, "drop": {"quota": 1}}}

    def accepts(content: dict[str, Any], *args: Any, **options: Any) -> bool:
        return Game.covering(*args, **options).accepts(Level.from_dict(content))

    assert accepts(holes, (4, 4), 4, ()) and accepts(BASIC, (5, 6), 7, ())
    assert not accepts(BASIC, (4, 3), 4) and not accepts(BASIC, (4, 4), 3)
    assert accepts(portals, (4, 4), 4, ["portals"]) and accepts(portals, (4, 4), 4, (), portals=2)
    assert not accepts(portals, (4, 4), 4, ()) and not accepts(portals, (4, 4), 4, ["portals"], portals=1)
    assert not accepts(portals, (4, 4), 4, ["portals"], portal_layers=0)
    assert accepts(order, (4, 4), 4, ()) and not accepts(order, (4, 4), 4, (), orders=["b"])
    assert accepts(spawning, (4, 4), 4, ["swirl", "drop"])
    assert not accepts(spawning, (4, 4), 4, ["swirl", "drop"], spawn_kinds=1)
    assert accepts(holes, (2, 2), 2, (), levels=[Level.from_dict(holes)])
    narrow = Game.covering((4, 4), 4, ["lock"])
    with pytest.raises(ValueError, match=r"level 'basic' is not of this game's kind: it needs drop, swirl"):
        narrow.reset(jax.random.key(0), Level.from_dict(spawning))
    with pytest.raises(ValueError, match="made from several levels: say which one"):
        narrow.reset(jax.random.key(0))


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a name nearly right": ({"mechanics": ["jely"]}, "mechanics has no 'jely'; did you mean 'jelly'[?]$"),
    "a name": ({"mechanics": ["fog"]}, "mechanics has no 'fog'; known are bombs, candy bomb, chocolate, .*wrapped$"),
    "one word": ({"mechanics": "jelly"}, r"mechanics must be \"all\" or a list of names such as .*, not 'jelly'$"),
    "an order": ({"orders": ["strped"]}, "orders has no 'strped'; did you mean 'striped'"),
    "colours": ({"colours": 8}, "colours must be a whole number from 2 to 7, not 8$"),
    "shape": ({"shape": (9, 17)}, "shape must be two whole numbers from 2 to 16"),
    "portals": ({"portals": -1}, "portals must be a whole number from 0 to 128, not -1$"),
    "entries": ({"entry_layers": 0}, "entry_layers must be a whole number from 1 to 16, not 0$"),
    "kinds": ({"spawn_kinds": 2.5}, "spawn_kinds must be a whole number from 0 to 6, not 2.5$"),
    "rules": ({"rules": "sago"}, "rules must be one of 'saga'.* not 'sago'; did you mean 'saga'"),
    "adjacency": ({"adjacency": "none"}, "adjacency must be one of 'any', 'runs'"),
    "levels": ({"levels": [3]}, "not from int"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_covered_is_refused_in_a_sentence(name: str) -> None:
    options, message = WRONG[name]
    with pytest.raises((ValueError, TypeError), match=message):
        Game.covering(**options)
