"""Boards that are split over eight devices play what they play on one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

from crush_gym import Game, functional
from crush_gym.envs.vector import CrushVectorEnv

ROOT = Path(__file__).parents[3]


def differences(what: str) -> dict[str, float]:
    """Between one device and eight; see `tests.on_devices`."""
    flags = (
        f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8 --xla_backend_optimization_level=0"
    )
    env = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.on_devices", what], cwd=ROOT, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("what", ["rollouts", "environments"])
def test_games_are_the_same_on_eight_devices(what: str) -> None:
    found = differences(what)
    assert found and not any(found.values()), found


@pytest.mark.slow
def test_a_learner_learns_the_same_on_eight_devices_but_for_the_order_of_its_sums() -> None:
    found = differences("learner")
    assert found["boards"] == 0
    assert found["weights"] < 1e-4 < found["how far they moved"]


def test_devices_that_cannot_share_the_boards_are_refused_before_anything_compiles() -> None:
    game = Game(rules="combo", shape=(5, 5), moves=3)
    one = jax.devices()[0]
    with pytest.raises(ValueError, match="must be different devices"):
        game.rollout(jax.random.key(0), attempts=4, devices=[one, one])
    with pytest.raises(ValueError, match="must be different devices"):
        CrushVectorEnv(4, "combo", devices=[])
    env = functional.make("Crush/Combo-v0", shape=(5, 5)).on([one])
    with pytest.raises(ValueError, match="boards have one axis"):
        env.reset(jax.random.key(0))


def test_one_device_that_is_named_serves_like_none() -> None:
    game = Game(rules="combo", shape=(5, 5), moves=3)
    keys = jax.random.split(jax.random.key(0), 4)
    named, usual = (game.rollout(keys, game.reset(keys), devices=on) for on in (jax.devices()[:1], None))
    assert all(np.array_equal(a, b) for a, b in zip(*map(jax.tree.leaves, (named, usual)), strict=True))
