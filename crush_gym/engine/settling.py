"""Settling: down, sideways, and ingredients that arrive (rulebook 7)."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

from crush_gym import layout, sizes
from crush_gym.engine.bits import (
    Keep,
    Mask,
    Plane,
    Word,
    any_of,
    by_rows,
    choose,
    count,
    flood,
    look,
    mask,
    occurs,
    word_of,
)
from crush_gym.engine.board import Board
from crush_gym.engine.books import book
from crush_gym.engine.mechanics import Report
from crush_gym.engine.runs import same_colour
from crush_gym.engine.spawning import available, spawn
from crush_gym.engine.state import FIRST, OVER, SETTLING, Play
from crush_gym.engine.terrain import PortalLayer, Terrain

MOST_WAVES = 100
"""Waves of one turn (rulebook 8.2)."""


def settle(terrain: Terrain, play: Play, drops: int = sizes.DROPS_PER_BEAT) -> Play:
    """Settling by so many rows, for the boards that settle; then what `come_to_rest` does."""
    unroll = play.stage.shape[0] > 1 and not play.spec.has("sideways")  # for speed, where that is compiled quickly
    play = lax.fori_loop(0, drops, lambda _, p: drop(terrain, p.awake()), play, unroll=unroll)
    return come_to_rest(terrain, play.awake())


def come_to_rest(terrain: Terrain, play: Play) -> Play:
    """Where nothing falls any more: a sideways step, ingredients that arrive; else another wave or the turn's end."""
    still = play.board.fence(mask(play.stage == SETTLING) & ~_goes_on(terrain, play))
    if play.spec.has("sideways"):
        play, slid = slide(terrain, play, still)
        still = still & ~slid
    if play.spec.has("ingredient"):
        play, collected = collect(terrain, play, still)
        still = still & ~collected
    again = any_matches(play.board) & mask(play.wave < MOST_WAVES)
    stage = choose(again, Word(FIRST), jnp.full_like(play.stage, OVER))
    return play._replace(stage=choose(still, stage, play.stage), slid=choose(still, Word(0), play.slid))


def any_matches(board: Board) -> Mask:
    """Boards with something for another wave: a run, or a fused candy."""
    across, down = board.fence(tuple(same_colour(board.colours, board.matchable, *step) for step in ((0, 1), (1, 0))))
    cells = (across & look(across, 0, 1)) | (down & look(down, 1, 0))
    if board.spec.has("wrapped"):
        cells = cells | board.other(layout.FUSED3) | board.other(layout.FUSED5)
    return occurs(cells)


def drop(terrain: Terrain, play: Play) -> Play:
    """Everything that can falls one cell, all at once; then the empty entries spawn."""
    where = mask(play.stage == SETTLING)
    board = play.board
    falling = board.fence(falls(terrain, board) & where)
    vacant = (board.empty(terrain.floor) & where) | falling
    play, born = spawn(terrain, play, vacant)
    straight = look(board.items & (falling & ~terrain.entrances), -1, 0)
    items = any_of(
        [
            board.items & ~falling,
            straight,
            born,
            *(_through(layer, board.items & falling, board.fence) for layer in terrain.portals),
        ]
    )
    return play._replace(board=board.with_items(board.fence(items)))


def falls(terrain: Terrain, board: Board) -> Plane:
    """Items that fall one cell now: below them, or where their portal leads, is a hole, or an item that falls."""
    free, empty = board.free_items, board.empty(terrain.floor)
    can = free & terrain.feeds
    can, empty = board.fence((can, empty))
    return _falls(terrain, board, free, can, empty)


@by_rows
def _falls(terrain: Terrain, board: Board, free: Plane, can: Plane, empty: Plane) -> Plane:
    """The same. can: fall where the cell below gives way"""
    falling = _upwards(can & look(empty, 1, 0), can, board)
    for _ in range(board.spec.portal_hops):
        gives_way = empty | falling
        entering = any_of(_back_through(layer, gives_way, board.fence) for layer in terrain.portals) & free
        falling = _upwards(falling | entering, can, board)
    return falling


def _upwards(falling: Plane, can: Plane, board: Board) -> Plane:
    """With all that rests on what falls."""
    return flood(falling, look(can, -1, 0), (-1, 0), board.spec.height - 1, board.fence)


def _through(layer: PortalLayer, items: Plane, fence: Keep) -> Plane:
    """Items at the entrances, moved to where their portals lead. uint16[n, H, B]."""
    return _words_through(layer, items, fence) & layer.target


@by_rows
def _words_through(layer: PortalLayer, items: Plane, fence: Keep) -> Plane:
    """Where they are then, of each layer's columns; uint16[n, 1, B]."""
    words = fence(_row_words(items & layer.source))
    moved = fence(any_of(_to(words, c, layer.to[c]) for c in range(layer.to.shape[0])))
    return moved[:, None]


def _back_through(layer: PortalLayer, cells: Plane, fence: Keep) -> Plane:
    """Entrances of the portals whose other end is among the cells."""
    word = fence(word_of(cells & layer.target))
    bits = [jnp.where(word & layer.to[c] != 0, Word(1 << c), Word(0)) for c in range(layer.to.shape[0])]
    return fence(any_of(bits)) & layer.source


def _row_words(items: Plane) -> Plane:
    """All rows of every plane in one word: uint16[n, B]."""
    return any_of(items[:, r] for r in range(items.shape[1]))


def _to(words: Plane, column: int, target: Plane) -> Plane:
    return jnp.where(words & Word(1 << column) != 0, target, Word(0))


def _goes_on(terrain: Terrain, play: Play) -> Mask:
    """Boards on which step 1 has not come to its end."""
    board = play.board
    if not play.spec.has("sideways"):  # then nothing but a fall can fill a hole
        return occurs(board.empty(terrain.floor))
    vacant = any_of(terrain.entries) & board.empty(terrain.floor)
    fed = occurs(vacant)
    if play.spec.has("dry"):
        fed = fed & mask(available(terrain, play))
    return occurs(falls(terrain, board)) | fed


def slide(terrain: Terrain, play: Play, where: Mask) -> tuple[Play, Mask]:
    """Step 2: empty cells take from the upper left, else from the upper right. Also: boards that go on settling."""
    board = play.board
    loose = board.free_items & ~terrain.entrances & where
    empty = board.empty(terrain.floor) & where
    from_left = empty & look(loose, -1, -1)
    leaving_right = look(from_left, 1, 1)
    from_right = empty & ~from_left & look(loose & ~leaving_right, -1, 1)
    leaving = leaving_right | look(from_right, 1, -1)
    leaving, from_left, from_right = board.fence((leaving, from_left, from_right))
    items = any_of(
        [
            board.items & ~leaving,
            look(board.items, -1, -1) & from_left,
            look(board.items, -1, 1) & from_right,
        ]
    )
    slid = play.slid + (word_of(leaving) != 0)
    goes_on = occurs(leaving) & mask(slid < terrain.slides)
    return play._replace(board=board.with_items(board.fence(items)), slid=slid), goes_on


def collect(terrain: Terrain, play: Play, where: Mask) -> tuple[Play, Mask]:
    """Free ingredients at rest on exits leave, and their jelly takes a hit. Also: boards that go on settling.

    A collection counts as a sideways step: an entry that feeds an exit without end must stop somewhere.
    """
    board, spec = play.board, play.spec
    at_exit = terrain.exits & ~board.covered & where
    cherries, hazelnuts = board.fence((board.other(layout.CHERRY) & at_exit, board.other(layout.HAZELNUT) & at_exit))
    taken = cherries | hazelnuts
    report = Report(points=((taken, 10_000),))
    if spec.has("jelly"):
        one, two = board.plane("jelly1"), board.plane("jelly2")
        hit = one & taken
        report = Report({"jelly1": one & ~(hit & ~two), "jelly2": two & ~hit}, points=((taken, 10_000), (hit, 1000)))
    books = book(board, terrain, play.books, [report])
    books = books._replace(
        cherry=jnp.maximum(books.cherry - count(cherries), 0),
        hazelnut=jnp.maximum(books.hazelnut - count(hazelnuts), 0),
    )
    board = board.with_fixed(report.fixed).with_items(board.fence(board.items & ~taken))
    slid = play.slid + (word_of(taken) != 0)
    goes_on = occurs(taken) & mask(slid < terrain.slides)
    return play._replace(board=board, books=books, slid=slid), goes_on
