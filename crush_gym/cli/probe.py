"""Short runs of each rule set: how long its programs take to compile, and how fast it plays."""

from __future__ import annotations

import time
from dataclasses import dataclass

import jax
import numpy as np

from crush_gym import Game, Level
from crush_gym.keys import move_key

RULES = ("saga", "points", "combo")


@dataclass(frozen=True)
class Speed:
    """Random play of many attempts: moves a second, and the seconds before the first one."""

    rules: str
    attempts: int
    moves: int
    moves_per_second: float
    compile_seconds: float


def game_of(rules: str) -> Game:
    """The rule set's usual game; saga on an open board of 9 x 9 without goals."""
    if rules != "saga":
        return Game(rules=rules)
    board = [" ".join("?" * 9)] * 9
    return Game(Level.from_dict({"name": "open board", "colours": 6, "moves": 20, "board": board}))


def first_move(rules: str) -> float:
    """Play one move; the seconds that it takes with all its compiling."""
    started = time.perf_counter()
    game, key = game_of(rules), jax.random.key(0)
    state = game.reset(key)
    action = int(np.argmax(game.legal(state)))
    after, turn = game.step(move_key(key, 0), state, action)
    if bool(turn.illegal) or int(after.books.made) != 1:
        raise RuntimeError(f"the first legal move, action {action}, was not made")
    return time.perf_counter() - started


def measure(rules: str, attempts: int = 2000) -> Speed:
    """Play the same attempts twice, the first time with compiling."""
    game, key = game_of(rules), jax.random.key(0)
    first, _ = _timed(game, key, attempts)
    seconds, moves = _timed(game, key, attempts)
    return Speed(rules, attempts, moves, moves / seconds, max(first - seconds, 0.0))


def measure_boards(rules: str, boards: int, devices: list[jax.Device]) -> Speed:
    """Play so many boards to their ends on these devices, the second time for the clock."""
    game, keys = game_of(rules), jax.random.split(jax.random.key(0), boards)
    split = devices if len(devices) > 1 else None
    times, moves = [], 0
    with jax.default_device(devices[0]):
        state = game.reset(keys)
        for _ in range(2):
            started = time.perf_counter()
            moves = int(np.sum(game.rollout(keys, state, devices=split)[1].moves))
            times.append(time.perf_counter() - started)
    return Speed(rules, boards, moves, moves / times[1], max(times[0] - times[1], 0.0))


def _timed(game: Game, key: jax.Array, attempts: int) -> tuple[float, int]:
    started = time.perf_counter()
    _, stats = game.rollout(key, attempts=attempts)
    moves = int(np.sum(stats.moves))
    return time.perf_counter() - started, moves
