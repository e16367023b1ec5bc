"""Records: what it takes to play an attempt again, and where it must end.

A record is a JSON file that holds one object:

    {"format": 1,
     "rules": "saga",                    or "points", "combo"; "adjacency": "runs" beside it where that is so
     "level": {...},                     as in level files (rulebook 2)
     "seed": 7,                          the attempt's key is jax.random.key(7)
     "actions": [12, 80, 3],             the moves, all legal; move m, from 0, has the key fold_in(key, m)
     "final": {"score": 1260, "outcome": "won", "board": ["a b b", "c a* ..."]},
     "versions": {"crush_gym": "0.1.0", "jax": "0.12.0"}}

Other keys are ignored, so that whoever writes a record may add who played it.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

import jax
import numpy as np

import crush_gym
from crush_gym.engine.plan import SPECIALS
from crush_gym.engine.state import State
from crush_gym.game import OUTCOMES, Game
from crush_gym.keys import move_key
from crush_gym.levels import Level, LevelError
from crush_gym.levels.errors import show, show_path
from crush_gym.levels.files import parse_json, write_file
from crush_gym.levels.writing import format_level, level_to_dict
from crush_gym.swaps import number_of_actions

FORMAT = 1
"""The version of the file format that is written; newer ones are refused."""

SEEDS = 2**32
"""Seeds are below this: the keys of larger ones repeat."""

MAX_BYTES = 2**24


class RecordError(ValueError):
    """A record that cannot be read, or that the game does not follow."""


@dataclass(frozen=True)
class Final:
    """Where an attempt stands after its last move. outcome: one of `crush_gym.OUTCOMES`; board: rows of tokens."""

    score: int
    outcome: str
    board: tuple[str, ...]

    @classmethod
    def of(cls, game: Game, state: State, level: Level | None = None) -> Final:
        """Of one board; level: as for `Game.text`."""
        outcome = OUTCOMES[int(np.asarray(state.books.outcome))]
        return cls(int(np.asarray(state.books.score)), outcome, tuple(game.text(state, level)))


@dataclass(frozen=True)
class Record:
    """An attempt: its level, its seed and its moves; `final` is where they led when it was recorded."""

    level: Level
    seed: int
    actions: tuple[int, ...]
    final: Final
    rules: str = "saga"
    adjacency: str = "any"
    versions: dict[str, str] = field(default_factory=lambda: versions(), compare=False)

    @classmethod
    def of(
        cls, level: Level, seed: int, actions: Sequence[int], *, rules: str = "saga", adjacency: str = "any"
    ) -> Record:
        """Record an attempt by playing it."""
        moves = tuple(int(action) for action in actions)
        draft = cls(level, seed, moves, Final(0, OUTCOMES[0], ()), rules, adjacency)
        return cls(level, seed, moves, draft.play(), rules, adjacency)

    @classmethod
    def from_dict(cls, value: object) -> Record:
        """Read a record, or raise a `RecordError` that says what is wrong with it."""
        return _read(value)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Record:
        """Read a record from a file, or raise a `RecordError`."""
        source = show_path(path)
        try:
            with open(path, "rb") as file:
                content = file.read(MAX_BYTES + 1)
            return _read(parse_json(content))
        except IsADirectoryError:
            raise RecordError(f"{source} is a directory, expected the log of an attempt") from None
        except OSError as error:
            raise RecordError(f"{source} cannot be read: {error.strerror}") from None
        except LevelError as error:
            raise RecordError(f"{source} is not the log of an attempt: {error}") from None
        except RecordError as error:
            raise RecordError(f"{source} {error}") from None

    def to_dict(self) -> dict[str, Any]:
        """Write the record as a dict of the file format."""
        beside = {} if self.adjacency == "any" else {"adjacency": self.adjacency}
        final = {"score": self.final.score, "outcome": self.final.outcome, "board": list(self.final.board)}
        return {
            "format": FORMAT,
            "rules": self.rules,
            **beside,
            "level": level_to_dict(self.level),
            "seed": self.seed,
            "actions": list(self.actions),
            "final": final,
            "versions": dict(self.versions),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the record to a file that people can read, all of it or nothing."""
        content = self.to_dict()
        content["level"] = _Verbatim(format_level(content["level"], " "))
        content["final"] = _Verbatim(format_level(content["final"], " "))
        lines = [f'"{key}": {_written(value)}' for key, value in content.items()]
        write_file(path, "{" + ",\n ".join(lines) + "}\n")

    def game(self) -> Game:
        """The game in which this was played."""
        return Game(self.level, rules=self.rules, adjacency=self.adjacency)

    def key(self) -> jax.Array:
        """The attempt's key."""
        return jax.random.key(self.seed)

    def states(self) -> Iterator[State]:
        """Play the attempt: its start, then what stands after each move."""
        game, key = self.game(), self.key()
        state = game.reset(key)
        yield state
        for move, action in enumerate(self.actions):
            state, turn = game.step(move_key(key, move), state, action)
            if turn.illegal:
                raise RecordError(f"move {move} of the attempt, action {action}, is not legal where it is made")
            yield state

    def play(self) -> Final:
        """Play the attempt: where it really ends."""
        return Final.of(self.game(), deque(self.states(), maxlen=1)[0])

    def differences(self) -> list[str]:
        """Play the attempt and say where it does not end as recorded; nothing where it does."""
        try:
            return _differences(self.final, self.play())
        except RecordError as error:
            return [str(error)]


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
        beats = game.replay(move_key(key, move), state, action, level)
        frames += [game.text(beat, level) for beat in beats]
        state = beats[-1]
    return frames


def versions() -> dict[str, str]:
    """What decides how an attempt goes: this package, and whose random numbers it plays with."""
    return {"crush_gym": crush_gym.__version__, "jax": jax.__version__, "jaxlib": metadata.version("jaxlib")}


def _differences(recorded: Final, played: Final) -> list[str]:
    found = []
    for name in ("score", "outcome"):
        was, now = getattr(recorded, name), getattr(played, name)
        if was != now:
            found.append(f"{name}: {was} was recorded, {now} was played")
    rows = [i for i, (was, now) in enumerate(zip(recorded.board, played.board, strict=False)) if was != now]
    if len(recorded.board) != len(played.board):
        found.append(f"board: {len(recorded.board)} rows were recorded, {len(played.board)} were played")
    elif rows:
        found.append(f"board: row {rows[0]} was recorded as {recorded.board[rows[0]]!r}, not {played.board[rows[0]]!r}")
    return found


class _Verbatim(str):
    """Text that is JSON already."""


def _written(value: Any) -> str:
    return str(value) if isinstance(value, _Verbatim) else json.dumps(value, ensure_ascii=False)


def _read(value: object) -> Record:
    if not isinstance(value, dict) or "format" not in value:
        raise RecordError('is not the log of an attempt: expected an object with the key "format"')
    newest = value["format"]
    if not _whole(newest) or newest < 1:
        raise RecordError(f"is not the log of an attempt: its format is {show(newest)}")
    if newest > FORMAT:
        raise RecordError(f"was written by a newer crush_gym: its format is {newest}, and {FORMAT} is read here")
    for key in ("level", "rules", "seed", "actions", "final"):
        if key not in value:
            raise RecordError(f"is not a whole log of an attempt: it lacks the key {key!r}")
    level = _level(value["level"])
    return Record(
        level=level,
        seed=_number("seed", value["seed"], SEEDS),
        actions=_actions(value["actions"], level),
        final=_final(value["final"]),
        rules=_choice("rules", value["rules"], tuple(SPECIALS)),
        adjacency=_choice("adjacency", value.get("adjacency", "any"), ("any", "runs")),
        versions=_versions(value.get("versions", {})),
    )


def _level(value: object) -> Level:
    try:
        return Level.from_dict(value)
    except LevelError as error:
        raise RecordError(f"holds a level that is refused: {error.problems[0]}") from None


def _actions(value: object, level: Level) -> tuple[int, ...]:
    if not isinstance(value, list):
        raise RecordError(f"holds {show(value)} as actions, expected a list of whole numbers")
    most = number_of_actions(level.shape)
    return tuple(_number(f"action {i}", action, most) for i, action in enumerate(value))


def _final(value: object) -> Final:
    if not isinstance(value, dict) or not all(key in value for key in ("score", "outcome", "board")):
        raise RecordError(f"holds {show(value)} as final, expected an object with score, outcome and board")
    board = value["board"]
    if not isinstance(board, list) or not all(isinstance(row, str) for row in board):
        raise RecordError("holds a final board that is no list of strings")
    score = _number("final score", value["score"], 2**31)
    return Final(score, _choice("outcome", value["outcome"], OUTCOMES), tuple(board))


def _versions(value: object) -> dict[str, str]:
    return {str(name): str(number) for name, number in value.items()} if isinstance(value, dict) else {}


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(what: str, value: Any, below: int) -> int:
    if not _whole(value) or not 0 <= value < below:
        raise RecordError(f"holds {show(value)} as {what}, expected a whole number from 0 to {below - 1}")
    return int(value)


def _choice(what: str, value: object, known: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in known:
        raise RecordError(f"holds {show(value)} as {what}, expected one of {', '.join(known)}")
    return value
