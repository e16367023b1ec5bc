"""Waves and rounds: what is hit, all at once, and what that does (rulebook 4, 5 and 8.2)."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from crush_gym import layout
from crush_gym.engine.bits import Mask, Plane, Word, any_of, choose, count, mask, neighbours, occurs
from crush_gym.engine.board import Board
from crush_gym.engine.books import WAVE_TIME, book, colour_orders, pay_runs
from crush_gym.engine.mechanics import Report, Strike, active
from crush_gym.engine.mechanics.specials import Fires, area_of, set_off
from crush_gym.engine.runs import Made, Runs, find_runs, points_makes, saga_makes
from crush_gym.engine.state import FIRST, OVER, ROUNDS, SETTLING, Play
from crush_gym.engine.terrain import Terrain


class Hits(NamedTuple):
    """The hits of a round. area: all cells; runs: cells of runs among them; begins: boards whose wave begins."""

    area: Plane
    runs: Runs
    makes: Made | None
    begins: Mask


def play_round(terrain: Terrain, play: Play) -> Play:
    """The next round, on the boards where one is due; boards whose waves are through go to the turn's end."""
    return round_and_makes(terrain, play)[0]


def round_and_makes(terrain: Terrain, play: Play) -> tuple[Play, Made | None]:
    """The same; also what the runs make in the rounds that begin a wave."""
    due = mask(play.stage == FIRST)
    hits = _aim(terrain, play, due)
    struck = play.board.fence(occurs(hits.area) | mask(play.stage == ROUNDS))
    play = _begin_wave(play, hits)
    if hits.makes is not None:
        play = play._replace(made=play.made | _codes(play.board, hits.makes))
    play, fires = _strike(terrain, play, hits)
    pending = play.board.fence(any_of([jnp.zeros_like(struck), *(occurs(cells) for cells in fires.values())]))
    if hits.makes is not None:
        play = _seat(play, struck & ~pending)
    stage = choose(due & ~struck, Word(OVER), play.stage)
    stage = choose(struck, choose(pending, Word(ROUNDS), Word(SETTLING)), stage)
    return play._replace(stage=stage, fires=fires, rounds=play.rounds + (struck & Word(1))), hits.makes


def _aim(terrain: Terrain, play: Play, first: Mask) -> Hits:
    """Runs and fused candies in a wave's first round; a combo's cells instead of runs; what fires, in any round."""
    board, spec = play.board, play.spec
    runs = find_runs(board, first & ~play.combo)
    makes = None
    if spec.rules == "saga":
        makes = board.fence(saga_makes(board, runs, play.swapped))
    elif spec.rules == "points":
        makes = board.fence(points_makes(runs))
    areas = [runs.cells]
    if play.fires:
        areas.append(area_of(board, play.fires, first, play.bits, play.rounds))
    area = board.fence(any_of(areas) & terrain.floor)
    return Hits(area, runs, makes, board.fence(first & occurs(area)))


def _begin_wave(play: Play, hits: Hits) -> Play:
    """Count the wave, take its time (rulebook 10; a combo's was taken as it was swapped), and pay its runs."""
    begun = hits.begins & Word(1)
    wave = play.wave + begun
    points = play.board.fence(pay_runs(play.spec, hits.runs, hits.makes, wave))
    books = play.books._replace(
        score=play.books.score + points,
        waves=play.books.waves + begun.astype(jnp.int32),
        time=play.books.time - WAVE_TIME * (begun & ~play.starting & ~play.combo).astype(jnp.int32),
    )
    return play._replace(wave=wave, books=books)


def _strike(terrain: Terrain, play: Play, hits: Hits) -> tuple[Play, Fires]:
    """Section 5: what the hits remove, what stands next to a clearing, and what fires next."""
    board, spec = play.board, play.spec
    strike = _resolve(play, hits)
    cleared = strike.cleared
    reports = [mechanic.struck(board, strike) for mechanic in active(spec)]
    reports += [mechanic.taken(board, cleared) for mechanic in active(spec)]
    fires = set_off(board, cleared & ~play.spare)
    reports.append(_orders(board, fires, cleared))
    books = book(board, terrain, play.books, reports)
    number = count(cleared)
    if spec.rules == "points":
        books = books._replace(score=books.score + number)
    elif spec.rules == "saga":
        books = books._replace(score=books.score + 60 * count(cleared & ~hits.runs.cells))
    if play.afterwards is not None:
        fires["column"] = fires["column"] | play.afterwards
    ate = any_of([play.ate, *(occurs(r.chocolate) for r in reports if r.chocolate is not None)])
    board = _remove(board, play, hits, reports, cleared)
    play = play._replace(
        board=board,
        books=books,
        cleared=play.cleared + number,
        ate=ate,
        combo=jnp.zeros_like(play.combo),
        spare=jnp.zeros_like(play.spare),
        swapped=jnp.zeros_like(play.swapped),
        afterwards=board.nothing if spec.has("wrapped") else None,
    )
    return play, fires


def _resolve(play: Play, hits: Hits) -> Strike:
    board, spec = play.board, play.spec
    bare = hits.area & ~board.covered
    breakable = board.candies
    if spec.has("colour bomb"):
        breakable = breakable | board.other(layout.COLOUR_BOMB)
    if spec.has("unknown"):
        breakable = breakable | board.other(layout.UNKNOWN)
    bare, cleared = board.fence((bare, bare & breakable))
    if not spec.has("marmalade", "icing", "chocolate", "swirl"):
        return Strike(hits.area, bare, cleared, board.nothing, board.nothing)
    by_runs = neighbours(cleared & hits.runs.cells) & ~hits.area
    beside = by_runs if spec.adjacency == "runs" else neighbours(cleared) & ~hits.area
    beside, by_runs = board.fence((beside, by_runs))
    return Strike(hits.area, bare, cleared, beside, by_runs)


def _orders(board: Board, fires: Fires, cleared: Plane) -> Report:
    """Candies count by colour when cleared; specials as they are set off, for then they will fire (rulebook 9)."""
    spec = board.spec
    orders = colour_orders(spec, board.colours, cleared)
    if fires:
        orders |= {"striped": fires["row"] | fires["column"], "bomb": fires["bomb"]}
    if "square" in fires:
        orders["wrapped"] = fires["square"]
    return Report(orders={name: cells for name, cells in orders.items() if name in spec.orders})


def _remove(board: Board, play: Play, hits: Hits, reports: list[Report], cleared: Plane) -> Board:
    """The board without what the round removed, and with what wrapped candies leave."""
    gone = [cleared, *(report.gone for report in reports if report.gone is not None)]
    fixed = {name: cells for report in reports for name, cells in report.fixed.items()}
    if not board.spec.has("wrapped"):
        return board.with_items(board.fence(board.items & ~any_of(gone))).with_fixed(fixed)
    spent = (board.other(layout.FUSED3) | board.other(layout.FUSED5)) & hits.begins
    kept = board.items & ~board.fence(any_of([*gone, spent]))
    fused, five = play.fires["square"] | play.fires["square5"], play.fires["square5"]
    codes = {"kind0": five, "kind1": fused, "kind2": fused}
    left = jnp.stack([codes.get(name, board.nothing) for name in board.spec.moving])
    return board.with_items(board.fence(kept | left)).with_fixed(fixed)


def _seat(play: Play, finished: Mask) -> Play:
    """After the last round of a wave, put in place what its runs make (rulebook 4)."""
    made, board = play.made, play.board
    seated = board.fence(any_of(list(made)) & finished)
    n = made.shape[0]
    items = (board.items[:n] & ~seated) | (made & finished)
    if n < board.items.shape[0]:
        items = jnp.concatenate([items, board.items[n:] & ~seated])
    covers = {name: board.fixed[name] & ~seated for name in layout.COVERS if name in board.fixed}
    return play._replace(board=board.with_items(items).with_fixed(covers), made=made & ~finished)


def _codes(board: Board, makes: Made) -> Plane:
    """Colour and kind planes of what the runs make, in the colours that stand at the seats; uint16[n, H, B]."""
    striped_h, striped_v = makes.striped_h & ~makes.bomb, makes.striped_v & ~makes.bomb
    wrapped = board.nothing if makes.wrapped is None else makes.wrapped & ~makes.bomb
    candy = striped_h | striped_v | wrapped
    kinds = {"kind0": striped_h | wrapped | makes.bomb, "kind1": striped_v | wrapped | makes.bomb}
    names = [name for name in layout.KIND if name in board.spec.moving]
    return jnp.stack([*(board.colours & candy), *(kinds.get(name, board.nothing) for name in names)])
