"""What moves bring by themselves: as the slow reference plays them, and as real turns begin, whatever comes in."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crush_gym import Game, Level, LevelError, LevelPack, Preview, State
from crush_gym.engine.start import new_books
from crush_gym.engine.terrain import survey, with_boards_axis
from crush_gym.layout import JELLY, PLANES
from crush_gym.sizes import CHUNK
from tests.differential import draws_of, translate
from tests.plain_preview import Gains, previewed
from tests.random_levels import EVERYTHING, LETTERS, Dice, Kind, random_level
from tests.reference import ReferenceGame, Rules

KINDS = (
    Kind("everything", EVERYTHING, largest=(6, 6)),
    Kind("points", frozenset({"unfilled", "special", "jelly"}), rules="points", largest=(6, 6)),
    Kind("combo", frozenset({"unfilled", "icing", "plus5", "spawn"}), rules="combo", largest=(6, 6)),
)
BOARDS = 160


def settled_level(dice: Dice, kind: Kind, draws: Any) -> dict[str, Any]:
    """A random level whose board is at rest, every candy of it given."""
    while True:
        content, level = random_level(dice, kind)
        letters = LETTERS[: int(level.colours)]
        rows = ["".join(dice.choice(letters) if sign == "?" else sign for sign in row) for row in content["board"]]
        game = ReferenceGame(content, Rules(kind.rules, kind.adjacency))
        content["board"] = game.text(game.start(rows, draws))
        try:
            Level.from_dict(content)
        except LevelError:  # what it asks for was used up as the board came to rest
            continue
        return content


def state_of(game: Game, level: Level, boards: tuple[int, ...]) -> State:
    """Attempts that begin with the levels' boards as they are."""
    planes = np.stack([level.start[PLANES.index(name)][: game.spec.height] for name in game.spec.planes])
    books = jax.jit(lambda level: new_books(game.spec, survey(game.spec, with_boards_axis(level)), boards))(level)
    return State(jnp.asarray(planes), books)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_moves_bring_what_they_bring_in_the_reference_if_new_candies_match_nothing(kind: Kind) -> None:
    dice, draws = Dice(f"preview {kind.name}"), draws_of(jax.random.split(jax.random.key(0), BOARDS))
    contents = [settled_level(dice, kind, draw) | {"name": str(i)} for i, draw in enumerate(draws)]
    pack = LevelPack([Level.from_dict(content) for content in contents])
    game, stack = Game(pack, rules=kind.rules), pack.stack(range(BOARDS))
    found: Preview = jax.tree.map(np.asarray, game.preview(state_of(game, stack, (BOARDS,)), stack))
    seen = []
    for i, content in enumerate(contents):
        slow = ReferenceGame(content, Rules(kind.rules, kind.adjacency))
        state = slow.state_from_text(content["board"])
        legal = [action for action, allowed in enumerate(slow.legal(state)) if allowed]
        numbers = [translate(action, (slow.level.height, slow.level.width), game.spec) for action in legal]
        assert np.flatnonzero(found.legal[:, i]).tolist() == numbers
        assert not any(field[..., ~found.legal[:, i], i].any() for field in found)
        for action, number in zip(legal, numbers, strict=True):
            gains = previewed(slow, state, action)
            assert gains_of(game, found, content, i, number) == gains, (content, action)
            seen.append(gains)
    assert len(seen) > 2 * BOARDS
    assert max(gains.waves for gains in seen) > 2
    if kind.rules != "combo":
        assert sum(gains.specials > 0 for gains in seen) > 20
        assert sum(gains.stopped for gains in seen) > 5
        assert sum(gains.goals != {} for gains in seen) > 20


def gains_of(game: Game, found: Preview, content: dict[str, Any], i: int, number: int) -> Gains:
    """What the preview says of one move of board i; its shares as units."""
    asked = dict(content["goals"])
    wholes = {"score": asked.get("score", 0), "jelly": "".join(content["board"]).count("'") * ("jelly" in asked)}
    wholes |= {name: asked.get(name, 0) for name in ("cherry", "hazelnut")} | asked.get("orders", {})
    assert set(wholes) <= set(game.goals)
    units = {name: wholes.get(name, 0) * float(found.goals[n, number, i]) for n, name in enumerate(game.goals)}
    score = int(found.score[number, i])
    assert units.pop("score") == pytest.approx(min(score, wholes["score"]), rel=1e-5)
    return Gains(
        score=score,
        cleared=int(found.cleared[number, i]),
        specials=int(found.specials[number, i]),
        waves=int(found.waves[number, i]),
        stopped=bool(found.stopped[number, i]),
        goals={name: round(count) for name, count in units.items() if round(count, 2)},
    )


# ------------------------------------------------------------------------------------- drawn boards

BOARD = """
    d'' e f  g d
    e   f a  d e
    f   b c  e g
    d   g b  f e
    e   g b  a a"""
"""The b in row 2 goes to its right: three b in a column go, and the a above them falls beside the other two."""

SWAP = 2 * 4 + 1


def drawn(**changes: str) -> Level:
    """The board with some of its cells changed: r3c4="*"."""
    rows = [line.split() for line in BOARD.strip().splitlines()]
    for place, token in changes.items():
        rows[int(place[1])][int(place[3])] = token
    board = [" ".join(row) for row in rows]
    return Level.from_dict({"name": str(changes), "colours": 7, "moves": 9, "board": board, "goals": {"jelly": "all"}})


DRAWN = {
    "what stands goes on by itself": (drawn(), (6, 0, 2, False), 0),
    "stripes of the second wave hit new candies, too": (drawn(r1c2="a|"), (6 + 4, 0, 2, False), 0),
    "a colour bomb that is hit ends it": (drawn(r3c2="b-", r3c3="f'", r3c4="*"), (3 + 4, 0, 1, True), 1 / 3),
    "four in a line make a special candy": (drawn(r1c2="b", r0c2="a'"), (4, 1, 1, False), 0),
}
"""Cleared, specials, waves, stopped; and the share of the jelly."""


LAYERS = 4


@cache
def points() -> tuple[Game, LevelPack]:
    """A game for the drawn boards and for random ones."""
    board = ["?'' ? ? ? ?", "? a- ? * ?", "? ? b| ? ?", "? * ? c- ?", "? ? ? ? ?''"]  # LAYERS of jelly
    random = {"name": "random", "colours": 4, "moves": 20, "goals": {"jelly": "all"}, "board": board}
    pack = LevelPack([*(level for level, _, _ in DRAWN.values()), Level.from_dict(random)])
    return Game(pack, rules="points"), pack


def test_drawn_boards_bring_what_one_can_count_on_them() -> None:
    game, pack = points()
    stack = pack.stack(range(len(DRAWN)))
    found = game.preview(state_of(game, stack, (len(DRAWN),)), stack)
    for i, (name, (_, gains, jelly)) in enumerate(DRAWN.items()):
        one = jax.tree.map(lambda x, i=i: np.asarray(x)[..., SWAP, i], found)
        assert one.legal
        assert (int(one.cleared), int(one.specials), int(one.waves), bool(one.stopped)) == gains, name
        assert one.score == one.cleared
        np.testing.assert_allclose(one.goals, [jelly * (goal == "jelly") for goal in game.goals], rtol=1e-6)


# -------------------------------------------------------------------------------------- real turns


def positions(game: Game, level: Level, boards: int) -> State:
    """Boards after a random move."""
    state = game.reset(jax.random.split(jax.random.key(1), boards), level)
    actions = game.random_action(jax.random.key(2), state)
    return game.step(jax.random.key(3), state, actions, level)[0]


def layers(game: Game, state: State) -> np.ndarray:
    """Layers of jelly that are left."""
    planes = [state.planes[game.spec.planes.index(name)] for name in JELLY]
    return np.bitwise_count(np.stack(planes)).astype(int).sum((0, 1))


@pytest.mark.slow
def test_real_turns_begin_as_previewed_whatever_comes_in() -> None:
    game, pack = points()
    boards, keys, level = 64, 12, pack["random"]
    state = positions(game, level, boards)
    found: Preview = jax.tree.map(lambda x: np.asarray(x)[..., None], game.preview(state, level))
    shape = (game.actions, boards, keys)
    copies = jax.tree.map(lambda x: jnp.broadcast_to(x[..., None, :, None], (*x.shape[:-1], *shape)), state)
    actions = jnp.broadcast_to(jnp.arange(game.actions)[:, None, None], shape)
    after, turn = jax.tree.map(np.asarray, game.step(jax.random.key(4), copies, actions, level))
    assert np.array_equal(~turn.illegal, np.broadcast_to(found.legal, shape))
    jelly = layers(game, state)[:, None] - layers(game, after)
    share = found.goals[game.goals.index("jelly")]
    real = {"score": turn.score, "cleared": turn.cleared, "waves": turn.waves, "jelly": jelly}
    seen = {"score": found.score, "cleared": found.cleared, "waves": found.waves, "jelly": np.round(share * LAYERS)}
    once, ended = found.legal & (found.waves == 1), ~turn.illegal & (turn.waves == 1) & ~found.stopped
    assert (once & found.stopped).sum() > 10 and ended.sum() > 1000 and (seen["jelly"] > 0)[once].sum() > 10
    for name, gains in seen.items():
        assert (real[name] >= np.where(once, gains, 0)).all(), name
        np.testing.assert_array_equal(real[name][ended], np.broadcast_to(gains, shape)[ended])


def test_nothing_is_left_to_preview_on_a_finished_board() -> None:
    game, pack = points()
    state = positions(game, pack["random"], 64)
    over = state._replace(books=state.books._replace(outcome=jnp.ones_like(state.books.outcome)))
    assert not any(np.any(field) for field in game.preview(over, pack["random"]))


# ------------------------------------------------------------------------------------ arrangements


def test_boards_bring_the_same_however_they_are_batched_and_mapped() -> None:
    game = Game(rules="combo", shape=(5, 5))
    boards = 5 * CHUNK + 20  # more than are played at a time on one core
    state = game.reset(jax.random.split(jax.random.key(1), boards))
    all_of_them = game.preview(state)
    assert np.asarray(all_of_them.score).any()

    def taken(tree: Any, lanes: Any) -> Any:
        return jax.tree.map(lambda x: np.asarray(x)[..., lanes], tree)

    last = boards - 1
    assert_equal(game.preview(taken(state, last)), taken(all_of_them, last))
    some = np.arange(6).reshape(2, 3) + CHUNK - 3
    assert_equal(jax.jit(game.preview)(taken(state, some)), taken(all_of_them, some))
    first = jax.tree.map(lambda x: jnp.moveaxis(x, -2, 0), taken(state, some))
    mapped = jax.vmap(game.preview)(first)
    assert_equal(jax.tree.map(lambda x: jnp.moveaxis(x, 0, -2), mapped), taken(all_of_them, some))


def assert_equal(one: Preview, other: Preview) -> None:
    for x, y in zip(one, other, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)
