"""Striped, wrapped and colour bomb: what fires when they are cleared, and what that hits (rulebook 5, "What fires").

Firing takes a round of its own, so each kind keeps a plane of the cells that fire in the next round.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from crush_gym import layout
from crush_gym.engine import randomness
from crush_gym.engine.bits import (
    Mask,
    Plane,
    Word,
    any_of,
    by_rows,
    first_cell,
    flood,
    mask,
    occurs,
    square,
    total,
    word_of,
)
from crush_gym.engine.board import Board, coloured
from crush_gym.engine.mechanics.base import Mechanic

Fires = dict[str, Plane]
"""Cells that fire in the next round: "row", "column" (stripes), "square" (wrapped), "square5" (a pair of
wrapped), "bomb" (colour bombs), and "direct": cells that a combo hits without any of these."""


class Striped(Mechanic):
    name = "striped"
    planes = layout.KIND[:2]


class Wrapped(Mechanic):
    name = "wrapped"
    planes = layout.KIND


class ColourBomb(Mechanic):
    name = "colour bomb"
    planes = layout.KIND[:2]


def fire_names(board: Board) -> tuple[str, ...]:
    """The kinds of fire that the game can have."""
    spec = board.spec
    names = ["direct"] if spec.has("striped", "wrapped", "colour bomb") else []
    names += ["row", "column"] if spec.has("striped") else []
    names += ["square", "square5"] if spec.has("wrapped") else []
    names += ["bomb"] if spec.has("colour bomb") else []
    return tuple(names)


def no_fires(board: Board) -> Fires:
    return {name: board.nothing for name in fire_names(board)}


def set_off(board: Board, cleared: Plane) -> Fires:
    """What clearing these cells makes fire in the next round."""
    parts = {
        "row": board.candy(layout.STRIPED_H),
        "column": board.candy(layout.STRIPED_V),
        "square": board.candy(layout.WRAPPED),
        "bomb": board.other(layout.COLOUR_BOMB),
    }
    return {name: parts[name] & cleared if name in parts else board.nothing for name in fire_names(board)}


def area_of(board: Board, fires: Fires, first: Mask, bits: jax.Array, round_number: jax.Array) -> Plane:
    """All that these fires hit, and fused candies on boards whose wave begins (`first`); off the floor, too."""
    hit = [fires["direct"]]
    if "row" in fires:
        hit += [along_rows(board, fires["row"]), along_columns(board, fires["column"])]
        hit = [board.fence(any_of(hit))]
    if "square" in fires:
        small = fires["square"] | (board.other(layout.FUSED3) & first)
        large = fires["square5"] | (board.other(layout.FUSED5) & first)
        hit += [square(small, 1, board.fence), square(large, 2, board.fence)]
    if "bomb" in fires:
        hit.append(bombed(board, fires["bomb"], bits, round_number))
    return any_of(hit)


def along_rows(board: Board, starts: Plane) -> Plane:
    """Rays to the left and right, each up to and including the first free swirl."""
    if not board.spec.has("swirl"):
        return mask(starts != 0)
    clear, longest = ~_walls(board), board.spec.width - 1
    return flood(starts, clear, (0, 1), longest) | flood(starts, clear, (0, -1), longest)


def along_columns(board: Board, starts: Plane) -> Plane:
    """Rays up and down, each up to and including the first free swirl."""
    if not board.spec.has("swirl"):
        return jnp.broadcast_to(board.fence(word_of(starts)), starts.shape)
    clear, longest = ~_walls(board), board.spec.height - 1
    return flood(starts, clear, (1, 0), longest, board.fence) | flood(starts, clear, (-1, 0), longest, board.fence)


def _walls(board: Board) -> Plane:
    return board.other(layout.SWIRL) & ~board.covered


def bombed(board: Board, bombs: Plane, bits: jax.Array, round_number: jax.Array) -> Plane:
    """Every candy of the colour that each of these colour bombs draws among the colours present."""
    words = (bombs, bits, round_number)
    one_by_one, at_once = (lambda *x, f=f: f(board, *x) for f in (bombed_one_by_one, bombed_at_once))
    area: Plane = lax.platform_dependent(*words, cpu=one_by_one, default=at_once)
    return area


def bombed_one_by_one(board: Board, bombs: Plane, bits: jax.Array, round_number: jax.Array) -> Plane:
    """As long as any board has another one: few have any."""

    def more(carry: tuple[Plane, Plane]) -> jax.Array:
        return jnp.any(carry[0] != 0)

    def one(carry: tuple[Plane, Plane]) -> tuple[Plane, Plane]:
        waiting, area = carry
        bomb, cell = board.fence(first_cell(waiting, board.fence))
        value = randomness.draw(bits, randomness.BOMB, cell, round_number)
        colour = board.fence(_pick_present(board, value) & occurs(bomb))
        return waiting & ~bomb, area | of_colour(board, colour)

    return lax.while_loop(more, one, (bombs, board.nothing))[1]


def bombed_at_once(board: Board, bombs: Plane, bits: jax.Array, round_number: jax.Array) -> Plane:
    """Every cell draws, whether a bomb stands there or not: a loop would ask the host for each of its rounds."""
    present, drawn = _drawn_at_once(board, bombs, bits, round_number)
    area, seen = board.nothing, jnp.zeros_like(drawn)
    for code, there in enumerate(present, start=1):
        area = area | (coloured(board.colours, code) & mask(drawn >> seen & Word(1) != 0))
        seen = seen + there
    return area


@by_rows
def _drawn_at_once(
    board: Board, bombs: Plane, bits: jax.Array, round_number: jax.Array
) -> tuple[list[jax.Array], jax.Array]:
    """Whether each colour is present, 0 or 1; and a word with a bit for each that is drawn, counted among these."""
    present = [(word_of(coloured(board.colours, code)) != 0).astype(Word) for code in range(1, board.spec.colours + 1)]
    number = board.fence(total(present))
    columns, rows = (lax.broadcasted_iota(jnp.uint32, (board.spec.width, board.spec.height, 1), n) for n in (0, 1))
    value = randomness.draw(bits, randomness.BOMB, 16 * rows + columns, round_number)
    bit = Word(1) << randomness.below(value, number).astype(Word)
    drawn = jnp.where(bombs >> columns.astype(Word) & Word(1) != 0, bit, Word(0))
    return present, board.fence(word_of(board.fence(any_of(list(drawn)))))


def of_colour(board: Board, colour: jax.Array) -> Plane:
    """Candies of one colour 1-7 (uint16[B]) of each board."""
    wrong = [plane ^ mask(colour >> Word(i) & Word(1) != 0) for i, plane in enumerate(board.colours)]
    return board.candies & ~any_of(wrong)


def _pick_present(board: Board, value: jax.Array) -> jax.Array:
    """A colour 1-7 drawn uniformly from those of the candies on the board; 0 where there are none. uint16[B]."""
    present = []
    for code in range(1, board.spec.colours + 1):
        present.append(word_of(coloured(board.colours, code)) != 0)
    index = randomness.below(value, sum(p.astype(jnp.uint32) for p in present)).astype(Word)
    chosen, seen = jnp.zeros_like(index), jnp.zeros_like(index)
    for code, there in enumerate(present, start=1):
        chosen = jnp.where(there & (seen == index), Word(code), chosen)
        seen = seen + there.astype(Word)
    return chosen
