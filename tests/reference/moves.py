"""Which swaps are legal (rulebook section 3), and the shuffle when none is (section 8, step 7)."""

from .board import Board, Cell
from .combos import combo_name
from .items import Item
from .level import Level
from .play import Play
from .runs import find_runs, lies_on_run, matchable_colours

ATTEMPTS = 32


def is_legal_swap(board: Board, colours: dict[Cell, int], one: Cell, other: Cell) -> bool:
    """Section 3. `colours` are the board's matchable colours; they are left as they were."""
    if not board.can_be_swapped(one) or not board.can_be_swapped(other):
        return False
    if combo_name(board.items[one], board.items[other]) is not None:
        return True
    return puts_into_run(colours, one, other)


def puts_into_run(colours: dict[Cell, int], one: Cell, other: Cell) -> bool:
    """Does the swap put at least one of the two candies into a run? Equal colours change nothing."""
    if colours[one] == colours[other]:
        return False
    colours[one], colours[other] = colours[other], colours[one]
    result = lies_on_run(colours, one) or lies_on_run(colours, other)
    colours[one], colours[other] = colours[other], colours[one]
    return result


def legal_swaps(level: Level, board: Board) -> list[bool]:
    """By action number."""
    colours = matchable_colours(board)
    return [is_legal_swap(board, colours, one, other) for one, other in level.pairs()]


def has_legal_swap(level: Level, board: Board) -> bool:
    colours = matchable_colours(board)
    return any(is_legal_swap(board, colours, one, other) for one, other in level.pairs())


# -------------------------------------------------------------------------------------- shuffle


def shuffle_if_stuck(play: Play) -> None:
    """No legal move: shuffle; if that fails, lost (stuck), on the board as it was."""
    if has_legal_swap(play.level, play.board):
        return
    if shuffle(play):
        play.reshuffled = True
        play.state.shuffles += 1
    else:
        play.state.outcome, play.state.reason = "lost", "stuck"


def shuffle(play: Play) -> bool:
    """32 permutations of the arrangement as it was, then 32 recolourings; the first success is taken."""
    level, board = play.level, play.board
    cells = [cell for cell in level.cells if can_be_shuffled(board, cell)]
    before = [board.items[cell].colour for cell in cells]
    for attempt in range(ATTEMPTS):
        put_colours(board, cells, permuted(play, cells, before, attempt))
        if is_playable(level, board):
            return True
    for attempt in range(ATTEMPTS):
        put_colours(board, cells, redrawn(play, cells, attempt))
        if is_playable(level, board):
            return True
    put_colours(board, cells, before)
    return False


def can_be_shuffled(board: Board, cell: Cell) -> bool:
    """Untagged, free, plain candies."""
    return board.items[cell].is_untagged_plain and board.is_free(cell)


def permuted(play: Play, cells: list[Cell], before: list[int], attempt: int) -> list[int]:
    """The i-th cell receives the colour that stood in the i-th cell of the drawn order."""
    colour_at = dict(zip(cells, before, strict=True))
    order = sorted(cells, key=lambda cell: (play.draws.shuffle(cell[0], cell[1], attempt), cell))
    return [colour_at[cell] for cell in order]


def redrawn(play: Play, cells: list[Cell], attempt: int) -> list[int]:
    colours = play.level.colours
    return [1 + play.draws.recolour(row, col, attempt, colours) for row, col in cells]


def put_colours(board: Board, cells: list[Cell], colours: list[int]) -> None:
    for cell, colour in zip(cells, colours, strict=True):
        board.items[cell] = Item("plain", colour)


def is_playable(level: Level, board: Board) -> bool:
    """No run and at least one legal move."""
    return not find_runs(level, board) and has_legal_swap(level, board)
