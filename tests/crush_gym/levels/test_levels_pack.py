"""Packs: levels by index and name, stacks of them, the shipped packs, and the schema of the files."""

from __future__ import annotations

import json
import pickle
import time
from importlib import resources
from typing import Any

import jax
import jsonschema
import numpy as np
import pytest

from crush_gym import layout
from crush_gym.levels import Level, LevelError, LevelPack, load_pack
from crush_gym.levels.pack import shipped_packs

GOOD: dict[str, Any] = {"name": "first", "colours": 5, "moves": 20, "board": ["? ?", "? ?"]}
LEVELS = [GOOD, GOOD | {"name": "second", "moves": 3}, GOOD | {"name": "third", "board": ["? ? #", "a ? ?"]}]
PACK = LevelPack.from_dict({"name": "three", "levels": LEVELS})
SCHEMA = json.loads((resources.files("crush_gym.levels") / "level.schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_a_pack_is_a_sequence_of_levels() -> None:
    assert len(PACK) == 3 and PACK.names == ("first", "second", "third")
    assert PACK[1] == PACK["second"] == PACK[-2] == PACK[np.int64(1)] == Level.from_dict(LEVELS[1])
    assert list(PACK) == [PACK[0], PACK[1], PACK[2]] and next(reversed(PACK)) == PACK[2]
    assert PACK[1] in PACK and "second" in PACK and "fourth" not in PACK
    assert PACK.index(PACK["third"]) == 2
    assert repr(PACK) == "<LevelPack 'three': 3 levels>"


def test_a_slice_is_a_pack() -> None:
    part = PACK[1:]
    assert isinstance(part, LevelPack) and part.names == ("second", "third") and part.name == "three"


def test_a_pack_prints_as_the_dict_that_it_was_read_from() -> None:
    assert LevelPack.from_dict(PACK.to_dict()) == PACK
    assert PACK.to_dict()["levels"][0] == GOOD


def test_a_wrong_name_or_index_is_explained() -> None:
    with pytest.raises(KeyError) as caught:
        PACK["secnod"]
    assert str(caught.value) == "the pack 'three' has no level 'secnod'; did you mean 'second'?"
    with pytest.raises(LevelError, match="it has 'first', 'second', 'third'"):
        PACK["xyz"]
    with pytest.raises(IndexError, match="there is no level 3: the pack has 3 levels"):
        PACK[3]
    with pytest.raises(TypeError):
        PACK[1.0]  # type: ignore[call-overload]


def test_a_stack_holds_one_level_per_board_with_the_boards_last() -> None:
    stack = PACK.stack([2, 0, 0, -1])
    assert stack.moves.tolist() == [20, 20, 20, 20] and stack.width.tolist() == [3, 2, 2, 3]
    assert stack.start.shape == (len(layout.PLANES), 16, 4) and stack.portals.shape == (128, 4, 4)
    for board, index in enumerate([2, 0, 0, 2]):
        alone = jax.tree.map(lambda leaf, board=board: leaf[..., board], stack)
        assert alone.to_dict() | {"name": PACK[index].name} == PACK[index].to_dict()
    dtypes = [leaf.dtype for leaf in jax.tree.leaves(stack)]
    assert dtypes == [leaf.dtype for leaf in jax.tree.leaves(PACK[0])]


def test_a_stack_knows_its_levels_until_it_goes_through_jax() -> None:
    stack = PACK.stack([2, 0, 0, -1])
    assert stack.levels == (PACK[0], PACK[2])
    assert jax.tree.map(lambda leaf: leaf[..., 1:], stack).levels == ()


def test_packs_and_stacks_can_be_pickled() -> None:
    again, stack = pickle.loads(pickle.dumps((PACK, PACK.stack([2, 0]))))
    assert again == PACK and again.names == PACK.names and again["second"] == PACK[1]
    assert stack == PACK.stack([2, 0]) == again.stack([2, 0]) and stack.levels == (PACK[0], PACK[2])
    for one, other in zip(
        jax.tree.leaves((again[0], stack)), jax.tree.leaves((PACK[0], PACK.stack([2, 0]))), strict=True
    ):
        assert one.dtype == other.dtype and one.tobytes() == other.tobytes()


def test_a_stack_takes_names_and_any_number_of_axes() -> None:
    assert PACK.stack(["second", "first"]) == PACK.stack([1, 0])
    assert PACK.stack(np.zeros((2, 5), int)).start.shape == (len(layout.PLANES), 16, 2, 5)
    assert PACK.stack(1).to_dict() == Level.from_dict(LEVELS[1] | {"name": ""}).to_dict()
    assert PACK.stack(range(3)).shape == (2, 3)


@pytest.mark.parametrize(
    ("indices", "error", "message"),
    [
        ([3], IndexError, "there is no level 3"),
        ([-4], IndexError, "there is no level -4"),
        ([1.0], TypeError, "whole numbers or names"),
        ([True], TypeError, "whole numbers or names"),
        ([], ValueError, "at least one level"),
        (["first", "secnod"], KeyError, "did you mean 'second'"),
    ],
)
def test_a_wrong_stack_is_explained(indices: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        PACK.stack(indices)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (3, "a pack must be an object"),
        ({"name": "p"}, "a pack lacks the key 'levels'"),
        ({"name": "p", "levels": []}, "at least one level, not an empty list"),
        ({"name": "p", "levels": GOOD}, "at least one level, not an object"),
        ({"name": 3, "levels": [GOOD]}, "the pack's name must be a string, not 3"),
        ({"name": "p", "level": [GOOD]}, "did you mean 'levels'?"),
        ({"name": "p", "levels": [GOOD, GOOD]}, "level 'first': is the name of levels[0] and of levels[1]"),
        ({"name": "p", "levels": [GOOD, 3]}, "level 'levels[1]': a level must be an object"),
        ({"name": "p", "levels": [{"moves": 0}]}, "level 'levels[0]': a level lacks the key 'board'"),
    ],
)
def test_a_wrong_pack_is_explained(value: object, message: str) -> None:
    with pytest.raises(LevelError) as caught:
        LevelPack.from_dict(value)
    assert message in str(caught.value)


def test_a_pack_tells_the_problems_of_all_its_levels() -> None:
    wrong = [GOOD | {"name": "a", "moves": 0}, GOOD, GOOD | {"name": "b", "board": ["? ?", "? A"]}]
    with pytest.raises(LevelError) as caught:
        load_pack({"name": "p", "levels": wrong})
    assert [(p.level, p.row, p.column) for p in caught.value.problems] == [("a", None, None), ("b", 1, 1)]


def test_levels_without_names_may_be_many() -> None:
    unnamed = {key: value for key, value in GOOD.items() if key != "name"}
    assert load_pack({"levels": [unnamed, unnamed]}).names == ("", "")


def test_a_pack_is_loaded_by_name_path_or_dict() -> None:
    assert load_pack("basics").name == "basics"
    assert load_pack(GOOD).names == ("first",)
    assert load_pack(PACK) is PACK


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("basic", "no pack 'basic' ships: there is 'basics'; did you mean 'basics'?"),
        ("nothing", "a path ends in .json or holds a /"),
        (None, "expected the name of a pack, a path or a dict, not null"),
        ([GOOD], "not a list of 1"),
    ],
)
def test_an_unknown_pack_is_explained(source: object, message: str) -> None:
    with pytest.raises(LevelError) as caught:
        load_pack(source)
    assert message.split(";")[-1] in str(caught.value)


@pytest.mark.parametrize("name", shipped_packs())
def test_shipped_packs_are_valid_canonical_and_fit_the_schema(name: str) -> None:
    text = shipped_packs()[name].read_text("utf-8")
    VALIDATOR.validate(json.loads(text))
    assert unaligned(load_pack(name).to_dict()) == unaligned(json.loads(text))
    assert load_pack(name).name == name


def unaligned(pack: dict[str, Any]) -> dict[str, Any]:
    """The pack with single blanks between tokens: large packs are written so."""
    levels = [level | {"board": [row.split() for row in level["board"]]} for level in pack["levels"]]
    return pack | {"levels": levels}


def test_everything_uses_every_mechanic() -> None:
    level = load_pack("basics")["everything"]
    never_at_the_start = {
        "fresh",
        "colour2",
        "timer0",
        "timer1",
        "timer2",
        "timer4",
        "timer6",
        "icing2",
        "kind2",
    }
    used = {name for name, words in zip(layout.PLANES, level.start, strict=True) if words.any()}
    assert used >= set(layout.PLANES) - never_at_the_start
    assert (level.spawn >= 0).all() and level.exits.any() and (level.portals[1] >= 0).all()
    assert level.goal_jelly and level.goal_cherry and level.goal_hazelnut and level.orders.any()
    assert level.seconds > 0 and level.shape == (9, 9) and level.colours == 6
    cells = " ".join(level.to_dict()["board"]).split()
    assert cells.count("?") > 40 and "#" in cells


def test_a_thousand_levels_load_quickly() -> None:
    board = [" ".join(["?''", "[a]", "I2", "?", "b-", "?!9", "~", "{c}", "?"])] * 9
    levels = [GOOD | {"name": str(i), "board": board, "goals": {"jelly": "all"}} for i in range(1000)]
    start = time.process_time()
    assert len(load_pack({"name": "many", "levels": levels})) == 1000
    assert time.process_time() - start < 2


STRUCTURAL_ERRORS: list[Any] = [
    3,
    {},
    {"levels": []},
    {"levels": [3]},
    {"levels": [GOOD], "more": 1},
    *(GOOD | change for change in [{"seconds": 3}, {"color": 3}, {"colours": 8}, {"moves": 0}, {"moves": True}]),
    *(GOOD | {"board": board} for board in [[], ["? ?"], ["? ?"] * 17, ["?", "?"], ["? ?", "? " * 17], "? ?"]),
    *(
        GOOD | {"board": ["? ?", f"? {token}"]}
        for token in ("A", "a!0", "a!100", "a-+", "[_]", "[#]", "#'", "a'''", "?-", "I6", "F3", "h", "[a}")
    ),
    *(GOOD | {"goals": goals} for goals in [[], {"x": 1}, {"jelly": 1}, {"cherry": 0}, {"orders": {"h": 1}}]),
    *(GOOD | {"spawn": spawn} for spawn in [[], {"x": {}}, {"bomb": {}}, {"drop": {"counter": 3}}]),
    *(GOOD | {"portals": portals} for portals in [{}, [[[0, 0]]], [[[0, 0], [1, 16]]], [[[0, 0], [1]]]]),
    *(GOOD | change for change in [{"entries": "bottom"}, {"exits": [[0, 0], [0, 0]]}, {"stars": [1, 2]}]),
]


@pytest.mark.parametrize("value", STRUCTURAL_ERRORS, ids=lambda value: json.dumps(value)[-40:])
def test_the_schema_and_the_reader_refuse_the_same_structures(value: Any) -> None:
    assert not VALIDATOR.is_valid(value)
    with pytest.raises(LevelError):
        load_pack(value)


def test_the_schema_is_one_and_knows_every_name() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    goals = SCHEMA["$defs"]["goals"]["properties"]
    assert goals["orders"]["propertyNames"]["enum"] == list(layout.ORDERS)
    assert list(SCHEMA["$defs"]["spawn"]["properties"]) == list(layout.SPAWN_KINDS)


@pytest.mark.parametrize("value", [GOOD, {"levels": LEVELS}, {"name": "p", "levels": LEVELS}])
def test_the_schema_accepts_what_is_right(value: Any) -> None:
    VALIDATOR.validate(value)


def test_the_schema_reads_the_tokens_that_the_reader_reads() -> None:
    items = ["?", "a", "g-", "a|", "b@", "*", "o", "n", "~", "C", "I1", "I5", "?!9", "a!99", "?+", "a$"]
    bodies = [form.format(item) for item in items for form in ("{}", "[{}]", "{{{}}}")]
    for token in ["#", *(body + jelly for body in [*bodies, "_"] for jelly in ("", "'", "''"))]:
        level = GOOD | {"colours": 7, "board": [f" ?  {token} ", "? ?"]}
        VALIDATOR.validate(level)
        Level.from_dict(level)


def test_a_split_is_disjoint_complete_and_the_same_for_the_same_seed() -> None:
    pack = LevelPack([Level.from_dict(GOOD | {"name": f"level {i}", "moves": i + 1}) for i in range(10)], "ten")
    train, test = pack.split()
    assert (len(train), len(test)) == (8, 2) and (train.name, test.name) == ("ten train", "ten test")
    assert sorted(train.names + test.names) == sorted(pack.names)
    for part in (train, test):  # in the pack's order
        assert list(part.names) == [name for name in pack.names if name in part]
    assert pack.split() == (train, test) and test.names == ("level 3", "level 9")
    assert pack.split(seed=1)[1].names != test.names
    assert [len(part) for part in pack.split(0.01)] == [1, 9] and [len(part) for part in pack.split(0.99)] == [9, 1]


def test_a_split_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match=r"train must be a share between 0 and 1, such as 0\.8, not 8"):
        PACK.split(8)
    with pytest.raises(ValueError, match="a pack of one level cannot be split"):
        PACK[:1].split()


def test_the_hash_of_a_pack_is_of_its_levels_in_order() -> None:
    assert PACK.content_hash() == LevelPack.from_dict(PACK.to_dict()).content_hash()
    assert PACK.content_hash() != LevelPack(reversed(PACK)).content_hash()
