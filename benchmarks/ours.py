"""Measure crush_gym itself: rollouts, steps, batch sizes, boards, first calls and memory.

Every measurement is a function of few arguments that gives numbers by name; what fails gives a sentence instead.
"""

import functools
import json
import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from crush_gym import Game, Level, State, load_pack

ROOT = Path(__file__).resolve().parent.parent
GAMES = ("plain", "specials", "points", "everything")
ATTEMPTS = {"plain": 40_000, "specials": 20_000, "points": 20_000, "everything": 40_000}
BATCHES = (64, 512, 1088, 4096, 4160, 16448, 65600)
ENDLESS = 10**6
WORKER = """
import os, sys, time
start = time.perf_counter()
if "CRUSH_GYM_BENCH_CORE" in os.environ:
    os.sched_setaffinity(0, {int(os.environ["CRUSH_GYM_BENCH_CORE"])})
from benchmarks import ours
ours.work(start, *sys.argv[1:])
"""

Value = float | str
"""A number, or a sentence on why there is none."""
Values = dict[str, Value]


def make_game(name: str, moves: int | None = None) -> Game:
    """One of the measured games, with so many moves if that is said."""
    if name == "plain":
        return Game(rules="combo", colours=6, moves=moves or 50)
    if name == "points":
        return Game(rules="points", moves=moves)
    return Game(make_level(name, moves))


def make_level(name: str, moves: int | None) -> Level:
    """The level of a saga game; one with a time limit loses it when moves are given."""
    if name == "specials":
        board = [" ".join("?" * 9)] * 9
        return Level.from_dict({"name": name, "colours": 6, "moves": moves or 50, "goals": {}, "board": board})
    level = load_pack("basics")[name].to_dict()
    if moves is not None:
        level.pop("seconds", None)
        level["moves"] = moves
    return Level.from_dict(level)


def guard(measure: Callable[[], float]) -> Value:
    """What it measures, or one sentence on its failure."""
    try:
        return measure()
    except Exception as reason:
        return sentence(reason)


def sentence(reason: BaseException) -> str:
    """A failure in one line."""
    lines = str(reason).strip().splitlines() or ["no reason given"]
    return f"Not measured: {type(reason).__name__}: {lines[0][:200]}"


def settled(tree: Any) -> Any:
    """The arrays, once they are computed."""
    return jax.block_until_ready(tree)  # type: ignore[no-untyped-call]


def seconds_of(run: Callable[[], Any]) -> float:
    """The time of one run, its results settled."""
    start = time.perf_counter()
    settled(run())
    return time.perf_counter() - start


def rollout_speed(game: Game, attempts: int, repeats: int) -> float:
    """Moves per second of steady-state rollouts, the best of some repeats."""
    one_rollout(game, attempts, 0)
    return max(one_rollout(game, attempts, seed) for seed in range(1, repeats + 1))


def one_rollout(game: Game, attempts: int, seed: int) -> float:
    """Moves per second of one rollout, its program compiled."""
    start = time.perf_counter()
    moves = settled(game.rollout(jax.random.key(seed), attempts=attempts)[1].moves)
    took = time.perf_counter() - start
    return float(moves.sum()) / took


def attempts_for(name: str, quick: bool) -> int:
    """How many attempts one rollout plays."""
    return ATTEMPTS[name] // (20 if quick else 1)


def rollouts(quick: bool) -> Values:
    """Moves per second of every game on all cores."""
    return {name: guard(functools.partial(game_speed, name, quick)) for name in GAMES}


def game_speed(name: str, quick: bool) -> float:
    """Moves per second of one game on all cores."""
    return rollout_speed(make_game(name), attempts_for(name, quick), repeats_for(quick))


def repeats_for(quick: bool) -> int:
    """How often a measurement is repeated."""
    return 1 if quick else 3


def single_core(quick: bool) -> Values:
    """Moves per second of every game in a process that may use one core."""
    repeats = str(repeats_for(quick))
    return {
        name: guard(functools.partial(worker, "single", name, str(attempts_for(name, quick)), repeats, one_core=True))
        for name in GAMES
    }


def steps(quick: bool) -> Values:
    """Nanoseconds a board of one lockstep `step` and one `legal`, 4,096 boards."""
    count = 4 if quick else 20
    return {name: guard(functools.partial(step_cost, name, 4096, count, repeats_for(quick))) for name in GAMES}


def step_cost(name: str, boards: int, count: int, repeats: int) -> float:
    """Nanoseconds a living board of step and legal, the best of some repeats."""
    game = make_game(name, ENDLESS)
    state = one_step(game, game.reset(jax.random.split(jax.random.key(0), boards)), 0)[0]
    return min(timed_steps(game, state, count, seed) for seed in range(1, repeats + 1)) * 1e9


def timed_steps(game: Game, state: State, count: int, seed: int) -> float:
    """Seconds a living board over some steps by random moves; choosing them is not timed."""
    took, played = 0.0, 0
    for number in range(count):
        state, alive, seconds = one_step(game, state, seed * 1000 + number)
        took, played = took + seconds, played + alive
    return took / played


def one_step(game: Game, state: State, seed: int) -> tuple[State, int, float]:
    """The next states, how many boards moved, and the seconds of step and legal."""
    keys = settled(jax.random.split(jax.random.key(seed), state.planes.shape[2]))
    action = settled(game.random_action(keys, state))
    start = time.perf_counter()
    state, _ = game.step(keys, state, action)
    settled((state, game.legal(state)))
    took = time.perf_counter() - start
    return state, int((action >= 0).sum()), took


def batches(quick: bool) -> Values:
    """Nanoseconds a move of a rollout from so many boards, plain."""
    sizes = [size for size in BATCHES if not quick or size <= 4160]
    game = make_game("plain")
    return {str(size): guard(functools.partial(batch_cost, game, size, repeats_for(quick))) for size in sizes}


def batch_cost(game: Game, boards: int, repeats: int) -> float:
    """Nanoseconds a move of `rollout(keys, state)`, the best of some repeats."""
    keys = jax.random.split(jax.random.key(0), boards)
    state = settled(game.reset(keys))
    moves = float(game.rollout(keys, state)[1].moves.sum())
    return min(seconds_of(lambda: game.rollout(keys, state)) for _ in range(repeats)) / moves * 1e9


def sizes(quick: bool) -> Values:
    """Moves per second on square boards of growing size, plain."""
    sides = (5, 16) if quick else range(5, 17)
    return {f"{n}x{n}": guard(functools.partial(size_speed, n, repeats_for(quick))) for n in sides}


def size_speed(side: int, repeats: int) -> float:
    """Moves per second on one size of board."""
    return rollout_speed(Game(rules="combo", shape=(side, side), colours=6, moves=50), 2000, repeats)


def levels(quick: bool) -> Values:
    """Moves per second on every level of the basics pack."""
    pack = list(load_pack("basics"))[: 2 if quick else None]
    return {level.name: guard(functools.partial(level_speed, level, repeats_for(quick))) for level in pack}


def level_speed(level: Level, repeats: int) -> float:
    """Moves per second on one level."""
    return rollout_speed(Game(level), 2000, repeats)


def first_calls(quick: bool) -> Values:
    """Seconds from the import to the first settled move, in a fresh process without a compilation cache."""
    names = ("plain", "specials", "everything")
    return {name: guard(functools.partial(first_call, name, repeats_for(quick))) for name in names}


def first_call(name: str, repeats: int) -> float:
    """Seconds to the first settled move of one game, the best of some processes."""
    return min(worker("first", name) for _ in range(repeats))


def memory(quick: bool) -> Values:
    """Largest resident set, in MB, of a process that plays 4,096 boards."""
    names = ("plain",) if quick else ("plain", "specials", "everything")
    return {name: guard(functools.partial(worker, "memory", name)) for name in names}


def state_bytes(quick: bool) -> Values:
    """Bytes of state a board."""
    del quick
    return {name: guard(functools.partial(bytes_of, name)) for name in GAMES}


def bytes_of(name: str) -> float:
    """Bytes of one board's state."""
    state = jax.eval_shape(make_game(name).reset, jax.random.key(0))
    return float(sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in jax.tree.leaves(state)))


def mapped(quick: bool) -> Values:
    """Seconds of a jitted scan of steps over 1,088 boards: native, mapped and mapped twice."""
    game, count = make_game("plain", ENDLESS), 8 if quick else 50
    keys = jax.random.split(jax.random.key(0), (count, 1088))
    play = functools.partial(play_move, game)
    nested = keys.reshape(count, 32, 34)
    ways = {
        "native": scanned(play, game.reset(keys[0]), keys),
        "vmap": scanned(jax.vmap(play), jax.vmap(game.reset)(keys[0]), keys),
        "nested vmap": scanned(jax.vmap(jax.vmap(play)), jax.vmap(jax.vmap(game.reset))(nested[0]), nested),
    }
    rounds = [{name: seconds_of(run) for name, run in ways.items()} for _ in range(4)][1:]  # the first compiles
    return {name: min(times[name] for times in rounds) for name in ways}


def play_move(game: Game, state: State, key: jax.Array) -> State:
    """One random move on any number of boards."""
    return game.step(key, state, game.random_action(key, state))[0]


def scanned(play: Callable[[State, jax.Array], State], state: State, keys: jax.Array) -> Callable[[], State]:
    """A run of a jitted scan, a move a step."""
    run = jax.jit(lambda first, keys: jax.lax.scan(lambda now, key: (play(now, key), None), first, keys)[0])
    return functools.partial(run, state, keys)


def worker(*arguments: str, one_core: bool = False) -> float:
    """One measurement in a fresh process, without a compilation cache, if wished on one core."""
    env = {name: value for name, value in os.environ.items() if name != "JAX_COMPILATION_CACHE_DIR"}
    command = [sys.executable, "-c", WORKER, *arguments]
    if one_core:
        env["CRUSH_GYM_BENCH_CORE"] = "0"
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip().splitlines() or ["the process failed"])[-1])
    return float(json.loads(done.stdout.splitlines()[-1]))


def work(start: float, kind: str, name: str, *numbers: str) -> None:
    """What a fresh process does: print one number."""
    if kind == "single":
        result = rollout_speed(make_game(name), *map(int, numbers))
    elif kind == "first":
        first_move(make_game(name))
        result = time.perf_counter() - start
    else:
        step_cost(name, 4096, 3, 1)
        result = peak_memory()
    print(json.dumps(result))


def first_move(game: Game) -> None:
    """Reset one board, step one legal action, read the result."""
    state = game.reset(jax.random.key(0))
    action = int(jnp.argmax(game.legal(state)))
    state, turn = game.step(jax.random.key(1), state, action)
    jax.device_get((state, turn))


def peak_memory() -> float:
    """This process's largest resident set in MB; where Linux tells it, without what it was forked from."""
    status = Path("/proc/self/status")
    if status.is_file():
        return float(re.findall(r"VmHWM:\s+(\d+) kB", status.read_text())[0]) / 2**10
    import resource  # not on every system

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


PARTS: dict[str, Callable[[bool], Values]] = {
    "rollout": rollouts,
    "single core": single_core,
    "step": steps,
    "batch": batches,
    "size": sizes,
    "level": levels,
    "first call": first_calls,
    "memory": memory,
    "state": state_bytes,
    "vmap": mapped,
}
"""Every part by its name, in the order of the run."""
