"""What the weighing player sees in its mind: moves played through with imagined candies, and how much it likes them.

Every board imagines its moves one after the other, each as often as its player does, and keeps the one liked best so
far; none waits for another's cascade.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from crush_gym import Level, State, layout
from crush_gym.engine.bits import Plane, count, rows_of, total
from crush_gym.engine.state import FIRST
from crush_gym.engine.terrain import Goals
from crush_gym.runtime import (
    OVER,
    Board,
    Books,
    Moves,
    Part,
    Play,
    Spec,
    Terrain,
    beat,
    begin,
    from_action,
    in_chunks_by_parts,
    randomness,
    rest,
    sizes,
    survey,
    with_boards_axis,
)
from experiments.population.draws import CHOICE, gumbel


class Liking(NamedTuple):
    """How much a player likes what a move brings: float32[B] each.

    goals: what a goal's share done is worth, all goals together in as many moves as there are being 1 a move
    specials: a striped candy that stands there afterwards; a wrapped one counts 1.5, a colour bomb 3
    clearing: three candies cleared; opening: a layer of a blocker, or half a candy bomb, removed
    """

    goals: jax.Array
    specials: jax.Array
    clearing: jax.Array
    opening: jax.Array


class Looks(NamedTuple):
    """What players look at.

    actions: moves, int32[K, B], -1 from where there are no more; number: of moves, int32[B]
    samples: how often each is imagined, int32[B]; waves: how many of its turn at most, uint16[B]
    temperature: of the choice among them, float32[B]
    """

    actions: jax.Array
    number: jax.Array
    samples: jax.Array
    waves: jax.Array
    temperature: jax.Array


class Imagining(NamedTuple):
    """Boards under way. trial: the number of the one that is played, -1 before the first: int32[B].

    worth: of the trials of the present move so far; best: of the move liked best, noise included: float32[B]
    choice: that move, int32[B]
    """

    play: Play
    trial: jax.Array
    worth: jax.Array
    best: jax.Array
    choice: jax.Array


class Scene(NamedTuple):
    """What does not change while players look. before: how much they like what there is, float32[B]."""

    terrain: Terrain
    bits: jax.Array
    state: State
    looks: Looks
    liking: Liking
    shares: jax.Array
    before: jax.Array


def liked_best(spec: Spec, bits: jax.Array, state: State, level: Level, looks: Looks, liking: Liking) -> jax.Array:
    """One of the moves looked at, with a probability proportional to exp(liking / temperature): int32[B].

    bits: words of the players' keys, uint32[2, B]. Of one move only nothing is imagined.
    """
    level = with_boards_axis(level)
    terrain = survey(spec, level)
    looks = looks._replace(number=jnp.where(looks.number > 1, looks.number, 0))
    things = (terrain, bits, state, looks, liking, goal_shares(terrain, level))
    imagined = in_chunks_by_parts(spec, functools.partial(_imagined, spec))
    boards = looks.number.shape[0]
    if boards <= sizes.CHUNK:
        return imagined(*things)
    # A chunk takes as long as its busiest player: those with much to imagine come together.
    order = jnp.argsort(looks.number * looks.samples)
    sorted_ = jax.tree.map(lambda x: x[..., order] if x.shape[-1] == boards else x, things)
    return jnp.zeros_like(looks.number).at[order].set(imagined(*sorted_))


def _imagined(
    spec: Spec,
    part: Part,
    terrain: Terrain,
    bits: jax.Array,
    state: State,
    looks: Looks,
    liking: Liking,
    shares: jax.Array,
) -> jax.Array:
    board = Board.of(spec, state.planes)
    before = liked(liking, shares, terrain.goals, board, state.books, jnp.zeros_like(looks.number))
    scene = Scene(terrain, bits, state, looks, liking, shares, before)
    step = part(functools.partial(_beat, spec))
    nothing = jnp.zeros_like(before)
    start = Imagining(
        rest(board, state.books), jnp.full_like(looks.number, -1), nothing, nothing - jnp.inf, looks.actions[0]
    )
    return lax.while_loop(
        lambda now: jnp.any(now.trial < looks.number * looks.samples), lambda now: step(scene, now), start
    ).choice


def _beat(spec: Spec, scene: Scene, now: Imagining) -> Imagining:
    """Judge the turns that are over, begin the next ones, and play a beat of all."""
    looks = scene.looks
    over = _seen_enough(now.play, looks) | (now.trial < 0)
    now = _judged(scene, now, over & (now.trial >= 0))
    trial = now.trial + over
    action = _of_row(looks.actions, trial // looks.samples)
    begins = over & (trial < looks.number * looks.samples)
    fresh = rest(Board.of(spec, scene.state.planes), scene.state.books)
    play = jax.tree.map(lambda new, old: jnp.where(over, new, old), fresh, now.play).awake()
    wanted = from_action(spec, jnp.where(begins, action, -1))
    own = randomness.fold(scene.bits, trial)
    play = begin(scene.terrain, play, play.board.fence(Moves(*wanted)), own)
    return now._replace(play=beat(scene.terrain, play), trial=trial)


def _seen_enough(play: Play, looks: Looks) -> jax.Array:
    """Turns that are over, or followed as far as their players follow turns: bool[B]."""
    last_wave = (play.stage == FIRST) & (play.wave >= looks.waves)
    return (play.stage == OVER) | last_wave | (play.slid > SLIDES)


SLIDES = 1
"""Sideways steps of a settling that players imagine: what trickles further is seen when it has come."""


def _judged(scene: Scene, now: Imagining, done: jax.Array) -> Imagining:
    """With the trials that are done; after the last of a move, the move is compared with the best."""
    looks, play = scene.looks, now.play
    after = liked(scene.liking, scene.shares, scene.terrain.goals, play.board, play.books, play.cleared)
    worth = now.worth + jnp.where(done, after - scene.before, 0.0)
    move, sample = now.trial // looks.samples, now.trial % looks.samples
    last = done & (sample == looks.samples - 1)
    value = worth / (looks.samples * looks.temperature) + gumbel(scene.bits, CHOICE, move)
    better = last & (value > now.best)
    return now._replace(
        worth=jnp.where(last, 0.0, worth),
        best=jnp.where(better, value, now.best),
        choice=jnp.where(better, _of_row(looks.actions, move), now.choice),
    )


def _of_row(table: jax.Array, row: jax.Array) -> jax.Array:
    """The entry of a row of its own for each board; -1 beyond the table: int32[B]."""
    rows = lax.broadcasted_iota(jnp.int32, table.shape, 0)
    return jnp.max(jnp.where(rows == row, table, -1), axis=0)


HALFWAY = 0.6
"""Share of an ingredient's worth that its way down brings; the rest comes when it is collected."""

SECONDS = 3
"""Seconds that a move takes, about: so many make a move's share of a level with a clock."""


def goal_shares(terrain: Terrain, level: Level) -> jax.Array:
    """What one unit of each of `_left` is worth, where the average move must bring 1: float32[n, B].

    level: with the boards' axis, which may have size 1, as may the result's
    """
    goals = terrain.goals
    jelly = total(count(level.start[layout.PLANES.index(name)]) for name in layout.JELLY)
    wholes = [goals.score, jnp.where(goals.jelly != 0, jelly, 0), goals.cherry, goals.hazelnut, *goals.orders]
    asked = total((whole > 0).astype(jnp.float32) for whole in wholes)
    moves = jnp.where(terrain.time >= 0, terrain.time // (10 * SECONDS), terrain.moves)
    return jnp.stack([jnp.where(whole > 0, moves / jnp.maximum(whole * asked, 1.0), 0.0) for whole in wholes])


def _left(goals: Goals, board: Board, books: Books) -> list[jax.Array]:
    """What is missing of the score, jelly, cherries, hazelnuts and orders: int32[B] each."""
    return [jnp.maximum(goals.score - books.score, 0), _jelly(board), books.cherry, books.hazelnut, *books.orders]


def _jelly(board: Board) -> jax.Array:
    return count(board.plane("jelly1")) + count(board.plane("jelly2"))


def liked(liking: Liking, shares: jax.Array, goals: Goals, board: Board, books: Books, cleared: jax.Array) -> jax.Array:
    """How much players like a position: float32[B]. cleared: candies on the way to it, int32[B]."""
    missing = total(share * left for share, left in zip(shares, _left(goals, board, books), strict=True))
    if board.spec.has("ingredient"):
        missing = missing - HALFWAY * (
            shares[2] * _sunk(board, layout.CHERRY) + shares[3] * _sunk(board, layout.HAZELNUT)
        )
    value = liking.clearing * cleared / 3.0 - liking.goals * missing - liking.opening * _closed(board)
    return value + liking.specials * _stock(board)


def _sunk(board: Board, kind: int) -> jax.Array:
    """How far ingredients have come down, in boards' heights: float32[B]."""
    rows = rows_of(board.other(kind))
    way = total(lax.population_count(row) * jnp.uint16(r) for r, row in enumerate(rows))
    return way.astype(jnp.float32) / max(len(rows) - 1, 1)


def _stock(board: Board) -> jax.Array:
    """Special candies on the board, in striped ones: float32[B]."""
    spec, worth = board.spec, jnp.zeros((), jnp.float32)
    if spec.has("striped"):
        worth = worth + count(board.striped)
    if spec.has("wrapped"):
        worth = worth + 1.5 * count(board.candy(layout.WRAPPED))
    return worth + 3.0 * count(board.other(layout.COLOUR_BOMB)) if spec.has("colour bomb") else worth


def _closed(board: Board) -> jax.Array:
    """Layers of blockers on the board, a candy bomb counting as two: float32[B]."""
    spec = board.spec
    found: list[jax.Array] = [jnp.zeros((), jnp.int32)]
    planes: list[Plane] = [board.plane(name) for name in ("lock", "marmalade", "chocolate") if spec.has(name)]
    if spec.has("swirl"):
        planes.append(board.other(layout.SWIRL))
    found += [count(plane) for plane in planes]
    if spec.has("icing"):
        found += [count(board.plane(name)) << i for i, name in enumerate(layout.ICING)]
    if spec.has("candy bomb"):
        found.append(2 * count(board.union(layout.TIMER)))
    return total(found).astype(jnp.float32)
