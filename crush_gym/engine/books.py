"""Points, orders, time and goals (rulebook 8.3, 9, 10)."""

from __future__ import annotations

from collections.abc import Iterable

import jax
import jax.numpy as jnp

from crush_gym import layout
from crush_gym.engine.bits import Mask, Plane, any_of, count, total, word_of
from crush_gym.engine.board import Board, coloured
from crush_gym.engine.mechanics import Report
from crush_gym.engine.runs import Made, Runs, ahead, length
from crush_gym.engine.spec import Spec
from crush_gym.engine.state import Books
from crush_gym.engine.terrain import Terrain

ORDER_POINTS = 100

WAVE_TIME = 6
"""Deciseconds that a wave takes as it begins (rulebook 10)."""


def book(board: Board, terrain: Terrain, books: Books, reports: Iterable[Report]) -> Books:
    """Enter what was reported. Cells that bring the same points are different cells: one cell loses one thing."""
    spec, tally = board.spec, _Tally(board)
    reports = list(reports)
    worth: dict[int, list[Plane]] = {}
    for report in reports:
        for cells, points in report.points:
            worth.setdefault(points, []).append(cells)
    if spec.rules == "saga":
        for points, planes in worth.items():
            tally.add(f"{points} points", [any_of(planes)])
    for name in spec.orders:
        tally.add(name, [report.orders[name] for report in reports if name in report.orders])
    tally.add("plus5", [report.plus5 for report in reports if report.plus5 is not None])
    tally.add("drops", [report.drops for report in reports if report.drops is not None])
    found = tally.counted()
    score = total(
        [
            books.score,
            *(points * found[f"{points} points"] for points in worth if f"{points} points" in found),
        ]
    )
    books = _deliver(spec, books._replace(score=score), found)
    if "plus5" in found:
        gained = jnp.minimum(terrain.time, books.time + 50 * found["plus5"])
        books = books._replace(time=jnp.where(terrain.time >= 0, jnp.maximum(books.time, gained), books.time))
    if "drops" in found:
        books = books._replace(drops=books.drops + found["drops"])
    return books


class _Tally:
    """Planes to count, counted together."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.planes: dict[str, list[Plane]] = {}

    def add(self, name: str, planes: list[Plane]) -> None:
        if planes:
            self.planes[name] = planes

    def counted(self) -> dict[str, jax.Array]:
        """Number of cells by name, int32[B]."""
        if not self.planes:
            return {}
        numbers = self.board.fence(jnp.stack([total(map(count, planes)) for planes in self.planes.values()]))
        return dict(zip(self.planes, numbers, strict=True))


def _deliver(spec: Spec, books: Books, found: dict[str, jax.Array]) -> Books:
    """Orders: units up to what is still asked for, 100 points each (rulebook 9)."""
    score, left = books.score, list(books.orders)
    for i, name in enumerate(spec.orders):
        if name in found:
            given = jnp.minimum(found[name], left[i])
            left[i] = left[i] - given
            score = score + ORDER_POINTS * given
    return books._replace(score=score, orders=jnp.stack(left)) if left else books


def colour_orders(spec: Spec, colours: Plane, cells: Plane) -> dict[str, Plane]:
    """The cells by the colour of their candy, for the colours that can be ordered."""
    orders = {}
    for code, letter in enumerate(layout.COLOUR_LETTERS, start=1):
        if letter in spec.orders:
            orders[letter] = cells & coloured(colours, code)
    return orders


def pay_runs(spec: Spec, runs: Runs, made: Made | None, wave: jax.Array) -> jax.Array:
    """Points for the runs of one wave (rulebook 9; 12 for Combo). wave: uint16[B]; int32[B]."""
    if spec.rules == "points":
        return jnp.zeros_like(wave, jnp.int32)
    if spec.rules == "combo":
        longest = longest_run(spec, runs)
        return (10 * longest * longest - 10 * longest) * wave.astype(jnp.int32)
    paid = (None, None) if made is None or made.paid_by_wrapped is None else made.paid_by_wrapped
    points = [jnp.zeros_like(wave, jnp.int32)]
    for line, instead in zip(runs, paid, strict=True):
        starts = line.starts if instead is None else line.starts & ~instead
        points += [60 * count(starts), 60 * count(starts & line.four), 80 * count(starts & line.five)]
    if made is not None and made.wrapped is not None:
        points.append(200 * count(made.wrapped))
    return total(points) * wave.astype(jnp.int32)


def longest_run(spec: Spec, runs: Runs) -> jax.Array:
    """Length of the longest run of each board, 0 where there is none; int32[B]."""
    longest = jnp.zeros(runs.across.cells.shape[1:], jnp.int32)
    for line, step in runs.directed:
        reach = line.starts
        for n in range(3, length(spec, step) + 1):
            longest = jnp.where(word_of(reach) != 0, jnp.maximum(longest, n), longest)
            reach = reach & ahead(line.links, step, n - 1)
    return longest


def only_score(terrain: Terrain) -> jax.Array:
    """Whether a score is all that the level asks for; bool[B]."""
    return ~_asks_more(terrain) & (terrain.goals.score >= 0)


def no_goals(terrain: Terrain) -> jax.Array:
    """Whether the level asks for nothing; bool[B]."""
    return ~_asks_more(terrain) & (terrain.goals.score < 0)


def _asks_more(terrain: Terrain) -> jax.Array:
    goals = terrain.goals
    asked = (goals.jelly != 0) | (goals.cherry > 0) | (goals.hazelnut > 0)
    return asked | jnp.any(goals.orders > 0, axis=0)


def goals_met(terrain: Terrain, books: Books, jelly: Mask) -> jax.Array:
    """Whether everything that the level asks for is there. jelly: boards with jelly left; bool[B]."""
    goals = terrain.goals
    open_jelly = (goals.jelly != 0) & (jelly != 0)
    open_others = (books.cherry > 0) | (books.hazelnut > 0) | jnp.any(books.orders > 0, axis=0)
    return ~open_jelly & ~open_others & (books.score >= goals.score)
