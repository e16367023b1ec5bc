"""A function of many boards in one compiled program, of which every core runs a part of the boards."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from agents.search.positions import one_axis
from crush_gym import Level, State
from crush_gym.runtime import (
    LEVEL_RANKS,
    Options,
    Spec,
    boards_of_state,
    cores,
    flat_boards,
    in_parts,
    kept,
    options_for,
    randomness,
)

Tree = Any

Function = Callable[[Any, Tree, jax.Array, State, Level], Tree]
"""(owner, params, words of the players' keys uint32[2, B], states, levels) -> arrays that end in the boards' axis."""


def over_cores(f: Function, owner: Any, spec: Spec, params: Tree, key: jax.Array, state: State, level: Level) -> Tree:
    """What a function gives for boards in any arrangement.

    Args:
        f, owner: a method, and what it is of, a frozen dataclass say: programs are kept by both, and equal owners share
            them, as bound methods would not.
        params: data that all boards share.
        key: the players', keys[*boards].
    """
    boards = boards_of_state(state)
    bits, flat = randomness.key_bits(key).reshape(2, -1), one_axis(state)
    levels, size = flat_boards(level, LEVEL_RANKS), bits.shape[1]
    part = -(-size // min(cores(), size))
    program = _program(f, owner, options_for(spec, part, rollout=True))

    def call(first: int) -> Tree:
        def cut(x: jax.Array) -> jax.Array:
            return x[..., first : first + part]

        mine = jax.tree.map(cut, levels) if jnp.ndim(levels.height) else levels
        return program(params, cut(bits), jax.tree.map(cut, flat), mine)

    found = in_parts(program, call, size, part)
    return jax.tree.map(lambda x: x.reshape(*x.shape[:-1], *boards), found)


@functools.lru_cache(maxsize=64)
def _program(f: Function, owner: Any, options: Options) -> Callable[..., Tree]:
    return kept.program(functools.partial(f, owner), options)
