"""Compile one program for a described GPU, and tell as JSON what it would do there; needs JAX's CUDA wheels, no GPU.

    python -m benchmarks.gpu_compile PROGRAM GAME BOARDS DEVICE DEVICES

`benchmarks.gpu` starts it with the interpreter and the surroundings that it needs.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import NamedSharding, PartitionSpec

from benchmarks import hlo
from benchmarks.gpu_devices import DEVICES
from benchmarks.ours import make_game, make_level
from crush_gym import Game, functional
from crush_gym.runtime.devices import BOARDS, Devices, mesh_of
from crush_gym.runtime.unstacked import BEAT

Tree = Any
Program = tuple[Callable[..., Tree], tuple[Tree, ...]]
"""A function, and the shapes of its arguments."""

MINIBATCHES = 4
"""Of PPO's update."""

OPTIONS = {"xla_gpu_enable_triton_gemm": False}
"""Of XLA: products of matrices go to cuBLAS, for the tiles of kernels of its own are tried out on a device."""


def main(program: str, game: str, boards: str, device: str, devices: str) -> None:
    """Print one plan."""
    print(json.dumps(plan(program, game, int(boards), device, int(devices))))


def plan(program: str, game: str, boards: int, device: str, devices: int) -> dict[str, Any]:
    """What one program of one game would do with so many boards on such a device, or on several of them."""
    targets = _targets(device, devices)
    f, shapes = PROGRAMS[program](game, boards, targets if devices > 1 else None)
    begun = time.process_time()
    arguments = jax.tree.map(lambda x: _placed(x, boards, targets), shapes)
    compiled = jax.jit(f).trace(*arguments).lower(lowering_platforms=("cuda",)).compile(OPTIONS)
    seconds = time.process_time() - begun
    memory: Any = compiled.memory_analysis()
    found = described(hlo.read(compiled.as_text()))
    return {
        "program": program, "game": game, "boards": boards, "device": device, "devices": devices,
        "jax": jax.__version__, "state_bytes": state_bytes(make_game(game), boards) // boards,
        "temporary_bytes": memory.temp_size_in_bytes // (boards // devices), "seconds": round(seconds, 1), **found,
    }  # fmt: skip


def described(program: hlo.Body) -> dict[str, Any]:
    """Launches and bytes of a program outside of its beats, and of a beat of each of its loops of beats."""
    beats = program.outermost(BEAT)
    within = {id(body) for beat in beats for body in beat.walk()}
    outside = [body for body in program.walk() if id(body) not in within]
    return {
        "outside": {"launches": sum(body.own for body in outside), "bytes": sum(body.bytes for body in outside)},
        "beats": [
            {
                "launches": beat.all_launches, "bytes": beat.all_bytes, "kinds": dict(sorted(beat.all_kinds.items())),
                "open_loops": sum(not loop.trips for body in beat.walk() for loop in body.loops),
                "collectives": beat.collectives,
            }
            for beat in beats
        ],
        "collectives": program.collectives,
    }  # fmt: skip


def state_bytes(game: Game, boards: int) -> int:
    """Bytes of the state of so many boards."""
    state = jax.eval_shape(game.reset, jax.eval_shape(jax.random.key, 0))
    return boards * sum(math.prod(x.shape) * x.dtype.itemsize for x in jax.tree.leaves(state))


def _targets(device: str, devices: int) -> Devices:
    """So many described GPUs of one machine."""
    name = f"1x1x{devices}"
    described: Any = topologies.get_topology_desc(
        platform="cuda", topology_name=name, target_config=DEVICES[device].target, topology=name
    )
    return tuple(described.devices)


def _placed(x: Any, boards: int, targets: Devices) -> Tree:
    """An argument, cut along the boards' axis where it has one."""
    parts = [BOARDS if n == boards else None for n in x.shape]
    return _array(x.shape, x.dtype, sharding=NamedSharding(mesh_of(targets), PartitionSpec(*parts)))  # type: ignore[no-untyped-call]


# ------------------------------------------------------------------ programs


def rollout(name: str, boards: int, devices: Devices | None) -> Program:
    """Every board to the end of its attempt, by random moves."""
    game = make_game(name)

    def play(words: jax.Array, state: Tree, level: Tree) -> Tree:
        return game.rollout(jax.random.wrap_key_data(words), state, level, devices=devices)

    return play, (_words(boards), _state(game, boards), _shapes(game.level))


def step(name: str, boards: int, devices: Devices | None) -> Program:
    """One turn of every board, on one device."""
    del devices
    game = make_game(name)

    def play(words: jax.Array, state: Tree, action: jax.Array, level: Tree) -> Tree:
        return game.step(jax.random.wrap_key_data(words), state, action, level)

    return play, (_words(boards), _state(game, boards), _numbers(boards), _shapes(game.level))


def environment(name: str, boards: int, devices: Devices | None) -> Program:
    """One step of the environment: the turn, the reward, new episodes, planes and masks."""
    env = _environment(name).on(devices) if devices else _environment(name)

    def play(words: jax.Array, state: Tree, action: jax.Array) -> Tree:
        return env.step(jax.random.wrap_key_data(words), state, action)

    state = jax.eval_shape(lambda words: env.reset(jax.random.wrap_key_data(words))[1], _words(boards))
    return play, (_words(boards), state, _numbers(boards))


def update(name: str, boards: int, devices: Devices | None) -> Program:
    """PPO's whole update: moves of all boards, then learning from them."""
    from agents.learning.inputs import inputs_of
    from agents.learning.practice import Practice
    from agents.ppo import Ppo, Settings

    env = _environment(name)
    settings = Settings(boards=boards, minibatch=boards * Settings.length // MINIBATCHES, updates=1)
    learner = Ppo(Practice(env, inputs_of(env.game, preview=False)), settings=settings, devices=devices or ())
    state = learner.shapes(jax.eval_shape(jax.random.key, 0))

    def learn(words: jax.Array, rest: Tree) -> Tree:
        return learner.learn(rest._replace(key=jax.random.wrap_key_data(words)))

    return learn, (_array((2,), jnp.uint32), state._replace(key=None))


PROGRAMS: dict[str, Callable[[str, int, Devices | None], Program]] = {
    "rollout": rollout,
    "step": step,
    "environment": environment,
    "update": update,
}


def _environment(name: str) -> functional.Env:
    if name == "plain":
        return functional.make("Crush/Combo-v0", colours=6)
    return functional.make("Crush/Saga-v0", level=make_level(name, None))


def _array(*shape_and_type: Any, **where: Any) -> Tree:
    """What stands for an array while nothing is computed."""
    return jax.ShapeDtypeStruct(*shape_and_type, **where)  # type: ignore[no-untyped-call]


def _words(boards: int) -> Tree:
    return _array((boards, 2), jnp.uint32)


def _numbers(boards: int) -> Tree:
    return _array((boards,), jnp.int32)


def _state(game: Game, boards: int) -> Tree:
    return jax.eval_shape(lambda words: game.reset(jax.random.wrap_key_data(words)), _words(boards))


def _shapes(tree: Tree) -> Tree:
    return jax.tree.map(lambda x: _array(jnp.shape(x), jnp.asarray(x).dtype), tree)


if __name__ == "__main__":
    main(*sys.argv[1:])
