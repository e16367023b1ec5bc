"""Played on one device and on eight, in a process that has eight fake ones: prints what differs, as JSON.

python -m tests.on_devices rollouts|environments|learner
"""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from agents.learning.inputs import inputs_of
from agents.learning.networks import Architecture
from agents.learning.practice import Practice
from agents.ppo import Ppo, Settings
from crush_gym import Game, LevelPack, functional
from crush_gym.envs.vector import CrushVectorEnv
from crush_gym.game import simple_level
from crush_gym.runtime import xla

Difference = float
"""The largest; 0 where all bytes are equal."""


def difference(one: Any, other: Any) -> Difference:
    """Of two trees."""
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    parts = [np.abs(np.asarray(a, float) - np.asarray(b, float)).max(initial=0.0) for a, b in pairs]
    assert jax.tree.structure(one) == jax.tree.structure(other)
    return float(max(parts))


def rollouts() -> dict[str, Difference]:
    """Boards to their ends, with a level for all and one for each; and attempts, with a stack of levels."""
    levels = [dataclasses.replace(simple_level("combo", (5, 5), 4, moves, None), name=str(moves)) for moves in (3, 5)]
    game, pack = Game(levels, rules="combo"), LevelPack(levels)
    keys, own = jax.random.split(jax.random.key(1), 16), pack.stack(np.arange(16) % 2)
    state = game.reset(keys, own)
    found = {}
    for name, level in (("one level", levels[0]), ("a level for each", own)):
        found[name] = difference(*(game.rollout(keys, state, level, devices=on) for on in (None, jax.devices())))
    attempts = [
        game.rollout(jax.random.key(2), None, own, "first", attempts=40, devices=on)[1] for on in (None, jax.devices())
    ]
    assert len(set(np.asarray(attempts[0].score).tolist())) > 5
    return found | {"attempts": difference(*attempts)}


def environments() -> dict[str, Difference]:
    """Steps of 19 lanes, so that devices are filled up, with episodes that end; and a state that is taken up again."""
    envs = [
        CrushVectorEnv(19, "points", shape=(5, 5), moves=3, autoreset_mode="SameStep", devices=on)
        for on in (None, jax.devices())
    ]
    seen = [env.reset(seed=3) for env in envs]
    found = {"reset": difference(seen[0][0], seen[1][0])}
    for _ in range(4):
        actions = np.asarray(seen[0][1]["action_mask"]).argmax(axis=1)
        done = [env.step(actions) for env in envs]
        seen = [(step[0], step[4]) for step in done]
        found["step"] = max(found.get("step", 0.0), difference(done[0][:4], done[1][:4]))
    return found | {"state": difference(*(env.get_state() for env in envs))}


def learner() -> dict[str, Difference]:
    """Weights after two updates, from the same boards."""
    env = functional.make("Crush/Combo-v0", shape=(5, 5), colours=4, moves=6)
    settings = Settings(boards=16, length=4, minibatch=32, updates=2)
    network = Architecture.parse("edge:layers=1,filters=8,hidden=4")
    learned = []
    for on in ((), tuple(jax.devices())):
        ppo = Ppo(Practice(env, inputs_of(env.game, preview=False)), network, settings, 10_000, on)
        start = ppo.start(jax.random.key(0))
        first = jax.tree.map(jnp.copy, ppo.weights(start))
        state, _ = ppo.learn(start)
        learned.append((first, ppo.weights(state), state.situation.env.game.planes))
    (before, one, boards), (_, other, same) = learned
    return {
        "boards": difference(boards, same),
        "weights": difference(one, other),
        "how far they moved": difference(before, one),
    }


if __name__ == "__main__":
    assert jax.device_count() == 8
    xla.FULL = xla.LEAN = xla.QUICK  # they run for a moment
    print(json.dumps({"rollouts": rollouts, "environments": environments, "learner": learner}[sys.argv[1]]()))
