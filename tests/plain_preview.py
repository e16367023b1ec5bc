"""What a move brings by itself, played by the slow reference: with new candies that all have colours of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from unittest import mock

from tests.reference import ReferenceGame, rounds, scores, waves
from tests.reference import State as SlowState
from tests.reference.board import Cell
from tests.reference.game import count_move
from tests.reference.items import COLOUR_LETTERS, Item
from tests.reference.play import Opening, Play
from tests.reference.settling import settle

MANY = 10_000
"""More candies than can come in during a turn of a small board."""


@dataclass(frozen=True)
class Gains:
    """What `crush_gym.Preview` says of one move; goals: units done by the goal's name, where there are any."""

    score: int
    cleared: int
    specials: int
    waves: int
    stopped: bool
    goals: dict[str, int]
    """Without the score."""


class WouldDrawError(Exception):
    """A colour bomb is about to draw its colour."""


@dataclass
class OwnColours:
    """Scripted randomness without any: the n-th new candy has colour 7 + n, and nothing else is ever asked for."""

    number: int = 0
    made: list[Item] = field(default_factory=list)

    def spawn_colour(self, row: int, col: int, k: int, colours: int) -> int:
        self.number += 1
        return len(COLOUR_LETTERS) - 1 + self.number

    def bomb_colour(self, row: int, col: int, round_number: int, choices: int) -> int:
        raise AssertionError("a preview draws nothing")

    chocolate = shuffle = recolour = bomb_colour  # type: ignore[assignment]


def previewed(game: ReferenceGame, state: SlowState, action: int) -> Gains:
    """What a legal move brings."""
    draws = OwnColours()
    play = game._play(state, draws)
    count_move(play)
    stopped = False
    with _watched(draws):
        try:
            waves.first_wave(play, *game.pairs[action])
            settle(play)
            waves.later_waves(play)
        except WouldDrawError:
            stopped = True
    after = _left(game, play.state)
    done = {name: left - after[name] for name, left in _left(game, state).items()}
    return Gains(
        score=play.state.score - state.score,
        cleared=play.cleared,
        specials=len(draws.made),
        waves=play.wave,
        stopped=stopped,
        goals={name: units for name, units in done.items() if units},
    )


def _left(game: ReferenceGame, state: SlowState) -> dict[str, int]:
    """What is missing of the goals that are counted in units."""
    jelly = {"jelly": state.board.jelly_layers()} if "jelly" in game.level.goals else {}
    return {**jelly, **state.ingredients_left, **state.orders_left}


@contextmanager
def _watched(draws: OwnColours) -> Iterator[None]:
    """The reference, which notes what runs make, stops before a draw, and knows of orders for any colour."""
    fire, play_wave = rounds.fire, waves.play_wave

    def fire_or_stop(play: Play, fired: rounds.Fired, area: set[Cell]) -> rounds.Fired:
        if any(item.is_colour_bomb for _, item in fired):
            for _, item in fired:
                scores.count_kind(play, item)
            raise WouldDrawError
        return fire(play, fired, area)

    def noted(play: Play, opening: Opening, made: dict[Cell, Item]) -> None:
        draws.made += made.values()
        play_wave(play, opening, made)

    with (
        mock.patch.object(rounds, "fire", fire_or_stop),
        mock.patch.object(waves, "play_wave", noted),
        mock.patch.object(scores, "COLOUR_LETTERS", COLOUR_LETTERS + "?" * MANY),
    ):
        yield
