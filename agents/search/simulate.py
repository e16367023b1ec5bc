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

from agents.search import returns, tomast, tree
from agents.search.returns import Range
from agents.search.tomast import Table
from agents.search.tree import NONE, Tree
from crush_gym import Level, State
from crush_gym.keys import of_words
from crush_gym.move_values import Sliced, by_action, in_proportion, move_values, planes_of
from crush_gym.policies import Logits
from crush_gym.runtime import (
    PLAYING,
    RESTING,
    WON,
    Board,
    Mind,
    Moves,
    Part,
    Play,
    Player,
    Spec,
    Terrain,
    at_random,
    at_rest,
    begin,
    by_player,
    from_action,
    goes_on,
    in_chunks,
    in_chunks_by_parts,
    legal,
    legal_moves,
    move_on,
    number,
    progress,
    randomness,
    repeated,
    rest,
    rolling,
    shuffle_all,
    sizes,
    state_of,
    survey,
    to_mask,
    with_boards_axis,
)


@dataclass(frozen=True)
class Settings:
    """What a search is compiled for; see `agents.mcts.Mcts`.

    size: most simulations that a tree can hold; beam: actions that a node may try; playout: None, the random one
    agree: whether it goes on until the most visited action is the best; tables: whether playouts follow a table
    prior: the player by whose probabilities nodes choose; None: by UCB1 alone
    """

    size: int
    beam: int | None
    agree: bool
    tables: bool
    playout: Player | None
    prior: Guide | None = None


class Knobs(NamedTuple):
    """What is data of a search, so that trying its values compiles nothing; see `agents.mcts.Mcts`. Scalars.

    exploration, weights: float32; simulations, outcomes, depth, streak: int32, `ENDLESS` for none
    weights: of the share of the goals done, and of the rank of the score, in a lost playout
    playout, prior: parameters of the players that play playouts and guide the choice
    """

    simulations: Any
    exploration: Any
    outcomes: Any
    depth: Any
    weights: tuple[Any, Any]
    streak: Any
    playout: Any = ()
    prior: Any = ()


ENDLESS = 2**30


IDLE, MOVING, PLAYOUT, DONE = range(4)
"""Phases of a board: no simulation under way; in the turn that leads to a new node; beyond it; through."""


class Guide(NamedTuple):
    """A player whose probabilities guide the choice of moves; see `crush_gym.policies.Policy`."""

    player: Player
    logits: Logits | None

    def shares(self, spec: Spec, params: Any, bits: jax.Array, state: State, level: Level) -> jax.Array:
        """The probabilities of the legal moves, float32[actions, S]; zeros where there is none.

        A player that does not tell them is asked `ASKED` times with keys of its own, and what it says is counted.
        """
        mask = legal(spec, state)
        memory = self.player.start(params, of_words(bits), state, level)
        if self.logits is not None:
            strength = jnp.where(mask, self.logits(params, memory, state, level), -jnp.inf)
            raised = jnp.where(mask, jnp.exp(strength - jnp.max(strength, axis=0, initial=-1e30)), 0.0)
            return raised / jnp.maximum(raised.sum(axis=0), 1e-30)
        numbers = jnp.arange(spec.actions)[:, None]

        def ask(counts: jax.Array, n: jax.Array) -> tuple[jax.Array, None]:
            own = of_words(randomness.fold(bits, jnp.full(bits.shape[1:], n)))
            action, _ = self.player.act(params, own, memory, state, level)
            return counts + (numbers == action), None

        counts = jax.lax.scan(
            ask, jnp.zeros(mask.shape, jnp.float32), jnp.uint32(ASKED_FROM) + jnp.arange(ASKED, dtype=jnp.uint32)
        )[0]
        counts = jnp.where(mask, counts + 1.0 / spec.actions, 0.0)
        return counts / jnp.maximum(counts.sum(axis=0), 1e-30)


ASKED = 16
"""How often a player is asked for its move where it does not tell its probabilities."""

ASKED_FROM = 2**31
"""Folded into a simulation's key for these questions; moves have smaller numbers."""


class Search(NamedTuple):
    """Everything of a search under way on S boards.

    tree; play: the simulations' boards; phase: int32[S], see above
    bits: words of the searches' keys; keys: of the simulations under way: uint32[2, S]
    leaf: the node that is played out; edge: that the new node will hang on, NONE: there will be none: int32[S]
    landed, actions: the new node, and how many actions it may try, from when its turn is over
    done: simulations ended, int32[S]; scores: theirs, int32[size, S]; won: the last so many were all won, int32[S]
    scope: the range of scores; first: whether this is the first search of the attempt, bool[S]
    table, weights: of TO-MAST; None where playouts do not ask for it
    mind: of the player of the playouts, from the node on that is played out; None where it is the random one
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
    mind: Mind | None


def started(
    spec: Spec, settings: Settings, knobs: Knobs, bits: jax.Array, scope: Range, state: State, level: Level
) -> Search:
    """A search of each board. bits: words of the players' keys, uint32[2, S]; scope: of the search before."""
    level = with_boards_axis(level)
    boards = state.books.score.shape[0]
    board = Board.of(spec, state.planes)
    going = state.books.outcome == PLAYING
    zero = jnp.zeros(boards, jnp.int32)
    actions = jnp.where(going, number(legal_moves(board.awake())).astype(jnp.int32), 0)
    known = tomast.empty(spec.actions, boards) if settings.tables else None
    play = rest(board, state.books)
    prior = None if settings.prior is None else settings.prior.shares(spec, knobs.prior, bits, state, level)
    return Search(
        tree=tree.planted(state, _tried(settings, actions), settings.size, prior),
        play=play,
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
        mind=rolling(play, settings.playout, knobs.playout, bits, level).mind,
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
        enough = jnp.sum(waits) >= sizes.WAITING_SHARE * jnp.sum(search.phase != DONE)
        search = lax.cond(enough, served, lambda s: s, search)
        flight = Flight(search.play, search.phase, search.landed, search.actions, search.mind)
        flight = _some_beats(settings, knobs, terrain, level, search.keys, search.weights, flight)
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
    mind: Mind | None


def _some_beats(
    settings: Settings,
    knobs: Knobs,
    terrain: Terrain,
    level: Level,
    keys: jax.Array,
    weights: Sliced | None,
    flight: Flight,
) -> Flight:
    """Beats of every board; those that have come to rest behind the tree's move go on at once."""
    if settings.playout is None:
        return in_chunks_by_parts(flight.play.spec, _playout_beats)(terrain, keys, weights, flight)
    # A simulation's keys are the searching player's own: what falls in it is no secret of the game.
    asked = by_player(flight.play.spec, settings.playout, knobs.playout, level, own=of_words)

    def one(flight: Flight) -> Flight:
        mind = flight.mind
        assert mind is not None
        flight, moves, bits = in_chunks(_land)(terrain, keys, flight._replace(mind=None))
        chosen, mind = asked(flight.play, moves, bits, mind)
        return flight._replace(play=in_chunks(move_on)(terrain, flight.play, chosen, bits), mind=mind)

    return repeated(sizes.BEATS_PER_SERVICE, one, flight)


def _playout_beats(part: Part, terrain: Terrain, keys: jax.Array, weights: Sliced | None, flight: Flight) -> Flight:
    def one(terrain: Terrain, keys: jax.Array, weights: Sliced | None, flight: Flight) -> Flight:
        flight, moves, bits = _land(terrain, keys, flight)
        play = flight.play.awake()
        if weights is None:
            chosen = at_random(play, moves, bits)
        else:
            both = in_proportion(play.board, planes_of(moves), weights, bits)
            chosen = play.board.fence(Moves(both[0], both[1]))
        return flight._replace(play=move_on(terrain, play, chosen, bits))

    return repeated(sizes.BEATS_PER_SERVICE, functools.partial(part(one), terrain, keys, weights), flight)


def _land(terrain: Terrain, keys: jax.Array, flight: Flight) -> tuple[Flight, Moves, jax.Array]:
    """End turns; keep the positions behind the tree's moves. Also: playouts' legal moves, and their keys' words."""
    play, moves, bits = at_rest(terrain, keys, flight.play)
    lands = (flight.phase == MOVING) & (play.stage == RESTING)
    landed = jax.tree.map(lambda new, old: jnp.where(lands, new, old), state_of(play), flight.landed)
    actions = jnp.where(lands, number(moves).astype(jnp.int32), flight.actions)
    phase = jnp.where(lands, PLAYOUT, flight.phase)
    free = jnp.where(phase == PLAYOUT, jnp.uint16(0xFFFF), jnp.uint16(0))
    moves = play.board.fence(Moves(moves.across & free, moves.down & free))
    return Flight(play, phase, landed, actions, flight.mind), moves, bits


def _served(
    settings: Settings, terrain: Terrain, level: Level, knobs: Knobs, until: jax.Array, search: Search
) -> Search:
    """Enter the simulations that have ended, and begin the next ones."""
    return _sent(settings, terrain, level, knobs, _entered(settings, level, knobs, until, search))


def _entered(settings: Settings, level: Level, knobs: Knobs, until: jax.Array, search: Search) -> Search:
    """New nodes, visits and values; boards that have had enough are DONE, the others of these IDLE."""
    play, books = search.play, search.play.books
    ended = (search.phase == PLAYOUT) & ~goes_on(play)
    new = ended & (search.edge >= 0)
    leaf = jnp.where(new, search.tree.nodes, search.leaf)
    trees = tree.grown(search.tree, search.edge, search.landed, _tried(settings, search.actions), new)
    if settings.prior is not None:
        shares = settings.prior.shares(play.spec, knobs.prior, search.keys, search.landed, level)
        trees = tree.with_prior(trees, leaf, shares, new)
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


def _sent(settings: Settings, terrain: Terrain, level: Level, knobs: Knobs, search: Search) -> Search:
    """Begin the next simulation of every IDLE board."""
    spec, trees, idle = search.play.spec, search.tree, search.phase == IDLE
    keys = randomness.fold(search.bits, search.done)
    descended = tree.descended if settings.prior is None else tree.guided
    choice = descended(trees, keys, idle, knobs.exploration, knobs.outcomes, knobs.depth)
    state = tree.unpacked(spec, *tree.at_node(trees, choice.node), like=search.play.books)
    board = Board.of(spec, state.planes).awake()
    grows = idle & choice.grows
    if settings.prior is None:
        rank = _next_rank(settings, board, state, search.bits, choice.node, tree.of(trees.node_last, choice.node))
        tried = (rank & RANK_ACTION).astype(jnp.int32)
    else:
        rank, tried = tree.of(trees.node_last, choice.node), choice.action
    action = jnp.where(choice.grows, tried, tree.of(trees.edge_action, choice.edge))
    edge = jnp.where(choice.grows, trees.edges, choice.edge)
    trees = tree.with_edge(trees, choice.node, tried, rank, grows)
    moves = from_action(spec, jnp.where(idle & ~choice.stays, action, NONE))
    fresh = rest(board, state.books).awake()
    fresh = begin(terrain, fresh, fresh.board.fence(moves), randomness.fold(keys, state.books.made))
    mind = rolling(rest(board, state.books), settings.playout, knobs.playout, keys, level).mind
    play, mind = jax.tree.map(lambda new, old: jnp.where(idle, new, old), (fresh, mind), (search.play, search.mind))
    return search._replace(
        mind=mind,
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
