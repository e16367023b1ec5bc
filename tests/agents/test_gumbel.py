"""Gumbel's search through mctx: the protocol, and that it is right where nothing new falls in."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from agents.attempts import play
from agents.protocol import Policy
from agents.registry import AgentError, make
from agents.testing import check_agent
from crush_gym import Game, Level
from crush_gym.policies import legal

pytest.importorskip("mctx")

DRY = {
    "name": "dry", "colours": 4, "moves": 1, "spawn_candies": False, "goals": {"score": 100000},
    "board": ["a b a c", "b a b d", "c a d c", "a d a a", "b c d b"],
}  # fmt: skip


@dataclass(frozen=True)
class Indifferent:
    """Likes all moves alike and expects nothing."""

    @property
    def name(self) -> str:
        return f"{__name__}:Indifferent"

    def bind(self, game: Game) -> Policy:
        spec: Any = game.spec

        def act(params, key, memory, state, level):
            return jnp.argmax(legal(spec, state), axis=0).astype(jnp.int32), memory

        def logits(params, memory, state, level):
            return jnp.zeros((spec.actions, state.planes.shape[-1]))

        def value(params, memory, state, level):
            return jnp.zeros(state.planes.shape[-1])

        return Policy(act, logits=logits, value=value)


GUIDE = f"{__name__}:Indifferent"


def test_finds_a_best_move_or_nearly_where_nothing_new_falls_in() -> None:
    """The noise at the root decides among moves that bring about the same."""
    game = Game(Level.from_dict(DRY))
    assert game.level is not None
    state = game.reset(jax.random.key(0))
    scores = [int(game.step(jax.random.key(1), state, int(a))[1].score) for a in np.flatnonzero(game.legal(state))]
    assert len(set(scores)) > 1
    agent = make(f"gumbel:{GUIDE}:simulations=64,considered=32")
    stats = play(agent.bind(game), game, jax.random.split(jax.random.key(0), 8), game.level)
    found = np.asarray(stats.score)
    assert found.max() == max(scores) and found.min() >= 0.8 * max(scores)
    assert np.mean(scores) < 0.7 * max(scores)


def test_keeps_the_protocol() -> None:
    check_agent(make(f"gumbel:{GUIDE}:simulations=4"))


def test_its_name_leads_back_to_it() -> None:
    agent = make(f"gumbel:{GUIDE}:simulations=8")
    assert agent.name == f"gumbel:{GUIDE}:simulations=8" and make(agent.name) == agent


def test_guides_that_know_no_values_are_refused() -> None:
    with pytest.raises(ValueError, match="guide='clouded' must be an agent in pure JAX that knows"):
        make("gumbel:clouded").bind(Game(rules="combo", shape=(5, 5)))
    with pytest.raises(AgentError, match="simulations must be from 1 to"):
        make(f"gumbel:{GUIDE}:simulations=0")
