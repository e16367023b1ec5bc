"""The habit player (family B): a list of patterns, each noticed or not; the first one noticed is played."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from agents.protocol import Memory, Policy
from agents.registry import name_of
from crush_gym import Game, Level, State
from crush_gym.engine.bits import Plane, Word, nth
from crush_gym.engine.moves import to_action
from crush_gym.runtime import (
    Board,
    Moves,
    Spec,
    in_chunks,
    legal_moves,
    occurs,
    randomness,
    rows_of,
    to_mask,
    total,
    with_boards_axis,
)
from experiments.population.draws import NOTICE, PICK, uniform
from experiments.population.families import numbers_of
from experiments.population.sight import Glance, asked_items, asked_places, in_the_way, lower_half
from experiments.population.traits import Traits, broadcast, of_persona, skill_at

PATTERNS = (
    "pair", "five", "prize", "bomb", "crossing", "low goal", "goal", "four", "firing", "blocker", "low",
)  # fmt: skip
"""What there is to notice, in the order of the average player's list: two specials to swap; a colour bomb to make; a
run that serves a goal and makes or sets off a special; a colour bomb to swap; a wrapped candy to make; a run that
serves a goal, in the lower half, or anywhere; a striped candy to make; a special to set off in a run; a blocker or a
candy bomb to hit; a run in the lower half. Noticing nothing, players make any move."""

GOALS = ("prize", "low goal", "goal", "blocker")
SPECIALS = ("pair", "five", "bomb", "crossing", "four", "firing")


class Manner(NamedTuple):
    """How traits become play.

    seen: logits of the average player's chances to notice each of `PATTERNS`, float32[n]; by_skill, by_haste: what
    skill adds to them and haste takes away; by_fondness: what the traits `goals` and `specials` add to those of
    `GOALS` and `SPECIALS`; by_rank: how many places in the list these move up
    """

    seen: Any
    by_skill: Any
    by_haste: Any
    by_fondness: Any
    by_rank: Any

    @classmethod
    def of(cls, numbers: dict[str, Any]) -> Manner:
        """From what a family's file says."""
        seen = np.array([numbers["seen"][name] for name in PATTERNS], np.float32)
        rest = {name: np.float32(value) for name, value in numbers.items() if name != "seen"}
        return cls(seen=seen, **rest)


class Mind(NamedTuple):
    """What a player is on a board. noticed: chances of `PATTERNS`; places: in the list, the lowest first; [n, B]."""

    noticed: jax.Array
    places: jax.Array


@dataclass(frozen=True)
class Habit:
    """A synthetic player of habits; without traits from outside, one of `PERSONAS`."""

    persona: str = "average"

    def __post_init__(self) -> None:
        of_persona(self.persona)

    @property
    def name(self) -> str:
        """From which it can be made again."""
        return name_of("experiments.population:Habit", self)

    def bind(self, game: Game) -> Policy:
        """The player in this game; see `crush_gym.policies.Policy`."""
        act, logits = _functions(game.spec)
        return Policy(
            act, _start, params=(Manner.of(numbers_of("B")["manner"]), of_persona(self.persona)), logits=logits
        )


def _start(params: Any, key: jax.Array, state: State, level: Level, traits: Traits | None = None) -> Mind:
    """What players are on their boards. traits: of each; by default all are the persona."""
    del key
    manner, persona = params
    given = broadcast(persona if traits is None else traits, state.books.score.shape)
    return mind_of(manner, given, skill_at(given, level))


def mind_of(manner: Manner, traits: Traits, skill: jax.Array) -> Mind:
    """From traits to what they make of play. skill: on this level."""
    fond = jnp.stack(
        [
            traits.goals if name in GOALS else traits.specials if name in SPECIALS else jnp.zeros_like(skill)
            for name in PATTERNS
        ]
    )
    seen = jnp.asarray(manner.seen)[:, None] + manner.by_skill * skill - manner.by_haste * traits.haste
    places = jnp.arange(len(PATTERNS), dtype=jnp.float32)[:, None] - manner.by_rank * fond
    return Mind(jax.nn.sigmoid(seen + manner.by_fondness * fond), places)


@functools.lru_cache(maxsize=64)
def _functions(spec: Spec) -> tuple[Any, Any]:
    """The moves and their probabilities: one pair of functions for each kind of game."""

    def act(params: Any, key: jax.Array, memory: Mind, state: State, level: Level) -> tuple[jax.Array, Memory]:
        del params
        wanted = with_boards_axis(level).goal_jelly
        rows = with_boards_axis(level).height
        action = in_chunks(functools.partial(_chosen, spec))(randomness.key_bits(key), memory, state, wanted, rows)
        return action, memory

    def logits(params: Any, memory: Mind, state: State, level: Level) -> jax.Array:
        del params
        level = with_boards_axis(level)
        legal, patterns = _found(spec, state, level.goal_jelly, level.height)
        return _log_chances(spec, memory, legal, patterns)

    return act, logits


def _found(spec: Spec, state: State, wanted: jax.Array, rows: jax.Array) -> tuple[Plane, list[Plane]]:
    """The legal moves, and those of them that are of each of `PATTERNS`: uint16[2, H, B] each."""
    board = Board.of(spec, state.planes).awake()
    legal = board.fence(jnp.stack(legal_moves(board)))
    glance = Glance(board)
    sight = glance.sight()
    items, beside = asked_items(board, state.books)
    goal = glance.touching(asked_places(board, wanted) | beside, items)
    blocker = glance.touching(*in_the_way(board))
    firing = glance.touching(board.nothing, board.special)
    low, special = lower_half(board, rows), sight.five | sight.crossing | sight.four | firing
    found = (
        sight.pair, sight.five, goal & special, sight.bomb, sight.crossing, goal & low, goal, sight.four, firing,
        blocker, low,
    )  # fmt: skip
    return legal, board.fence([plane & legal for plane in found])


def _chosen(spec: Spec, bits: jax.Array, mind: Mind, state: State, wanted: jax.Array, rows: jax.Array) -> jax.Array:
    """The move of each board: int32[B]."""
    legal, patterns = _found(spec, state, wanted, rows)
    board = Board.of(spec, state.planes).awake()
    chosen, place = legal, jnp.full(mind.places.shape[1:], jnp.inf)
    for n, moves in enumerate(patterns):
        noticed = (uniform(bits, NOTICE, n) < mind.noticed[n]) & (occurs(_flat(moves)) != 0)
        first = noticed & (mind.places[n] < place)
        chosen, place = jnp.where(first, moves, chosen), jnp.where(first, mind.places[n], place)
    flat = board.fence(_flat(chosen))
    one = nth(flat, (uniform(bits, PICK) * _number(flat)).astype(Word), board.fence)
    return to_action(spec, Moves(*one.reshape(legal.shape)))


def _flat(moves: Plane) -> Plane:
    return moves.reshape(-1, moves.shape[-1])


def _number(rows: Plane) -> jax.Array:
    """How many moves there are: float32[B]."""
    return total(jax.lax.population_count(row) for row in rows_of(rows)).astype(jnp.float32)


def _log_chances(spec: Spec, mind: Mind, legal: Plane, patterns: list[Plane]) -> jax.Array:
    """Logarithms of the probabilities of moves: float32[actions, B]."""
    chance = jnp.zeros((spec.actions, legal.shape[-1]), jnp.float32)
    there = [(occurs(_flat(moves)) != 0) * mind.noticed[n] for n, moves in enumerate(patterns)]
    unseen = jnp.ones_like(mind.places[0])
    for n, moves in enumerate(patterns):
        before = [jnp.where(mind.places[m] < mind.places[n], 1 - there[m], 1.0) for m in range(len(patterns)) if m != n]
        share = there[n] * jnp.prod(jnp.stack(before), axis=0)
        chance = chance + to_mask(spec, Moves(*moves)) * share / jnp.maximum(_number(_flat(moves)), 1.0)
        unseen = unseen * (1 - there[n])
    any_move = to_mask(spec, Moves(*legal)) * unseen / jnp.maximum(_number(_flat(legal)), 1.0)
    return jnp.log(jnp.maximum(chance + any_move, 1e-30))
