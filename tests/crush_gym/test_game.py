"""The public face of a game: keys, boards' axes, illegal actions, rollouts, errors, pictures and text."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import crush_gym.game as game_module
from crush_gym import OUTCOMES, REASONS, Game, Level, LevelPack, State, Stats, load_pack
from crush_gym.engine import blocks
from crush_gym.game import _compiled

BOARDS = 6
MOVES = 4
ATTEMPTS = 8
KEY = jax.random.key(11)
MOVE_KEY = jax.random.key(12)


@pytest.fixture(scope="module")
def game() -> Game:
    return Game(rules="combo", shape=(6, 6), colours=5, moves=MOVES)


@pytest.fixture(scope="module")
def start(game: Game) -> State:
    """Six boards from one key."""
    return game.reset(jax.random.split(KEY, BOARDS))


@pytest.fixture(scope="module")
def over(game: Game, start: State) -> tuple[State, Stats]:
    """The six boards at the ends of their attempts."""
    final, stats = game.rollout(MOVE_KEY, start)
    assert final is not None
    return final, stats


def assert_equal(one: Any, other: Any) -> None:
    """Equal trees: shapes, types and bytes."""
    for x, y in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        x, y = np.asarray(x), np.asarray(y)
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        assert x.tobytes() == y.tobytes()


def lanes(tree: Any, i: Any) -> Any:
    """Some of the boards, or one without boards' axis."""
    return jax.tree.map(lambda x: np.asarray(x)[..., i], tree)


def nested(tree: Any) -> Any:
    """Six boards as two times three."""
    return jax.tree.map(lambda x: np.reshape(x, (*x.shape[:-1], 2, 3)), tree)


def first_legal(mask: Any) -> np.ndarray:
    return np.asarray(mask).argmax(0).astype(np.int32)


# ------------------------------------------------------------------------------- keys and boards


def test_one_key_for_many_boards_is_split_by_lane(game: Game, start: State) -> None:
    action = first_legal(game.legal(start))
    keys = jax.random.split(MOVE_KEY, BOARDS)
    assert_equal(game.step(MOVE_KEY, start, action), game.step(keys, start, action))
    assert_equal(game.random_action(MOVE_KEY, start), game.random_action(keys, start))


def test_one_key_for_a_batch_of_levels_is_split_by_lane(game: Game, start: State) -> None:
    assert game.level is not None
    levels = LevelPack([game.level]).stack(np.zeros(BOARDS, int))
    assert_equal(game.reset(KEY, levels), start)


def test_old_style_keys_are_the_same_keys(game: Game, start: State) -> None:
    assert_equal(game.random_action(jax.random.key_data(MOVE_KEY), start), game.random_action(MOVE_KEY, start))


def test_one_board_has_no_boards_axis(game: Game, start: State) -> None:
    one = game.reset(jax.random.split(KEY, BOARDS)[2])
    assert_equal(one, lanes(start, 2))
    assert one.planes.shape == (len(game.spec.planes), 6) and one.books.score.shape == ()
    mask = game.legal(one)
    assert mask.shape == (game.actions,) and mask.dtype == bool
    moved, turn = game.step(MOVE_KEY, one, int(first_legal(mask)))
    assert all(leaf.shape == () for leaf in turn)
    assert int(moved.books.moves) == MOVES - 1 and not turn.illegal and int(turn.cleared) >= 3


def test_nested_boards_keep_their_axes(game: Game, start: State) -> None:
    keys = jax.random.split(KEY, BOARDS).reshape(2, 3)
    state = game.reset(keys)
    assert_equal(state, nested(start))
    mask = game.legal(state)
    assert mask.shape == (game.actions, 2, 3)
    moved, turn = game.step(keys, state, first_legal(mask))
    assert turn.score.shape == (2, 3)
    assert_equal((moved, turn), nested(game.step(keys.reshape(-1), start, first_legal(game.legal(start)))))
    assert game.observe(state).shape == (len(game.channels), 6, 6, 2, 3)


# --------------------------------------------------------------------------- actions and endings


def test_an_illegal_action_changes_nothing_and_is_flagged(game: Game, start: State) -> None:
    mask = np.asarray(game.legal(start))
    actions = (~mask).argmax(0).astype(np.int32)
    actions[0], actions[1], actions[2] = -1, game.actions, first_legal(mask)[2]
    state, turn = game.step(MOVE_KEY, start, actions)
    legal = np.arange(BOARDS) == 2
    assert (np.asarray(turn.illegal) == ~legal).all()
    assert_equal(lanes(state, ~legal), lanes(start, ~legal))
    assert not np.any([np.asarray(leaf)[~legal] for leaf in (turn.score, turn.waves, turn.cleared, turn.reshuffled)])
    assert int(np.asarray(state.books.moves)[2]) == MOVES - 1


def test_finished_boards_have_no_legal_action_and_do_not_move(game: Game, over: tuple[State, Stats]) -> None:
    final, _ = over
    assert not np.asarray(game.legal(final)).any()
    assert (np.asarray(game.random_action(MOVE_KEY, final)) == -1).all()
    for action in (0, 17):
        state, turn = game.step(MOVE_KEY, final, np.full(BOARDS, action, np.int32))
        assert_equal(state, final)
        assert np.asarray(turn.illegal).all() and (np.asarray(turn.outcome) == np.asarray(final.books.outcome)).all()


def test_a_rollout_ends_every_board_and_reports_it(over: tuple[State, Stats]) -> None:
    final, stats = over
    assert {OUTCOMES[i] for i in np.asarray(stats.outcome)} == {"ended"}
    assert {REASONS[i] for i in np.asarray(stats.reason)} == {"moves"}
    assert (np.asarray(stats.moves) == MOVES).all() and not np.asarray(stats.moves_left).any()
    assert not np.asarray(stats.won).any() and stats.won.dtype == bool
    assert_equal(stats.score, final.books.score)
    assert_equal(stats.waves, final.books.waves)


# -------------------------------------------------------------------------------------- rollouts


def test_attempt_n_plays_from_board_n_modulo_the_boards(game: Game, start: State) -> None:
    three = lanes(start, slice(0, 3))
    final, found = game.rollout(MOVE_KEY, three, attempts=ATTEMPTS)
    assert final is None and all(leaf.shape == (ATTEMPTS,) for leaf in found)
    _, expected = game.rollout(jax.random.split(MOVE_KEY, ATTEMPTS), lanes(start, np.arange(ATTEMPTS) % 3))
    assert_equal(found, expected)


@pytest.mark.parametrize("with_state", [True, False], ids=["from a state", "from new boards"])
def test_attempts_do_not_depend_on_cores_and_lanes(
    game: Game, start: State, with_state: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = lanes(start, slice(0, 3)) if with_state else None
    set_machine(monkeypatch, cores=1, most=1000)
    expected = game.rollout(MOVE_KEY, state, attempts=ATTEMPTS)[1]
    set_machine(monkeypatch, cores=3, most=2)
    assert_equal(game.rollout(MOVE_KEY, state, attempts=ATTEMPTS)[1], expected)
    assert len(np.unique(np.asarray(expected.score))) > 3


def test_calls_do_not_depend_on_blocks(
    game: Game, start: State, over: tuple[State, Stats], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six boards in blocks of four, the last of which overlaps the one before or is smaller."""
    action = first_legal(game.legal(start))
    expected = game.step(MOVE_KEY, start, action)
    set_machine(monkeypatch, cores=2, most=4)
    assert_equal(game.step(MOVE_KEY, start, action), expected)
    assert_equal(game.rollout(MOVE_KEY, start), over)


def set_machine(monkeypatch: pytest.MonkeyPatch, cores: int, most: int) -> None:
    """Pretend to have so many cores, which take so many boards at a time."""
    for module in (blocks, game_module):
        monkeypatch.setattr(module, "cores", lambda: cores)
    monkeypatch.setattr(game_module, "LANES", most)
    monkeypatch.setattr(game_module, "BLOCK", most)


def test_a_policy_chooses_the_moves(game: Game, start: State) -> None:
    def policy(bits: jax.Array, state: State, level: Level) -> jax.Array:
        assert bits.shape == (2, state.planes.shape[-1]) and level.height.shape[-1] in (1, bits.shape[1])
        return jnp.argmax(game.legal(state), axis=0)

    final, _ = game.rollout(keys := jax.random.split(MOVE_KEY, BOARDS), start, policy=policy)
    state = start
    for m in range(MOVES):
        move_keys = jax.vmap(lambda key, m=m: jax.random.fold_in(key, m))(keys)
        state, _ = game.step(move_keys, state, first_legal(game.legal(state)))
    assert_equal(final, state)


def test_a_policy_that_names_illegal_moves_plays_at_random(game: Game, start: State, over: tuple[State, Stats]) -> None:
    def policy(bits: jax.Array, state: State, level: Level) -> jax.Array:
        del state, level
        return jnp.full(bits.shape[1:], -1, jnp.int32)

    assert_equal(game.rollout(MOVE_KEY, start, policy=policy), over)


# ---------------------------------------------------------------------------------------- errors


def two_levels() -> Game:
    return Game(load_pack("basics")[:2])


def simple() -> Game:
    return Game(rules="combo", shape=(6, 6), colours=5, moves=MOVES)


ERRORS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "wrong rules": (lambda: Game(rules="chess"), ValueError, "rules must be one of 'saga', 'points', 'combo'"),
    "wrong adjacency": (lambda: Game(rules="combo", adjacency="x"), ValueError, "adjacency must be one of"),
    "no levels": (lambda: Game(), ValueError, "give a Level or a LevelPack"),
    "empty levels": (lambda: Game([]), ValueError, "at least one level"),
    "shape with levels": (lambda: Game(load_pack("basics"), shape=(9, 9)), ValueError, "give either, not both"),
    "which level": (lambda: two_levels().reset(KEY), ValueError, "say which one is played"),
    "a number as key": (lambda: simple().reset(jnp.int32(3)), TypeError, "a key is expected"),
    "another kind of key": (lambda: simple().reset(jax.random.key(0, impl="rbg")), TypeError, "threefry2x32, not"),
    "unknown policy": (lambda: simple().rollout(KEY, policy="best"), ValueError, "policy must be .*not 'best'"),
    "no attempts": (lambda: simple().rollout(KEY, attempts=0), ValueError, "attempts must be at least 1, not 0"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_mistakes_are_explained(name: str) -> None:
    call, error, message = ERRORS[name]
    with pytest.raises(error, match=message):
        call()


def test_a_replay_of_many_boards_is_refused(game: Game, start: State) -> None:
    with pytest.raises(ValueError, match="replay shows one board"):
        game.replay(MOVE_KEY, start, 0)


# ------------------------------------------------------------------------------ pictures and text


def test_colour_planes_show_what_the_text_says(game: Game, start: State) -> None:
    image, texts = np.asarray(game.observe(start)), game.text(start)
    assert image.shape == (len(game.channels), 6, 6, BOARDS) and image.dtype == np.uint8
    assert len(set(game.channels)) == len(game.channels)
    tokens = np.moveaxis(np.array([[row.split() for row in board] for board in texts]), 0, -1)
    for letter in "abcde":
        assert_equal(
            image[game.channels.index(f"colour {letter}")], np.where(tokens == letter, 255, 0).astype(np.uint8)
        )
    assert (image[game.channels.index("ones")] == 255).all()
    assert (image[game.channels.index("left")] == 255).all()


def test_text_is_nested_as_the_boards_are(game: Game, start: State) -> None:
    texts = game.text(start)
    assert len(texts) == BOARDS and all(len(board) == 6 for board in texts)
    assert game.text(lanes(start, 4)) == texts[4]
    assert game.text(nested(start)) == [texts[:3], texts[3:]]


def test_a_replay_ends_where_the_step_does(game: Game, start: State) -> None:
    one = lanes(start, 1)
    action = int(first_legal(game.legal(one)))
    frames = game.replay(MOVE_KEY, one, action)
    assert len(frames) > 2
    assert_equal(frames[-1], game.step(MOVE_KEY, one, action)[0])


# ------------------------------------------------------------------------------ size and compiling


def test_a_board_with_everything_takes_at_most_704_bytes() -> None:
    state = jax.eval_shape(Game(load_pack("basics")["everything"]).reset, KEY)
    assert sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in jax.tree.leaves(state)) <= 704


def hundred_levels() -> list[Level]:
    """Different levels of one kind: sizes, colours and moves differ."""
    return [
        Level.from_dict(
            {
                "name": f"level {i}",
                "colours": 4 + i % 3,
                "moves": 10 + i,
                "goals": {"score": 1000 + i},
                "board": [" ".join("?" * (4 + i // 5 % 5))] * (4 + i % 5),
            }
        )
        for i in range(100)
    ]


def test_a_hundred_levels_played_in_their_pack_compile_each_program_once() -> None:
    pack = LevelPack(hundred_levels())
    game = Game(pack, rules="combo")
    for level in pack:
        assert game.accepts(level)
        state = game.reset(KEY, level)
        game.step(MOVE_KEY, state, int(first_legal(game.legal(state))), level)
    assert {name: _compiled(game.spec, name, None)[0]._cache_size() for name in ("reset", "legal", "step")} == {
        "reset": 1,
        "legal": 1,
        "step": 1,
    }
