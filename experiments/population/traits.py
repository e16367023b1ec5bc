"""Who synthetic players are: their traits, what a level does to their skill, and six of them with names."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from crush_gym import Level
from crush_gym.engine import randomness

U32 = jnp.uint32


class Traits(NamedTuple):
    """Traits of players: float32[players], or of one player, unless said. All but `leaning` are 0 in an average one.

    skill: how well they play; it says how many moves they look at, how far, how carefully, and what they notice
    haste: how soon they act; goals: how much goals mean to them; specials: how much special candies and combos do
    leaning: standard deviation of what a level's board adds to a player's skill there, in every attempt the same
    number: uint32, tells players apart, whose leanings differ though all other traits be the same
    """

    skill: Any
    haste: Any
    goals: Any
    specials: Any
    leaning: Any
    number: Any


PERSONAS: dict[str, Traits] = {
    "average": Traits(0.0, 0.0, 0.0, 0.0, 0.0, 0),
    "beginner": Traits(-1.5, 0.0, -0.5, -0.3, 0.0, 0),
    "hurried": Traits(0.0, 1.5, 0.0, 0.0, 0.0, 0),
    "careful": Traits(0.3, -1.5, 0.3, 0.0, 0.0, 0),
    "collector": Traits(0.0, 0.0, 1.2, -1.0, 0.0, 0),
    "combo lover": Traits(0.0, 0.0, -1.2, 1.5, 0.0, 0),
    "expert": Traits(2.0, -0.5, 0.3, 0.3, 0.0, 0),
}
"""Points of the space of traits. They have no leanings: on every level they are who they are."""

ABOUT = {
    "average": "the middle of the population",
    "beginner": "looks at little, misses much, and half forgets the goals",
    "hurried": "plays the first thing seen more often than not",
    "careful": "takes time over every move",
    "collector": "goes for the goals and passes special candies by",
    "combo lover": "lives for special candies, whatever the level asks for",
    "expert": "sees nearly everything and rarely slips",
}
"""What each persona is, in words."""


def of_persona(name: str) -> Traits:
    """The traits of a persona, as numbers of one player; a `ValueError` where there is none of this name."""
    key = name.replace("-", " ")
    if key not in PERSONAS:
        raise ValueError(f"persona must be one of {', '.join(PERSONAS)}, not {name!r}")
    numbers = {trait: np.float32(value) for trait, value in PERSONAS[key]._asdict().items()}
    return Traits(**numbers)._replace(number=np.uint32(0))


def broadcast(traits: Traits, boards: tuple[int, ...]) -> Traits:
    """The traits of each board, where they are given for all of them."""
    return Traits(*(jnp.broadcast_to(jnp.asarray(x), boards) for x in traits))


def skill_at(traits: Traits, level: Level) -> jax.Array:
    """Skill on a level, what its board adds included: float32[B]."""
    skill: jax.Array = traits.skill + traits.leaning * _normal(traits.number, _board_of(level))
    return skill


def _board_of(level: Level) -> jax.Array:
    """A number of the level's board, whatever its limit and the amounts that it asks for: uint32[B] or [1]."""
    parts = [level.floor, level.entries, level.exits, level.start.reshape(-1, level.start.shape[-1]), level.unfilled]
    words = jnp.concatenate([jnp.asarray(part, U32) for part in parts])
    factors = np.random.default_rng(0).integers(0, 2**32, words.shape[0], np.uint32) | np.uint32(1)
    return jnp.sum(words * factors[:, None], axis=0, dtype=U32) + jnp.asarray(level.colours, U32)


def _normal(number: jax.Array, board: jax.Array) -> jax.Array:
    """A standard normal number of a player and a board, always the same one: float32[B]."""
    shape = jnp.broadcast_shapes(number.shape, board.shape)
    words = jnp.stack([jnp.broadcast_to(number, shape), jnp.broadcast_to(board, shape)]).astype(U32)
    uniform = ((randomness.draw(words, randomness.PASS, 0, 0) >> 8).astype(jnp.float32) + 0.5) / 2.0**24
    return jax.scipy.special.ndtri(uniform)
