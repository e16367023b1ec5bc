"""Settling, spawning and collecting (rulebook section 7)."""

from .board import Cell
from .items import EMPTY, INGREDIENTS, Item
from .play import Play
from .rounds import hit_jelly
from .scores import INGREDIENT, pay


def settle(play: Play) -> None:
    """Come to rest; collect ingredients at rest on exits; then settle again.

    It stops where it is after 4 H W sideways steps; a collection counts as one of them.
    """
    most = 4 * play.level.height * play.level.width
    steps = 0
    while steps < most:
        steps = come_to_rest(play, steps, most)
        if not collect(play):
            return
        steps += 1


def come_to_rest(play: Play, steps: int, most: int) -> int:
    """Steps 1 and 2 in turn until nothing moves sideways; the number of sideways steps so far."""
    while steps < most:
        fall(play)
        if not slide(play):
            return steps
        steps += 1
    return steps


# ------------------------------------------------------------------------------------ 1. down


def fall(play: Play) -> None:
    """Until nothing changes: everything that can falls one cell, then EMPTY entries spawn."""
    while True:
        moved = fall_one_cell(play)
        spawned = spawn_where_empty(play)
        if not moved and not spawned:
            return


def fall_one_cell(play: Play) -> bool:
    """Above every hole, the whole pile that can fall moves one cell down (or through its portal)."""
    board = play.board
    moves: list[tuple[Cell, Cell]] = []
    for hole in play.level.cells:
        if board.is_empty(hole):
            moves += pile_above(play, hole)
    move_at_once(play, moves)
    return bool(moves)


def pile_above(play: Play, hole: Cell) -> list[tuple[Cell, Cell]]:
    """The moves (from, to) of the items that follow one another into a hole."""
    moves: list[tuple[Cell, Cell]] = []
    to = hole
    while True:
        source = play.level.feeder.get(to)
        if source is None or not play.board.can_fall_from(source):
            return moves
        moves.append((source, to))
        to = source


def move_at_once(play: Play, moves: list[tuple[Cell, Cell]]) -> None:
    items = play.board.items
    arriving = {to: items[source] for source, to in moves}
    for source, _ in moves:
        items[source] = EMPTY
    items.update(arriving)


# -------------------------------------------------------------------------------- 2. sideways


def slide(play: Play) -> bool:
    """Sideways, at once: holes take from the upper left; the others from the upper right."""
    level, board = play.level, play.board
    holes = [cell for cell in level.cells if board.is_empty(cell)]
    taken: dict[Cell, Cell] = {}
    for row, col in holes:
        upper_left = (row - 1, col - 1)
        if may_slide_from(play, upper_left):
            taken[upper_left] = (row, col)
    served = set(taken.values())
    for row, col in holes:
        upper_right = (row - 1, col + 1)
        if (row, col) not in served and upper_right not in taken and may_slide_from(play, upper_right):
            taken[upper_right] = (row, col)
    move_at_once(play, list(taken.items()))
    return bool(taken)


def may_slide_from(play: Play, cell: Cell) -> bool:
    """A free falling item, not on a portal's entrance."""
    return play.board.can_fall_from(cell) and cell not in play.level.portals


# ----------------------------------------------------------------------------------- spawning


def spawn_where_empty(play: Play) -> bool:
    """Every EMPTY entry spawns once, in reading order."""
    spawned = False
    for entry in play.level.entries:
        if play.board.is_empty(entry):
            item = new_item(play, entry)
            if item is not None:
                play.board.items[entry] = item
                play.spawns[entry] = play.spawns.get(entry, 0) + 1
                spawned = True
    return spawned


def new_item(play: Play, entry: Cell) -> Item | None:
    """The first listed kind that may spawn; else a plain candy; nothing if there are none."""
    for kind in play.level.spawn:
        if may_spawn(play, kind):
            state = play.state
            state.spawned[kind] = state.spawned.get(kind, 0) + 1
            state.last_spawn[kind] = state.moves_made
            return item_of_spawn_kind(play, entry, kind)
    if not play.level.spawn_candies:
        return None
    plus5, play.state.bonus = play.state.bonus, False
    return Item("plain", drawn_colour(play, entry), plus5=plus5)


def may_spawn(play: Play, kind: str) -> bool:
    """Quota, number on the board, moves since the last spawn."""
    limits, state = play.level.spawn[kind], play.state
    if "quota" in limits and state.spawned.get(kind, 0) >= limits["quota"]:
        return False
    if "on_board" in limits and number_on_board(play, kind) >= limits["on_board"]:
        return False
    if kind not in state.last_spawn:
        return True
    return state.moves_made - state.last_spawn[kind] >= limits.get("every", 0)


def number_on_board(play: Play, kind: str) -> int:
    return sum(is_of_spawn_kind(item, kind) for item in play.board.items.values())


def is_of_spawn_kind(item: Item, kind: str) -> bool:
    if kind == "bomb":
        return item.counter is not None
    if kind == "plus5":
        return item.plus5
    if kind == "drop":
        return item.drop
    return item.kind == kind


def item_of_spawn_kind(play: Play, entry: Cell, kind: str) -> Item:
    """An ingredient, a swirl, or a plain candy of a drawn colour with a tag."""
    if kind in INGREDIENTS or kind == "swirl":
        return Item(kind)
    colour = drawn_colour(play, entry)
    if kind == "bomb":
        return Item("plain", colour, counter=play.level.spawn[kind]["counter"], fresh=True)
    return Item("plain", colour, plus5=kind == "plus5", drop=kind == "drop")


def drawn_colour(play: Play, entry: Cell) -> int:
    k = play.spawns.get(entry, 0)
    return 1 + play.draws.spawn_colour(entry[0], entry[1], k, play.level.colours)


# --------------------------------------------------------------------------------- collecting


def collect(play: Play) -> bool:
    """A free ingredient at rest on an exit is collected and its jelly takes a hit."""
    collected = False
    for cell in sorted(play.level.exits):
        kind = play.board.items[cell].kind
        if kind in INGREDIENTS and play.board.is_free(cell):
            play.board.items[cell] = EMPTY
            pay(play, INGREDIENT)
            left = play.state.ingredients_left
            if left.get(kind, 0) > 0:
                left[kind] -= 1
            hit_jelly(play, cell)
            collected = True
    return collected
