"""The weighing player (family A): looks at some moves, plays them through in its mind, and likes some better."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from agents.protocol import Memory, Policy
from agents.registry import name_of
from crush_gym import Game, Level, State
from crush_gym.engine.moves import to_mask
from crush_gym.runtime import Board, Moves, Spec, Word, any_of, in_chunks, legal_moves, randomness
from crush_gym.swaps import swaps_of
from experiments.population.draws import HOW_MANY, LAPSE, LOOK, gumbel, uniform
from experiments.population.families import numbers_of
from experiments.population.foresight import Liking, Looks, liked_best
from experiments.population.sight import Glance
from experiments.population.traits import Traits, broadcast, of_persona, skill_at

MOST_LOOKED_AT = 10
MOST_SAMPLES, MOST_WAVES = 4, 8


class Manner(NamedTuple):
    """How traits become play: numbers of the average player, and by how much skill and haste change them.

    looks, samples, waves, temperature: of their logarithms; lapse: of its logit; goals, specials: of the logarithms
    of what they are worth, which traits of their own change, too; clearing, opening: worth, the same for all
    low, striking: what a row further down, and a swap that makes or joins specials, add to the logarithm of the
    chance to be looked at
    """

    looks: Any
    looks_by_skill: Any
    looks_by_haste: Any
    samples: Any
    samples_by_skill: Any
    waves: Any
    waves_by_skill: Any
    temperature: Any
    temperature_by_skill: Any
    lapse: Any
    lapse_by_skill: Any
    lapse_by_haste: Any
    goals: Any
    goals_by_skill: Any
    specials: Any
    specials_by_skill: Any
    clearing: Any
    opening: Any
    low: Any
    striking: Any

    @classmethod
    def of(cls, numbers: dict[str, float]) -> Manner:
        """From what a family's file says."""
        return cls(**{name: np.float32(value) for name, value in numbers.items()})


class Mind(NamedTuple):
    """What a player is on a board; of each board. looks: how many moves on average; lapse: how often only one."""

    looks: jax.Array
    samples: jax.Array
    waves: jax.Array
    temperature: jax.Array
    lapse: jax.Array
    liking: Liking


@dataclass(frozen=True)
class Weighing:
    """A synthetic player who weighs moves; without traits from outside, one of `PERSONAS`."""

    persona: str = "average"

    def __post_init__(self) -> None:
        of_persona(self.persona)

    @property
    def name(self) -> str:
        """From which it can be made again."""
        return name_of("experiments.population:Weighing", self)

    def bind(self, game: Game) -> Policy:
        """The player in this game; see `crush_gym.policies.Policy`."""
        return Policy(_act(game.spec), _start, params=(Manner.of(numbers_of("A")["manner"]), of_persona(self.persona)))


def _start(params: Any, key: jax.Array, state: State, level: Level, traits: Traits | None = None) -> Mind:
    """What players are on their boards. traits: of each; by default all are the persona."""
    del key
    manner, persona = params
    given = broadcast(persona if traits is None else traits, state.books.score.shape)
    return mind_of(manner, given, skill_at(given, level))


def mind_of(manner: Manner, traits: Traits, skill: jax.Array) -> Mind:
    """From traits to what they make of play. skill: on this level."""
    haste = traits.haste
    samples = jnp.exp(manner.samples + manner.samples_by_skill * skill)
    waves = jnp.exp(manner.waves + manner.waves_by_skill * skill)
    return Mind(
        looks=jnp.exp(manner.looks + manner.looks_by_skill * skill + manner.looks_by_haste * haste),
        samples=jnp.clip(jnp.round(samples), 1, MOST_SAMPLES).astype(jnp.int32),
        waves=jnp.clip(jnp.round(waves), 1, MOST_WAVES).astype(Word),
        temperature=jnp.exp(manner.temperature + manner.temperature_by_skill * skill),
        lapse=jax.nn.sigmoid(manner.lapse + manner.lapse_by_skill * skill + manner.lapse_by_haste * haste),
        liking=Liking(
            goals=jnp.exp(manner.goals + manner.goals_by_skill * skill + traits.goals),
            specials=jnp.exp(manner.specials + manner.specials_by_skill * skill + traits.specials),
            clearing=jnp.zeros_like(skill) + manner.clearing,
            opening=jnp.zeros_like(skill) + manner.opening,
        ),
    )


@functools.lru_cache(maxsize=64)
def _act(spec: Spec) -> Any:
    """One function for each kind of game: compiled programs are kept by it."""

    def act(params: Any, key: jax.Array, memory: Mind, state: State, level: Level) -> tuple[jax.Array, Memory]:
        bits = randomness.key_bits(key)
        low, striking = (jnp.asarray(x, jnp.float32)[None] for x in (params[0].low, params[0].striking))
        actions = in_chunks(functools.partial(looked_at, spec))(bits, state, low, striking)
        looks = Looks(actions, _number(bits, memory, actions), memory.samples, memory.waves, memory.temperature)
        return liked_best(spec, bits, state, level, looks, memory.liking), memory

    return act


def _number(bits: jax.Array, mind: Mind, actions: jax.Array) -> jax.Array:
    """How many of the moves are weighed: int32[B]."""
    some = jnp.floor(mind.looks + uniform(bits, HOW_MANY)).astype(jnp.int32)
    some = jnp.where(uniform(bits, LAPSE) < mind.lapse, 1, jnp.maximum(some, 1))
    return jnp.minimum(some, jnp.sum(actions >= 0, axis=0))


def looked_at(spec: Spec, bits: jax.Array, state: State, low: jax.Array, striking: jax.Array) -> jax.Array:
    """Moves in the order in which they meet the eye, drawn without repetition: int32[K, B], -1 beyond the last."""
    board = Board.of(spec, state.planes).awake()
    legal = jnp.stack(legal_moves(board))
    sight = board.fence(any_of(Glance(board).sight()) & legal)
    rows, cells = (jnp.asarray(x)[:, None] for x in _places(spec))
    salience = low * rows + striking * to_mask(spec, Moves(*sight)) + gumbel(bits, LOOK, cells)
    number = lax.broadcasted_iota(jnp.int32, salience.shape, 0)
    ranks = jnp.round(salience * FINE).astype(jnp.int32) * SLOTS + number
    ranks = board.fence(jnp.where(to_mask(spec, Moves(*legal)), ranks, NONE))
    order = []
    for _ in range(MOST_LOOKED_AT):
        top = board.fence(jnp.max(ranks, axis=0))
        order.append(jnp.where(top > NONE, top % SLOTS, -1))
        ranks = board.fence(jnp.where(ranks == top, NONE, ranks))
    return jnp.stack(order)


FINE, SLOTS = 4096, 512
"""A move's salience in parts so small, and its number, in one whole number."""

NONE = -(2**31)


def _places(spec: Spec) -> tuple[Any, Any]:
    """Of each action the row of its upper or left cell, and a number that does not depend on the board's size."""
    swaps = swaps_of(np.arange(spec.actions), (spec.height, spec.width))
    cells = 256 * np.asarray(swaps.down) + 16 * np.asarray(swaps.rows) + np.asarray(swaps.columns)
    return np.asarray(swaps.rows, np.float32), cells.astype(np.uint32)
