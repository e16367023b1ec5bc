"""The search itself: every board runs its own simulations one after the other, and none waits for another's playout.

Beats advance all boards at once, as in `game.rollout`. A simulation is one turn of the move that the tree asks for,
then a playout to the end. When enough boards have ended theirs, one service enters their results in the trees and
sends them off again.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from agents.protocol import Choice
from agents.search import returns, tomast, tree
from agents.search.returns import Range
from agents.search.tomast import Table
from agents.search.tree import NONE, Tree
from crush_gym.engine import randomness
from crush_gym.engine.board import Board
from crush_gym.engine.moves import Moves, from_action, legal_moves, number, to_mask
from crush_gym.engine.progress import progress
from crush_gym.engine.spec import Spec
from crush_gym.engine.state import PLAYING, RESTING, WON, Play, State, rest
from crush_gym.engine.terrain import Terrain, survey, with_boards_axis
from crush_gym.engine.turn import begin
from crush_gym.levels import Level
from crush_gym.move_values.choose import by_action, in_proportion, planes_of
from crush_gym.move_values.goals import move_values
from crush_gym.move_values.sliced import Sliced
from crush_gym.runtime.chunks import Part, in_chunks, in_chunks_by_parts
from crush_gym.runtime.lockstep import state_of
from crush_gym.runtime.rollout import at_random, at_rest, by_policy, goes_on, move_on, repeated
from crush_gym.runtime.subset import shuffle_all

BEATS_PER_LOOK = 4
"""Beats between two looks at how many boards wait."""

WAITING = 0.5
"""Share of the boards still searching that wait for a service before there is one: it costs some beats."""


@dataclass(frozen=True)
class Settings:
    """What a search is compiled for; see `agents.mcts.Mcts`.

    size: most simulations that a tree can hold; beam: actions that a node may try; playout: None, the random one
    agree: whether it goes on until the most visited action is the best; tables: whether playouts follow a table
    """

    size: int
    beam: int | None
    agree: bool
    tables: bool
    playout: Choice | None


class Knobs(NamedTuple):
    """What is data of a search, so that trying its values compiles nothing; see `agents.mcts.Mcts`. Scalars.

    exploration, weights: float32; simulations, outcomes, depth, streak: int32, `ENDLESS` for none
    weights: of the share of the goals done, and of the rank of the score, in a lost playout
    """

    simulations: Any
    exploration: Any
    outcomes: Any
    depth: Any
    weights: tuple[Any, Any]
    streak: Any


ENDLESS = 2**30


IDLE, MOVING, PLAYOUT, DONE = range(4)
"""Phases of a board: no simulation under way; in the turn that leads to a new node; beyond it; through."""


class Search(NamedTuple):
    """Everything of a search under way on S boards.

    tree; play: the simulations' boards; phase: int32[S], see above
    bits: words of the searches' keys; keys: of the simulations under way: uint32[2, S]
    leaf: the node that is played out; edge: that the new node will hang on, NONE: there will be none: int32[S]
    landed, actions: the new node, and how many actions it may try, from when its turn is over
    done: simulations ended, int32[S]; scores: theirs, int32[size, S]; won: the last so many were all won, int32[S]
    scope: the range of scores; first: whether this is the first search of the attempt, bool[S]
    table, weights: of TO-MAST; None where playouts do not ask for it
    """

    tree: Tree
    play: Play
    phase: jax.Array
    bits: jax.Array
    keys: jax.Array
    leaf: jax.Array
    edge: jax.Array
    landed: State
    actions: jax.Array
    done: jax.Array
    scores: jax.Array
    won: jax.Array
    scope: Range
    first: jax.Array
    table: Table | None
    weights: Sliced | None


def started(spec: Spec, settings: Settings, bits: jax.Array, scope: Range, state: State) -> Search:
    """A search of each board. bits: words of the players' keys, uint32[2, S]; scope: of the search before."""
    boards = state.books.score.shape[0]
    board = Board.of(spec, state.planes)
    going = state.books.outcome == PLAYING
    zero = jnp.zeros(boards, jnp.int32)
    actions = jnp.where(going, number(legal_moves(board)).astype(jnp.int32), 0)
    known = tomast.empty(spec.actions, boards) if settings.tables else None
    return Search(
        tree=tree.planted(state, _tried(settings, actions), settings.size),
        play=rest(board, state.books),
        phase=jnp.where(going, IDLE, DONE),
        bits=bits,
        keys=bits,
        leaf=zero,
        edge=zero + NONE,
        landed=state,
        actions=zero,
        done=zero,
        scores=jnp.zeros((settings.size, boards), jnp.int32),
        won=zero,
        scope=scope,
        first=scope.low > scope.high,
        table=known,
        weights=None if known is None else tomast.weights(spec, known),
    )


def _tried(settings: Settings, actions: jax.Array) -> jax.Array:
    return actions if settings.beam is None else jnp.minimum(actions, settings.beam)


def advanced(spec: Spec, settings: Settings, search: Search, knobs: Knobs, level: Level, until: jax.Array) -> Search:
    """Run until every board is through, or has ended so many simulations."""
    level = with_boards_axis(level)
    terrain = survey(spec, level)
    served = functools.partial(_served, settings, terrain, level, knobs, until)

    def look(search: Search) -> Search:
        waits = (search.phase == IDLE) | ((search.phase == PLAYOUT) & ~goes_on(search.play))
        enough = jnp.sum(waits) >= WAITING * jnp.sum(search.phase != DONE)
        search = lax.cond(enough, served, lambda s: s, search)
        flight = Flight(search.play, search.phase, search.landed, search.actions)
        flight = _some_beats(settings, terrain, level, search.keys, search.weights, flight)
        return search._replace(**flight._replace(play=shuffle_all(terrain, flight.play))._asdict())

    # A board that was through at an earlier limit goes on at a later one.
    search = search._replace(phase=jnp.where(_through(settings, search, knobs, until), search.phase, _resumed(search)))
    return lax.while_loop(lambda s: jnp.any(s.phase != DONE), look, search)


def _resumed(search: Search) -> jax.Array:
    return jnp.where(search.tree.node_actions[tree.ROOT] > 0, jnp.where(search.phase == DONE, IDLE, search.phase), DONE)


class Flight(NamedTuple):
    """What beats change of a search; see `Search`."""

    play: Play
    phase: jax.Array
    landed: State
    actions: jax.Array


def _some_beats(
    settings: Settings, terrain: Terrain, level: Level, keys: jax.Array, weights: Sliced | None, flight: Flight
) -> Flight:
    """Beats of every board; those that have come to rest behind the tree's move go on at once."""
    if settings.playout is None:
        return in_chunks_by_parts(flight.play.spec, _playout_beats)(terrain, keys, weights, flight)
    asked = by_policy(flight.play.spec, settings.playout, level)

    def one(flight: Flight) -> Flight:
        flight, moves, bits = in_chunks(_land)(terrain, keys, flight)
        chosen, _strayed = asked(flight.play, moves, bits)
        return flight._replace(play=in_chunks(move_on)(terrain, flight.play, chosen, bits))

    return repeated(BEATS_PER_LOOK, one, flight)


def _playout_beats(part: Part, terrain: Terrain, keys: jax.Array, weights: Sliced | None, flight: Flight) -> Flight:
    def one(terrain: Terrain, keys: jax.Array, weights: Sliced | None, flight: Flight) -> Flight:
        flight, moves, bits = _land(terrain, keys, flight)
        play = flight.play.awake()
        if weights is None:
            chosen = at_random(play, moves, bits)[0]
        else:
            both = in_proportion(play.board, planes_of(moves), weights, bits)
            chosen = play.board.fence(Moves(both[0], both[1]))
        return flight._replace(play=move_on(terrain, play, chosen, bits))

    return repeated(BEATS_PER_LOOK, functools.partial(part(one), terrain, keys, weights), flight)


def _land(terrain: Terrain, keys: jax.Array, flight: Flight) -> tuple[Flight, Moves, jax.Array]:
    """End turns; keep the positions behind the tree's moves. Also: playouts' legal moves, and their keys' words."""
    play, moves, bits = at_rest(terrain, keys, flight.play)
    lands = (flight.phase == MOVING) & (play.stage == RESTING)
    landed = jax.tree.map(lambda new, old: jnp.where(lands, new, old), state_of(play), flight.landed)
    actions = jnp.where(lands, number(moves).astype(jnp.int32), flight.actions)
    phase = jnp.where(lands, PLAYOUT, flight.phase)
    free = jnp.where(phase == PLAYOUT, jnp.uint16(0xFFFF), jnp.uint16(0))
    moves = play.board.fence(Moves(moves.across & free, moves.down & free))
    return Flight(play, phase, landed, actions), moves, bits


def _served(
    settings: Settings, terrain: Terrain, level: Level, knobs: Knobs, until: jax.Array, search: Search
) -> Search:
    """Enter the simulations that have ended, and begin the next ones."""
    return _sent(settings, terrain, knobs, _entered(settings, level, knobs, until, search))


def _entered(settings: Settings, level: Level, knobs: Knobs, until: jax.Array, search: Search) -> Search:
    """New nodes, visits and values; boards that have had enough are DONE, the others of these IDLE."""
    play, books = search.play, search.play.books
    ended = (search.phase == PLAYOUT) & ~goes_on(play)
    new = ended & (search.edge >= 0)
    leaf = jnp.where(new, search.tree.nodes, search.leaf)
    trees = tree.grown(search.tree, search.edge, search.landed, _tried(settings, search.actions), new)
    won = books.outcome == WON
    scope = search.scope
    scope = returns.widened(scope, books.score, ended & search.first)
    value = returns.value(knobs.weights, won, books.score, progress(play.spec, state_of(play), level), scope)
    trees = tree.backed_up(trees, leaf, value, won, ended)
    known, weights = search.table, search.weights
    if known is not None:
        known = tomast.entered(known, trees, leaf, value, ended)
        weights = tomast.weights(play.spec, known)
    search = search._replace(
        tree=trees,
        leaf=leaf,
        scores=tree.put(search.scores, search.done, books.score, ended),
        done=search.done + ended,
        won=jnp.where(ended, jnp.where(won, search.won + 1, 0), search.won),
        scope=scope,
        table=known,
        weights=weights,
    )
    phase = jnp.where(ended, IDLE, search.phase)
    return search._replace(phase=jnp.where((phase == IDLE) & _through(settings, search, knobs, until), DONE, phase))


def _through(settings: Settings, search: Search, knobs: Knobs, until: jax.Array) -> jax.Array:
    """Boards that have had all their simulations; bool[S]."""
    enough = search.done >= knobs.simulations
    if settings.agree:
        enough = enough & _agrees(search.tree)  # or as many as `until` says
    return enough | (search.won >= knobs.streak) | (search.done >= until)


def _agrees(trees: Tree) -> jax.Array:
    """Whether the root's most visited action is also its best."""
    mean = trees.edge_total / jnp.maximum(trees.edge_visits, 1)
    mine = (trees.edge_parent == tree.ROOT) & (trees.edge_visits > 0)
    most = jnp.max(jnp.where(mine, trees.edge_visits, -1), axis=0)
    best = jnp.max(jnp.where(mine, mean, -jnp.inf), axis=0)
    return jnp.any(mine & (trees.edge_visits == most) & (mean == best), axis=0)


def _sent(settings: Settings, terrain: Terrain, knobs: Knobs, search: Search) -> Search:
    """Begin the next simulation of every IDLE board."""
    spec, trees, idle = search.play.spec, search.tree, search.phase == IDLE
    keys = randomness.fold(search.bits, search.done)
    choice = tree.descended(trees, keys, idle, knobs.exploration, knobs.outcomes, knobs.depth)
    state = tree.unpacked(spec, *tree.at_node(trees, choice.node), like=search.play.books)
    board = Board.of(spec, state.planes).awake()
    rank = _next_rank(settings, board, state, search.bits, choice.node, tree.of(trees.node_last, choice.node))
    grows = idle & choice.grows
    tried = (rank & RANK_ACTION).astype(jnp.int32)
    action = jnp.where(choice.grows, tried, tree.of(trees.edge_action, choice.edge))
    edge = jnp.where(choice.grows, trees.edges, choice.edge)
    trees = tree.with_edge(trees, choice.node, tried, rank, grows)
    moves = from_action(spec, jnp.where(idle & ~choice.stays, action, NONE))
    fresh = rest(board, state.books).awake()
    fresh = begin(terrain, fresh, fresh.board.fence(moves), randomness.fold(keys, state.books.made))
    play = jax.tree.map(lambda new, old: jnp.where(idle, new, old), fresh, search.play)
    return search._replace(
        tree=trees,
        play=play,
        phase=jnp.where(idle, jnp.where(choice.stays, PLAYOUT, MOVING), search.phase),
        keys=jnp.where(idle, keys, search.keys),
        leaf=jnp.where(idle, choice.node, search.leaf),
        edge=jnp.where(idle, jnp.where(choice.stays, NONE, edge), search.edge),
    )


RANK_ACTION = jnp.uint32(511)
"""The lower bits of a rank are the action itself, so that no two are equal; boards have at most 480 actions."""


def _next_rank(
    settings: Settings, board: Board, state: State, bits: jax.Array, node: jax.Array, last: jax.Array
) -> jax.Array:
    """The rank of the action that a node tries next: the greatest below the last one; uint32[S].

    Ranks are random, so actions are tried in a random order; under a beam the hand-made values come first.
    """
    legal = board.fence(legal_moves(board))
    actions = lax.broadcasted_iota(jnp.uint32, (board.spec.actions, 1), 0)
    chance = randomness.draw(bits, randomness.PICK, node, actions)
    if settings.beam is None:
        rank = chance & ~RANK_ACTION | actions
    else:
        values = jnp.minimum(by_action(board.spec, board.fence(move_values(board, state.books))), 4095)
        rank = values.astype(jnp.uint32) << 20 | (chance >> 21) << 9 | actions
    allowed = to_mask(board.spec, legal) & (rank < last)
    return jnp.max(jnp.where(allowed, rank, jnp.uint32(0)), axis=0)
