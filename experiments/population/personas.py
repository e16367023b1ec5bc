"""How personas do on a level."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from agents.attempts import play
from crush_gym import Game, Level
from experiments.population.people import AGENTS
from experiments.population.traits import Traits, of_persona


def traits_of_personas(names: Sequence[str], attempts: int) -> Traits:
    """The traits of so many attempts of each persona, one after the other."""
    each = [of_persona(name) for name in names]
    return Traits(*(np.repeat(np.stack(values), attempts) for values in zip(*each, strict=True)))


def success_of(
    names: Sequence[str], family: str, level: Level, attempts: int, seed: int = 0, game: Game | None = None
) -> dict[str, float]:
    """The share of attempts that each persona wins; all play in one program, with the same keys.

    Args:
        attempts: of each persona.
        game: one that plays the level, where several levels are to share a program.
    """
    game = game or Game(level)
    policy = AGENTS[family]().bind(game)
    keys = jax.random.split(jax.random.key(seed), attempts)
    stats = play(policy, game, jnp.tile(keys, len(names)), level, traits=traits_of_personas(names, attempts))
    won = np.asarray(stats.won).reshape(len(names), attempts).mean(axis=1)
    return dict(zip(names, won.tolist(), strict=True))
