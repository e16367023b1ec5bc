"""A game: start, legal moves, turns, outcomes (rulebook section 8)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .board import Board, Cell, board_from_text, board_text, neighbours
from .items import INGREDIENTS, Item
from .level import Level
from .moves import is_legal_swap, legal_swaps, shuffle_if_stuck
from .play import Draws, Opening, Play, Rules, State, Turn
from .runs import matchable_colours
from .scores import take_time
from .settling import settle
from .waves import bombs_are_no_longer_fresh, first_wave, later_waves, play_wave, wave_of_runs

MOVE_TIME = 15
WAVES_FOR_BONUS = 3
SAGA = Rules()


class ReferenceGame:
    """One level under one set of rules."""

    def __init__(self, level: Mapping[str, Any], rules: Rules = SAGA) -> None:
        self.level = Level(level)
        self.rules = rules
        self.pairs = self.level.pairs()

    def start(self, board: Sequence[str], draws: Draws) -> State:
        """Section 8, "At the start": settle, resolve, shuffle if need be. This is move 0."""
        play = self._play(self.state_from_text(board), draws)
        settle(play)
        later_waves(play)
        shuffle_if_stuck(play)
        return play.state

    def state_from_text(self, board: Sequence[str]) -> State:
        """A state with exactly this board, nothing settled or resolved, no move made."""
        goals = self.level.goals
        return State(
            board=board_from_text(board),
            moves_left=self.level.moves,
            time_left=self.level.time,
            ingredients_left={kind: goals[kind] for kind in INGREDIENTS if kind in goals},
            orders_left=dict(goals.get("orders", {})),
            spawned={kind: 0 for kind in self.level.spawn},
        )

    def text(self, state: State) -> list[str]:
        return board_text(state.board, self.level.height, self.level.width)

    def legal(self, state: State) -> list[bool]:
        if state.outcome != "playing":
            return [False] * len(self.pairs)
        return legal_swaps(self.level, state.board)

    def is_legal(self, state: State, action: int) -> bool:
        if state.outcome != "playing" or not 0 <= action < len(self.pairs):
            return False
        one, other = self.pairs[action]
        return is_legal_swap(state.board, matchable_colours(state.board), one, other)

    def step(self, state: State, action: int, draws: Draws) -> tuple[State, Turn]:
        """One turn. An illegal action changes nothing, costs nothing, and is reported."""
        if not self.is_legal(state, action):
            return state.copy(), Turn(illegal=True, outcome=state.outcome, reason=state.reason)
        play = self._play(state, draws)
        count_move(play)
        first_wave(play, *self.pairs[action])
        settle(play)
        later_waves(play)
        after_the_waves(play)
        return play.state, self._turn(state, play)

    # ------------------------------------------------------------- one wave, for section 13's cases

    def first_wave(self, state: State, action: int, draws: Draws) -> State:
        """The move's first wave up to the seating, before settling (section 13's arrow)."""
        if not self.is_legal(state, action):
            raise ValueError(f"action {action} is not legal here")
        play = self._play(state, draws)
        count_move(play)
        first_wave(play, *self.pairs[action])
        return play.state

    def wave(self, state: State, draws: Draws) -> State:
        """One wave of the runs and fused items on the board, without a swap, before settling."""
        play = self._play(state, draws)
        wave_of_runs(play)
        return play.state

    def strike(self, state: State, cells: Iterable[Cell], draws: Draws) -> State:
        """One wave whose round 0 just hits these cells ("fired" in section 13), before settling."""
        play = self._play(state, draws)
        play.wave = 1
        play_wave(play, Opening(area=set(cells)), made={})
        return play.state

    def settled(self, state: State, draws: Draws) -> State:
        """The board settled and collected, nothing else."""
        play = self._play(state, draws)
        settle(play)
        return play.state

    def _play(self, state: State, draws: Draws) -> Play:
        return Play(self.level, self.rules, draws, state.copy())

    def _turn(self, before: State, play: Play) -> Turn:
        state = play.state
        return Turn(
            score=state.score - before.score,
            waves=play.wave,
            cleared=play.cleared,
            reshuffled=play.reshuffled,
            outcome=state.outcome,
            reason=state.reason,
        )


def count_move(play: Play) -> None:
    """Step 1: moves -1, or (section 10) a move's time."""
    state = play.state
    bombs_are_no_longer_fresh(play)
    state.moves_made += 1
    if state.moves_left is not None:
        state.moves_left -= 1
    take_time(play, MOVE_TIME)


def after_the_waves(play: Play) -> None:
    """Steps 3 to 7. Nothing happens after the step that decides."""
    if play.state.time_left is not None and play.wave >= WAVES_FOR_BONUS:
        play.state.bonus = True
    judge_goals(play)
    if play.state.outcome == "playing":
        count_bombs_down(play)
        judge_supplies(play)
    if play.state.outcome == "playing":
        spread_chocolate(play)
        shuffle_if_stuck(play)


def supply_that_is_out(state: State) -> str | None:
    """ "moves" or "time" if none is left."""
    if state.moves_left is not None and state.moves_left <= 0:
        return "moves"
    if state.time_left is not None and state.time_left <= 0:
        return "time"
    return None


def all_goals_met(play: Play) -> bool:
    goals, state = play.level.goals, play.state
    if state.score < goals.get("score", 0):
        return False
    if "jelly" in goals and state.board.jelly_layers() > 0:
        return False
    return not any(state.ingredients_left.values()) and not any(state.orders_left.values())


def judge_goals(play: Play) -> None:
    """Step 3: won; or ended, for a level without goals."""
    goals, state = play.level.goals, play.state
    out = supply_that_is_out(state)
    if not goals:
        if out is not None:
            state.outcome, state.reason = "ended", out
        return
    plays_to_the_end = set(goals) == {"score"}
    if all_goals_met(play) and (out is not None or not plays_to_the_end):
        state.outcome, state.reason = "won", "goals"


def count_bombs_down(play: Play) -> None:
    """Step 4: bombs that were on the board when the move began."""
    items = play.board.items
    for cell, item in items.items():
        if item.counter is not None and not item.fresh:
            items[cell] = replace(item, counter=item.counter - 1)
            if item.counter == 1:
                play.state.outcome, play.state.reason = "lost", "bomb"


def judge_supplies(play: Play) -> None:
    """Step 5: none left is the reason given, even if a bomb reached 0 too."""
    out = supply_that_is_out(play.state)
    if out is not None:
        play.state.outcome, play.state.reason = "lost", out


def spread_chocolate(play: Play) -> None:
    """Step 6: one of the candidates becomes chocolate, its tag gone without effect."""
    if play.chocolate_removed:
        return
    candidates = [cell for cell in play.level.cells if chocolate_may_take(play.board, cell)]
    if candidates:
        cell = candidates[play.draws.chocolate(len(candidates))]
        play.board.items[cell] = Item("chocolate")


def chocolate_may_take(board: Board, cell: Cell) -> bool:
    """A free candy or colour bomb beside an uncovered chocolate."""
    item = board.items[cell]
    if not (item.is_candy or item.is_colour_bomb) or not board.is_free(cell):
        return False
    return any(is_bare_chocolate(board, beside) for beside in neighbours(cell))


def is_bare_chocolate(board: Board, cell: Cell) -> bool:
    return cell in board.items and board.items[cell].kind == "chocolate" and board.is_free(cell)
