"""Levels: what a dict becomes as arrays, and that it comes back as the same dict."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from typing import Any

import jax
import numpy as np
import pytest

from crush_gym import layout
from crush_gym.levels import Level, LevelError

SAMPLE: dict[str, Any] = {
    "name": "sample",
    "colours": 5,
    "moves": 20,
    "goals": {"jelly": "all"},
    "stars": [10000, 20000, 30000],
    "board": ["?''  ?    a-   *   #", "[b]' I2   ?!9  o   #", "?    ?    ?    ?   ?"],
    "portals": [[[2, 0], [2, 4]]],
    "entries": [[0, 0], [0, 1], [0, 2], [0, 3]],
    "exits": [[2, 3]],
    "spawn": {"cherry": {"quota": 2, "on_board": 1, "every": 4}},
    "spawn_candies": True,
}
PLAIN: dict[str, Any] = {"colours": 4, "moves": 7, "board": ["? ?", "? ?"]}
SHAPES = {
    "": ("height", "width", "colours", "moves", "seconds", "goal_score", "goal_cherry", "goal_hazelnut"),
    "words": ("floor", "entries", "exits", "unfilled"),
    "spawn": ("spawn_quota", "spawn_on_board", "spawn_every"),
}


def bits(words: Any) -> set[tuple[int, int]]:
    """The cells of row words."""
    rows = np.asarray(words).tolist()
    return {(r, c) for r, word in enumerate(rows) for c in range(16) if word >> c & 1}


def plane(level: Level, name: str) -> set[tuple[int, int]]:
    return bits(level.start[layout.PLANES.index(name)])


def test_the_rulebooks_sample_is_read() -> None:
    level = Level.from_dict(SAMPLE)
    assert level.shape == (3, 5)
    assert bits(level.floor) == {(r, c) for r in range(3) for c in range(5)} - {(0, 4), (1, 4)}
    assert bits(level.unfilled) == {(0, 0), (0, 1), (1, 2), *((2, c) for c in range(5))}
    assert plane(level, "jelly1") == {(0, 0), (1, 0)}
    assert plane(level, "jelly2") == {(0, 0)}
    assert plane(level, "lock") == {(1, 0)}
    assert plane(level, "colour0") == {(0, 2)}
    assert plane(level, "colour1") == {(1, 0)}
    assert plane(level, "kind0") == {(0, 2), (0, 3)}
    assert plane(level, "kind1") == {(0, 3)}
    assert plane(level, "kind2") == {(1, 3)}
    assert plane(level, "icing1") == {(1, 1)}
    assert plane(level, "timer0") == plane(level, "timer3") == {(1, 2)}
    assert not plane(level, "fresh")
    assert level.portals[:2].tolist() == [[2, 0, 2, 4], [-1] * 4]
    assert bits(level.entries) == {(0, 0), (0, 1), (0, 2), (0, 3)}
    assert bits(level.exits) == {(2, 3)}
    assert (level.moves, level.seconds, level.goal_score, level.goal_jelly) == (20, -1, -1, True)
    assert level.stars.tolist() == [10000, 20000, 30000]
    assert level.spawn.tolist() == [0, -1, -1, -1, -1, -1]
    assert level.spawn_quota.tolist() == [2, -1, -1, -1, -1, -1]
    assert level.spawn_on_board.tolist() == [1, -1, -1, -1, -1, -1]
    assert level.spawn_every.tolist() == [4, 0, 0, 0, 0, 0]
    assert level.spawn_candies


def test_the_sample_prints_without_its_defaults() -> None:
    written = Level.from_dict(SAMPLE).to_dict()
    kept = {key: value for key, value in SAMPLE.items() if key not in ("entries", "spawn_candies")}
    assert written == kept | {"board": ["?''  ?  a-  * #", "[b]' I2 ?!9 o #", "?    ?  ?   ? ?"]}


def test_all_levels_have_the_same_shapes_and_types() -> None:
    described = [
        [(leaf.shape, leaf.dtype, type(leaf)) for leaf in jax.tree.leaves(Level.from_dict(level))]
        for level in (SAMPLE, PLAIN)
    ]
    assert described[0] == described[1]
    level = Level.from_dict(PLAIN)
    assert all(getattr(level, name).shape == () for name in SHAPES[""])
    assert all(getattr(level, name).dtype == np.int32 for name in (*SHAPES[""], *SHAPES["spawn"]))
    assert all(getattr(level, name).shape == (16,) for name in SHAPES["words"])
    assert all(getattr(level, name).dtype == np.uint16 for name in (*SHAPES["words"], "start"))
    assert all(getattr(level, name).shape == (6,) for name in ("spawn", *SHAPES["spawn"]))
    assert (level.portals.shape, level.portals.dtype) == ((128, 4), np.int8)
    assert (level.start.shape, level.spawn.dtype) == ((len(layout.PLANES), 16), np.int8)
    assert (level.orders.shape, level.orders.dtype) == ((len(layout.ORDERS),), np.int32)
    assert level.goal_jelly.dtype == level.spawn_candies.dtype == np.bool_


def test_what_a_level_leaves_out_has_the_documented_values() -> None:
    level = Level.from_dict(PLAIN)
    assert level.name == ""
    assert bits(level.entries) == {(0, 0), (0, 1)}
    assert not bits(level.exits)
    assert (level.goal_score, level.goal_jelly, level.goal_cherry, level.goal_hazelnut) == (-1, False, 0, 0)
    assert not level.orders.any() and not level.stars.any() and level.spawn_counter == 0
    assert level.to_dict() == PLAIN


def test_timed_levels_have_no_moves() -> None:
    level = Level.from_dict({"colours": 4, "seconds": 60, "board": ["? ?", "? ?"]})
    assert (level.moves, level.seconds) == (-1, 60)


def test_spawns_and_orders_keep_their_places() -> None:
    spawn = {"drop": {"every": 2}, "bomb": {"counter": 9, "quota": 0}, "swirl": {"on_board": 3}}
    level = Level.from_dict(PLAIN | {"spawn": spawn, "goals": {"orders": {"lock": 1, "d": 7}}} | LOCKED)
    assert [layout.SPAWN_KINDS[i] for i in level.spawn[:3]] == ["drop", "bomb", "swirl"]
    assert level.spawn_every[:3].tolist() == [2, 0, 0]
    assert level.spawn_quota[:3].tolist() == [-1, 0, -1]
    assert level.spawn_on_board[:3].tolist() == [-1, -1, 3]
    assert level.spawn_counter == 9
    assert level.orders[layout.ORDERS.index("d")] == 7 and level.orders[-1] == 1
    assert list(level.to_dict()["spawn"].items()) == [
        ("drop", {"every": 2}),
        ("bomb", {"counter": 9, "quota": 0}),
        ("swirl", {"on_board": 3}),
    ]


LOCKED = {"board": ["[?] ?", "? ?"]}


def test_entries_may_be_none_at_all() -> None:
    level = Level.from_dict(PLAIN | {"entries": []})
    assert not level.entries.any()
    assert level.to_dict()["entries"] == []


def test_top_entries_skip_voids_and_portal_exits() -> None:
    level = Level.from_dict(
        {
            "colours": 3,
            "moves": 1,
            "board": ["# ? #", "? ? #", "? # #", "? ? #"],
            "portals": [[[3, 0], [0, 1]]],
        }
    )
    assert bits(level.entries) == {(1, 0)}


def test_a_cell_below_a_void_may_be_an_entry() -> None:
    level = Level.from_dict(PLAIN | {"board": ["? #", "# ?", "? ?"], "entries": [[2, 0], [1, 1]]})
    assert bits(level.entries) == {(2, 0), (1, 1)}


def test_a_chain_of_portals_that_ends_is_fine() -> None:
    board = ["? ? ?", "? ? ?", "? ? ?"]
    level = Level.from_dict(PLAIN | {"board": board, "portals": [[[2, 1], [0, 2]], [[2, 0], [0, 1]]]})
    assert level.portals[:2].tolist() == [[2, 0, 0, 1], [2, 1, 0, 2]]


def test_equality_and_hash_are_by_content() -> None:
    one, other = Level.from_dict(SAMPLE), Level.from_dict(copy.deepcopy(SAMPLE))
    renamed = Level.from_dict(SAMPLE | {"name": "another"})
    assert one == other and hash(one) == hash(other) and one.content_hash() == other.content_hash()
    assert one != renamed and one.content_hash() == renamed.content_hash()
    changed = Level.from_dict(SAMPLE | {"moves": 21})
    assert one != changed and one.content_hash() != changed.content_hash()
    assert one != "sample"
    assert len({one, other, changed}) == 2


def test_the_order_of_spawns_counts_and_that_of_portals_does_not() -> None:
    def hash_of(**keys: Any) -> str:
        return Level.from_dict(PLAIN | {"board": ["? ? ?", "# # ?", "? ? ?"]} | keys).content_hash()

    spawn: dict[str, Any] = {"cherry": {}, "swirl": {}}
    assert hash_of(spawn=spawn) != hash_of(spawn=dict(reversed(spawn.items())))
    portals = [[[0, 0], [2, 0]], [[0, 1], [2, 1]]]
    assert hash_of(portals=portals) == hash_of(portals=portals[::-1])


def test_the_content_hash_stays_what_it_was() -> None:
    expected = "68fc234c21ae6cb8d162f26a3617fa369fe8f4308840220cfc2ed0a39e52f58c"
    assert Level.from_dict(SAMPLE).content_hash() == expected


def test_a_level_that_went_through_jax_still_prints() -> None:
    level = Level.from_dict(SAMPLE)
    moved = jax.tree.map(lambda leaf: jax.numpy.asarray(leaf), level)
    assert moved.name == ""
    assert moved.to_dict() == {key: value for key, value in level.to_dict().items() if key != "name"}
    assert moved.content_hash() == level.content_hash()


def test_one_compilation_serves_all_levels() -> None:
    traced = []

    @jax.jit
    def moves(level: Level) -> Any:
        traced.append(level.name)
        return level.moves + level.floor[0]

    assert [int(moves(Level.from_dict(level))) for level in (SAMPLE, PLAIN)] == [20 + 15, 7 + 3]
    assert traced == [""]


def test_unflattening_takes_anything() -> None:
    leaves, structure = jax.tree.flatten(Level.from_dict(PLAIN))
    odd = jax.tree.unflatten(structure, [object() for _ in leaves])
    assert isinstance(odd, Level) and repr(odd).startswith("<Level")
    named = jax.tree_util.tree_flatten_with_path(Level.from_dict(PLAIN))[0]
    assert [jax.tree_util.keystr(path) for path, _ in named][:2] == [".height", ".width"]


def test_arrays_cannot_be_written() -> None:
    for leaf in jax.tree.leaves(Level.from_dict(SAMPLE)):
        with pytest.raises(ValueError, match="read-only"):
            leaf[...] = 0


def test_levels_copy_pickle_and_show_themselves_shortly() -> None:
    level = Level.from_dict(SAMPLE)
    assert pickle.loads(pickle.dumps(level)) == copy.deepcopy(level) == level
    assert repr(level) == "<Level 'sample' 3x5, 5 colours, 20 moves>"


def test_json_is_read() -> None:
    assert Level.from_json(json.dumps(SAMPLE)) == Level.from_json(json.dumps(SAMPLE).encode())


def test_numpy_numbers_and_tuples_are_as_good_as_ints_and_lists() -> None:
    level = PLAIN | {"moves": np.int64(7), "exits": ((np.int8(0), 1),), "board": tuple(PLAIN["board"])}
    assert Level.from_dict(level).to_dict() == PLAIN | {"exits": [[0, 1]]}


def test_importing_levels_starts_no_backend() -> None:
    code = (
        "import crush_gym.levels as l; from jax._src import xla_bridge as x;"
        "l.load_pack('basics')[0].to_dict(); assert not x.backends_are_initialized()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)


def test_a_stack_is_no_level() -> None:
    stacked = jax.tree.map(lambda leaf: np.stack([leaf, leaf], -1), Level.from_dict(PLAIN))
    with pytest.raises(ValueError, match="stack of levels"):
        stacked.to_dict()
    assert stacked.shape == (2, 2)
    assert "(2,)" in repr(stacked)


def test_a_pack_is_no_level() -> None:
    with pytest.raises(LevelError, match="load_pack"):
        Level.from_dict({"levels": [PLAIN]})
