"""Waves (rulebook section 8, step 2)."""

from collections.abc import Sequence
from dataclasses import replace

from .board import Cell
from .combos import combo_name, open_combo
from .items import FUSED, Item
from .play import Opening, Play
from .rounds import explode_fused, play_rounds
from .runs import find_runs, made_by_runs, points_of_runs
from .scores import pay, take_time
from .settling import settle

MOST_WAVES = 100
WAVE_TIME = 6


def first_wave(play: Play, one: Cell, other: Cell) -> None:
    """The two items change places; then the combo, or the runs. Settling is left to the caller."""
    items = play.board.items
    items[one], items[other] = items[other], items[one]
    if combo_name(items[one], items[other]) is None:
        wave_of_runs(play, swapped=(one, other))
    else:
        begin_wave(play)
        opening = open_combo(play, one, other)
        play_wave(play, opening, made={})


def wave_of_runs(play: Play, swapped: Sequence[Cell] = ()) -> None:
    """All runs on the board, and every fused item explodes in the same round 0."""
    begin_wave(play)
    runs = find_runs(play.level, play.board)
    pay_runs(play, points_of_runs(play.rules.name, runs, swapped, play.wave))
    run_cells = {cell for run in runs for cell in run.cells}
    opening = Opening(area=set(run_cells), run_cells=run_cells)
    play_wave(play, opening, made_by_runs(play.rules.name, runs, swapped))


def begin_wave(play: Play) -> None:
    """The wave gets its number; in timed levels it takes its time, though not at the start."""
    play.wave += 1
    if play.state.moves_made > 0:
        take_time(play, WAVE_TIME)


def pay_runs(play: Play, points: int) -> None:
    if play.rules.name == "combo":
        play.state.score += points
    else:
        pay(play, points)


def play_wave(play: Play, opening: Opening, made: dict[Cell, Item]) -> None:
    """Fused items explode in round 0 too; rounds; then what runs made is put in place."""
    opening.area |= explode_fused(play.board)
    play_rounds(play, opening)
    for seat, item in made.items():
        play.board.items[seat] = item
        play.board.covers.pop(seat, None)


def another_wave_is_due(play: Play) -> bool:
    """Runs or fused items on the settled board."""
    if any(item.kind in FUSED for item in play.board.items.values()):
        return True
    return bool(find_runs(play.level, play.board))


def later_waves(play: Play) -> None:
    """Wave after wave, each followed by settling, at most 100 in all."""
    while play.wave < MOST_WAVES and another_wave_is_due(play):
        wave_of_runs(play)
        settle(play)


def bombs_are_no_longer_fresh(play: Play) -> None:
    """As a move begins, every candy bomb on the board is one that will count down (step 4)."""
    items = play.board.items
    for cell, item in items.items():
        if item.fresh:
            items[cell] = replace(item, fresh=False)
