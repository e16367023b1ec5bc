"""Drive tile-match-gym by uniformly random legal moves; prints one line of JSON.

Runs inside the environment that `tile_match.py` makes, so it imports nothing of ours.
"""

import argparse
import json
import time
from typing import Any

import gymnasium as gym
import numpy as np
import tile_match_gym
from tile_match_gym.tile_match_env import TileMatchEnv

ALL_SPECIALS: dict[str, list[str]] = {
    "colourless_specials": ["cookie"],
    "colour_specials": ["vertical_laser", "horizontal_laser", "bomb"],
}
NO_SPECIALS: dict[str, list[str]] = {"colourless_specials": [], "colour_specials": []}


def main() -> None:
    """Play as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=9)
    parser.add_argument("--columns", type=int, default=9)
    parser.add_argument("--colours", type=int, default=6)
    parser.add_argument("--moves", type=int, default=50, help="moves per game")
    parser.add_argument("--specials", choices=("none", "all"), default="none")
    parser.add_argument("--envs", type=int, default=0, help="0: one plain one; n: make_vec with n of them")
    parser.add_argument("--mode", choices=("sync", "async"), default="async", help="how make_vec steps them")
    parser.add_argument("--seconds", type=float, default=5.0, help="play at least this long")
    parser.add_argument("--games", type=int, default=1, help="and at least so many games (--envs 0)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    settings: dict[str, Any] = {
        "num_rows": options.rows,
        "num_cols": options.columns,
        "num_colours": options.colours,
        "num_moves": options.moves,
        **(ALL_SPECIALS if options.specials == "all" else NO_SPECIALS),
    }
    rng = np.random.default_rng(options.seed)
    if options.envs:
        result = play_vector(settings, options.envs, options.mode, options.seconds, options.seed, rng)
    else:
        result = play_single(settings, options.seconds, options.games, options.seed, rng)
    print(json.dumps({**vars(options), **result}))


def play_single(
    settings: dict[str, Any], seconds: float, games: int, seed: int, rng: np.random.Generator
) -> dict[str, float]:
    """Play one environment, game after game."""
    env = TileMatchEnv(**settings)
    env.reset(seed=seed)
    play_game(env, rng)  # compiles what its numba functions need
    cleared: list[int] = []
    choices: list[int] = []
    start = time.perf_counter()
    while len(cleared) < games or time.perf_counter() - start < seconds:
        total, counts = play_game(env, rng)
        cleared.append(total)
        choices += counts
    took = time.perf_counter() - start
    return {
        "played": len(choices),
        "took": took,
        "moves_per_s": len(choices) / took,
        "cleared_per_move": sum(cleared) / len(choices),
        "mean_legal": float(np.mean(choices)),
        "games_played": len(cleared),
        "cleared_per_game": float(np.mean(cleared)),
        "cleared_per_game_sd": float(np.std(cleared, ddof=1)) if len(cleared) > 1 else 0.0,
    }


def play_game(env: Any, rng: np.random.Generator) -> tuple[int, list[int]]:
    """One game by random legal moves: the cells it cleared and how many moves were legal each time."""
    _, info = env.reset()
    total, choices, done = 0, [], False
    while not done:
        legal = info["effective_actions"]
        choices.append(len(legal))
        _, cleared, done, _, info = env.step(legal[rng.integers(len(legal))])
        total += int(cleared)
    return total, choices


def play_vector(
    settings: dict[str, Any], envs: int, mode: str, seconds: float, seed: int, rng: np.random.Generator
) -> dict[str, float]:
    """Play the environments of `gym.make_vec` side by side."""
    gym.register_envs(tile_match_gym)
    venv = gym.make_vec("TileMatch-v0", num_envs=envs, vectorization_mode=mode, **settings)
    _, info = venv.reset(seed=seed)
    for _ in range(20):  # compiles what its numba functions need, in every process
        _, _, _, _, info = venv.step(random_moves(info, rng))
    played, cleared = 0, 0
    over = np.zeros(envs, dtype=bool)
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        _, reward, terminated, truncated, info = venv.step(random_moves(info, rng))
        played += int(np.sum(~over))  # the step after the last one only resets
        cleared += int(np.sum(reward[~over]))
        over = terminated | truncated
    took = time.perf_counter() - start
    venv.close()
    return {
        "played": played,
        "took": took,
        "moves_per_s": played / took,
        "cleared_per_move": cleared / played,
    }


def random_moves(info: dict[str, Any], rng: np.random.Generator) -> "np.ndarray[Any, np.dtype[np.int64]]":
    """One legal move per environment; anything where a game is over."""
    return np.array([moves[rng.integers(len(moves))] if len(moves) else 0 for moves in info["effective_actions"]])


if __name__ == "__main__":
    main()
