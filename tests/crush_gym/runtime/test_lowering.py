"""Every kernel lowers for CUDA on a machine without a GPU: with barriers for fences, without callbacks."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import jax
import jax.export  # `import jax` alone does not bring it
import jax.numpy as jnp
import pytest

from crush_gym import Game, load_pack
from crush_gym.runtime import lockstep, observe, preview, replay, rollout

BOARDS = 4


@cache
def kernels(name: str) -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Every program of the game of a level, with the shapes of its arguments."""
    game = Game(load_pack("basics")[name])
    spec, level = game.spec, game.level

    def shape(boards: int) -> tuple[Any, Any, Any]:
        bits = jax.ShapeDtypeStruct((2, boards), jnp.uint32)
        state = jax.eval_shape(partial(lockstep.reset, spec), bits, level)
        return bits, state, jax.ShapeDtypeStruct((boards,), jnp.int32)

    bits, state, action = shape(BOARDS)
    one = shape(1)
    begin = partial(replay.replay_begin, spec)
    play = jax.eval_shape(begin, *one, level)
    step_by_step = partial(replay.motion_begin, spec)
    first = jax.ShapeDtypeStruct((), jnp.int32)
    return {
        "reset": (partial(lockstep.reset, spec), (bits, level)),
        "legal": (partial(lockstep.legal, spec), (state,)),
        "random_action": (partial(lockstep.random_action, spec), (bits, state)),
        "step": (partial(lockstep.step, spec), (bits, state, action, level)),
        "observe": (partial(observe.observe, spec), (state, level)),
        "preview": (partial(preview.preview, spec), (state, level)),
        "playout": (partial(rollout.playout, spec, None, ()), (bits, state, level)),
        "many_attempts": (partial(rollout.many_attempts, spec, BOARDS, None, False, ()), (first, bits, state, level)),
        "many_attempts from new boards": (
            partial(rollout.many_attempts, spec, BOARDS, None, False, ()),
            (first, bits, None, level),
        ),
        "replay_begin": (begin, (*one, level)),
        "replay_beat": (partial(replay.replay_beat, spec), (level, play)),
        "motion_begin": (step_by_step, (*one, level)),
        "motion_beat": (partial(replay.motion_beat, spec), (level, jax.eval_shape(step_by_step, *one, level)[0])),
    }


def lowered(name: str, level: str, platform: str) -> str:
    """The program's module for a platform; nothing is compiled."""
    f, args = kernels(level)[name]
    return str(jax.export.export(jax.jit(f), platforms=[platform])(*args).mlir_module())


def branches(module: str) -> int:
    return module.count("stablehlo.case") + module.count("stablehlo.if")


@pytest.mark.parametrize(
    ("name", "level"),
    [
        *((name, "orders") for name in kernels("orders")),
        *((name, "everything") for name in ("reset", "step", "playout", "observe")),
    ],
)
def test_kernels_lower_for_cuda_with_barriers_where_the_cpu_has_branches(name: str, level: str) -> None:
    cuda, cpu = lowered(name, level, "cuda"), lowered(name, level, "cpu")
    around_calls = cpu.count("stablehlo.optimization_barrier")  # on every platform; see `kernels`
    fences = cuda.count("stablehlo.optimization_barrier") - around_calls
    assert fences > 0
    assert branches(cpu) - branches(cuda) == fences
    assert "callback" not in cuda and "xla_cpu_small_call" not in cuda
