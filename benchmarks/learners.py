"""Measure learners: PPO on the device against MaskablePPO of sb3-contrib, with the same network on the same boards.

Both learn the network `edge` without previews, by as many boards, moves, epochs and minibatches, each in a process of
its own that works while the others wait. Torch is given one thread and two; its better figure is what counts.

Alone: `python -m benchmarks.learners [--quick] [PART ...]` prints the values as JSON.
"""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from agents.learning.inputs import inputs_of
from agents.learning.practice import Practice
from agents.ppo import Batch, Ppo, Settings, State
from benchmarks.ours import ROOT, Values, make_level, repeats_for, sentence, settled
from crush_gym import functional

GAMES = ("combo 9x9", "all specials")
FLAX, TORCH = "flax", ("torch, 1 thread", "torch, 2 threads")
BOTH = ("trained", "collected")
"""What is counted in steps: all of learning, or what comes before an update: boards, planes, masks and the network."""

STEPS = 32_768
"""Of one turn."""

WORKER = "import sys; from benchmarks import learners; learners.work(*sys.argv[1:])"

Turn = Callable[[], int]
"""Works once, and tells how many steps that were."""


class Sizes(NamedTuple):
    """Of what is learned from: boards, moves of each between two updates, and moves of a minibatch."""

    boards: int
    length: int
    minibatch: int
    turn: int


def sizes(quick: bool) -> Sizes:
    """The defaults of both learners, or few."""
    return Sizes(32, 4, 64, 256) if quick else Sizes(256, 16, 1024, STEPS)


def practice_of(game: str) -> Practice:
    """Where they learn, without previews."""
    if game == "combo 9x9":
        env = functional.make("Crush/Combo-v0")
    else:
        env = functional.make("Crush/Saga-v0", level=make_level("specials", 50))
    return Practice(env, inputs_of(env.game, preview=False))


# ------------------------------------------------------------------ in turns


def in_steps(kind: str, quick: bool) -> Values:
    """Steps a CPU-second and a second of each, the best of some turns. kind: of `BOTH`."""
    values: Values = {}
    for game in GAMES:
        try:
            values |= _of_game(kind, game, quick)
        except Exception as reason:
            values[game] = sentence(reason)
    return values


def _of_game(kind: str, game: str, quick: bool) -> Values:
    names, found = (FLAX, *TORCH), dict[str, list[tuple[float, float]]]()
    with ExitStack() as stack:
        workers = {name: stack.enter_context(Worker(kind, game, name, quick)) for name in names}
        for _ in range(1 + repeats_for(quick)):  # the first ones compile
            for name, worker in workers.items():
                found.setdefault(name, []).append(worker.turn())
    values: Values = {}
    for name, speeds in found.items():
        values[f"{game}: {name}, a CPU-second"] = max(cpu for cpu, _ in speeds[1:])
        values[f"{game}: {name}, a second"] = max(wall for _, wall in speeds[1:])
    return values


class Worker:
    """A process that works when it is asked to, and waits."""

    def __init__(self, *arguments: object) -> None:
        command = [sys.executable, "-c", WORKER, *map(str, arguments)]
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def turn(self) -> tuple[float, float]:
        """Steps a CPU-second, and a second."""
        assert self.process.stdin is not None and self.process.stdout is not None
        with suppress(BrokenPipeError):
            print(file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            said = self.process.communicate()[1].strip().splitlines()
            raise RuntimeError((said or ["the process failed"])[-1])
        steps, cpu, wall = json.loads(line)
        return steps / cpu, steps / wall

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.communicate()


def work(kind: str, game: str, name: str, quick: str) -> None:
    """What such a process does: one turn for each line that it reads."""
    made = flax_turn if name == FLAX else functools.partial(torch_turn, threads=int(name.split()[1]))
    turn = made(kind, practice_of(game), sizes(quick == "True"))
    for _ in sys.stdin:
        cpu, wall = time.process_time(), time.perf_counter()
        steps = turn()
        print(json.dumps([steps, time.process_time() - cpu, time.perf_counter() - wall]), flush=True)


def flax_learner(practice: Practice, size: Sizes) -> Ppo:
    """The learner of this project, without what the other one has not: boards in mirrors and in other colours."""
    updates = size.turn // (size.boards * size.length)
    settings = Settings(
        boards=size.boards, length=size.length, minibatch=size.minibatch, updates=updates, mirror=False, recolour=False
    )
    return Ppo(practice, settings=settings)


def flax_turn(kind: str, practice: Practice, size: Sizes) -> Turn:
    """The turns of the learner on the device."""
    learner = flax_learner(practice, size)
    state = learner.start(jax.random.key(0))
    run = learner.learn if kind == "trained" else jax.jit(functools.partial(collected, learner), donate_argnums=0)

    def turn() -> int:
        nonlocal state
        state, _ = settled(run(state))
        return size.turn

    return turn


def collected(learner: Ppo, state: State) -> tuple[State, Any]:
    """Play as often as in one call of `learn`, and learn nothing; sums of all that would be learned from."""

    def once(state: State, _: Any) -> tuple[State, Any]:
        key, playing = jax.random.split(state.key)
        situation, batch, _ = learner._played(state, playing)
        return state._replace(situation=situation, key=key), jax.tree.map(
            lambda x: jnp.sum(x, dtype=jnp.float32), batch
        )

    played: Any = jax.lax.scan(once, state, None, length=learner.settings.updates)
    return played


def torch_turn(kind: str, practice: Practice, size: Sizes, threads: int) -> Turn:
    """The turns of Stable-Baselines3's."""
    import torch
    from stable_baselines3.common.callbacks import CallbackList

    from agents.sb3_ppo import Sb3Ppo
    from agents.sb3_ppo import Settings as TheirSettings

    settings = TheirSettings(boards=size.boards, length=size.length, minibatch=size.minibatch, threads=threads)
    learner = Sb3Ppo(practice, settings=settings)
    state = learner.start(jax.random.key(0))
    torch.set_num_threads(threads)
    learner._put(state)
    model, calls = learner.model, size.turn // learner.steps_per_call
    nothing = CallbackList([])
    nothing.init_callback(model)
    model._setup_learn(size.turn, nothing, reset_num_timesteps=False)

    def turn() -> int:
        nonlocal state
        for _ in range(calls):
            if kind == "trained":
                state, _ = learner.learn(state)
            else:
                model.collect_rollouts(model.env, nothing, model.rollout_buffer, size.length)
        return size.turn

    return turn


# ------------------------------------------------------------------ gradients


def gradients(quick: bool) -> Values:
    """Milliseconds of a minibatch's gradient: of one by itself, and of one within a loop, as learning is one."""
    learner, size = flax_learner(practice_of(GAMES[0]), sizes(quick)), sizes(quick)
    state = learner.start(jax.random.key(0))
    batch: Batch = jax.jit(learner._played)(state, jax.random.key(1))[1]
    number = learner.steps_per_update // size.minibatch
    parts = jax.tree.map(lambda x: x.reshape(number, size.minibatch, *x.shape[2:]), batch)
    single = [settled(jax.tree.map(lambda x, n=n: x[n], parts)) for n in range(number)]

    def step(weights: Any, part: Batch) -> tuple[Any, None]:
        gradient = jax.grad(lambda w: learner._loss(w, part, jnp.float32(0.01))[0])(weights)
        return jax.tree.map(lambda w, g: w - 1e-6 * g, weights, gradient), None

    alone, looped = jax.jit(step), jax.jit(lambda weights, parts: jax.lax.scan(step, weights, parts)[0])

    def one_by_one() -> Any:
        weights = state.weights
        for part in single:
            weights, _ = alone(weights, part)
        return weights

    ways = {"by itself": one_by_one, "in a loop": lambda: looped(state.weights, parts)}
    rounds = [{name: timed(way) for name, way in ways.items()} for _ in range(1 + 3 * repeats_for(quick))][1:]
    values: Values = {}
    for name in ways:
        values[f"{name}, ms"] = min(each[name][0] for each in rounds) / number * 1e3
        values[f"{name}, CPU ms"] = min(each[name][1] for each in rounds) / number * 1e3
    return values


def timed(way: Callable[[], Any]) -> tuple[float, float]:
    """Seconds, and CPU-seconds, of one run."""
    cpu, wall = time.process_time(), time.perf_counter()
    settled(way())
    return time.perf_counter() - wall, time.process_time() - cpu


PARTS: dict[str, Callable[[bool], Values]] = {
    "learners, trained": functools.partial(in_steps, "trained"),
    "learners, collected": functools.partial(in_steps, "collected"),
    "learners, gradients": gradients,
}
"""Every part by its name."""


def main() -> None:
    """Print everything as JSON."""
    quick = "--quick" in sys.argv[1:]
    chosen = [name for name in PARTS if name in sys.argv[1:]] or list(PARTS)
    print(json.dumps({name: PARTS[name](quick) for name in chosen}, indent=1))


if __name__ == "__main__":
    main()
