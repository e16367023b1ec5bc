"""How programs are compiled for a CPU, where a user's first minute is mostly compiling. No result depends on it.

XLA's newest code generation, its "fusion emitters", takes up to half more time and a megabyte more memory for every
kernel. It serves what large batches of simple games do outside of the calls of `kernels`, which XLA compiles otherwise:
rollouts of the plain game are a quarter to a half faster. A step of one board takes no longer even if its code is not
optimised at all: its operations are too small. Other devices, and programs of which ours are parts, are compiled as
JAX likes.
"""

from __future__ import annotations

import functools
import os
from typing import Any

import jax
import numpy as np
from jax.extend.core import get_opaque_trace_state

from crush_gym import sizes
from crush_gym.engine.spec import Spec

Options = tuple[tuple[str, Any], ...]
"""XLA's options for one program, by name."""

# Operations are not shared among threads, which costs more than it brings: blocks keep the cores busy. And LLVM would
# use half of the widest vectors: with them, rollouts of the plain game are 1.6 times as fast.
FULL: Options = (("xla_disable_hlo_passes", "cpu-parallel-task-assigner"), ("xla_cpu_prefer_vector_width", 512))
LEAN: Options = (*FULL, ("xla_cpu_use_fusion_emitters", False))
QUICK: Options = (*LEAN, ("xla_backend_optimization_level", 0))

Tree = Any

MADE_FOR = os.environ.get("CRUSH_GYM_PLATFORM", "")
"""The platform that programs are made for where they are only compiled: "gpu", on a machine that has none."""


def _traced() -> object:
    """What is being traced; outside of any trace always the same."""
    return get_opaque_trace_state()  # type: ignore[no-untyped-call]


_OUTSIDE = _traced()


def options_for(spec: Spec, boards: int, rollout: bool = False) -> Options:
    """For a program on so many boards at a time, to be called now.

    rollout: whether it plays attempts to their ends, as searches do too
    """
    if not alone_on_cpu():
        return ()
    if boards == 1:
        return known(LEAN if rollout else QUICK)
    return known(FULL if not spec.rich and (rollout or boards >= sizes.MANY) else LEAN)


@functools.lru_cache(maxsize=8)
def known(options: Options) -> Options:
    """Those that the installed XLA has: they come and go with its versions."""
    return options if _are_known(options) else tuple(option for option in options if _are_known((option,)))


def _are_known(options: Options) -> bool:
    try:
        jax.jit(lambda: 0, compiler_options=dict(options)).lower().compile()
    except jax.errors.JaxRuntimeError:
        return False
    return True


def placed(tree: Tree) -> Tree:
    """A copy of a tree's arrays on the device. `jnp.asarray` would compile a program for each of their shapes."""
    return jax.device_put(jax.tree.map(np.array, tree))  # which may go on using the memory that it is given


def untraced() -> bool:
    """Whether a call now would compute something, and not become part of a traced program."""
    return _traced() == _OUTSIDE


def alone_on_cpu() -> bool:
    """Whether a call now would be a program of its own, and would go to a CPU."""
    return untraced() and on_cpu()


def on_cpu() -> bool:
    """Whether computations go to a CPU unless told otherwise."""
    device = getattr(jax.config, "jax_default_device", None)
    platform = getattr(device, "platform", device)
    return (MADE_FOR or platform or jax.default_backend()) == "cpu"
