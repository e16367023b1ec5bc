"""A person's attempt: moves, undo, hints and records, in the level's own game and in a larger one."""

from __future__ import annotations

import sys
import warnings

import jax
import numpy as np
import pytest

from crush_gym import Game
from crush_gym.session import Session
from crush_gym.swaps import converted

SEED = 3


@pytest.fixture(scope="module")
def game() -> Game:
    return Game(rules="combo", shape=(5, 6))


@pytest.fixture
def session(game: Game) -> Session:
    assert game.level is not None
    return Session(game, game.level, SEED)


def first_legal(session: Session) -> int:
    return int(session.legal().argmax())


def bytes_of(session: Session) -> list[bytes]:
    return [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(session.state)]


def test_undo_restores_every_byte(session: Session) -> None:
    before = [bytes_of(session)]
    for _ in range(3):
        session.step(first_legal(session))
        before.append(bytes_of(session))
    for expected in reversed(before[:-1]):
        assert session.undo()
        assert bytes_of(session) == expected
    assert not session.undo() and session.actions == []


def test_a_swap_ends_where_a_step_does(session: Session) -> None:
    action = first_legal(session)
    session.step(action)
    stepped = bytes_of(session)
    session.undo()
    frames = session.swap(action)
    assert len(frames) > 2 and bytes_of(session) == stepped


def test_a_hint_is_legal_changes_nothing_and_knows_no_future(session: Session) -> None:
    before = bytes_of(session)
    hint = session.hint()
    assert hint is not None and session.may(hint) and bytes_of(session) == before
    other = Session(session.game, session.level, SEED)
    other.key = jax.random.key(SEED + 1)
    assert not np.array_equal(jax.random.key_data(other.move_key()), jax.random.key_data(session.move_key()))
    assert session.hint() == hint


def test_a_hint_takes_the_most_points(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    legal = np.flatnonzero(session.legal())
    best = int(legal[-1])
    step = Game.step

    def only_the_last_counts(
        self: Game, key: jax.Array, state: object, action: jax.Array, level: object = None
    ) -> object:
        after, turn = step(self, key, state, action, level)  # type: ignore[arg-type]
        return after, turn._replace(score=turn.score * (action == best))

    monkeypatch.setattr(Game, "step", only_the_last_counts)
    assert session.hint() == best


def test_a_session_is_recorded(session: Session) -> None:
    for _ in range(2):
        session.step(first_legal(session))
    assert session.record().differences() == []


def test_an_attempt_in_a_larger_game_is_recorded_as_one_of_the_levels_own() -> None:
    small, large = (Game(rules="combo", shape=shape, colours=4).level for shape in ((3, 3), (4, 4)))
    assert small is not None and large is not None
    session = Session(Game([large, small], rules="combo", adjacency="runs"), small, SEED)
    for _ in range(3):
        session.step(int(np.flatnonzero(session.legal())[-1]))
    record = session.record()
    assert record.differences() == []
    assert (record.rules, record.adjacency) == ("combo", "runs")
    assert record.actions == tuple(converted(action, (4, 4), (3, 3)) for action in session.actions)
    assert record.actions != tuple(session.actions)


def test_the_old_name_tells_the_new_one() -> None:
    sys.modules.pop("crush_gym.cli.session", None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        from crush_gym.cli.session import Session as Old  # type: ignore[import-not-found]
    assert Old is Session
    assert [str(w.message) for w in caught] == ["crush_gym.cli.session has moved to crush_gym.session"]
