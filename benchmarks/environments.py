"""Measure the environments: many boards against bare `step` and tile-match-gym, one board, imports, loading.

Alone: `python -m benchmarks.environments [--quick]` prints the values as JSON.
"""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np

import crush_gym
from benchmarks.asynchronous import Asynchronous
from benchmarks.ours import ENDLESS, ROOT, Values, guard, make_level, one_step, settled
from benchmarks.tile_match import run_tile_match
from crush_gym import Game, load_pack

BOARDS = 4096
MOVES = 50
SHARES = (0.5, 0.75)
OUTPUTS = ("jax", "numpy")
ENDLESSLY = "make_vec, jax, endless"
"""Without resets: what a mode that does not wait, of which only an endless prototype exists, is compared with."""
IMPORT = "import time; t = time.perf_counter(); import crush_gym; print(time.perf_counter() - t)"

Pace = Callable[[int], tuple[int, float]]
"""Plays so many steps: the moves that were made, and the seconds that this took without choosing them."""


def many_boards(quick: bool) -> Values:
    """Moves per second of 4,096 boards of Saga with all specials: bare steps and environments in turns, the best."""
    rounds, steps = (1, 4) if quick else (4, MOVES + 1)  # an episode and its reset
    level = make_level("specials", MOVES)
    makers: dict[str, Callable[[], Pace]] = {"bare step": bare_pace}
    for output in OUTPUTS:
        makers[f"make_vec, {output}"] = functools.partial(vector_pace, level, output)
    makers[ENDLESSLY] = functools.partial(vector_pace, make_level("specials", ENDLESS), "jax")
    for share in SHARES:
        makers[f"asynchronous, {share:.0%}"] = functools.partial(asynchronous_pace, share)
    return in_turns(makers, rounds, steps)


def in_turns(makers: dict[str, Callable[[], Pace]], rounds: int, steps: int) -> Values:
    """The best moves per second of each; they take turns, so that a busy machine is unjust to none."""
    paces: dict[str, Pace] = {}
    values: Values = {}

    def made(name: str) -> float:
        paces[name] = makers[name]()
        paces[name](2)
        return 0.0

    for name in makers:
        values[name] = guard(functools.partial(made, name))
    for _ in range(rounds):
        for name, pace in paces.items():
            before = values[name]
            if not isinstance(before, str):
                values[name] = guard(functools.partial(better, pace, steps, before))
    return values


def better(pace: Pace, steps: int, before: float) -> float:
    """Moves per second, if more than before."""
    moves, seconds = pace(steps)
    return max(before, moves / seconds)


def bare_pace() -> Pace:
    """`game.step` and nothing else, on boards whose attempts never end."""
    game = Game(make_level("specials", ENDLESS))
    state = one_step(game, game.reset(jax.random.split(jax.random.key(0), BOARDS)), 0)[0]

    def pace(steps: int) -> tuple[int, float]:
        nonlocal state
        took = 0.0
        for number in range(steps):
            keys = settled(jax.random.split(jax.random.key(number), BOARDS))
            action = settled(game.random_action(keys, state))
            start = time.perf_counter()
            state = settled(game.step(keys, state, action))[0]
            took += time.perf_counter() - start
        return steps * BOARDS, took

    return pace


def vector_pace(level: Any, output: str) -> Pace:
    """The environment as people make it: planes, masks, rewards, resets at the next step."""
    envs = gym.make_vec("crush_gym:Crush/Saga-v0", num_envs=BOARDS, level=level, output=output)
    _, info = envs.reset(seed=0)
    over = np.zeros(BOARDS, bool)
    choose = jax.jit(any_legal)

    def pace(steps: int) -> tuple[int, float]:
        nonlocal info, over
        took, moves = 0.0, 0
        for number in range(steps):
            action = settled(choose(jax.random.key(number), info["action_mask"]))
            action = action if output == "jax" else np.asarray(action)
            start = time.perf_counter()
            _, _, terminated, truncated, info = settled(envs.step(action))
            took += time.perf_counter() - start
            moves += int((~over).sum())
            over = np.asarray(terminated) | np.asarray(truncated)
        return moves, took

    return pace


def any_legal(key: jax.Array, masks: jax.Array) -> jax.Array:
    """A legal action of each board, int32[B]. masks: int8[B, actions]."""
    noise = jax.random.uniform(key, masks.shape)
    return jnp.argmax(jnp.where(masks != 0, noise, -1.0), axis=1).astype(jnp.int32)


def asynchronous_pace(share: float) -> Pace:
    """Boards handed over as soon as this share of them is quiet, with planes, masks and rewards."""
    boards = Asynchronous(Game(make_level("specials", ENDLESS)), BOARDS, share)

    def pace(steps: int) -> tuple[int, float]:
        took, moves = 0.0, 0
        for number in range(steps):
            actions = settled(boards.choose(number))
            start = time.perf_counter()
            settled(boards.send_and_receive(actions))
            took += time.perf_counter() - start
            moves += boards.handed
        return moves, took

    return pace


def one_board(quick: bool) -> Values:
    """Steps per second of one `gym.make` environment, warm, actions drawn from its masks."""
    seconds = 0.5 if quick else 3.0
    return {name: guard(functools.partial(single_speed, name, seconds)) for name in ("specials", "points")}


def single_speed(name: str, seconds: float) -> float:
    """Steps per second, resets among them."""
    if name == "points":
        env: Any = gym.make("crush_gym:Crush/Points-v0")
    else:
        env = gym.make("crush_gym:Crush/Saga-v0", level=make_level("specials", MOVES))
    rng = np.random.default_rng(0)
    _, info = env.reset(seed=0)
    _, _, _, _, info = env.step(int(rng.choice(np.flatnonzero(info["action_mask"]))))
    steps, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        _, _, terminated, truncated, info = env.step(int(rng.choice(np.flatnonzero(info["action_mask"]))))
        if terminated or truncated:
            _, info = env.reset()
        steps += 1
    return steps / (time.perf_counter() - start)


def tile_match_vector(quick: bool) -> Values:
    """Moves per second of tile-match-gym's own `make_vec`, all specials."""
    ways = [(envs, mode) for envs in (2, 64) for mode in ("async", "sync")]
    return {f"{envs} {mode}": guard(functools.partial(peer_speed, envs, mode, quick)) for envs, mode in ways}


def peer_speed(envs: int, mode: str, quick: bool) -> float:
    """One of the ways of tile-match-gym's vector environment."""
    return float(run_tile_match(True, envs=envs, seconds=0.5 if quick else 5.0, mode=mode)["moves_per_s"])


def loading(quick: bool) -> Values:
    """Seconds to import the package in a fresh process, and to read a pack of 1,000 levels from a file."""
    repeats = 2 if quick else 5
    return {
        "import crush_gym": guard(lambda: min(import_seconds() for _ in range(repeats))),
        "load 1,000 levels": guard(lambda: min(load_seconds() for _ in range(repeats))),
    }


def import_seconds() -> float:
    """Seconds of `import crush_gym` in a fresh process."""
    done = subprocess.run([sys.executable, "-c", IMPORT], cwd=ROOT, capture_output=True, text=True, check=True)
    return float(done.stdout)


def load_seconds() -> float:
    """Seconds to read and check the pack `ladder` from a file of its own."""
    pack = load_pack("ladder")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pack.json"
        pack.save(path)
        start = time.perf_counter()
        read = crush_gym.LevelPack.load(path)
        took = time.perf_counter() - start
    if len(read) != 1000:
        raise RuntimeError(f"the pack has {len(read)} levels, not 1,000")
    return took


PARTS: dict[str, Callable[[bool], Values]] = {
    "environments": many_boards,
    "tile-match make_vec": tile_match_vector,
    "one environment": one_board,
    "loading": loading,
}
"""Every part by its name, in the order of the run."""


def main() -> None:
    """Measure the parts named on the command line, or all."""
    quick = "--quick" in sys.argv
    for name in [name for name in sys.argv[1:] if name in PARTS] or list(PARTS):
        print(json.dumps({name: PARTS[name](quick)}, indent=1), flush=True)


if __name__ == "__main__":
    main()
