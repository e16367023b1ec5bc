"""Equal bytes, however boards are batched, mapped, ordered, padded, packed, spread over devices or stepped."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crush_gym import Game, Level, LevelPack, State, load_pack
from tests.differential import draws_of, translate
from tests.random_levels import Dice, Kind, random_level

ROOT = Path(__file__).absolute().parents[3]
KIND = Kind(
    "identical",
    frozenset({"void", "special", "unfilled", "jelly", "chocolate"}),
    largest=(5, 5),
    colours=(3, 4, 5, 6),
)
"""With shuffles, draws of colour bombs, chocolate and a board of a size of its own in every lane."""

LEVELS = 24
MOVES = 4


@cache
def pack() -> LevelPack:
    """Different levels of one kind."""
    dice = Dice("identical")
    levels = [random_level(dice, KIND)[0] | {"name": f"level {i}", "moves": 30, "goals": {}} for i in range(LEVELS)]
    return LevelPack([Level.from_dict(level) for level in levels])


@cache
def game() -> Game:
    """The one compiled game of this file."""
    return Game(pack())


def levels_for(boards: int) -> Level:
    """A level for every lane."""
    return pack().stack(np.arange(boards) % LEVELS)


def keys_for(boards: int) -> jax.Array:
    return jax.random.split(jax.random.key(5), boards)


def fold(keys: jax.Array, number: int) -> jax.Array:
    """The keys of every attempt's move of this number."""
    folded = jax.vmap(lambda key: jax.random.fold_in(key, number))(keys.reshape(-1))
    return folded.reshape(keys.shape)


def legal_actions(mask: np.ndarray) -> np.ndarray:
    """The middle one of each lane's legal actions; 0 where there is none. mask: bool[actions, B]."""
    rank = np.cumsum(mask, axis=0)
    return (rank == rank[-1] // 2 + 1).argmax(0).astype(np.int32)


@cache
def many() -> list[Any]:
    """4,096 boards: the state after reset, and after each of some moves with its turn."""
    keys, level = keys_for(4096), levels_for(4096)
    state = game().reset(keys, level)
    trail: list[Any] = [(state, None, None)]
    for m in range(MOVES):
        action = legal_actions(np.asarray(game().legal(state, level)))
        state, turn = game().step(fold(keys, m), state, action, level)
        trail.append((state, turn, action))
    return jax.device_get(trail)


def assert_equal(one: Any, other: Any) -> None:
    """Equal trees: shapes, types and bytes."""
    for x, y in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        x, y = np.asarray(x), np.asarray(y)
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        assert x.tobytes() == y.tobytes()


def lane(tree: Any, i: Any) -> Any:
    return jax.tree.map(lambda x: np.asarray(x)[..., i], tree)


def replay(lanes: np.ndarray, boards: tuple[int, ...], play: Callable[..., Any] | None = None) -> None:
    """Play some lanes of the 4,096 in another arrangement, and compare every state and turn.

    play: (name, arguments) -> result; by default the game's own function of that name.
    """
    keys = keys_for(4096)[lanes].reshape(boards)
    level = pack().stack(lanes.reshape(boards) % LEVELS)
    call = play or (lambda name, *args: getattr(game(), name)(*args))
    state = call("reset", keys, level)
    assert_equal(state, _arranged(many()[0][0], lanes, boards))
    for m, (before, turn, action) in enumerate(many()[1:]):
        move_keys = fold(keys_for(4096)[lanes], m).reshape(boards)
        state, found = call("step", move_keys, state, action[lanes].reshape(boards), level)
        assert_equal((state, found), _arranged((before, turn), lanes, boards))


def _arranged(tree: Any, lanes: np.ndarray, boards: tuple[int, ...]) -> Any:
    return jax.tree.map(lambda x: np.reshape(x[..., lanes], (*x.shape[:-1], *boards)), tree)


def test_the_comparison_is_not_of_finished_or_equal_boards() -> None:
    last = many()[-1][0]
    assert (last.books.outcome == 0).mean() > 0.5
    assert len(np.unique(last.books.score)) > 500


@pytest.mark.parametrize("i", [0, 1, 63, 2047, 4095])
def test_case_40_a_single_board_plays_like_its_lane_of_4096(i: int) -> None:
    replay(np.array(i), ())


@pytest.mark.parametrize("boards", [(1,), (65,), (2, 3, 5)], ids=str)
def test_padded_and_reshaped_batches_play_alike(boards: tuple[int, ...]) -> None:
    replay(np.arange(np.prod(boards)) + 100, boards)


@pytest.mark.slow
def test_a_rich_game_of_many_boards_plays_like_a_few_of_them() -> None:
    """Only batches of 512 and more take out the boards whose turns are long, by parts where games are rich."""
    rich, some = Game(load_pack("basics")["everything"]), np.arange(0, 600, 50)
    keys = keys_for(600)
    many, few = rich.reset(keys), rich.reset(keys[some])
    for m in range(MOVES):
        action = legal_actions(np.asarray(rich.legal(many)))
        many, turn = rich.step(fold(keys, m), many, action)
        few, few_turn = rich.step(fold(keys, m)[some], few, action[some])
        assert_equal((few, few_turn), lane((many, turn), some))
    assert len(np.unique(few.books.score)) > len(some) // 2


def test_shuffled_lanes_play_alike() -> None:
    replay(np.random.default_rng(0).permutation(4096), (4096,))


def test_legal_and_observe_do_not_depend_on_the_batch() -> None:
    state, level = many()[2][0], levels_for(4096)
    masks, images = game().legal(state, level), game().observe(state, level)
    for i in (3, 500):
        alone = lane(state, i)
        assert_equal(game().legal(alone, pack()[i % LEVELS]), lane(masks, i))
        assert_equal(game().observe(alone, pack()[i % LEVELS]), lane(images, i))


# ------------------------------------------------------------------------------------------- vmap


def boards_first(tree: Any, axes: int = 1) -> Any:
    """The boards' last axes moved to the front."""
    return jax.tree.map(lambda x: jnp.moveaxis(x, range(-axes, 0), range(axes)), tree)


def boards_last(tree: Any, axes: int = 1) -> Any:
    return jax.tree.map(lambda x: jnp.moveaxis(x, range(axes), range(-axes, 0)), tree)


def mapped(name: str, axes: int) -> Callable[..., Any]:
    function = getattr(game(), name)
    for _ in range(axes):
        function = jax.vmap(function)
    return function


@pytest.mark.parametrize("boards", [(12,), (3, 4)], ids=["vmap", "vmap of vmap"])
def test_mapped_functions_play_like_the_native_batch(boards: tuple[int, ...]) -> None:
    axes = len(boards)

    def play(name: str, *args: Any) -> Any:
        keys, *others = args
        others = [boards_first(jax.tree.map(jnp.asarray, other), axes) for other in others]
        return boards_last(mapped(name, axes)(keys, *others), axes)

    replay(np.arange(12) + 40, boards, play)


def test_a_map_over_native_batches_plays_alike() -> None:
    """vmap outside, a boards' axis inside."""
    lanes = np.arange(12).reshape(3, 4)
    level = boards_first(jax.tree.map(jnp.asarray, pack().stack(lanes % LEVELS)), 2)
    level = jax.tree.map(lambda x: jnp.moveaxis(x, 1, -1), level)
    found = jax.vmap(game().reset)(keys_for(4096)[lanes], level)
    expected = _arranged(many()[0][0], lanes.ravel(), (3, 4))
    assert_equal(jax.tree.map(lambda x: jnp.moveaxis(x, 0, -2), found), expected)


def test_keys_and_levels_may_be_unbatched_under_vmap() -> None:
    """Twelve copies of lane 2, of which only the state or only the key is mapped."""
    lanes, level, keys = np.full(12, 2), pack()[2], keys_for(4096)
    found = boards_last(jax.vmap(lambda key: game().reset(key, level))(keys[lanes]))
    assert_equal(found, _arranged(many()[0][0], lanes, (12,)))
    state, turn, action = many()[1]
    key = jax.random.fold_in(keys[2], 0)
    moved = jax.vmap(lambda s, a: game().step(key, s, a, level))(boards_first(found), action[lanes])
    assert_equal(boards_last(moved), _arranged((state, turn), lanes, (12,)))


# ------------------------------------------------------------------------------------ in a pack


SMALL = {"name": "small", "colours": 4, "moves": 30, "board": ["? ?'' ?' ?", "? ? ? ?", "a- ? ? ?", "? ? ? *"]}


def test_a_level_alone_plays_as_in_a_pack_with_larger_and_richer_ones() -> None:
    level, together = Level.from_dict(SMALL), game()
    alone, keys = Game(level), keys_for(12)
    assert together.accepts(level) and together.spec.width > alone.spec.width
    assert together.spec.mechanics > alone.spec.mechanics
    one, other = alone.reset(keys, level), together.reset(keys, level)
    for m in range(8):
        assert alone.text(one, level) == together.text(other, level)
        mask = np.asarray(alone.legal(one, level))
        numbers = np.array([translate(a, level.shape, together.spec) for a in range(alone.actions)])
        assert_equal(np.asarray(together.legal(other, level))[numbers], mask)
        action = legal_actions(mask)
        one, turn = alone.step(fold(keys, m), one, action, level)
        other, found = together.step(fold(keys, m), other, numbers[action].astype(np.int32), level)
        assert_equal(turn, found)


# ------------------------------------------------------------------------------------- rollouts


def test_lockstep_steps_with_the_moves_keys_play_like_a_rollout() -> None:
    """The random player's move is the PICK draw of the move's key among the legal moves in order."""
    boards = 65
    keys, level = keys_for(boards), levels_for(boards)
    start = game().reset(keys, level)
    final, stats = game().rollout(keys, start, level)
    state, shuffles = start, np.zeros(boards, int)
    for m in range(30):
        mask = np.asarray(game().legal(state, level))
        move_keys = fold(keys, m)
        actions = random_actions(mask, move_keys)
        assert_equal(np.asarray(game().random_action(move_keys, state)), actions)
        state, turn = game().step(move_keys, state, actions, level)
        shuffles += np.asarray(turn.reshuffled)
    assert not np.asarray(game().legal(state, level)).any()
    assert_equal(state, final)
    assert_equal(np.asarray(stats.score), np.asarray(final.books.score))
    assert_equal(np.asarray(stats.shuffles), shuffles.astype(np.int32) + np.asarray(start.books.shuffles))
    assert shuffles.sum() > 0


def random_actions(mask: np.ndarray, keys: jax.Array) -> np.ndarray:
    """What the random player does: legal actions counted in reading order, horizontal pairs first."""
    actions = [np.flatnonzero(mask[:, i]) for i in range(mask.shape[1])]
    picks = zip(actions, draws_of(keys), strict=True)
    return np.array([legal[draw.pick(len(legal))] if len(legal) else -1 for legal, draw in picks], np.int32)


# ------------------------------------------------------------------------------------- compiling


class Compilations:
    """Counts the programs that JAX compiles."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, event: str, duration: float, **_: Any) -> None:
        del duration
        self.count += event == "/jax/core/compile/backend_compile_duration"


def test_a_hundred_levels_of_one_kind_compile_once() -> None:
    kind = Kind("hundred", frozenset({"void", "jelly"}), largest=(9, 9))
    dice = Dice("hundred")
    drawn = [random_level(dice, kind)[1] for _ in range(400)]
    one_game = Game(drawn)
    levels = [level for level in drawn if one_game.accepts(level)][:100]
    assert len({(level.shape, int(level.colours)) for level in levels}) > 50
    counter = Compilations()
    _play_once(one_game, levels[0])
    jax.monitoring.register_event_duration_secs_listener(counter)
    try:
        for level in levels:
            _play_once(one_game, level)
    finally:
        jax.monitoring.unregister_event_duration_listener(counter)
    assert len(levels) == 100 and counter.count == 0


def _play_once(one_game: Game, level: Level) -> State:
    state = one_game.reset(jax.random.key(0), level)
    mask = np.asarray(one_game.legal(state, level))
    state, _ = one_game.step(jax.random.key(1), state, int(mask.argmax()), level)
    return state


# -------------------------------------------------------------------------------------- devices

ON_EIGHT_DEVICES = """
import jax, numpy as np
from functools import partial
from jax.sharding import Mesh, PartitionSpec as P
from crush_gym import Game, load_pack

assert len(jax.devices()) == 8
game = Game(load_pack("basics")["jelly"])
keys = jax.random.split(jax.random.key(3), 128)
mesh = Mesh(np.array(jax.devices()), ("boards",))

def play(keys):
    state = game.reset(keys)
    mask = game.legal(state)
    state, turn = game.step(jax.vmap(lambda k: jax.random.fold_in(k, 0))(keys), state, mask.argmax(0))
    return jax.tree.map(lambda x: x.reshape(-1, x.shape[-1]), (state, turn))

shapes = jax.eval_shape(play, keys)
out = jax.tree.map(lambda x: P(None, "boards"), shapes)
spread = jax.jit(jax.shard_map(play, mesh=mesh, in_specs=P("boards"), out_specs=out, check_vma=False))
one, eight = jax.jit(play)(keys), spread(keys)
for x, y in zip(jax.tree.leaves(one), jax.tree.leaves(eight), strict=True):
    assert len(y.sharding.device_set) == 8
    assert np.asarray(x).tobytes() == np.asarray(y).tobytes()
print("equal")
"""


@pytest.mark.slow
def test_eight_devices_play_like_one() -> None:
    flags = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", ON_EIGHT_DEVICES], env=flags, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.stdout.strip() == "equal", done.stderr[-3000:]
