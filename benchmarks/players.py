"""Measure the players: tree search against bare playouts, greedy against chance, the beam, a whole pack of levels.

Alone: `python -m benchmarks.players [--quick]` prints the values as JSON.
"""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
import time

import jax
import numpy as np

from agents.attempts import play
from agents.lookahead import Lookahead
from agents.mcts import Mcts, Searcher
from agents.protocol import Policy, bound
from agents.registry import make
from benchmarks.ours import ROOT, Value, Values, guard, make_level, repeats_for, rollout_speed, settled
from crush_gym import Game, Level, load_pack
from crush_gym.keys import player_key

ATTEMPTS = 200
PLAYOUTS = ("random", "heuristic")
LADDER = """
import sys, time
from experiments.running.evaluation import evaluate
start = time.perf_counter()
found = evaluate(["random", "greedy", "heuristic"], "ladder", int(sys.argv[1]), 0, progress=False)
assert not found.errors, found.errors
print(time.perf_counter() - start, len(found.rows))
"""


def search(quick: bool) -> Values:
    """The theses' search on look-alike 13: simulations per second, and playouts without a tree on as many boards."""
    level = load_pack("thesis")["look-alike 13"]
    game, boards, values = Game(level), 20 if quick else ATTEMPTS, Values()
    for playout in PLAYOUTS:
        agent = make(f"mcts:playout={playout}")
        assert isinstance(agent, Mcts)
        values[f"{playout} playouts"] = guard(
            functools.partial(simulations, agent.searcher(game), level, boards, quick)
        )
        values[f"{playout} rollout"] = guard(functools.partial(playouts, game, playout, boards, quick))
    attempts = functools.partial(seconds_of_attempts, bound(make("mcts"), game), game, level, boards)
    values[f"{boards} attempts"] = guard(attempts)
    return values


def simulations(searcher: Searcher, level: Level, boards: int, quick: bool) -> float:
    """Simulations per second of searches from openings."""
    keys = jax.random.split(jax.random.key(0), boards)
    state = searcher.game.reset(keys, level)
    memory = searcher.start((), player_key(keys), state, level)
    best = 0.0
    for repeat in range(1 + repeats_for(quick)):
        start = time.perf_counter()
        done = settled(searcher.search(player_key(keys), memory, state, level).done)
        if repeat:  # the first one compiles
            best = max(best, float(done.sum()) / (time.perf_counter() - start))
    return best


def playouts(game: Game, player: str, boards: int, quick: bool) -> float:
    """Playouts per second from the same openings, on as many boards."""
    keys = jax.random.split(jax.random.key(0), boards)
    state, times = game.reset(keys), 2 if quick else 20
    best = 0.0
    for repeat in range(1 + repeats_for(quick)):
        start = time.perf_counter()
        for number in range(times):
            settled(game.rollout(jax.random.split(jax.random.key(number), boards), state, policy=player)[1])
        if repeat:
            best = max(best, boards * times / (time.perf_counter() - start))
    return best


def seconds_of_attempts(policy: Policy, game: Game, level: Level, attempts: int) -> float:
    """Seconds of whole attempts, all at once, everything compiled."""
    keys = jax.random.split(jax.random.key(1), attempts)
    play(policy, game, keys, level)
    start = time.perf_counter()
    play(policy, game, jax.random.split(jax.random.key(2), attempts), level)
    return time.perf_counter() - start


def cheap(quick: bool) -> Values:
    """Moves per second within `rollout`: chance, greedy and heuristic players on 4,096 boards with all specials."""
    game = Game(make_level("specials", 50))
    names = ("random", "greedy", "heuristic", "clouded")
    return {name: guard(functools.partial(chosen_speed, game, name, quick)) for name in names}


def chosen_speed(game: Game, name: str, quick: bool) -> float:
    """Moves per second of one of them."""
    attempts = 256 if quick else 4096
    if name == "random":
        return rollout_speed(game, attempts, repeats_for(quick))
    best = 0.0
    for seed in range(1 + repeats_for(quick)):
        start = time.perf_counter()
        moves = settled(game.rollout(jax.random.key(seed), policy=name, attempts=attempts)[1].moves)
        if seed:
            best = max(best, float(moves.sum()) / (time.perf_counter() - start))
    return best


def ahead(quick: bool) -> Values:
    """Looks ahead: moves simulated per second on Combo 9 x 9, with and without moves after the one that is tried."""
    game = Game(rules="combo")
    values: Values = {
        "random": guard(functools.partial(rollout_speed, game, 256 if quick else 65_536, repeats_for(quick)))
    }
    for name, changes in (("its turn alone", ""), ("four random moves after it", ",depth=4")):
        agent = make(f"lookahead:samples={8 if not changes else 2}{changes}")
        assert isinstance(agent, Lookahead)
        values[name] = guard(functools.partial(simulated, agent, game, 64 if quick else 1408, repeats_for(quick)))
    return values


def simulated(agent: Lookahead, game: Game, boards: int, repeats: int) -> float:
    """Moves simulated per second, the best of some repeats: of each move considered, all its futures to their ends."""
    state, level = game.reset(jax.random.split(jax.random.key(0), boards)), game.level
    assert level is not None
    policy, best = bound(agent, game), 0.0
    considered = np.minimum(np.asarray(game.legal(state)).sum(axis=0), agent.considered).sum()
    for repeat in range(1 + repeats):
        keys, start = player_key(jax.random.split(jax.random.key(repeat), boards)), time.perf_counter()
        settled(policy.act(policy.params, keys, (), state, level)[0])
        if repeat:  # the first one compiles
            moves = float(considered) * agent.samples * (agent.depth + 1)
            best = max(best, moves / (time.perf_counter() - start))
    return best


def beam(quick: bool) -> Values:
    """Moves per second of McAdams' player on 9 x 9, depth 2, H2."""
    game = Game(rules="points")
    assert game.level is not None
    return {"depth 2, H2": guard(functools.partial(acts, bound(make("beam"), game), game, 64 if quick else 1408))}


def acts(policy: Policy, game: Game, boards: int) -> float:
    """Moves per second of a policy in lockstep, on positions some moves into the game."""
    level = game.level
    assert level is not None
    keys = jax.random.split(jax.random.key(0), boards)
    state = game.reset(keys)
    memory = policy.start(policy.params, player_key(keys), state, level)
    action, memory = policy.act(policy.params, player_key(keys), memory, state, level)
    took, moves = 0.0, 3
    for move in range(moves):
        keys = jax.random.split(jax.random.key(move + 1), boards)
        state, _ = settled(game.step(keys, state, action))
        start = time.perf_counter()
        action, memory = policy.act(policy.params, player_key(keys), memory, state, level)
        settled(action)
        took += time.perf_counter() - start
    return boards * moves / took


def ladder(quick: bool) -> Values:
    """Three players on the 1,000 levels of `ladder`, 100 attempts each, in a process of its own: seconds, memory."""
    attempts = 2 if quick else 100
    environment = {name: value for name, value in os.environ.items() if name != "JAX_COMPILATION_CACHE_DIR"}
    environment["JAX_LOG_COMPILES"] = "1"
    command = [sys.executable, "-c", f"{LADDER}\n{PEAK}", str(attempts)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        return {"all": f"Not measured: {last[:200]}"}
    seconds, rows, peak = map(float, done.stdout.split())
    compiled = len(re.findall(r"Finished XLA compilation of jit\(many_attempts", done.stderr))
    values: dict[str, Value] = {"seconds": seconds, "attempts": rows, "largest resident set, MB": peak}
    return {**values, "programs of whole attempts compiled": float(compiled)}


PEAK = """
import re
from pathlib import Path
print(int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024)
"""

PARTS = {"search": search, "players": cheap, "ahead": ahead, "beam": beam, "ladder": ladder}


def main() -> None:
    """Print everything as JSON."""
    quick = "--quick" in sys.argv[1:]
    chosen = [name for name in PARTS if name in sys.argv[1:]] or list(PARTS)
    print(json.dumps({name: PARTS[name](quick) for name in chosen}, indent=1))


if __name__ == "__main__":
    main()
