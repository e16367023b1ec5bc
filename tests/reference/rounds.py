"""Hits, firing and the rounds of one wave (rulebook section 5)."""

from dataclasses import replace

from .board import Board, Cell, neighbours
from .items import EMPTY, FUSED, INGREDIENTS, STRIPED, Item
from .play import Opening, Play
from .scores import (
    HIT_CANDY,
    JELLY_LAYER,
    SMALL_THING,
    count_colour,
    count_kind,
    count_order,
    count_removed,
    pay,
    tag_takes_effect,
)

Fired = list[tuple[Cell, Item]]
"""Specials and colour bombs that were cleared, with the cell where that happened."""

# ---------------------------------------------------------------------------------------- areas


def line_from(board: Board, start: Cell, horizontal: bool, height: int, width: int) -> set[Cell]:
    """A ray both ways from a cell, along its row or its column, every cell up to the first free swirl.

    The starting cell is hit as well; if a free swirl is there, the ray ends there (section 6).
    """
    row, col = start
    if not (0 <= row < height and 0 <= col < width):
        return set()
    if board.is_free_swirl(start):
        return {start}
    if horizontal:
        one_way = [(row, c) for c in range(col - 1, -1, -1)]
        other_way = [(row, c) for c in range(col + 1, width)]
    else:
        one_way = [(r, col) for r in range(row - 1, -1, -1)]
        other_way = [(r, col) for r in range(row + 1, height)]
    area = {start, *_up_to_swirl(board, one_way), *_up_to_swirl(board, other_way)}
    return {cell for cell in area if cell in board.items}


def _up_to_swirl(board: Board, path: list[Cell]) -> list[Cell]:
    """Up to and including the first free swirl; voids are crossed."""
    for i, cell in enumerate(path):
        if board.is_free_swirl(cell):
            return path[: i + 1]
    return path


def square_around(board: Board, centre: Cell, radius: int) -> set[Cell]:
    """3x3 for radius 1, 5x5 for radius 2: the floor cells of it."""
    row, col = centre
    reach = range(-radius, radius + 1)
    square = {(row + down, col + right) for down in reach for right in reach}
    return {cell for cell in square if cell in board.items}


def explode_fused(board: Board) -> set[Cell]:
    """Every fused item on the board hits its square, its own cell included, and is gone."""
    area: set[Cell] = set()
    for cell, item in list(board.items.items()):
        if item.kind in FUSED:
            area |= square_around(board, cell, 1 if item.kind == "fused3" else 2)
            board.items[cell] = EMPTY
    return area


def colours_present(board: Board) -> list[int]:
    """The colours of the candies on the board, covered ones too, ascending."""
    return sorted({item.colour for item in board.items.values() if item.is_candy})


def firing_area(play: Play, cell: Cell, item: Item) -> set[Cell]:
    """Section 5, "What fires": what a special or colour bomb cleared in this cell now hits."""
    board, level = play.board, play.level
    if item.kind in STRIPED:
        return line_from(board, cell, item.kind == "striped-h", level.height, level.width)
    if item.kind == "wrapped":
        return square_around(board, cell, 1)
    colours = colours_present(board)
    if not colours:
        return set()
    choice = play.draws.bomb_colour(cell[0], cell[1], play.round_number, len(colours))
    return board.candies_of(colours[choice])


# ----------------------------------------------------------------------------------------- hits


def hit(play: Play, cell: Cell, in_run: bool) -> Item | None:
    """A hit removes exactly one thing, the topmost. Returns a candy or colour bomb that it cleared."""
    board = play.board
    if cell in board.covers:
        remove_cover(play, cell)
        return None
    item = board.items[cell]
    if item.is_candy or item.is_colour_bomb:
        clear_candy(play, cell, in_run)
        hit_jelly(play, cell)
        return item
    if item.kind in INGREDIENTS or item.kind in FUSED or item.kind == "empty":
        hit_jelly(play, cell)
    else:
        hit_obstacle(play, cell)
    return None


def remove_cover(play: Play, cell: Cell) -> None:
    cover = play.board.covers.pop(cell)
    pay(play, SMALL_THING)
    if cover == "lock":
        count_order(play, "lock")


def clear_candy(play: Play, cell: Cell, in_run: bool) -> None:
    """A candy or colour bomb goes; a candy that a run clears is paid by the run (section 9)."""
    item = play.board.items[cell]
    play.board.items[cell] = EMPTY
    if not in_run:
        pay(play, HIT_CANDY)
    count_removed(play)
    count_colour(play, item)
    tag_takes_effect(play, item)


def hit_jelly(play: Play, cell: Cell) -> None:
    """One jelly layer less."""
    jelly = play.board.jelly
    if cell in jelly:
        pay(play, JELLY_LAYER)
        jelly[cell] -= 1
        if jelly[cell] == 0:
            del jelly[cell]


def hit_obstacle(play: Play, cell: Cell) -> None:
    """Swirl and chocolate go; icing loses a layer. The jelly beneath stays."""
    items = play.board.items
    item = items[cell]
    pay(play, SMALL_THING)
    if item.kind == "icing" and item.layers > 1:
        items[cell] = replace(item, layers=item.layers - 1)
        return
    items[cell] = EMPTY
    count_order(play, item.kind)
    if item.kind == "chocolate":
        play.chocolate_removed = True


# ------------------------------------------------------------------------- next to a clearing


def hit_next_to(play: Play, cleared: set[Cell], by_run: set[Cell], direct: set[Cell]) -> None:
    """Section 5, "Next to a clearing": one adjacent hit for each neighbour not hit directly."""
    counting = by_run if play.rules.adjacency == "runs" else cleared
    for cell in sorted({beside for place in counting for beside in neighbours(place)}):
        if cell in play.board.items and cell not in direct:
            beside_run = any(place in by_run for place in neighbours(cell))
            adjacent_hit(play, cell, beside_run)


def adjacent_hit(play: Play, cell: Cell, beside_run: bool) -> None:
    """Matters for marmalade and, uncovered, for icing, chocolate and (beside a run) swirl."""
    board = play.board
    if board.covers.get(cell) == "marmalade":
        remove_cover(play, cell)
    elif board.is_free(cell):
        kind = board.items[cell].kind
        if kind in ("icing", "chocolate") or (kind == "swirl" and beside_run):
            hit_obstacle(play, cell)


# --------------------------------------------------------------------------------------- rounds


def play_round(play: Play, direct: set[Cell], run_cells: set[Cell]) -> Fired:
    """All direct hits of a round, then the adjacent ones; returns what will fire in the next round."""
    cleared: dict[Cell, Item] = {}
    for cell in sorted(direct):
        item = hit(play, cell, in_run=cell in run_cells)
        if item is not None:
            cleared[cell] = item
    hit_next_to(play, set(cleared), run_cells & set(cleared), direct)
    return [(cell, item) for cell, item in cleared.items() if item.kind != "plain"]


def play_rounds(play: Play, opening: Opening) -> None:
    """Section 8, step 2: round 0, then rounds until nothing fires."""
    fired = play_round(play, opening.area, opening.run_cells)
    play.round_number += 1
    if opening.leaves_fused5 is not None:
        play.board.items[opening.leaves_fused5] = Item("fused5")
    if opening.nothing_fires:
        fired = []
    second = opening.second
    while fired or second is not None:
        area = second(play.board) if second is not None else set()
        second = None
        fired = fire(play, fired, area)
        play.round_number += 1


def fire(play: Play, fired: Fired, area: set[Cell]) -> Fired:
    """One later round: the areas of all that fire are united, then hit; wrapped leave fused 3."""
    for cell, item in fired:
        area |= firing_area(play, cell, item)
        count_kind(play, item)
    next_fired = play_round(play, area, set())
    for cell, item in fired:
        if item.kind == "wrapped":
            play.board.items[cell] = Item("fused3")
    return next_fired
