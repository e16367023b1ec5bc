"""The public face of a game: keys, boards' axes, illegal actions, rollouts, errors, pictures and text."""

from __future__ import annotations

import math
import pickle
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import crush_gym.game as game_module
from crush_gym import OUTCOMES, REASONS, Game, Level, LevelPack, State, Stats, load_pack, sizes
from crush_gym.engine.moves import from_action, to_action, to_mask
from crush_gym.game import _compiled
from crush_gym.runtime import parts, threads
from crush_gym.runtime.memory import MAPS, spare_maps
from crush_gym.runtime.xla import options_for

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


@pytest.mark.parametrize("shape", [(2, 2), (2, 7), (9, 9), (16, 16)])
def test_every_action_number_names_one_move_and_is_named_by_it(shape: tuple[int, int]) -> None:
    spec = Game(rules="points", shape=shape).spec
    numbers = jnp.arange(-1, spec.actions, dtype=jnp.int32)
    moves = from_action(spec, numbers)
    np.testing.assert_array_equal(to_action(spec, moves), numbers)
    np.testing.assert_array_equal(to_mask(spec, moves), np.eye(spec.actions + 1, dtype=bool)[1:])


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
    for module in (threads, parts, game_module):
        monkeypatch.setattr(module, "cores", lambda: cores)
    monkeypatch.setattr(sizes, "ROLLOUT", most)
    monkeypatch.setattr(sizes, "LOCKSTEP", most)


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

    final, stats = game.rollout(MOVE_KEY, start, policy=policy)
    np.testing.assert_array_equal(np.asarray(stats.strayed), np.asarray(stats.moves))
    assert_equal((final, stats._replace(strayed=jnp.zeros_like(stats.moves))), over)
    attempts = game.rollout(MOVE_KEY, policy=policy, attempts=5)[1]
    np.testing.assert_array_equal(np.asarray(attempts.strayed), np.asarray(attempts.moves))
    assert not np.asarray(game.rollout(MOVE_KEY, attempts=5)[1].strayed).any()


# ---------------------------------------------------------------------------------------- errors


def two_levels() -> Game:
    return Game(load_pack("basics")[:2])


def simple() -> Game:
    return Game(rules="combo", shape=(6, 6), colours=5, moves=MOVES)


def basics(*names: str) -> LevelPack:
    pack = load_pack("basics")
    return LevelPack([pack[name] for name in names])


def coloured(colours: int) -> Level:
    return Level.from_dict(
        {"name": f"{colours} colours", "colours": colours, "moves": 5, "board": ["? ? ?", "? ? ?", "? ? ?"]}
    )


ERRORS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "wrong rules": (lambda: Game(rules="chess"), ValueError, "rules must be one of 'saga', 'points', 'combo'"),
    "a number as shape": (lambda: Game(rules="combo", shape=5), ValueError, "shape must be two whole .* not 5$"),
    "one side": (lambda: Game(rules="combo", shape=(5,)), ValueError, r"shape must be two whole .* not \(5,\)$"),
    "a word as side": (lambda: Game(rules="combo", shape=("a", 3)), ValueError, r"two whole .* not \('a', 3\)$"),
    "broken sides": (lambda: Game(rules="points", shape=(5.0, 5.0)), ValueError, r"two whole .* not \(5.0, 5.0\)$"),
    "an endless board": (lambda: Game(rules="combo", shape=(10**9, 10**9)), ValueError, "numbers from 2 to 16"),
    "a word as colours": (lambda: Game(rules="combo", colours="x"), ValueError, "colours must be a whole .*'x'$"),
    "broken moves": (lambda: Game(rules="combo", moves=2.5), ValueError, "moves must be a whole .* not 2.5$"),
    "wrong adjacency": (lambda: Game(rules="combo", adjacency="x"), ValueError, "adjacency must be one of"),
    "no levels": (lambda: Game(), ValueError, "give a Level or a LevelPack"),
    "empty levels": (lambda: Game([]), ValueError, "at least one level"),
    "shape with levels": (lambda: Game(load_pack("basics"), shape=(9, 9)), ValueError, "give either, not both"),
    "which level": (lambda: two_levels().reset(KEY), ValueError, "say which one is played"),
    "a number as key": (lambda: simple().reset(jnp.int32(3)), TypeError, "a key is expected"),
    "another kind of key": (lambda: simple().reset(jax.random.key(0, impl="rbg")), TypeError, "threefry2x32, not"),
    "unknown policy": (lambda: simple().rollout(KEY, policy="best"), ValueError, "policy must be .*not 'best'"),
    "a pack as level": (lambda: simple().reset(KEY, basics("jelly")), TypeError, r"from pack.stack\(.*not LevelPack$"),
    "a level of another kind": (
        lambda: Game(basics("plain")).reset(KEY, load_pack("basics")["jelly"]),
        ValueError,
        "^level 'jelly' is not of this game's kind: it needs jelly; make a Game of it$",
    ),
    "a stack with another kind": (
        lambda: Game(basics("plain", "jelly")).reset(KEY, basics("plain", "jelly", "locks").stack([0, 1, 2, 0])),
        ValueError,
        "^level 'locks' in the stack is not of this game's kind: it needs lock, sliding sideways; make a Game of all",
    ),
    "a stack with a larger board": (
        lambda: Game(basics("plain")).rollout(KEY, level=basics("plain", "orders").stack([0, 1])),
        ValueError,
        "level 'orders' in the stack",
    ),
    "a stack with more colours": (
        lambda: Game(coloured(4)).rollout(KEY, level=LevelPack([coloured(4), coloured(5)]).stack([1, 0]), attempts=9),
        ValueError,
        "level '5 colours' in the stack .* larger, or uses more",
    ),
    "no attempts": (lambda: simple().rollout(KEY, attempts=0), ValueError, "attempts must be at least 1, not 0"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_mistakes_are_explained(name: str) -> None:
    call, error, message = ERRORS[name]
    with pytest.raises(error, match=message):
        call()


def three(game: Game) -> Level:
    assert game.level is not None
    return LevelPack([game.level]).stack([0, 0, 0])


KEYS = jax.random.split(KEY, 3)
THREE = np.zeros(3, int)
SIX = r", but the call is for boards of shape \(6,\): give one"

FOR_OTHER_BOARDS: dict[str, tuple[Callable[[Game, State], Any], str]] = {
    "step, keys": (lambda g, s: g.step(KEYS, s, 0), rf"^the keys have shape \(3,\){SIX} key, .* keys of shape \(6,\)$"),
    "step, actions": (lambda g, s: g.step(KEY, s, THREE), rf"the actions have shape \(3,\){SIX} action .* \(6,\)$"),
    "step, levels": (lambda g, s: g.step(KEY, s, 0, three(g)), rf"the stack of levels has shape \(3,\){SIX} level"),
    "step, nested": (lambda g, s: g.step(KEYS, nested(s), 0), r"keys have shape \(3,\), .* shape \(2, 3\): give"),
    "step, one board": (lambda g, s: g.step(KEYS, lanes(s, 0), 0), "but the call is for one board: give one key$"),
    "reset": (lambda g, s: g.reset(jax.random.split(KEY, 6), three(g)), r"keys have .* boards of shape \(3,\)"),
    "random_action": (lambda g, s: g.random_action(KEYS, s), f"the keys have .*{SIX}"),
    "rollout, keys": (lambda g, s: g.rollout(KEYS, s), f"the keys have .*{SIX}"),
    "rollout, levels": (lambda g, s: g.rollout(KEY, s, three(g)), f"the stack of levels has .*{SIX}"),
    "rollout, attempts": (lambda g, s: g.rollout(KEYS, s, attempts=8), "keys have .* but there are 8 attempts: give"),
    "observe": (lambda g, s: g.observe(s, three(g)), f"the stack of levels has .*{SIX}"),
    "replay": (lambda g, s: g.replay(KEY, lanes(s, 0), THREE), "the actions have .* one board: give one action$"),
}


@pytest.mark.parametrize("name", FOR_OTHER_BOARDS)
def test_what_is_for_other_boards_is_refused(name: str, game: Game, start: State) -> None:
    call, message = FOR_OTHER_BOARDS[name]
    with pytest.raises(ValueError, match=message):
        call(game, start)


def test_what_is_for_other_boards_is_refused_under_jit_and_vmap(game: Game, start: State) -> None:
    with pytest.raises(ValueError, match=f"the actions have .*{SIX}"):
        jax.jit(game.step)(KEY, start, THREE)
    rows = jax.tree.map(lambda x: jnp.moveaxis(x, -1, 0), start)
    with pytest.raises(ValueError, match=r"the keys have .* one board: give one key"):
        jax.vmap(lambda state: game.step(KEYS, state, 0))(rows)


def test_the_text_of_a_stack_for_other_boards_is_refused(game: Game, start: State) -> None:
    with pytest.raises(ValueError, match=f"the stack of levels has .*{SIX}"):
        game.text(start, three(game))


def test_sizes_of_one_and_single_actions_stretch(game: Game, start: State) -> None:
    one, keys, level = lanes(start, slice(0, 1)), jax.random.split(KEY, BOARDS), three(game)
    level = jax.tree.map(lambda x: x[..., :1], level)

    def boards(state: State, *args: Any) -> tuple[int, ...]:
        return jax.eval_shape(lambda key, *rest: game.step(key, state, *rest)[1].score, *args).shape

    assert boards(start, KEY, 0) == boards(start, keys[:1], 0, level) == (BOARDS,)
    assert boards(one, keys, 0) == boards(one, KEY, np.zeros(BOARDS, int)) == (BOARDS,)
    assert boards(nested(start), KEY, THREE) == boards(nested(start), KEY, np.zeros((2, 1), int)) == (2, 3)
    assert game.text(start, level) == game.text(start)


@pytest.mark.parametrize("action", [1.0, True, np.zeros(BOARDS), jnp.zeros(BOARDS), np.zeros(BOARDS, bool)], ids=repr)
def test_actions_that_are_no_whole_numbers_are_refused(game: Game, start: State, action: Any) -> None:
    for step in (game.step, jax.jit(game.step)):
        with pytest.raises(
            TypeError, match=r"^actions must be whole numbers, not (float|bool)\d*: an action is an index"
        ):
            step(MOVE_KEY, start, action)


def test_a_policy_that_names_no_whole_numbers_is_refused(game: Game, start: State) -> None:
    with pytest.raises(TypeError, match="actions must be whole numbers, not float32"):
        game.rollout(MOVE_KEY, start, policy=lambda bits, state, level: jnp.zeros(bits.shape[1:]))


def test_actions_are_whole_numbers_of_any_width(game: Game, start: State) -> None:
    action = first_legal(game.legal(start))
    expected = game.step(MOVE_KEY, start, action)
    for same in (action.astype(np.int64), action.astype(np.uint8), jnp.asarray(action, jnp.int16), action.tolist()):
        assert_equal(game.step(MOVE_KEY, start, same), expected)


def test_actions_made_of_plain_numbers_compile_nothing_anew(game: Game, start: State) -> None:
    boards = start.planes.shape[2]
    program = _compiled(game.spec, "step", options_for(game.spec, boards))
    game.step(MOVE_KEY, start, jnp.zeros(boards, jnp.int32))
    known = program._cache_size()  # type: ignore[attr-defined]
    game.step(MOVE_KEY, start, jnp.where(jnp.arange(boards) > 1, 1, 2))  # which JAX calls weakly typed
    assert program._cache_size() == known > 0  # type: ignore[attr-defined]


def test_an_action_too_large_for_32_bits_is_illegal(game: Game, start: State) -> None:
    """It must not wrap to the number of another action."""
    action = first_legal(game.legal(start)).astype(np.int64) + 2**32
    for large in (action, action.astype(np.uint64), -action):
        assert np.asarray(game.step(MOVE_KEY, start, large)[1].illegal).all()


def test_a_replay_of_many_boards_is_refused(game: Game, start: State) -> None:
    with pytest.raises(ValueError, match="replay shows one board"):
        game.replay(MOVE_KEY, start, 0)


# ------------------------------------------------------------------------------------- pickling


def test_pickled_levels_and_states_play_on_alike(game: Game, start: State) -> None:
    assert game.level is not None
    pack = LevelPack([game.level])
    again, level, stack, levels = pickle.loads(pickle.dumps((start, game.level, pack.stack([0] * BOARDS), pack)))
    assert isinstance(again, State) and type(again.books) is type(start.books)
    assert_equal((again, level, stack), (start, game.level, pack.stack([0] * BOARDS)))
    assert_equal(levels[0], game.level)
    action = first_legal(game.legal(start))
    expected = game.step(MOVE_KEY, start, action)
    assert_equal(game.step(MOVE_KEY, again, action, level), expected)
    assert_equal(game.reset(KEY, stack), start)


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


SETTLED = [["a a b", "c d a", "d c c"], ["# a b a", "d b a c"], ["b c", "c b", "c a", "b c"]]
"""Boards of different sizes on which nothing falls and nothing clears, with a legal move each."""


def test_each_board_of_a_stack_shows_its_own_level() -> None:
    levels = [
        Level.from_dict({"name": str(i), "colours": 4, "moves": 9, "board": board}) for i, board in enumerate(SETTLED)
    ]
    pack, places = LevelPack(levels), np.array([[2, 0, 1], [1, 1, 2]])
    game = Game(pack, rules="combo")
    state = game.reset(KEY, pack.stack(places))
    assert game.text(state, pack.stack(places)) == [[SETTLED[i] for i in row] for row in places]
    assert game.text(lanes(lanes(state, 1), 0), pack[0]) == SETTLED[0]


@cache
def everything() -> tuple[Game, list[tuple[State, int]]]:
    """A game with every mechanic, and a few positions of one attempt with a legal action each."""
    game = Game(load_pack("basics")["everything"])
    state, positions = game.reset(KEY), []
    for m in range(4):
        legal = np.flatnonzero(game.legal(state))
        positions.append((state, int(legal[m * len(legal) // 4])))
        state, _ = game.step(jax.random.fold_in(MOVE_KEY, m), *positions[-1])
    return game, positions


ITEMS = {"*": "colour bomb", "~": "swirl", "o": "cherry", "n": "hazelnut", "C": "chocolate"}
MARKS = {"-": "striped-h", "|": "striped-v", "@": "wrapped", "+": "plus5", "$": "drop", "[": "lock", "{": "marmalade"}


def shown(token: str) -> dict[str, int]:
    """What the picture shows of a cell, by channel, read off its token (rulebook 2)."""
    body = token.rstrip("'")
    layers = len(token) - len(body)
    item, _, counter = body.strip("[]{}").partition("!")
    found = [name for mark, name in MARKS.items() if mark in body]
    found += ["floor"] if body != "#" else []
    found += ["jelly1", "jelly2"][:layers]
    found += [ITEMS[item]] if item in ITEMS else []
    found += [f"colour {item[0]}"] if item[0] in "abcdef" else []
    numbers = {"icing": int(item[1:]) * 51 if item[0] == "I" else 0, "counter": int(counter or 0) * 255 // 99}
    return dict.fromkeys(found, 255) | {name: number for name, number in numbers.items() if number}


SHOWN = ("floor", "jelly1", "jelly2", "icing", "counter", *ITEMS.values(), *MARKS.values())


def test_the_picture_of_everything_shows_what_the_text_says() -> None:
    game, positions = everything()
    names = [name for name in game.channels if name in SHOWN or name.startswith("colour ")]
    assert len(names) == len(SHOWN) + 6
    used = set()
    for state, _ in positions:
        image, rows = np.asarray(game.observe(state)), [row.split() for row in game.text(state)]
        cells = [[shown(token) for token in row] for row in rows]
        for name in names:
            expected = np.array([[cell.get(name, 0) for cell in row] for row in cells], np.uint8)
            assert_equal(image[game.channels.index(name)], expected)
            used |= {name} if expected.any() else set()
    assert set(names) - used <= {"hazelnut", "cherry"}  # these may be still to come


def test_the_picture_of_everything_shows_portals_exits_and_legal_moves() -> None:
    game, positions = everything()
    content = load_pack("basics")["everything"].to_dict()
    state, _ = positions[0]
    image, legal = np.asarray(game.observe(state)), np.asarray(game.legal(state))
    pairs = [((r, c), (r, c + 1)) for r in range(9) for c in range(8)]
    pairs += [((r, c), (r + 1, c)) for r in range(8) for c in range(9)]
    expected = {
        "portal entrances": [entrance for entrance, _ in content["portals"]],
        "portal exits": [end for _, end in content["portals"]],
        "exits": content["exits"],
        "legal": [cell for pair, allowed in zip(pairs, legal, strict=True) if allowed for cell in pair],
    }
    for name, cells in expected.items():
        found = image[game.channels.index(name)]
        assert set(map(tuple, np.argwhere(found == 255).tolist())) == set(map(tuple, cells))
        assert set(np.unique(found)) == {0, 255}


def test_a_replay_of_everything_ends_where_the_step_does() -> None:
    game, positions = everything()
    for m, (state, action) in enumerate(positions):
        key = jax.random.fold_in(MOVE_KEY, m)
        frames = game.replay(key, state, action)
        assert len(frames) > 2
        assert_equal(frames[-1], game.step(key, state, action)[0])


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
    programs = [_compiled(game.spec, name, options_for(game.spec, 1)) for name in ("reset", "legal", "step")]
    assert [program._cache_size() for program in programs] == [1, 1, 1]  # type: ignore[attr-defined]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit is Linux's")
def test_compiled_programs_are_forgotten_before_linux_runs_out_of_maps_and_games_play_on() -> None:
    game, keys = Game(rules="combo", shape=(3, 3), colours=4), jax.random.split(jax.random.key(0), 3)
    before = game.text(game.reset(keys))
    assert not spare_maps(share=1.0)
    crowded = len(MAPS.read_bytes().splitlines())
    assert spare_maps(share=0.0)
    assert len(MAPS.read_bytes().splitlines()) < crowded - 300
    assert game.text(game.reset(keys)) == before


def test_a_policy_sees_the_level_of_each_attempt() -> None:
    pack = LevelPack(
        Level.from_dict({"name": str(moves), "colours": 4, "moves": moves, "board": ["? ? ? ?"] * 4})
        for moves in (3, 5)
    )
    game, keys = Game(pack), jax.random.split(MOVE_KEY, 6)

    def policy(bits: jax.Array, state: State, level: Level) -> jax.Array:
        mask = game.legal(state)
        first, last = mask.argmax(axis=0), game.actions - 1 - mask[::-1].argmax(axis=0)
        return jnp.where(level.moves == 3, last, first)

    queued = game.rollout(keys, level=pack.stack([0, 1]), policy=policy, attempts=6)[1]
    alone = game.rollout(keys, level=pack.stack([0, 1] * 3), policy=policy)[1]
    assert_equal(queued, alone)
    assert len(np.unique(np.asarray(queued.score))) > 1
