"""Policies that ask players of other kinds: each board's own copy, or a model for all boards."""

from __future__ import annotations

import copy
import inspect
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.random import default_rng  # by its name: players may put another into its place

from agents.attempts import Array, PolicyError
from agents.foreign.kinds import has, parameters
from agents.foreign.window import Window, one, some
from agents.protocol import Memory, Policy
from crush_gym import Level, State
from crush_gym.runtime import sizes

Ask = Callable[[Memory, Any, Array, Array, Array], Sequence[Any]]
"""(memory of the boards, observations, masks, boards still playing, moves made) -> their answers."""


@dataclass(frozen=True)
class Foreign:
    """A player of another kind. Its memory is a seat for each board, changed in place; a model has none."""

    name: str
    player: Any
    window: Window
    illegal: str

    def policy(self) -> Policy:
        """The player as one of this protocol, asked on the host."""
        return Policy(self.act, self.start, traceable=False, lanes=sizes.FOREIGN)

    def start(self, params: Any, key: jax.Array, state: State, level: Level) -> Memory:
        """Seats for these attempts."""
        del params, state, level
        words = np.asarray(jax.random.key_data(key))
        seats = np.empty(words.shape[:-1], object)
        for place in np.ndindex(seats.shape):
            seats[place] = _Seat(self.player, words[place])
        return seats

    def act(self, params: Any, key: jax.Array, memory: Memory, state: State, level: Level) -> tuple[jax.Array, Memory]:
        """Ask for the boards still playing; elsewhere, action 0."""
        del params
        boards = np.shape(state.books.outcome)
        masks, obs = self.window.masks(state), self.window.observations(state, level)
        made = np.asarray(state.books.made).reshape(-1)
        playing = np.flatnonzero(masks.any(axis=1))
        actions = np.zeros(math.prod(boards), np.int32)
        if playing.size:
            ask = self._ask_model if predicts(self.player) else self._ask_seats
            answers = ask(memory.reshape(-1), obs, masks, playing, made)
            actions[playing] = [self._action(x, masks.shape[1], made[i]) for i, x in zip(playing, answers, strict=True)]
        wrong = playing[~masks[playing, actions[playing]]]
        if wrong.size and self.illegal == "raise":
            raise self._refused(f"action {actions[wrong[0]]}, which is not legal,", made[wrong[0]])
        if wrong.size:
            actions = np.array(self.window.game.legal_action(key, state, actions.reshape(boards))[0]).reshape(-1)
        return jnp.asarray(actions.reshape(boards)), memory

    def _ask_seats(self, seats: Array, obs: Any, masks: Array, playing: Array, made: Array) -> list[Any]:
        answers = []
        for i in playing:
            try:
                answers.append(seats[i].ask(one(obs, i), masks[i].copy()))
            except Exception as reason:
                raise self._raised(reason, f" at move {made[i] + 1} of an attempt") from reason
        return answers

    def _ask_model(self, seats: Array, obs: Any, masks: Array, playing: Array, made: Array) -> Sequence[Any]:
        del seats, made
        offered = {"action_masks": masks[playing], "deterministic": True}
        try:
            answer = self.player.predict(some(obs, playing), **_taken(self.player.predict, offered))
        except Exception as reason:
            raise self._raised(reason, "") from reason
        if isinstance(answer, tuple):
            if any(part is not None for part in answer[1:]):
                raise PolicyError(
                    f"the agent {self.name!r} is a recurrent model, whose memory `predict` hands back: write an agent "
                    "that keeps it for each board, see agents/protocol.py"
                )
            answer = answer[0]
        if np.shape(answer) != playing.shape:
            raise PolicyError(
                f"the agent {self.name!r} answered {_short(answer)} for {playing.size} boards, expected one action each"
            )
        return list(answer)

    def _action(self, answer: Any, most: int, made: int) -> int:
        """The answer as the number of an action."""
        try:
            number = operator.index(answer.item() if isinstance(answer, np.ndarray) and answer.size == 1 else answer)
        except TypeError:
            number = -1
        if isinstance(answer, (bool, np.bool_)) or not 0 <= number < most:
            raise self._refused(f"{_short(answer)}, where a whole number from 0 to {most - 1} is expected,", made)
        return number

    def _refused(self, what: str, made: int) -> PolicyError:
        advice = "" if self.illegal == "random" else "; illegal='random' in `adapt` plays a random legal one instead"
        return PolicyError(
            f"the agent {self.name!r} answered {what} as move {made + 1} of an attempt: choose one for which the mask "
            f"is True{advice}"
        )

    def _raised(self, reason: Exception, when: str) -> PolicyError:
        said = " ".join(str(reason).split()) or "without a word"
        return PolicyError(f"the agent {self.name!r} raised {type(reason).__name__}{when}: {said}")


class _Seat:
    """One attempt of one player: its own copy, made when it is first asked, and its own random numbers."""

    def __init__(self, player: Any, words: Array) -> None:
        self.player, self.words = player, words
        self.act: Callable[..., Any] | None = None

    def ask(self, obs: Any, mask: Array) -> Any:
        """What the player answers."""
        if self.act is None:
            player = copy.deepcopy(self.player)
            if has(player, "reset"):
                player.reset()
            self.act = player.act if has(player, "act") else player
            self.rng = default_rng(self.words)
            self.taken = min(max(len(parameters(self.act)), 1), 3)
        return self.act(*(obs, mask, self.rng)[: self.taken])


def predicts(player: Any) -> bool:
    """Whether it is a model that is asked for many boards at once."""
    return has(player, "predict") and not has(player, "act")


def _taken(function: Any, offered: dict[str, Any]) -> dict[str, Any]:
    """The keyword arguments that the function takes."""
    known = inspect.signature(function).parameters
    open_end = any(p.kind is p.VAR_KEYWORD for p in known.values())
    return {name: value for name, value in offered.items() if name in known or open_end}


def _short(value: Any) -> str:
    """A value in few words."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array {value.dtype}{list(value.shape)}"
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
