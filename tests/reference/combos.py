"""Combos: pairs of swapped items that act without a run (rulebook sections 3 and 6)."""

from .board import Board, Cell
from .items import EMPTY, STRIPED, Item
from .play import Opening, Play
from .rounds import line_from, square_around
from .scores import count_colour, count_kind, count_order, count_removed, tag_takes_effect


def combo_name(one: Item, other: Item) -> str | None:
    """Which combo a swap of these two is, if any (section 3, points 2 and 3)."""
    if one.is_colour_bomb or other.is_colour_bomb:
        partner = other if one.is_colour_bomb else one
        if partner.is_colour_bomb:
            return "bomb+bomb"
        if not partner.is_candy:
            return None
        return f"bomb+{_plain_striped_or_wrapped(partner)}"
    if one.is_special and other.is_special:
        return "+".join(sorted([_plain_striped_or_wrapped(one), _plain_striped_or_wrapped(other)]))
    return None


def _plain_striped_or_wrapped(item: Item) -> str:
    return "striped" if item.kind in STRIPED else item.kind


def open_combo(play: Play, cell: Cell, target: Cell) -> Opening:
    """Section 6. The two items have changed places; `target` is T, the right-hand or lower cell."""
    items = play.board.items
    one, other = items[cell], items[target]
    name = combo_name(one, other)
    if name is None:
        raise ValueError("these two items make no combo")
    count_order(play, name)
    consume(play, cell)
    consume(play, target)
    opening = combo_effect(play, name, target, max(one.colour, other.colour))
    opening.area |= {cell, target}
    return opening


def consume(play: Play, cell: Cell) -> None:
    """Consumed is not cleared: no points, nothing adjacent; but it counts, and a tag takes effect."""
    item = play.board.items[cell]
    play.board.items[cell] = EMPTY
    count_removed(play)
    count_colour(play, item)
    count_kind(play, item)
    tag_takes_effect(play, item)


def combo_effect(play: Play, name: str, target: Cell, colour: int) -> Opening:
    """The table of section 6. `colour` is k, for a colour bomb with a candy."""
    board = play.board
    if name == "striped+striped":
        return Opening(rows_and_columns(play, target, rows=(0,), columns=(0,)))
    if name == "striped+wrapped":
        return Opening(
            rows_and_columns(play, target, rows=(-1, 0, 1), columns=()),
            second=lambda _: rows_and_columns(play, target, rows=(), columns=(-1, 0, 1)),
        )
    if name == "wrapped+wrapped":
        return Opening(square_around(board, target, 2), leaves_fused5=target)
    if name == "bomb+bomb":
        return Opening(set(board.items), nothing_fires=True)
    if name == "bomb+striped":
        turn_striped(board, colour)
    if name == "bomb+wrapped":
        turn_wrapped(board, colour)
    return Opening(board.candies_of(colour))


def rows_and_columns(play: Play, target: Cell, rows: tuple[int, ...], columns: tuple[int, ...]) -> set[Cell]:
    """Rays along rows from T's column, and along columns from T's row; numbers relative to T."""
    board, height, width = play.board, play.level.height, play.level.width
    row, col = target
    area: set[Cell] = set()
    for down in rows:
        area |= line_from(board, (row + down, col), True, height, width)
    for right in columns:
        area |= line_from(board, (row, col + right), False, height, width)
    return area


def plain_candies_to_turn(board: Board, colour: int) -> list[Cell]:
    """Every untagged plain candy of the colour, covered ones too, in reading order."""
    return sorted(cell for cell in board.candies_of(colour) if board.items[cell].is_untagged_plain)


def turn_striped(board: Board, colour: int) -> None:
    """Those turned alternate h, v in reading order."""
    for i, cell in enumerate(plain_candies_to_turn(board, colour)):
        board.items[cell] = Item(STRIPED[i % 2], colour)


def turn_wrapped(board: Board, colour: int) -> None:
    for cell in plain_candies_to_turn(board, colour):
        board.items[cell] = Item("wrapped", colour)
