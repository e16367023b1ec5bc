"""The positions that a turn or an attempt goes through, as rows of tokens for the other functions here."""

from __future__ import annotations

from collections.abc import Iterable

import jax

from crush_gym.engine.state import State
from crush_gym.game import Game
from crush_gym.levels.level import Level


def frames_of_turn(
    game: Game, key: jax.Array, state: State, action: jax.Array | int, level: Level | None = None
) -> list[list[str]]:
    """The position before the move, then those of `Game.replay`; arguments as there."""
    return [game.text(state, level), *(game.text(beat, level) for beat in game.replay(key, state, action, level))]


def frames_of_attempt(
    game: Game, key: jax.Array, actions: Iterable[jax.Array | int], level: Level | None = None
) -> list[list[str]]:
    """The positions of a whole attempt: `Game.reset(key)`, then each move m with the key fold_in(key, m)."""
    state = game.reset(key, level)
    frames = [game.text(state, level)]
    for move, action in enumerate(actions):
        beats = game.replay(jax.random.fold_in(key, move), state, action, level)
        frames += [game.text(beat, level) for beat in beats]
        state = beats[-1]
    return frames
