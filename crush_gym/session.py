"""One attempt of a person at a level: moves, undo, hints, and the record of it all."""

from __future__ import annotations

from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np

from crush_gym import OUTCOMES, REASONS, Game, Level, State, Turn
from crush_gym.attempt_log import Final, Record
from crush_gym.keys import move_key, player_key
from crush_gym.swaps import converted

__all__ = ["Session"]

FUTURES = 8
"""How many possible refills a hint looks at for each move."""


@dataclass
class Session:
    """An attempt under way at a level, in its own game or in any game that accepts it.

    seed: the attempt's key is `jax.random.key(seed)`
    states: every position from the start; actions: the moves made, by the game's numbers (see `crush_gym.swaps`)
    """

    game: Game
    level: Level
    seed: int
    states: list[State] = field(default_factory=list, init=False)
    actions: list[int] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.key = jax.random.key(self.seed)
        self.states.append(self.game.reset(self.key, self.level))

    @property
    def state(self) -> State:
        """The position now."""
        return self.states[-1]

    @property
    def over(self) -> bool:
        """Whether the attempt has ended."""
        return self.outcome != "playing"

    @property
    def outcome(self) -> str:
        """One of `crush_gym.OUTCOMES`."""
        return OUTCOMES[int(self.state.books.outcome)]

    @property
    def reason(self) -> str:
        """One of `crush_gym.REASONS`."""
        return REASONS[int(self.state.books.reason)]

    def rows(self, state: State | None = None) -> list[str]:
        """A position, by default the one now, as rows of tokens."""
        return self.game.text(self.state if state is None else state, self.level)

    def legal(self) -> np.ndarray:
        """Which actions are legal now: bool[actions]."""
        return np.asarray(self.game.legal(self.state))

    def may(self, action: int) -> bool:
        """Whether an action is legal now."""
        legal = self.legal()
        return 0 <= action < len(legal) and bool(legal[action])

    def move_key(self) -> jax.Array:
        """The key of the coming move."""
        return move_key(self.key, len(self.actions))

    def step(self, action: int) -> Turn:
        """Make a legal move."""
        state, turn = self.game.step(self.move_key(), self.state, action, self.level)
        self._made(action, state)
        return turn

    def swap(self, action: int) -> list[State]:
        """Make a legal move and return it beat by beat, ending where it ends."""
        frames = self.game.replay(self.move_key(), self.state, action, self.level)
        self._made(action, frames[-1])
        return frames

    def _made(self, action: int, state: State) -> None:
        self.states.append(state)
        self.actions.append(action)

    def undo(self) -> bool:
        """Take the last move back; False where there is none."""
        if not self.actions:
            return False
        self.actions.pop()
        self.states.pop()
        return True

    def prepare(self) -> None:
        """Compile what `swap` needs, without making a move."""
        legal = self.legal()
        if legal.any():
            self.game.replay(self.move_key(), self.state, int(legal.argmax()), self.level)

    def hint(self) -> int | None:
        """The legal move that makes most points at once on average over imagined refills; None without one."""
        legal = self.legal()
        if not legal.any():
            return None
        key = move_key(player_key(self.key), len(self.actions))  # a player's, which does not see what comes
        boards = len(legal) * FUTURES
        copies = jax.tree.map(lambda x: jnp.broadcast_to(x[..., None], (*x.shape, boards)), self.state)
        _, turn = self.game.step(key, copies, jnp.tile(jnp.arange(len(legal)), FUTURES), self.level)
        values = np.mean(_value(turn).reshape(FUTURES, -1), axis=0)
        return int(np.where(legal, values, -np.inf).argmax())

    def record(self) -> Record:
        """What was played so far, with the actions numbered on the level's own board."""
        spec = self.game.spec
        final = Final.of(self.game, self.state, self.level)
        actions = converted(self.actions, self.game.shape, self.level.shape).tolist()
        return Record(self.level, self.seed, tuple(actions), final, spec.rules, spec.adjacency)


def _value(turn: Turn) -> np.ndarray:
    """What a move is worth: points, and above all winning and not losing."""
    outcome = np.asarray(turn.outcome)
    decided = (outcome == OUTCOMES.index("won")) * 1e6 - (outcome == OUTCOMES.index("lost")) * 1e6
    return np.asarray(turn.score) + decided
